"""Vertex ids in results of bipartite graphs: their sides in tables and files, and the start of other runs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


def test_lists_of_ids_say_the_side_and_can_be_given_back(ranks: Ranks) -> None:
    for near, again in ranks.run(lists_of_ids):
        assert near == [[gl.right(5), gl.right(9)], [gl.right(9)], [], []]
        assert again == near


def lists_of_ids(comm: Comm) -> list[Any]:
    """Return lists of ids as a run has them, and as one that is given them again (and changes nothing)."""
    graph = gl.Graph.from_edges([5, 5, 7], [9, 5, 9], bipartite=True, comm=comm)
    result = gl.run(Around(), graph, max_iterations=1)
    texts = result.vertices.to_arrow()["near"].to_pylist()
    assert texts == [["right:5", "right:9"], ["right:9"], [], []]
    again = gl.run(Around(), graph, max_iterations=0, init={"near": result})
    return [x.vertices["near"].tolist() for x in (result, again)]


@pytest.mark.parametrize("words", [False, True])
def test_arrow_tables_of_all_ranks_have_one_schema(ranks: Ranks, words: bool) -> None:
    """Whether a rank has lists with vertices of the right or not, or has no vertices."""
    schemas, lists = zip(*ranks.run(arrow_parts, words), strict=True)
    kind = "string" if words else "int64"
    assert set(schemas) == {f"id: {kind} side: int64 near: list<item: string>"}
    assert sorted(itertools.chain(*lists)) == ["5", "5", "7", "right:5", "right:9", "right:9"]


def arrow_parts(comm: Comm, words: bool) -> tuple[str, list[str]]:
    right = ["5", "9"] if words else [5, 9]
    pairs = [5, 5, 7], [right[1], right[0], right[1]]
    graph = gl.Graph.from_edges(*pairs, bipartite=True, directed=False, comm=comm)
    table = gl.run(Around(), graph, max_iterations=1, on="local").vertices.to_arrow()
    schema = " ".join(f"{field.name}: {field.type}" for field in table.schema)
    return schema, [one for row in table["near"].to_pylist() for one in row]


class Around(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]

    gather_edges = gl.OUT

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.near = total


def test_ids_of_a_result_keep_their_side_on_another_graph() -> None:
    """In the first graph 9 is only on the right, in the second on both sides."""
    first = gl.Graph.from_edges([5, 7], [9, 9], bipartite=True)
    second = gl.Graph.from_edges([5, 7], [9, 9], vertices=([5, 7, 9], [9]), bipartite=True)
    met = gl.run(Meets(), first, max_iterations=1)
    assert met.vertices.to_dict("met") == {(5, 0): 9, (7, 0): 9, (9, 1): -1}
    again = gl.run(Meets(), second, max_iterations=0, init={"met": met}).vertices
    assert again.to_dict("met") == {(5, 0): 9, (7, 0): 9, (9, 0): -1, (9, 1): -1}
    assert again["met_side"].tolist() == [1, 1, -1, -1]


def test_ids_given_in_the_order_of_the_vertices_are_each_rank_s_own(ranks: Ranks) -> None:
    assert all(found == [1, 2, 3, 3, -1] for found in ranks.run(ids_by_position))


def ids_by_position(comm: Comm) -> list[Any]:
    graph = gl.Graph.from_edges([1, 2, 3, 4, 5], [2, 3, 4, 5, 1], comm=comm)
    init = {"met": [1, 2, 3, 3, gl.NOBODY]}
    return gl.run(Meets(), graph, max_iterations=0, init=init).vertices["met"].tolist()


class Meets(gl.VertexProgram):
    class Vertex(gl.Vertex):
        met: gl.VertexId = gl.NOBODY

    gather_edges = gl.OUT

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        v.met = total


def test_groups_and_parents_are_printed_with_their_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edges.txt").write_text("3 3\n3 4\n9 9\n")
    words = [str(tmp_path / "edges.txt"), "--bipartite", "--quiet", "--threads", "1"]
    assert main(["strong-components", *words]) == 0
    groups = [line.split()[1:3] for line in capsys.readouterr().out.splitlines()[1:]]
    assert groups[0] == ["side", "vertices"]
    assert [line.split()[1:3] for line in ("1 3 0", "2 9 0", "3 3 1", "4 4 1", "5 9 1")] == groups[1:]
    assert main(["bfs", *words, "--source", "right:3", "--parents"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "side", "parent", "parent_side", "level"]
    assert first.split() == ["1", "3", "1", "-1", "-1", "0"]


@pytest.mark.parametrize(
    ("fields", "head"),
    [
        ("parent", "id,side,parent,parent_side"),
        ("parent,level", "id,side,parent,parent_side,level"),
        ("parent_side,level,parent", "id,side,parent_side,level,parent"),
        ("level", "id,side,level"),
        ("", "id,side,parent,parent_side,level"),
    ],
)
@pytest.mark.parametrize("command", [["run", "leads.py"], ["bfs", "--source", "3", "--parents"]])
def test_fields_of_ids_are_written_with_their_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], fields: str, head: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("3 3\n3 4\n9 9\n")
    Path("leads.py").write_text(LEADS)
    words = [*command, "edges.txt", "--bipartite", "--max-iterations", "1", "--quiet", "-o", "out.csv"]
    assert main([*words, *(["--fields", fields] if fields else [])]) == 0
    assert Path("out.csv").read_text().splitlines()[0] == head


def test_lists_of_ids_are_written_as_the_command_line_names_vertices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("around.py").write_text(AROUND)
    Path("edges.txt").write_text("ann ann\nann bob\nright:2 bob\n")
    command = ["run", "around.py", "edges.txt", "--bipartite", "--undirected", "--max-iterations", "1", "-q"]
    assert main([*command, "-o", "out.tsv"]) == 0
    assert Path("out.tsv").read_text().splitlines() == [
        "ann\t0\t['right:ann', 'right:bob']",
        "right:2\t0\t['right:bob']",
        "ann\t1\t['ann']",
        "bob\t1\t['ann', 'left:right:2']",
    ]
    assert main(command) == 0
    assert "['ann', 'left:right:2']" in capsys.readouterr().out


FROM_A_RESULT = "gl.run(..., init=result)"


@pytest.mark.parametrize(
    ("words", "field", "value", "message"),
    [
        ("bfs --parents --source a", "parent", "1", "init={'parent': ...} (--init) gives the number 1.0, and "
         f"the field has vertex ids; give vertex ids, or an earlier result: {FROM_A_RESULT} in Python"),
        ("run around.py", "near", "1", "init={'near': ...} (--init) gives the number 1.0, and the field has "
         f"lists; give lists, or an earlier result: {FROM_A_RESULT} in Python"),
        ("run around.py", "near", "[a]", "values.tsv, line 1: '[a]' is not a number; id first, value last; "
         f"fields of vertex ids or lists start from a result in Python: {FROM_A_RESULT}"),
    ],
)  # fmt: skip
def test_files_of_values_cannot_start_fields_of_ids_and_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: str, field: str, value: str, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("a b\n")
    Path("around.py").write_text(AROUND)
    Path("values.tsv").write_text(f"a\t0\t{value}\n")
    argv = [*words.split(), "edges.txt", "--bipartite", "--init", f"{field}=values.tsv", "--quiet"]
    assert main([*argv, "--max-iterations", "1"]) in (1, 2)
    assert message in capsys.readouterr().err


def test_lists_are_given_by_position_and_a_number_among_them_is_an_error_on_all_ranks(ranks: Ranks) -> None:
    for near, one, three in ranks.run(lists_by_position):
        assert near == [[5], [7, gl.right(9)], [], []]
        assert one.startswith("init={'near': ...} (--init) gives the number 7, and the field has lists")
        assert three.startswith("init={'near': ...} needs one list per vertex, 4, in the order of the sorted")


def lists_by_position(comm: Comm) -> list[Any]:
    graph = gl.Graph.from_edges([5, 5, 7], [9, 5, 9], bipartite=True, comm=comm)
    found: list[Any] = []
    for near in ([[5], [7, gl.right(9)], [], []], [[], [], [], 7], 3):
        try:
            result = gl.run(Around(), graph, max_iterations=0, init={"near": near})
            found.append(result.vertices["near"].tolist())
        except gl.UsageError as error:
            found.append(str(error))
    return found


AROUND = """
import gaslab as gl


class Around(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.near = total
"""


LEADS = """
import gaslab as gl


class Leads(gl.VertexProgram):
    class Vertex(gl.Vertex):
        parent: gl.VertexId = gl.NOBODY
        level: int = 0

    def apply(self, v: Vertex) -> None:
        v.level = 1
"""
