"""The arguments of checkpoints, and the folder that they name: what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.checkpoint.folder import CheckpointFolder

RING = gl.Graph.from_edges(range(40), [(v + 1) % 40 for v in range(40)])
HOW: dict[str, Any] = {"max_iterations": 6, "threads": 1}
STEADY = gl.programs.PageRank(tolerance=0.0)
pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


def saved(folder: Path, **options: Any) -> gl.Result:
    return gl.run(STEADY, RING, checkpoint=folder, every=2, **{**HOW, **options})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"every": "soon"}, "every='soon' is neither a time ('60s', '5m', '1h') nor a number of supersteps"),
        ({"every": 0}, "every=0: "),
        ({"every": 1.5}, "every=1.5: a whole number is needed, not float"),
        ({"keep": 0}, "keep=0: "),
        ({"on_checkpoint_error": "ignore"}, "on_checkpoint_error='ignore'"),
        ({"checkpoint": None, "every": 5}, "every=5 needs checkpoint=FOLDER"),
        ({"checkpoint": None, "resume": "auto"}, "resume='auto' resumes from checkpoint=FOLDER"),
        ({"engine": "reference"}, "engine='reference' knows no checkpoint= and resume="),
        ({"engine": "async", "max_iterations": None, "every": 5}, "has no supersteps for every=5"),
        ({"trace": [3]}, "trace= follows a run from its begin"),
        ({"resume": "nowhere"}, "nowhere: holds no checkpoint"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(gl.GaslabError) as refused:
        gl.run(STEADY, RING, **{"checkpoint": tmp_path / "ck", **HOW, **options})
    assert says in str(refused.value)


@pytest.mark.parametrize("every", ["0.5s", "2m", "1h", 3, "3"])
def test_periods_are_times_or_numbers(every: Any, tmp_path: Path) -> None:
    result = gl.run(STEADY, RING, checkpoint=tmp_path / "ck", every=every, **HOW)
    assert result.metrics["checkpoints"]["written"] == (2 if every in (3, "3") else 0)


def test_the_last_ones_are_kept(tmp_path: Path) -> None:
    saved(tmp_path / "ck", keep=1, max_iterations=9)
    assert sorted(path.name for path in (tmp_path / "ck").iterdir()) == ["lock", "superstep-00000008"]


def test_a_folder_with_checkpoints_is_not_overwritten(tmp_path: Path) -> None:
    saved(tmp_path)
    says = "holds checkpoints of an earlier run, the newest superstep-00000006"
    with pytest.raises(gl.UsageError, match=says):
        saved(tmp_path)
    assert saved(tmp_path, resume="auto").metrics["checkpoints"]["resumed"] == "superstep-00000006"
    assert saved(tmp_path / "new", resume="auto").metrics["checkpoints"]["resumed"] is None


def test_one_job_writes_to_a_folder(tmp_path: Path) -> None:
    held = CheckpointFolder(tmp_path, 2, resumes=False)
    with pytest.raises(gl.UsageError, match=r"another job \(process \d+ on .*\) writes checkpoints to"):
        saved(tmp_path)
    held.close()
    assert saved(tmp_path).metrics["checkpoints"]["written"] == 3


def test_what_a_killed_job_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".superstep-00000004.0123abcd.incomplete"
    left.mkdir()
    (left / "rank-00000.bin").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    saved(tmp_path)
    assert not left.exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


class Weighted(gl.VertexProgram):
    """A program with a parameter and an edge field that it only reads."""

    rate: float = 0.5

    class Vertex(gl.Vertex):
        x: float = 1.0

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr.x

    def apply(self, v: Vertex, total: float) -> None:
        v.x = self.rate * total


def test_only_the_same_run_is_resumed(tmp_path: Path) -> None:
    ends = [0, 1, 2], [1, 2, 0]
    graph = gl.Graph.from_edges(*ends, columns={"weight": [1.0, 2.0, 3.0], "cost": [3.0, 2.0, 1.0]})
    how: dict[str, Any] = {"max_iterations": 4, "threads": 1}
    gl.run(Weighted(), graph, checkpoint=tmp_path, every=2, **how)
    others: list[tuple[gl.VertexProgram, gl.Graph, dict[str, Any], str]] = [
        (STEADY, graph, {}, "program Weighted, and this run has PageRank"),
        (Weighted(rate=0.25), graph, {}, "parameter rate 0.5, and this run has 0.25"),
        (Weighted(), gl.Graph.from_edges(*ends), {}, "another graph of the same name"),
        (Weighted(), RING, {}, "graph arrays (3 vertices and 3 edges), and this run has arrays (40 vertices"),
        (Weighted(), graph, {"seed": 7}, "seed 0, and this run has 7"),
        (Weighted(), graph, {"engine": gl.Stale(1)}, "engine Sync(), and this run has Stale(staleness=1)"),
        (Weighted(), graph, {"precision": "float32"}, "another program of the same name (Weighted)"),
        (Weighted(), graph, {"columns": {"weight": "cost"}},
         "column of the edge field weight 'weight', and this run has 'cost'"),
    ]  # fmt: skip
    for program, other, options, says in others:
        with pytest.raises(gl.UsageError) as refused:
            gl.run(program, other, resume=tmp_path, **{**how, **options})
        assert says in str(refused.value)
    again = gl.run(Weighted(), graph, resume=tmp_path, init={"x": 9.0}, max_iterations=8, threads=2)
    whole = gl.run(Weighted(), graph, max_iterations=8, threads=1)
    assert again.vertices["x"].tolist() == whole.vertices["x"].tolist()
