"""Many of everything: columns, fields, parameters, aggregators, phases and parts, beyond eight bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.agreement import from_text


class OfTwo(gl.VertexProgram):
    """The first and the last of many columns."""

    gather_edges = gl.IN

    class Vertex(gl.Vertex):
        x: float = 0.0

    class Edge(gl.Edge):
        first: float
        last: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.first + 1000.0 * e.last

    def apply(self, v: Vertex, total: float) -> None:
        v.x = total


def of_columns(comm: Comm, path: str | None, names: list[str], table: list[list[int]]) -> Any:
    if path is None:
        columns = {name: [row[2 + k] for row in table] for k, name in enumerate(names)}
        ends = [row[0] for row in table], [row[1] for row in table]
        graph = gl.Graph.from_edges(*ends, columns=columns, strategy="random", comm=comm)
    else:
        graph = gl.read_graph(path, strategy="random", comm=comm)
    bound = {"first": names[0], "last": names[-1]}
    result = gl.run(OfTwo(), graph, columns=bound, max_iterations=1)
    return sorted(graph.edge_columns) == sorted(names), result.vertices["x"].tolist()


@pytest.mark.parametrize("source", ["file", "arrays"])
@pytest.mark.parametrize("count", [126, 127, 128, 131, 253])
def test_many_columns_keep_their_values(ranks: Ranks, tmp_path: Path, count: int, source: str) -> None:
    names = [f"c{k}" for k in range(count)]
    table = [[s, (s * 3 + 1) % 7, *((s * 31 + k) % 97 for k in range(count))] for s in range(7)]
    path = tmp_path / "wide.tsv"
    lines = ["\t".join(("source", "target", *names)), *("\t".join(map(str, row)) for row in table)]
    path.write_text("\n".join(lines) + "\n")
    expected = np.zeros(7)
    for row in table:
        expected[row[1]] += row[2] + 1000.0 * row[-1]
    found = ranks.run(of_columns, str(path) if source == "file" else None, names, table)
    assert found == [(True, expected.tolist())] * ranks.size


def test_more_fields_than_can_be_read_are_refused_by_number(tmp_path: Path) -> None:
    path = tmp_path / "wider.tsv"
    path.write_text("\t".join(["1"] * 256) + "\n")
    with pytest.raises(gl.errors.InputError, match="the first data line has 256 fields; at most 255"):
        gl.read_graph(path)


def _text(fields: int, edges: int, params: int, parts: int, aggregators: int, phases: int) -> str:
    lines = ["import gaslab as gl", "class P(gl.VertexProgram):"]
    lines += [f"    p{k}: int = {k}" for k in range(params)]
    lines += ["    class Vertex(gl.Vertex):", *(f"        f{k}: int = {k}" for k in range(fields))]
    lines += ["    class Edge(gl.Edge):", *(f"        e{k}: int = {k}" for k in range(edges))]
    lines += ["    class T(gl.Accumulator):", *(f"        t{k}: int" for k in range(parts))]
    for k in range(aggregators):
        lines += [
            "    @gl.aggregator",
            f"    def a{k}(self, v) -> gl.Sum[int]:",
            f"        return v.f{k % fields} + {k}",
        ]
    given = ", ".join(f"t{k}=nbr.f{k % fields} % 7 + e.e{k % edges}" for k in range(parts))
    lines += ["    def g(self, v, e, nbr) -> T:", f"        return self.T({given})"]
    lines += ["    def add(self, v, total):"]
    for k in range(fields):
        more = f"total.t{k * 3 % parts} + self.p{(k + 9) % params} + self.a{k * 5 % aggregators}"
        lines.append(f"        v.f{k} = (v.f{k} + {more}) % 1009")
    lines.append("    phases = (")
    lines += ["        gl.Phase(gather=g, apply=add, supersteps=1),"] * phases
    return "\n".join([*lines, "    )", ""])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize("many", ["fields", "edges", "params", "parts", "aggregators", "phases"])
def test_many_of_a_program_s_parts(many: str) -> None:
    """Interpreted is the reference; compiled too, but for phases, each of which is a library."""
    counts = dict.fromkeys(("fields", "edges", "params", "parts", "aggregators", "phases"), 2)
    counts[many] = {"fields": 64, "parts": 130, "aggregators": 130}.get(many, 260)
    program = from_text(f"many_{many}", _text(**counts)).P()
    graph = gl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    ways: list[dict[str, Any]] = [{"engine": "reference"}, {"compile": "never"}]
    ways += [{"compile": "require"}] if many != "phases" else []
    answers = []
    for way in ways:
        result = gl.run(program, graph, **way)
        assert result.iterations == counts["phases"]
        answers.append({name: result.vertices[name].tolist() for name in result.vertices.columns})
    assert all(answer == answers[0] for answer in answers)
