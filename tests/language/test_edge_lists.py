"""Lists on edges: from which columns, on which ranks, in graphs made of graphs, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, as_comm
from gaslab.ragged import RaggedColumn
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES

SOURCES, TARGETS = [3, 0, 1, 2, 3, 5, 3], [0, 2, 3, 3, 0, 1, 3]
TOKENS = [[1, 2], [], [3], [2, 2, 9, -4], [], [7, 0, 7], [5]]
LEVELS = [[], [0.5], [], [1.5, -0.25], [], [], [2.0]]
ENGINES = ["sync", "reference"]


class Read(gl.VertexProgram):
    """Adds up what the lists say, in an order that shows where each value stands; counts both ways."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        said: int = 0
        level: float = 0.0
        sets: int = 0

    class Edge(gl.Edge):
        tokens: gl.List[int]
        levels: gl.List[gl.float32]
        once: gl.SortedSet[gl.int8]

    class Total(gl.Accumulator):
        said: int
        level: float
        sets: int

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        said, place = 0, 1
        for k in range(len(e.tokens)):
            said += e.tokens[k] * place
            place *= 10
        level = 0.0
        for x in e.levels:
            level += x
        sets = 0
        for y in e.once:
            sets = sets * 10 + y
        if e.forward:
            return self.Total(said=said * 3, level=level)
        return self.Total(said=said, level=level, sets=sets)

    def apply(self, v: Vertex, total: Total) -> None:
        v.said, v.level, v.sets = total.said, total.level, total.sets


COLUMNS = {"once": "tokens"}


def read(graph: gl.Graph, engine: str = "sync") -> list[Any]:
    result = gl.run(Read(), graph, max_iterations=1, columns=COLUMNS, engine=engine)
    return [list(result.vertices.ids), *(result.vertices[name].tolist() for name in result.vertices.columns)]


def expected(edges: list[int], ids: list[int], back: bool = False) -> list[Any]:
    """Return what `read` must be of a graph of some of the edges, by number."""
    said, level, sets = (dict.fromkeys(ids, 0.0) for _ in range(3))
    for k in edges:
        source, target = (TARGETS[k], SOURCES[k]) if back else (SOURCES[k], TARGETS[k])
        value = sum(x * 10**place for place, x in enumerate(TOKENS[k]))
        for v, times in ((source, 3), (target, 1)):
            said[v] += value * times
            level[v] += sum(LEVELS[k])
        number = 0
        for x in sorted(set(TOKENS[k])):
            number = number * 10 + x
        sets[target] += number
    return [ids, *([x[v] for v in ids] for x in (said, level, sets))]


def made(comm: Comm, rows: str, strategy: str) -> gl.Graph:
    chosen = slice(comm.rank, None, comm.size) if rows == "parts" else slice(None)
    if rows == "root" and comm.rank:
        chosen = slice(0, 0)
    columns = {"tokens": TOKENS[chosen], "levels": LEVELS[chosen]}
    return gl.Graph.from_edges(
        SOURCES[chosen], TARGETS[chosen], columns=columns, comm=comm, rows=rows, strategy=strategy
    )


def on_ranks(comm: Comm, rows: str, strategy: str, engine: str) -> list[Any]:
    graph = made(comm, rows, "random")
    return [read(graph, engine), read(graph.partitioned(strategy), engine), graph.fingerprint, repr(graph)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_they_are_the_same_on_any_ranks_and_cuts(ranks: Ranks, strategy: str) -> None:
    """From rows of each kind in turn, so that each meets every number of ranks and cuts of each."""
    rows = ("same", "parts", "root")[(STRATEGIES.index(strategy) + ranks.size) % 3]
    all_of_it = expected([*range(7)], [0, 1, 2, 3, 5])
    alone = gl.Graph.from_edges(SOURCES, TARGETS, columns={"tokens": TOKENS, "levels": LEVELS})
    engine = "reference" if strategy == "2d" else "sync"
    for first, again, mark, text in ranks.run(on_ranks, rows, strategy, engine):
        assert first == again == all_of_it
        assert mark == alone.fingerprint
        assert "columns: tokens (lists of int64), levels (lists of float64)" in text


def derived(comm: Comm) -> list[Any]:
    graph = made(comm, "same", "random")

    def lower(source: Any, e: Any, target: Any) -> bool:
        return source.id < target.id  # type: ignore[no-any-return]

    undirected = gl.Graph.from_edges(
        SOURCES, TARGETS, columns={"tokens": TOKENS, "levels": LEVELS}, comm=comm, drop_duplicates=True,
        drop_self_loops=True,
    )  # fmt: skip
    return [
        read(graph.reverse()),
        read(graph.reverse().reverse()),
        read(graph.subgraph([0, 2, 3])),
        read(graph.subgraph(edges=lower)),
        read(undirected),
        graph.to_undirected().num_edges,
        sorted(map(sorted, graph.to_undirected().edge_columns["tokens"].tolist())),
    ]


def test_graphs_made_of_it_keep_them(ranks: Ranks) -> None:
    ids = [0, 1, 2, 3, 5]
    for back, again, part, few, dropped, number, here in ranks.run(derived):
        assert back == expected([*range(7)], ids, back=True)
        assert again == expected([*range(7)], ids)
        assert part == expected([0, 1, 3, 4, 6], [0, 2, 3])
        assert few == expected([1, 2, 3], ids)
        assert dropped == expected([0, 1, 2, 3, 5], ids)
        assert number == 6
        assert all(row in map(sorted, TOKENS) for row in here)


def one_length_here(comm: Comm) -> list[Any]:
    """Every rank passes lists of one length, each another; of a column none has a value."""
    own = [[comm.rank + 1] * (comm.rank + 1)] * 2
    columns = {"tokens": own, "levels": [[], []]}
    graph = gl.Graph.from_edges(
        [comm.rank] * 2, [comm.rank + 1] * 2, columns=columns, rows="parts", comm=comm
    )
    assert graph.num_edges == 2 * comm.size
    return read(graph)


def test_lists_that_have_one_length_on_each_rank(ranks: Ranks) -> None:
    said = [int(str(rank + 1) * (rank + 1)) for rank in range(ranks.size)]
    both = [2 * (3 * out + into) for out, into in zip([*said, 0], [0, *said], strict=True)]
    for _, found, level, _ in ranks.run(one_length_here):
        assert found == both
        assert not any(level)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "form", ["lists", "tuples", "arrays", "objects", "pandas", "arrow", "column", "sets"]
)
def test_the_forms_of_a_column(form: str, engine: str) -> None:
    rows: Any = TOKENS
    if form == "tuples":
        rows = tuple(map(tuple, TOKENS))
    if form == "arrays":
        rows = [np.array(row, np.int16) for row in TOKENS]
    if form in ("objects", "pandas"):
        rows = np.fromiter(TOKENS, object, len(TOKENS))
    if form == "pandas":
        rows = pd.Series(rows)
        frame = pd.DataFrame({"source": SOURCES, "target": TARGETS, "tokens": rows})
        found = gl.Graph.from_pandas(frame, columns=["tokens"]).edge_columns["tokens"]
        assert sorted(found.tolist()) == sorted(TOKENS)
    if form == "arrow":
        rows = pytest.importorskip("pyarrow").array(TOKENS)
    if form == "column":
        rows = RaggedColumn(np.array([len(row) for row in TOKENS]), np.concatenate(TOKENS).astype(np.int64))
    if form == "sets":
        rows = [set(row) for row in TOKENS]
    graph = gl.Graph.from_edges(SOURCES, TARGETS, columns={"tokens": rows, "levels": LEVELS})
    assert sorted(graph.edge_columns["tokens"].tolist()) == sorted(
        sorted(set(row)) if form == "sets" else row for row in TOKENS
    )
    if form != "sets":
        assert read(graph, engine) == expected([*range(7)], [0, 1, 2, 3, 5])


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_of_one_length_serve_lists_and_vectors(engine: str) -> None:
    graph = gl.Graph.from_edges(
        [0, 1], [1, 2], columns={"tokens": [[1, 2], [4, 3]], "levels": [[1.0], [2.0]]}
    )
    assert read(graph, engine) == [[0, 1, 2], [63, 21 + 34 * 3, 34], [1, 3, 2], [0, 12, 34]]


def test_a_column_answers_as_an_array_of_rows_does() -> None:
    column = RaggedColumn(np.array([2, 0, 1]), np.array([5, 6, 7]))
    assert column[0] == [5, 6]
    assert column[-1] == [7]
    assert column[1:].tolist() == [[], [7]]
    assert column[np.array([True, False, True])].tolist() == [[5, 6], [7]]
    assert column[np.array([2, 0, 0])].tolist() == [[7], [5, 6], [5, 6]]
    assert list(column) == [[5, 6], [], [7]]
    assert repr(column) == "<3 lists of int64>"
    marks = [RaggedColumn(np.array(n), np.array(x)).hashes().tolist() for n, x in (
        ([2, 0], [5, 6]), ([2, 0], [6, 5]), ([1, 1], [5, 6]), ([0, 2], [5, 6]), ([2, 1], [5, 6, 0]),
    )]  # fmt: skip
    assert len({tuple(mark) for mark in marks}) == len(marks)
    assert len({mark for pair in marks[:2] for mark in pair}) == 3  # both have an empty row


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([[1], [2, "a"]], gl.InputError, "column 'w' has 'a' in row 1; lists hold numbers or bools"),
        ([[1], [2, None]], gl.InputError, "column 'w' has None in row 1; lists hold numbers or bools"),
        ([[], [2, [3]]], gl.InputError, "column 'w' has [3] in row 1; lists hold numbers or bools"),
        ([[0.5, float("nan")], []], gl.InputError, "column 'w' is not a number (nan) at position 0"),
        ([[1], 7], gl.InputError, "column 'w' is 7 in row 1, but other rows are lists; write [...]"),
        ([[1], None], gl.InputError, "column 'w' is None in row 1, but other rows are lists; write [...]"),
        ([[1], [2], [3, 4]], gl.UsageError, "w has 3 values, source 2"),
    ],
)
def test_values_that_are_no_numbers_are_named(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        gl.Graph.from_edges([0, 1], [1, 2], columns={"w": rows})
    assert str(caught.value) == message


def test_a_missing_row_of_arrow_is_named() -> None:
    rows = pytest.importorskip("pyarrow").array([[1], None])
    with pytest.raises(gl.InputError, match="column 'w' is missing in row 1; write an empty list"):
        gl.Graph.from_edges([0, 1], [1, 2], columns={"w": rows})


class One(gl.VertexProgram):
    class Edge(gl.Edge):
        w: float

    def gather(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> gl.Sum[float]:
        return e.w

    def apply(self, v: gl.Vertex, total: float) -> None: ...


def refused(comm: Comm, columns: dict[str, Any], program: type[gl.VertexProgram], engine: str) -> None:
    graph = gl.Graph.from_edges([4, 1], [6, 2], columns=columns, comm=comm)
    gl.run(program(), graph, columns=COLUMNS if program is Read else None, max_iterations=1, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("program", "columns", "message"),
    [
        (
            One,
            {"w": [[1], [2, 3]]},
            "One's field 'w' is a number, but the column 'w' has lists of int64; declare w: gl.List[...]",
        ),
        (
            Read,
            {"tokens": [1, 2], "levels": [[], [1.5]]},
            "Read's field 'tokens' is a list of ints, but the column 'tokens' has one number for each; "
            "give a list for each edge",
        ),
        (
            Read,
            {"tokens": [[], [1.5]], "levels": [[], [1.5]]},
            "column 'tokens' has 1.5 in the list of the edge 1 -> 2, which is not int64, as Read's field "
            "'tokens' needs",
        ),
        (
            Read,
            {"tokens": [[3, 300], [1]], "levels": [[], [1.5]]},
            "column 'tokens' has 300 in the list of the edge 4 -> 6, which is not int8, as Read's field "
            "'once' needs",
        ),
        (
            Read,
            {"tokens": [[3], [1]]},
            "Read needs the edge field 'levels', which has no default, and the graph has no column of that "
            "name; known: tokens; bind one with columns={'levels': NAME} or --column levels=NAME",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    ranks: Ranks, program: Any, columns: dict[str, Any], message: str, engine: str
) -> None:
    with pytest.raises(gl.UsageError) as caught:
        ranks.run(refused, columns, program, engine)
    assert message in str(caught.value)


def mixed(comm: Comm) -> None:
    column = [[1], [2, 3]] if comm.rank else [1, 2]
    gl.Graph.from_edges([0, 1], [1, 2], columns={"w": column}, rows="parts", comm=comm)


def test_ranks_must_agree(ranks: Ranks) -> None:
    if ranks.size == 1:
        mixed(as_comm(None))
        return
    with pytest.raises(gl.UsageError, match="column 'w' has lists on some ranks and other rows on others"):
        ranks.run(mixed)


def test_functions_of_numbers_refuse_lists() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"weight": [[1], [2, 3]]})
    with pytest.raises(
        gl.UsageError, match="edge column 'weight' has lists of int64; a number for each edge"
    ):
        gl.sssp(graph, 0)


class Faulty(gl.VertexProgram):
    class Edge(gl.Edge):
        tokens: gl.List[int]

    def gather(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> gl.Sum[int]:
        third = e.tokens[2] if e.tokens else 0
        return gl.mode(e.tokens) + third

    def apply(self, v: gl.Vertex, total: int) -> None: ...


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (5, "third = e.tokens[2] if e.tokens else 0", "an index outside the vector, matrix or list"),
        (6, "return gl.mode(e.tokens) + third", "the mode of an empty list; test len(x) first"),
    ],
)
@pytest.mark.parametrize("engine", ["require", "never", "reference"])
def test_faults_name_the_vertex_and_the_line(source: int, line: str, message: str, engine: str) -> None:
    graph = gl.Graph.from_edges([5, 6], [7, 8], columns={"tokens": [[1, 2], []]}).subgraph(
        [source, source + 2]
    )
    how: dict[str, Any] = {"engine": engine} if engine == "reference" else {"compile": engine}
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(Faulty(), graph, max_iterations=1, **how)
    assert f"Faulty failed at vertex {source + 2} in superstep 0" in str(caught.value)
    assert line in str(caught.value)
    if engine != "reference":
        assert message in str(caught.value)
