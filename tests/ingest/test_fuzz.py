"""A small sample of what `make fuzz` draws, and all that it once found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import make, matrices, names, text
from tests.fuzz.command_runs import Runs
from tests.fuzz.fuzzer import Fuzzer, corpus, fuzz, quiet, smaller
from tests.fuzz.plain import Answer

SEED = 0  # `make fuzz` draws others


# A fault strikes at a moment of the clock, which no seed repeats: of these, and of what checkpoints survive,
# there are runs of their own.
@pytest.fixture(params=[name for name in names() if name not in ("faults", "checkpoints", "kills")])
def fuzzer(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = make(request.param)
    yield made
    made.close()


@pytest.mark.slow
def test_a_sample_of_drawn_inputs(fuzzer: Fuzzer) -> None:
    done, found = fuzz(fuzzer, SEED, runs=fuzzer.sample, stop_at=1)
    print(f"{fuzzer.name}: {done} runs of seed {SEED}{fuzzer.summary()}")
    assert not found, f"seed {SEED}, run {found[0][0]}: {found[0][2]}\n{found[0][1]}"


@pytest.mark.slow
def test_a_rank_that_is_killed_at_a_drawn_moment_ends_all() -> None:
    faults, drawn = make("faults"), random.Random(SEED)
    try:
        for fault in ("kill", "term", "kill", "term"):
            case = {**faults.draw(drawn), "fault": fault}
            assert faults.check(case) is None, case
    finally:
        faults.close()


@pytest.mark.slow
def test_what_was_once_found(fuzzer: Fuzzer) -> None:
    with quiet():
        wrong = {name: what for name, case in corpus(fuzzer.name).items() if (what := fuzzer.check(case))}
    assert not wrong


class Broken(Fuzzer):
    """Finds every list that has a 7 in it."""

    name = "broken"

    def draw(self, random: random.Random) -> Any:
        return {"values": [random.randrange(10) for _ in range(20)]}

    def check(self, case: Any) -> str | None:
        return "a seven" if 7 in case["values"] else None


def test_a_finding_is_shrunk_and_named_by_its_run() -> None:
    done, found = fuzz(Broken(), 1, runs=50)
    assert done == 50
    assert [(case, what) for _, case, what in found] == [({"values": [7]}, "a seven")]
    assert Broken().check(Broken().draw(random.Random(f"broken 1 {found[0][0]}")))


def test_simpler_values() -> None:
    assert "ab" in list(smaller("abcd"))
    assert {"a": [1]} in list(smaller({"a": [1, 2]}))
    assert not list(smaller({"a": "xy"}, texts=False))


def test_files_of_every_format_are_drawn_that_are_read_to_graphs() -> None:
    drawn = [text.draw(random.Random(f"formats {run}")) for run in range(200)]
    good = [case for case in drawn if not text.unreadable(case) and isinstance(text.expected(case), Answer)]
    assert {case["format"] for case in good} == {*text.FORMATS}
    assert any("vocabulary" in case["options"] for case in good)
    assert any("::" in case["files"][0]["text"] for case in good if case["format"] == "edges")


@pytest.mark.parametrize("symmetry", matrices.SYMMETRIES)
@pytest.mark.parametrize("directed", [None, True, False])
def test_a_matrix_that_scipy_reads_otherwise_is_a_finding(symmetry: str, directed: bool | None) -> None:
    pytest.importorskip("scipy")
    options = {} if directed is None else {"directed": directed}
    if symmetry == "skew-symmetric" and directed is False:
        pytest.skip("has a direction")
    whole = f"%%MatrixMarket matrix coordinate real {symmetry}\n3 3 2\n2 1 0.5\n3 2 -7\n".encode()
    answer = matrices.read([("0", whole)], options)
    assert matrices.beside_scipy(whole, answer, options) is None
    for other in (whole.replace(b"-7", b"7"), whole.replace(b"3 2 -7", b"3 1 -7")):
        assert "SciPy reads (3, 3), " in (matrices.beside_scipy(other, answer, options) or "")


@pytest.mark.slow
def test_a_command_leaves_nothing_to_the_next_in_its_process(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    try:
        ended: list[int | None] = []
        for words in (
            ["--version"],
            ["pagerank", "--allow-singleton"],
            ["nothing"],
            ["pagerank", "a", "--timeout", "0"],
        ):
            case = {"words": words, "ranks": 1, "start": False}
            ended.append(runs.run(case, tmp_path)[0])
            assert ended[-1] == runs.run({**case, "start": True}, tmp_path)[0]
        assert ended[:3] == [0, 2, 2]
        assert runs.run({"words": ["--version"], "ranks": 2, "start": False}, tmp_path)[0] == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "said"]
    finally:
        runs.close()


def test_a_finding_of_a_shared_process_is_one_where_a_fresh_process_repeats_it() -> None:
    fuzzer = make("command")
    try:
        seen = []
        for start in ({False}, {False, True}):
            fuzzer.runs.run = lambda case, work, start=start: (
                seen.append(case["start"]) or (98 if case["start"] in start else 0, "", "wrong")
            )
            case = {"words": ["--version"], "ranks": 1, "start": False}
            assert (fuzzer.check(case) is None) == (start == {False})
        assert seen == [False, True, False, True]
        assert fuzzer.vanished == 1
    finally:
        fuzzer.close()
