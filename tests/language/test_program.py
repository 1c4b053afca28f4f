"""A program as an object: parameters, immutability, and what type checkers see of it."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gaslab import program as gl
from gaslab.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


class Walk(gl.VertexProgram):
    steps: int = 3
    restart: float = 0.15
    origin: gl.VertexId
    kind: ClassVar[str] = "walk"

    class Vertex(gl.Vertex):
        visits: int = 0

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[int]:
        return v.visits

    def init(self, v: Vertex) -> None:
        v.visits = self.steps


class LongWalk(Walk):
    steps = 10
    lazy: bool = False


def test_parameters_have_defaults_and_are_inherited() -> None:
    assert Walk(origin=7).parameters() == {"steps": 3, "restart": 0.15, "origin": 7}
    walk = LongWalk(origin="home", lazy=True)
    assert walk.parameters() == {"steps": 10, "restart": 0.15, "origin": "home", "lazy": True}
    assert (walk.steps, walk.origin) == (10, "home")
    assert repr(walk) == "LongWalk(steps=10, restart=0.15, origin='home', lazy=True)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Walk needs origin=...: the parameter has no default"),
        ({"origin": 1, "stpes": 2}, "Walk has no parameter 'stpes'; did you mean 'steps'?"),
        ({"origin": 1, "kind": "run"}, "Walk has no parameter 'kind'; known: origin, restart, steps"),
        ({"origin": 1, "visits": 2}, "Walk has no parameter 'visits'; known: origin, restart, steps"),
    ],
)
def test_a_wrong_parameter_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Walk(**values)
    assert str(caught.value) == message


def test_an_instance_is_immutable() -> None:
    walk = Walk(origin=1)
    with pytest.raises(UsageError, match=r"^Walk is immutable; make a new one with steps=5$"):
        walk.steps = 5  # type: ignore[misc]
    with pytest.raises(UsageError, match=r"^Walk is immutable; make a new one without origin=$"):
        del walk.origin
    assert walk.parameters() == {"steps": 3, "restart": 0.15, "origin": 1}


def test_equal_parameters_make_equal_programs() -> None:
    assert Walk(origin=1) == Walk(origin=1, steps=3)
    assert hash(Walk(origin=1)) == hash(Walk(origin=1, steps=3))
    assert Walk(origin=1) != Walk(origin=2)
    assert Walk(origin=1) != LongWalk(origin=1)
    assert Walk(origin=1) != "Walk"


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_programs_can_be_sent_and_copied(clone: Any) -> None:
    walk = LongWalk(origin="home", steps=4)
    assert clone(walk) == walk
    assert clone(walk) is not walk


def test_an_aggregator_has_no_value_outside_a_run() -> None:
    with pytest.raises(UsageError, match=r"^Walk.total has a value only while the program runs$"):
        _ = Walk(origin=1).total
    assert isinstance(Walk.total, gl.Aggregator)


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(gl).failed == 0
    assert doctest.testmod(gl).attempted > 10


def test_a_program_is_made_and_parsed_without_numpy_or_mpi(tmp_path: Path) -> None:
    script = tmp_path / "made.py"
    script.write_text(
        "import pickle, sys\n"
        "from gaslab import program as gl\n"
        "from gaslab.compiler.frontend import parse\n"
        "class P(gl.VertexProgram):\n    x: float = 1.0\n    def init(self, v):\n        pass\n"
        "assert pickle.loads(pickle.dumps(P(x=2.0))).x == 2.0\n"
        "parse(P)\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'mpi4py') or '_kernels' in m])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


TYPED = """
import gaslab as gl
from gaslab.programs.pagerank import PageRank
from gaslab.programs.sssp import ShortestPaths


class Closest(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.VertexId
        cost: float = 0.0
        rank: gl.int16 = 0

    class Total(gl.Accumulator):
        best: gl.ArgMax[int, gl.float32]

    @gl.aggregator
    def hub(self, v: Vertex) -> gl.ArgMax[int, gl.VertexId]:
        return v.degree, v.id

    @gl.aggregator
    def all(self, v: Vertex) -> Total:
        return self.Total(best=(v.degree, v.cost))

    class Moments(gl.Accumulator):
        n: int = 0
        mean: float = 0.0

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        return a if n == 0 else self.Moments(n=n, mean=(a.n * a.mean + b.n * b.mean) / n)

    @gl.aggregator
    def costs(self, v: Vertex) -> Moments:
        return self.Moments(n=1, mean=v.cost)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.ArgMin[float, gl.VertexId]:
        return nbr.cost, nbr.id

    def apply(self, v: Vertex, total: tuple[float, gl.VertexId]) -> None:
        best, who = total
        v.cost, v.near = total
        v.rank, cost = self.all.best
        if who == v.id and self.hub[0] > 2:
            v.cost = total[0] + cost + best + self.costs.mean


programs = [PageRank(damping=0.9), ShortestPaths(source="a"), ShortestPaths(source=7), Closest()]
mass: float = PageRank().dangling
"""
MISTAKES = """
PageRank(dampin=0.9)
PageRank(damping="0.9")
PageRank(0.9)
ShortestPaths()
PageRank().damping = 0.5
PageRank().dangling.upper()
PageRank.Vertex().scor
"""


@pytest.mark.slow
def test_type_checkers_see_plain_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    toolkit = ROOT / "gaslab" / "programs" / "unordered.py"  # which has messages too
    good.write_text(TYPED)
    bad.write_text(TYPED + MISTAKES)
    options = [
        "--strict",
        "--no-error-summary",
        "--no-incremental",
        "--follow-imports=silent",
        f"--config-file={ROOT}/pyproject.toml",
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT))
        output, trouble, status = api.run([*options, str(good), str(bad), str(toolkit)])
    first = TYPED.count("\n") + 2
    errors = [
        line.split("bad.py:")[1] for line in output.splitlines() if "bad.py:" in line and ": error:" in line
    ]
    assert "good.py" not in output, output
    assert toolkit.name not in output, output
    assert [int(error.split(":")[0]) - first for error in errors] == [0, 1, 2, 3, 4, 5, 6], (output, trouble)
    assert status == 1
