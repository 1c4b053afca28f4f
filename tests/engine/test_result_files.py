"""A result goes into a file, and a run starts from it: in every format, on any ranks, with any ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import GaslabError, InputError, UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.storage.saved import folder

FORMATS = (".parquet", ".npz", ".csv", ".tsv", ".csv.gz")


class Kinds(gl.VertexProgram):
    """Every kind of field; a superstep changes nothing, so that the answer is what it started from."""

    class Vertex(gl.Vertex):
        count: int = 0
        level: float = 0.5
        ok: bool = False
        small: gl.float32 = 0.0
        pair: gl.Vector = gl.field(shape=2, dtype=gl.float64)
        grid: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.int32)
        best: gl.VertexId = gl.NOBODY

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1

    def apply(self, v: Vertex, total: int) -> None:
        pass


class Fill(Kinds):
    class Vertex(Kinds.Vertex):
        pass

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        v.count = 3 * v.degree - 7
        v.level = 1.0 / (1.0 + v.degree)
        v.ok = v.degree > 2
        v.small = 0.1 * v.degree
        v.pair[0], v.pair[1] = 0.1 * v.degree, -0.0
        v.grid[0, 1] = v.degree
        v.best = total


def graphs(comm: Comm) -> dict[str, Graph]:
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 20, 60), rng.integers(0, 20, 60)
    names = np.array([["007", "a,b", 'say "no"', "é", "x y"][k % 5] + str(k // 5) for k in range(20)], object)
    return {
        "numbers": Graph.from_edges(src * 3 - 9, dst * 3 - 9, comm=comm),
        "counted": Graph.from_edges(src, dst, vertices=range(22), comm=comm),
        "text": Graph.from_edges(names[src], names[dst], vertices=["alone"], comm=comm),
        "two sides": Graph.from_edges(src, dst, bipartite=True, comm=comm),
        "two kinds": Graph.from_edges(names[src], dst, bipartite=True, comm=comm),
    }


def there_and_back(comm: Comm, on: str) -> None:
    for kind, graph in graphs(comm).items():
        filled = gl.run(Fill(), graph, max_iterations=1, on=on)
        expected = gl.run(Fill(), graph, max_iterations=1)
        with folder(comm) as place:
            for ending in FORMATS:
                path = place / f"x{ending}"
                filled.save(path)
                fields = [name for name in expected.vertices.columns if not name.endswith("_side")]
                for init in (str(path), dict.fromkeys(fields, path)):
                    again = gl.run(Kinds(), graph, max_iterations=1, init=init)
                    for name in expected.vertices.columns:
                        found, wanted = again.vertices[name], expected.vertices[name]
                        assert found.dtype == wanted.dtype, (kind, ending, name)
                        assert found.tolist() == wanted.tolist(), (kind, ending, name)


@pytest.mark.parametrize("on", ["all", "root", "local"])
def test_a_run_starts_from_what_a_result_saved(ranks: Ranks, on: str) -> None:
    ranks.run(quietly, there_and_back, on)


def quietly(comm: Comm, function: Callable[..., None], *arguments: Any) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of limits, which are asked for here
        function(comm, *arguments)


def same_bytes(comm: Comm, place: str, name: str) -> None:
    graph = graphs(comm)["two kinds"]
    for on in ("all", "root", "local"):
        gl.run(Fill(), graph, max_iterations=1, on=on).save(f"{place}/{on}{comm.size}{name}")


def test_files_are_the_same_on_any_ranks_wherever_the_answer_is(hosts: Any, tmp_path: Path) -> None:
    for size in (1, 3):
        for name in (".npz", ".tsv", ".csv.gz"):
            hosts(size).run(quietly, same_bytes, str(tmp_path), name)
    for name in (".npz", ".tsv", ".csv.gz"):
        files = list(tmp_path.glob(f"*{name}"))
        assert len(files) == 6
        assert len({path.read_bytes() for path in files}) == 1


class Near(gl.VertexProgram):
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]

    class Edge(gl.Edge):
        mark: int = 0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.near = total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.mark = v.degree


class Kept(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]

    def apply(self, v: Vertex) -> None: ...


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["numbers", "text", "two sides", "two kinds"])
def test_lists_of_vertices_go_through_parquet(kind: str, tmp_path: Path) -> None:
    graph = graphs(Comm())[kind]
    result = gl.run(Near(), graph, max_iterations=1)
    result.save(tmp_path / "lists.parquet")
    again = gl.run(Kept(), graph, max_iterations=1, init=tmp_path / "lists.parquet")
    assert again.vertices["near"].tolist() == result.vertices["near"].tolist()
    with pytest.raises(UsageError, match=r"column 'near' has a list, which no plain array can hold"):
        result.save(tmp_path / "lists.npz")


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_the_table_of_edges_is_saved(tmp_path: Path) -> None:
    result = gl.run(Near(), Graph.from_edges(["a", "b", "a"], ["b", "c", "c"]), max_iterations=1)
    result.save(tmp_path / "edges.csv", edges=True)
    assert (tmp_path / "edges.csv").read_text() == "source,target,mark\na,b,2\na,c,2\nb,c,2\n"


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_what_a_file_cannot_be(tmp_path: Path) -> None:
    graph = Graph.from_edges([1, 2], [2, 3])
    result = gl.pagerank(graph)
    for name, message in (
        ("x", "cannot tell what to write"),
        ("x.json", "end it in .tsv, .csv, .tsv.gz or .csv.gz for one file, in .parquet, in .npz, or in /"),
        ("x/", "a result is saved in one file"),
    ):
        with pytest.raises(UsageError, match=message):
            result.save(f"{tmp_path}/{name}")
    result.save(tmp_path / "x.npz")
    with pytest.raises(UsageError, match="exists; --force"):
        result.save(tmp_path / "x.npz")
    result.save(tmp_path / "x.npz", force=True)
    with pytest.raises(UsageError, match="has none of the fields of Kinds"):
        gl.run(Kinds(), graph, init=tmp_path / "x.npz", max_iterations=1)
    with pytest.raises(UsageError, match="has no column 'count'"):
        gl.run(Kinds(), graph, init={"count": tmp_path / "x.npz"}, max_iterations=1)
    with pytest.raises(GaslabError, match="vertex 1 is not in the graph"):
        gl.run(gl.programs.PageRank(), Graph.from_edges([5], [6]), init=tmp_path / "x.npz", max_iterations=1)
    for name, content, message in (
        ("torn.npz", (tmp_path / "x.npz").read_bytes()[:-40], "it is not an .npz archive of plain arrays"),
        ("torn.parquet", b"PAR1 and more", "it is not a Parquet file"),
        ("objects.npz", None, "it is not an .npz archive of plain arrays"),
        ("headless.npz", None, "has no column 'id'"),
        ("uneven.npz", None, "column 'score' has 3 rows, id 2"),
        ("holes.csv", b"id,x[0],x[2]\n1,2,3\n", r"columns x\[...\] are not the elements of one array"),
        ("huge.csv", b"id,x[999999999]\n1,2\n", r"columns x\[...\] are not the elements of one array"),
        ("none.npz", None, "cannot read"),
    ):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        elif name == "objects.npz":
            np.savez(path, id=np.array([1, 2], object))
        elif name == "headless.npz":
            np.savez(path, score=np.arange(3))
        elif name == "uneven.npz":
            np.savez(path, id=np.arange(2), score=np.arange(3.0))
        with pytest.raises(InputError, match=message):
            gl.run(gl.programs.PageRank(), graph, init=path, max_iterations=1)


@pytest.mark.parametrize("ending", FORMATS)
def test_tables_of_vertices_are_read_in_every_format(ending: str, tmp_path: Path) -> None:
    graph = graphs(Comm())["text"]
    result = gl.pagerank(graph)
    path = tmp_path / f"x{ending}"
    result.save(path)
    made = graph.with_vertices(path)
    assert made.vertex_columns["score"].tolist() == result.vertices["score"][made.local.gid].tolist()
    assert gl.read_vertices(path)["score"].tolist() == result.vertices["score"].tolist()
