"""The table of combiners is all that the compiler and the engine need to know of an operation."""

from __future__ import annotations

import functools
import operator
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.tree.combiner_table import OPERATIONS, Operation
from gaslab.compiler.tree.declared import INTEGER_RANGE, STORAGE, Combiner
from gaslab.errors import InternalError
from gaslab.language.combiners import Combine
from gaslab.reference import combiners, records

Xor = Annotated[int, Combine("xor")]
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 1), (4, 1), (4, 2)]


class Parity(gl.VertexProgram):
    """A gather, messages, a part and an aggregator by an operation that is only a row."""

    gather_edges = gl.IN

    class Vertex(gl.Vertex):
        mark: int = 0
        found: int = 0
        heard: int = 0

    class Total(gl.Accumulator):
        low: Xor
        count: int

    @gl.aggregator
    def all_marks(self, v: Vertex) -> Xor:
        return v.mark

    def init(self, v: Vertex) -> None:
        v.mark = 3 * v.degree + 1

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(low=nbr.mark, count=1)

    def apply(self, v: Vertex, total: Total, message: Xor) -> None:
        v.found = total.low
        v.heard = message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.mark)


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")  # two supersteps are enough
@pytest.mark.parametrize("mode", ["require", "never"])
def test_a_row_is_enough_for_a_new_combiner(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Operation(
        "xor", "Xor", ("int",), c={"": "({0} ^ {1})"}, python={"": "({0} ^ {1})"}, numpy="bitwise_xor"
    )
    monkeypatch.setitem(OPERATIONS, "xor", row)
    sources, targets = zip(*EDGES, strict=True)
    graph = gl.Graph.from_edges(sources, targets)
    result = gl.run(Parity(), graph, max_iterations=2, compile=mode)
    degree = {v: sum(v in edge for edge in EDGES) for v in range(5)}
    mark = {v: 3 * degree[v] + 1 for v in degree}
    into = {v: functools.reduce(operator.xor, (mark[s] for s, t in EDGES if t == v), 0) for v in degree}
    for name in ("found", "heard"):
        ids, values = result.vertices["id"].tolist(), result.vertices[name].tolist()
        assert dict(zip(ids, values, strict=True)) == into
    assert result.aggregates["all_marks"] == functools.reduce(operator.xor, mark.values())


def test_every_row_of_numbers_has_all_that_is_asked_of_it() -> None:
    for row in OPERATIONS.values():
        if row.is_scalar:
            assert row.word
            assert row.numpy
            for kind in row.types:
                storages = [name for name, (of, _, _) in STORAGE.items() if of == kind]
                for storage in storages:
                    combiner = Combiner(row.name, storage)
                    assert combiner.c("a", "b")
                    assert combiner.python("a", "b")
                    low, high = INTEGER_RANGE.get(storage, INTEGER_RANGE["int64"])
                    assert kind == "float" or low <= combiner.identity <= high
        assert not row.same_as or OPERATIONS[row.same_as].is_scalar
        assert set(row.instead).isdisjoint(row.types)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_the_reference_takes_no_unknown_operation_for_another(shape: tuple[int, ...]) -> None:
    one, two = (np.full(shape, k) if shape else k for k in (1, 2))
    part = combiners.Combiner("xor", "int64"), combiners.Field("int64", 0, False, shape)
    combiner = records.RecordCombiner({"low": part})
    with pytest.raises(InternalError, match="xor"):
        combiner.add(SimpleNamespace(low=one), SimpleNamespace(low=two))
