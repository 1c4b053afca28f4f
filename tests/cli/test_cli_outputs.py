"""What commands write: found to be impossible before the work, to devices and links, on full disks."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gaslab.cli.builtins import row
from gaslab.programs._names import COMMANDS
from tests.conftest import LONG
from tests.support.command_line import Run, by_mpiexec, edges, gaslab, on_ranks, weighted

__all__ = ["edges", "gaslab", "weighted"]  # fixtures

PROGRAM = """
import gaslab as gl
class Count(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
        _own: int = 0
    def apply(self, v: Vertex) -> None:
        v.n += 1
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "counts.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def here(tmp_path: Path, edges: Path, program: Path) -> Path:
    """A folder with all that commands read, and a place for what they write."""
    (tmp_path / "values.txt").write_text("".join(f"{k} 1\n" for k in (3, 5, 7, 8, 9, 12, 40)))
    (tmp_path / "table.csv").write_text("id,n\n" + "".join(f"{k},1\n" for k in (3, 5, 7, 8, 9, 12, 40)))
    (tmp_path / "link.tsv").symlink_to(edges)
    return tmp_path


def state(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


# ---- before the work -------------------------------------------------------------------------------

BEFORE = [
    ("pagerank edges.tsv --fields scor", "there is no vertex field 'scor'; did you mean 'score'?"),
    ("pagerank edges.tsv --fields score,", "there is no vertex field ''; known: "),
    ("triangles edges.tsv --fields triangle", "there is no vertex field 'triangle'; did you mean "),
    ("run counts.py:Count edges.tsv --fields m", "there is no vertex field 'm'; known: n"),
    ("run counts.py:Count edges.tsv --fields _own", "there is no vertex field '_own'; known: n"),
    ("degrees edges.tsv --fields side", "there is no vertex field 'side'; known: "),
    ("degrees edges.tsv -o=", "an output has an empty name; name a file"),
    ("degrees edges.tsv --json=", "an output has an empty name; name a file"),
    ("degrees edges.tsv --timeline=", "an output has an empty name; name a file"),
    ("info edges.tsv --json=", "an output has an empty name; name a file"),
    ("partition edges.tsv -k 2 --strategy 1d -o=", "an output has an empty name; name a file"),
    ("convert edges.tsv --output=", "an output has an empty name; name a file"),
    ("convert edges.tsv --relabel --map=", "an output has an empty name; name a file"),
    ("generate grid --rows 2 --columns 2 -o=", "an output has an empty name; name a file"),
    ("degrees edges.tsv -o LONG.tsv", "cannot write LONG.tsv: File name too long"),
    ("degrees edges.tsv -o LONG/", "cannot write LONG: File name too long"),
    ("degrees edges.tsv --json LONG", "cannot write LONG: File name too long"),
    ("degrees edges.tsv --timeline no/a", "cannot write no/a: there is no directory no"),
    ("degrees edges.tsv -o no/", "ok"),
    ("degrees edges.tsv -o no/no/", "cannot write no/no: there is no directory no"),
    ("degrees edges.tsv -o edges.tsv/", "cannot write edges.tsv: it is not a directory"),
    ("degrees edges.tsv --json edges.tsv/a", "cannot write edges.tsv/a: edges.tsv is not a directory"),
    ("degrees edges.tsv -o r.tsv --json r.tsv", "--output and --json both write r.tsv; name two files"),
    ("degrees edges.tsv -o r.tsv --timeline ./r.tsv", "--output and --timeline both write r.tsv; name"),
    ("degrees edges.tsv --json r --timeline r", "--json and --timeline both write r; name two files"),
    ("partition edges.tsv -k 2 --strategy 1d -o r.tsv --json r.tsv", "--output and --json both write r.tsv"),
    ("convert edges.tsv --relabel -o r.tsv --map r.tsv", "--output and --map both write r.tsv; name two"),
    ("degrees edges.tsv -o edges.tsv --force", "--output edges.tsv is read too; write to another file"),
    ("degrees edges.tsv -o link.tsv --force", "--output link.tsv is read too; write to another file"),
    ("degrees link.tsv -o ./edges.tsv --force", "--output edges.tsv is read too; write to another file"),
    ("degrees edge*.tsv --json edges.tsv --force", "--json edges.tsv is read too; write to another file"),
    ("degrees edges.tsv --timeline link.tsv --force", "--timeline link.tsv is read too; write to another"),
    ("info edges.tsv --json edges.tsv --force", "--json edges.tsv is read too; write to another file"),
    ("convert edges.tsv -o edges.tsv --force", "--output edges.tsv is read too; write to another file"),
    ("convert edges.tsv --relabel --map edges.tsv --force", "--map edges.tsv is read too; write to another"),
    ("partition edges.tsv -k 2 --strategy 1d -o edges.tsv --force", "--output edges.tsv is read too; write"),
    ("pagerank edges.tsv --personalization values.txt -o values.txt --force", "--output values.txt is read"),
    ("pagerank edges.tsv --init score=values.txt --json values.txt --force", "--json values.txt is read too"),
    ("lbp edges.tsv --prior values.txt --json values.txt --force", "--json values.txt is read too; write"),
    ("jacobi edges.tsv --rhs values.txt --json values.txt --force", "--json values.txt is read too; write"),
    ("run counts.py:Count edges.tsv --json counts.py --force", "--json counts.py is read too; write to"),
    ("run counts.py edges.tsv --json counts.py --force", "--json counts.py is read too; write to another"),
    ("run counts.py edges.tsv --vertices table.csv -o table.csv --force", "--output table.csv is read too"),
]


@pytest.mark.parametrize(("command", "message"), BEFORE)
def test_it_is_said_before_anything_is_read(
    gaslab: Run, here: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(here)
    before = state(here)
    done = gaslab(*command.replace("LONG", "x" * 300).split())
    if message == "ok":
        assert done.code == 0
        return
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("gaslab: " + message.replace("LONG", "x" * 300)), done.err
    assert len(done.err.splitlines()) == 1  # nothing was read yet
    assert {name: text for name, text in state(here).items() if "__pycache__" not in name} == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 4] if LONG else [3])
def test_every_rank_ends_alike(here: Path, size: int) -> None:
    for words, message in [
        (["--fields", "scor"], "there is no vertex field 'scor'; did you mean 'score'?"),
        (["-o", here / "r.tsv", "--json", here / "r.tsv"], f"--output and --json both write {here}/r.tsv"),
        (["-o", here / "edges.tsv", "--force"], f"--output {here}/edges.tsv is read too"),
        (["-o", here / "no" / "r.tsv"], f"cannot write {here}/no/r.tsv: there is no directory {here}/no"),
    ]:
        for _ in range(3):  # on a busy machine a rank comes so late that the others speak for themselves
            done = by_mpiexec(size, "pagerank", here / "edges.tsv", *words)
            assert (done.code, done.out) == (2, "")
            assert f"gaslab: {message}" in done.err
            if len(done.err.splitlines()) == 1:
                break
        assert done.err.startswith(f"gaslab: {message}")
        assert len(done.err.splitlines()) == 1


VARIANTS = [
    *("pagerank E", "pagerank E --unnormalised", "pagerank E --method signal", "pagerank E --weight weight"),
    *("pagerank E --personalization values.txt", "hits E", "degrees E", "components E", "kcore E", "cdlp E"),
    *("strong-components E", "bfs E --source 3", "bfs E --source 3 --parents", "sssp E --source 3"),
    *("sssp E --source 3 --source 7", "diameter E", "coloring E", "mis E", "triangles E --drop-duplicates"),
    *("triangles E --undirected --drop-duplicates", "clustering E --drop-duplicates", "jacobi D"),
    *("clustering E --undirected --drop-duplicates", "lbp E --prior values.txt"),
    *("clustering E --drop-duplicates --definition graphalytics", "lda C --topics 3 --iterations 2"),
    *("betweenness E", "betweenness E --sources 2 --weight weight --endpoints", "closeness E --sources 3"),
    *("harmonic E --weight weight", "eigenvector E --drop-duplicates"),
    *("katz E --drop-duplicates --alpha 0.01",),
    *("als E --factors 2 --iterations 2", "sgd E --factors 2 --iterations 2"),
]


@pytest.mark.parametrize("command", VARIANTS)
def test_every_field_of_an_answer_can_be_asked_for(
    gaslab: Run, here: Path, weighted: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No field that a program has is taken for a slip: what commands say of themselves is complete."""
    from gaslab.cli.job import Job

    seen: list[str] = []
    finish = Job.finish

    def look(self: Job, result: object, *rest: object) -> int:
        seen.extend(result.vertices.columns)  # type: ignore[attr-defined]
        return finish(self, result, *rest)  # type: ignore[arg-type]

    monkeypatch.chdir(here)
    monkeypatch.setattr(Job, "finish", look)
    dominant = "".join(f"{k} {k} 9\n{k} {(k + 1) % 4} 1\n" for k in range(4))
    (here / "dominant.txt").write_text(dominant)
    (here / "counts.txt").write_text("0 0 2\n0 1 1\n1 1 3\n")
    files = {"E": weighted.name, "D": "dominant.txt", "C": "counts.txt"}
    words = [files.get(word, word) for word in command.split()]
    assert gaslab(*words).code == 0
    assert seen
    _, said = row(words[0])
    assert set(seen) <= {*said.fields, *said.also}
    asked = gaslab(*words, "--fields", ",".join(["id", *seen]), "-o", "fields.tsv", "--quiet")
    assert asked.code == 0, asked.err


def test_every_built_in_is_among_the_variants() -> None:
    assert {command.split()[0] for command in VARIANTS} == set(COMMANDS)


# ---- devices and links -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_outputs_go_to_pipes_and_devices(here: Path, size: int) -> None:
    (here / "null.tsv").symlink_to("/dev/null")
    done = by_mpiexec(
        size, "degrees", here / "edges.tsv", "-o", here / "null.tsv", "--json", "/dev/null",
        "--timeline", "/dev/null",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert (here / "null.tsv").is_symlink()


@pytest.mark.slow
def test_a_table_goes_through_a_pipe_of_the_shell(here: Path) -> None:
    import sys

    from tests.mpi.launcher import environment

    command = (
        f"{sys.executable} -m gaslab degrees edges.tsv -o /dev/stdout --json >(cat > run.json) -q | sort"
    )
    done = subprocess.run(
        ["bash", "-c", command + "; wait"], cwd=here, capture_output=True, text=True, env=environment(),
        timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["12", "3", "40", "5", "7", "8", "9"]
    deadline = 50
    while not (here / "run.json").read_text().endswith("}\n") and deadline:  # cat may still be writing
        subprocess.run(["sleep", "0.1"], check=True)
        deadline -= 1
    assert json.loads((here / "run.json").read_text())["vertices"] == 7


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_force_writes_through_links(here: Path, size: int) -> None:
    (here / "store").mkdir()
    for name in ("r.tsv", "run.json", "time.json"):
        (here / "store" / name).write_text("old")
        (here / name).symlink_to(f"store/{name}")
    outputs = ["-o", here / "r.tsv", "--json", here / "run.json", "--timeline", here / "time.json"]
    assert on_ranks(size, "degrees", here / "edges.tsv", *outputs).code == 2
    assert on_ranks(size, "degrees", here / "edges.tsv", *outputs, "--force").code == 0
    for name in ("r.tsv", "run.json", "time.json"):
        assert (here / name).is_symlink()
        assert (here / "store" / name).read_text() != "old"
    assert len(list((here / "store").iterdir())) == 3


# ---- full disks ------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("no right to mount a file system that fills up")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [("out/", 1), ("out/", 2), ("out/", 3), ("out/", 4), ("out.tsv", 1), ("out.tsv", 3), ("out.tsv.gz", 2)],
)
def test_a_full_disk_is_named_and_stays_empty(here: Path, small_disk: Path, name: str, size: int) -> None:
    graph = here / "large.tsv"
    graph.write_text("".join(f"{k * 7919 % 100003}\t{k}\n" for k in range(30_000)))
    done = on_ranks(size, "degrees", graph, "-o", f"{small_disk}/{name}", "-q")
    assert done.code == 1
    shown = {"out/": r"out/part-0000"}.get(name, name)
    assert done.err.startswith(f"gaslab: cannot write {small_disk}/{shown}"), done.err
    assert done.err.endswith(": No space left on device\n")
    assert len(done.err.splitlines()) == 1
    assert list(small_disk.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--timeline"])
def test_a_full_disk_and_small_files(here: Path, small_disk: Path, option: str) -> None:
    (small_disk / "full").write_bytes(b"x" * 65536)
    done = on_ranks(2, "degrees", here / "edges.tsv", option, small_disk / "run.json", "-q")
    said = f"cannot write {small_disk}/run.json: No space left on device"
    if option == "--json":
        assert (done.code, done.err) == (1, f"gaslab: {said}\n")
    else:
        assert done.code == 0  # the answer is well
        assert done.err == f"gaslab: warning: {said}; the timeline is lost\n"
    assert [path.name for path in small_disk.iterdir()] == ["full"]


@pytest.mark.slow
def test_force_on_a_full_disk_keeps_the_old_answer(here: Path, small_disk: Path) -> None:
    out = ["-o", f"{small_disk}/out/", "-q"]
    assert on_ranks(2, "degrees", here / "edges.tsv", *out).code == 0
    before = state(small_disk)
    (here / "large.tsv").write_text("".join(f"{k}\t{k + 1}\n" for k in range(30_000)))
    assert on_ranks(2, "degrees", here / "large.tsv", *out, "--force").code == 1
    assert state(small_disk) == before


# ---- folders ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_force_replaces_answers_and_nothing_else(here: Path, size: int) -> None:
    out = ["-o", f"{here}/out/", "-q"]
    assert on_ranks(3, "degrees", here / "edges.tsv", *out).code == 0
    assert on_ranks(size, "degrees", here / "edges.tsv", *out, "--force").code == 0
    assert len(list((here / "out").iterdir())) == size + 1
    (here / "out" / "notes.txt").write_text("years of work")
    done = on_ranks(size, "degrees", here / "edges.tsv", *out, "--force")
    assert (done.code, done.err) == (
        2,
        f"gaslab: {here}/out holds other files, no answer of gaslab; it is not replaced\n",
    )
    assert (here / "out" / "notes.txt").read_text() == "years of work"


def test_a_manifest_of_something_else_is_no_answer(gaslab: Run, here: Path) -> None:
    (here / "extension").mkdir()
    for text in ('{"name": "x", "version": "1"}', "[]", "{", '{"parts": [1]}', '{"parts": 3}'):
        (here / "extension" / "manifest.json").write_text(text)
        done = gaslab("degrees", here / "edges.tsv", "-o", f"{here}/extension/", "--force")
        assert done.code == 2
        assert "extension holds other files" in done.err
    assert (here / "extension" / "manifest.json").read_text() == '{"parts": 3}'
