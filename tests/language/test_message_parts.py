"""Messages with parts: given by the caller, delivered either way, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine import delivery

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
HOW: list[dict[str, Any]] = [{"compile": "require"}, {"compile": "never"}, {"engine": "reference"}]


class Heard(gl.VertexProgram):
    """What each vertex heard last."""

    class Vertex(gl.Vertex):
        count: int = -1
        low: float = 0.0
        who: gl.VertexId
        x: gl.Vector = gl.field(shape=2)

    class Letter(gl.Accumulator):
        count: int
        low: gl.Min[float]
        who: gl.ArgMax[gl.int16, gl.VertexId]
        x: gl.Vector = gl.field(shape=2)

    def apply(self, v: Vertex, message: Letter) -> None:
        v.count, v.low = message.count, message.low
        _, v.who = message.who
        v.x = message.x

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(self.Letter(count=1, low=v.low, who=(v.out_degree, v.id), x=np.ones(2) * v.degree))


def square() -> gl.Graph:
    return gl.Graph.from_edges(["a", "a", "b", "c"], ["b", "c", "d", "d"])


@pytest.mark.parametrize("how", HOW)
def test_the_caller_gives_messages_with_parts(how: dict[str, Any]) -> None:
    start = {
        "d": Heard.Letter(count=7, low=0.5, who=(3, "b"), x=[1.0, 2.0]),
        "a": gl.Accumulator(x=[5.0, 0.0]),
    }
    done = gl.run(Heard(), square(), start=start, max_iterations=1, **how)
    assert done.vertices.to_dict() == {
        "a": {"count": 0, "low": np.inf, "who": None, "x": [5.0, 0.0]},
        "b": {"count": -1, "low": 0.0, "who": "a", "x": [0.0, 0.0]},
        "c": {"count": -1, "low": 0.0, "who": "a", "x": [0.0, 0.0]},
        "d": {"count": 7, "low": 0.5, "who": "b", "x": [1.0, 2.0]},
    }
    more = gl.run(Heard(), square(), start=["b", "c"], max_iterations=2, **how).vertices.to_dict()
    assert more["d"] == {"count": 2, "low": np.inf, "who": "b", "x": [4.0, 4.0]}


class Offers(gl.VertexProgram):
    class Vertex(gl.Vertex):
        best: float = 9.0
        of: int = 0

    def apply(self, v: Vertex, message: gl.ArgMin[float, int]) -> None:
        v.best, v.of = message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.best < 9.0:
            nbr.signal((v.best + 1.0, v.of + v.out_degree))


@pytest.mark.parametrize("how", HOW)
def test_the_caller_gives_pairs(how: dict[str, Any]) -> None:
    done = gl.run(Offers(), square(), start={"a": (0.5, 3)}, **how)
    assert done.vertices.to_dict("best") == {"a": 0.5, "b": 1.5, "c": 1.5, "d": 2.5}
    assert done.vertices.to_dict("of") == {"a": 3, "b": 5, "c": 5, "d": 6}


@pytest.mark.parametrize(
    ("program", "message", "said"),
    [
        (Offers, 3.0, "start= gives 3.0; a key and its payload are needed"),
        (Heard, 3.0, "start= gives 3.0; a Letter is needed, with its parts by name"),
        (Heard, gl.Accumulator(much=1),
         "start= gives Accumulator(much=1); a Letter is needed, with its parts by name"),
        (Heard, Heard.Letter(count=0.5), "'start' has values that are not int64, as message needs"),
        (Heard, Heard.Letter(x=[1.0]), "start= gives 'x' the shape (1,); (2,) is needed"),
    ],
)  # fmt: skip
def test_messages_that_do_not_fit(program: type[gl.VertexProgram], message: Any, said: str) -> None:
    with pytest.raises(gl.UsageError) as caught:
        gl.run(program(), square(), start={"a": message}, max_iterations=1)
    assert str(caught.value) == said


@pytest.mark.parametrize("compile", ["require", "never"])
def test_pushed_and_pulled_are_the_same(compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gl.Graph.from_edges([k % 7 for k in range(60)], [k * k % 11 for k in range(60)])
    answers = []
    monkeypatch.setattr(delivery, "ALWAYS_PUSHED", 0)
    for factor in (1e-9, 1e9):  # never pull, always
        monkeypatch.setattr(delivery, "PULL_MESSAGES", factor)
        done = gl.run(Heard(), graph, start=[0, 3, 5], max_iterations=3, compile=compile)
        answers.append(done.vertices.to_dict())
        assert {row["delivery"] for row in done.history} == {"pull" if factor > 1 else "push"}
    assert answers[0] == answers[1]
