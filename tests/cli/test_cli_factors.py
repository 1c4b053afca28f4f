"""The commands als and sgd: what they read, print and write, on one rank and on several."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gaslab as gl
from examples.recommend import ratings
from tests.support.command_line import Run, gaslab, on_ranks

__all__ = ["gaslab"]  # a fixture

USERS, ITEMS = 30, 20
COMMANDS = pytest.mark.parametrize("command", ["als", "sgd"])


def split() -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
    """Return ratings to learn and to predict, where user 0 is rated in the test alone."""
    rows = list(zip(*(part.tolist() for part in ratings(USERS, ITEMS, 300)), strict=True))
    held = [k % 6 == 0 or row[0] == 0 for k, row in enumerate(rows)]
    return ([row for row, out in zip(rows, held, strict=True) if not out],
            [row for row, out in zip(rows, held, strict=True) if out])  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A table with a header, whose third column is no rating, and a test alike."""
    for name, rows in zip(("base", "test"), split(), strict=True):
        lines = [f"{user},{item},{7 * k},{rating!r}\n" for k, (user, item, rating) in enumerate(rows)]
        (tmp_path / f"{name}.csv").write_text("userId,movieId,timestamp,rating\n" + "".join(lines))
    return tmp_path / "base.csv", tmp_path / "test.csv"


def graph_of(rows: list[tuple[int, int, float]]) -> gl.Graph:
    user, item, rating = zip(*rows, strict=True)
    return gl.Graph.from_edges(user, item, columns={"rating": rating}, bipartite=True)


@COMMANDS
def test_what_is_printed_and_written(
    gaslab: Run, files: tuple[Path, Path], tmp_path: Path, command: str
) -> None:
    base, test = files
    words = [command, base, "--test", test, "--factors", 3, "--iterations", 12, "--seed", 4, "--threads", 1]
    done = gaslab(*words, "-q")
    assert done.code == 0, done.err
    expected = getattr(gl, command)(
        graph_of(split()[0]), factors=3, iterations=12, seed=4, test=graph_of(split()[1]), threads=1
    )
    figures = expected.metrics["figures"]
    shown = done.out.splitlines()
    assert shown[:3] == [
        f"train_rmse: {figures['train_rmse']:.6g}", f"test_rmse: {figures['test_rmse']:.6g}",
        f"test_ratings: {len(split()[1])}",
    ]  # fmt: skip
    errors = [f"{row['rmse']:.4f}" for row in expected.history]
    assert shown[4:7] == [
        "training RMSE by iteration:", f"   1: {' '.join(errors[:10])}", f"  11: {' '.join(errors[10:])}",
    ]  # fmt: skip
    assert shown[7] == "recommendations for the first 10 users, by prediction:"
    assert [line.split(":")[0].strip() for line in shown[8:]] == [str(user) for user in range(1, 11)]
    assert all(line.count("(") == 5 for line in shown[8:])

    outputs = ["--json", tmp_path / "r.json", "--user-factors", tmp_path / "u.tsv", "--item-factors",
               tmp_path / "i.csv", "-o", tmp_path / "all.tsv"]  # fmt: skip
    done = gaslab(*words, *outputs)
    assert done.code == 0, done.err
    assert done.out == ""
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["converged"]
    assert report["iterations"] == 12
    assert report["test_ratings"] == len(split()[1])
    assert report["cpu_seconds"] > 0.0
    assert report["parameters"]["mean"] == expected.metrics["parameters"]["mean"]
    for name in ("train_rmse", "test_rmse"):
        assert report[name] == pytest.approx(figures[name], rel=1e-9)
    assert [row["iteration"] for row in report["history"]] == list(range(1, 13))
    assert report["history"][-1]["rmse"] == report["train_rmse"]
    users = [line.split("\t") for line in (tmp_path / "u.tsv").read_text().splitlines()]
    assert [int(row[0]) for row in users] == list(range(1, USERS))
    table = expected.tables["user_factors"]
    assert np.array([row[1:-1] for row in users], float) == pytest.approx(table["factors"], abs=1e-6)
    assert [float(row[-1]) for row in users] == pytest.approx(table["bias"].tolist(), abs=1e-6)
    head, *items = (tmp_path / "i.csv").read_text().splitlines()
    assert (head, len(items)) == ("id,factors[0],factors[1],factors[2],bias", ITEMS)
    assert len((tmp_path / "all.tsv").read_text().splitlines()) == USERS - 1 + ITEMS


def test_als_takes_steps(gaslab: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    report = ["--json", tmp_path / "r.json", "--force"]
    words = ["als", files[0], "--factors", 3, "--iterations", 5, *report, "-q"]
    for more, steps in (([], None), (["--solver", "conjugate_gradient"], 3),
                        (["--solver", "conjugate_gradient", "--steps", 2], 2)):  # fmt: skip
        done = gaslab(*words, *more)
        assert done.code == 0, done.err
        assert json.loads((tmp_path / "r.json").read_text())["parameters"]["steps"] == steps
    done = gaslab(*words, "--steps", 4)
    assert (done.code, "--steps 4: Cholesky's method takes none; say --solver" in done.err) == (2, True)
    done = gaslab(*words, "--solver", "lu")
    assert (done.code, "'lu' is unknown" in done.err) == (2, True)


@pytest.mark.slow
@COMMANDS
def test_ranks_print_the_same(files: tuple[Path, Path], command: str) -> None:
    base, test = files
    words = [command, base, "--test", test, "--factors", 3, "--iterations", 3, "--top", 2, "-q"]
    alone, *others = (on_ranks(size, *words) for size in (1, 2, 3))
    assert alone.code == 0, alone.err
    for done in others:
        assert done.code == 0, done.err
        mine, theirs = ([x for x in one.out.splitlines() if "cpu_seconds" not in x] for one in (done, alone))
        assert mine == theirs
    assert alone.out.splitlines()[-1].count("(") == 2


@COMMANDS
def test_the_third_column_is_the_rating_unless_another_is_named(
    gaslab: Run, tmp_path: Path, command: str
) -> None:
    (tmp_path / "u.data").write_text("a x 4 1.5\na y 2 2.5\nb x 5 3.5\n")
    words = [command, tmp_path / "u.data", "--factors", 1, "--json", tmp_path / "r.json", "--force", "-q"]
    for more, mean in (((), 11 / 3), (("--column", "rating=3"), 2.5), (("--column", "rating=2"), 11 / 3)):
        done = gaslab(*words, *more)
        assert done.code == 0, done.err
        assert json.loads((tmp_path / "r.json").read_text())["parameters"]["mean"] == pytest.approx(mean)


@COMMANDS
def test_what_is_refused(gaslab: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "u.data").write_text("a x 4\na y 2\nb x 5\n")
    (tmp_path / "bare.txt").write_text("a x\nb y\n")
    (tmp_path / "numbers.txt").write_text("1 5 4\n2 6 2\n")
    (tmp_path / "bad.txt").write_text("a x 4\na y inf\n")
    for words, code, message in (
        (["none.txt", "--factors", 0], 2, "0 is less than 1"),
        (["none.txt", "--factors", 257], 2, "--factors 257: a whole number from 1 to 256 is needed"),
        (["u.data", "--regularization", "nan"], 2, "'nan' is not a finite number"),
        (["none.txt", "--iterations", 0], 2, "--iterations 0: a whole number of at least 1 is needed"),
        (["bare.txt"], 2, "the graph has no edge column with ratings"),
        (["bad.txt"], 2, "is inf on the edge a (left) -> y (right); a finite number is needed"),
        (["u.data", "--test", tmp_path / "bare.txt"], 2, "the test has no edge column with ratings"),
        (
            ["u.data", "--test", tmp_path / "numbers.txt"],
            2,
            "the ids of users are of kind 'str' in the graph",
        ),
        (["u.data", "--test", tmp_path / "none.txt"], 1, "none.txt"),
        (["u.data", "--test", tmp_path / "u.data", "-o", tmp_path / "u.data", "--force"], 2, "u.data"),
    ):
        done = gaslab(command, tmp_path / str(words[0]), *words[1:])
        assert (done.code, message in done.err) == (code, True), (words, done.err)


def test_a_learning_rate_of_zero_is_refused_before_the_input_is_read(gaslab: Run) -> None:
    done = gaslab("sgd", "there-is-no-such-file", "--learning-rate", 0)
    assert done.code == 2
    assert "--learning-rate 0.0: a number above 0 is needed; 0.05 is usual" in done.err


NOT_TAKEN = [
    ["--scheduler", "fifo"], ["--consistency", "relaxed"], ["--staleness", "1"], ["--max-updates", "9"],
    ["--require-converged"], ["--engine", "async"], ["--engine", "stale"],
]  # fmt: skip


@pytest.mark.parametrize("command", ["als", "sgd", "lda"])
def test_options_that_cannot_act_are_not_listed_and_say_why_when_given(gaslab: Run, command: str) -> None:
    listed = gaslab(command, "--help").out
    for option, *value in [*NOT_TAKEN, *([["--init", "a=b"]] if command == "lda" else [])]:
        done = gaslab(command, "there-is-no-such-file", option, *value)
        whose = f"{option} is not for {command}"
        if option == "--engine":
            whose = f"{value[0]!r} is not for {command}, which takes --engine sync or reference: all ranks"
        because = "take its steps together|ends after its sweeps|topics that it draws"
        assert done.code == 2
        assert whose in done.err
        assert re.search(because, done.err), done.err
        assert option == "--engine" or option not in listed
    assert ("--engine sync|reference" in listed, "--bipartite" in listed) == (True, False)
    done = gaslab(command, "there-is-no-such-file", "--fields", "bias")
    assert (done.code, "--fields says what --output writes" in done.err) == (2, True)


def test_the_help_says_what_it_reads(gaslab: Run) -> None:
    for command, own in (
        ("als", ["--solver cholesky|conjugate_gradient", "--steps N"]),
        ("sgd", ["--learning-rate S", "--decay D"]),
    ):
        done = gaslab(command, "--help")
        for words in ("user, item, rating", "--factors K", "--regularization R", "--test FILE", *own):
            assert words in done.out


@COMMANDS
def test_a_user_without_ratings_is_offered_what_all_rate_highly(
    gaslab: Run, tmp_path: Path, command: str
) -> None:
    """Items 2 and 1 are rated highest, in this order; row 4 of the matrix is empty."""
    entries = ["1 1 4", "1 2 5", "1 3 1", "2 2 5", "2 3 1", "3 1 4"]
    head = ["%%MatrixMarket matrix coordinate real general", "4 3 6"]
    (tmp_path / "u.mtx").write_text("\n".join([*head, *entries]) + "\n")
    done = gaslab(command, tmp_path / "u.mtx", "--factors", 1, "-q")
    assert done.code == 0, done.err
    *_, known, without = done.out.splitlines()
    assert known.startswith("  3: ")
    assert re.fullmatch(
        r"  4 \(has no ratings, so by the items' biases\): 2 \(.*\), 1 \(.*\), 3 \(.*\)", without
    )
