"""What a drawn program declares: the fields of its vertices and edges, and its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.pairs.words import SMALL

if TYPE_CHECKING:
    from tests.pairs.writer import Writer


def fields(program: Writer) -> list[str]:
    """Return the nested classes Vertex and Edge."""
    lines = ["        n: int = 3", "        low: int = 40"]
    rows = {
        "float field": ["x: float = 0.5"],
        "float32 field": ["y: gl.float32 = -1.5"],
        "bool field": ["b: bool = True"],
        "id field": ["least: gl.VertexId", "none: gl.VertexId = gl.NOBODY"],
        "matrix field": ["m: gl.Matrix = gl.field(shape=(2, 2), init=0.5)"],
        "bits of vectors": ["mask: gl.Vector = gl.field(shape=3, dtype=gl.int16, init=5)"],
        "vector of ids": ["ring: gl.Vector = gl.field(shape=3, dtype=gl.VertexId)"],
        "append": ["grown: gl.List[int]", "who: gl.List[gl.VertexId]"],
        "list field": ["some: gl.List[int]"],
        "set field": ["near: gl.SortedSet[gl.VertexId]"],
        "private field": ["_own: int = 1"],
        "wild floats": ["w: float = 0.5"],
        "lookup": [
            'theirs: int = gl.lookup("least.n")',
            'beyond: gl.VertexId = gl.lookup("least.least")',
        ],
        "drawn start": ["drawn: int = gl.integers(9)"],
        "vertex column": ["colour: int = 2"],
        "narrow store fault": ["tiny: gl.int8"],
        "sync=gl.SUM": [
            "got: int = gl.field(sync=gl.SUM)",
            "pool: float = gl.field(init=0.5, sync=gl.SUM)",
        ],
        "sync=gl.MIN": ["under: int = gl.field(init=90, sync=gl.MIN)"],
        "sync=gl.MAX": ["over: float = gl.field(init=-9.0, sync=gl.MAX)"],
        "additive vector": ["pile: gl.Vector = gl.field(shape=2, sync=gl.SUM)"],
    }
    for feature, texts in rows.items():
        lines += [f"        {text}" for text in texts if program.has(feature)]
    if program.has("vector field"):
        shape = '"size"' if program.has("shape parameter") else "3"
        lines.append(f"        z: gl.Vector = gl.field(shape={shape}, init=0.25)")
    small = next((kind for feature, kind in SMALL.items() if program.has(feature)), None)
    lines += [f"        k: gl.{small} = 4"] if small else []
    if program.fixed:
        lines += ["        on: int", "        _fell: bool = True", "        _turns: int = 0"]
        lines += [
            f"        {program.names[k]}: {t}"
            for k, t in (("float", "float"), ("bool", "bool"), ("id", "gl.VertexId"))
            if program.can(k)
        ]
    if program.cached:
        lines.append("        _was: int = 0")
    if program.kept:
        lines.append(f"        {program.kept}")
    edges = {
        "edge column": "weight: float",
        "edge default": "cost: gl.int32 = 2",
        "edge vector": "place: gl.Vector = gl.field(shape=2, init=0.5)",
        "edge list": "tokens: gl.List[int]",
        "edge set": "marks: gl.SortedSet[int]",
        "drawn edge field": "luck: int = gl.integers(5)",
        "edge written": "seen: int = 0",
        "additive edge field": "paid: float = gl.field(sync=gl.SUM)",
    }
    declared = [f"        {text}" for feature, text in edges.items() if program.has(feature)]
    return [
        "    class Vertex(gl.Vertex):",
        *lines,
        *(["    class Edge(gl.Edge):", *declared] if declared else []),
    ]


def parameters(program: Writer) -> list[str]:
    """Return the annotated attributes."""
    rows = {
        "id parameter": "source: gl.VertexId",
        "int parameter": "p: int = 3",
        "float parameter": "q: float = -0.75",
        "shape parameter": "size: int = 3",
        "vector parameter": "span: int\n    steps: gl.Vector = gl.field(shape='span', dtype=gl.float32)",
        "matrix parameter": "grid: gl.Matrix = gl.field(shape=(2, 3))",
        "supersteps by name": f"many: int = {program.one(['0', '1', '2', '3'])}",
        "module array": "PLACES = np.array([2, -1])",
    }
    return [f"    {text}" for feature, text in rows.items() if program.has(feature)]
