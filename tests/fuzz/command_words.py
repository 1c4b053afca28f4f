"""What command lines are drawn from: files, and valid, nearly valid and hostile words for options."""

from __future__ import annotations

from gaslab.partitioning.names import NAMES

PROGRAM = """
import gaslab as gl
class Fine(gl.VertexProgram):
    start_at: int = 1
    class Vertex(gl.Vertex):
        n: int = 0
    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.n + 1
    def apply(self, v: Vertex, total: int) -> None:
        v.n = total % 7 + self.start_at
    def done(self) -> bool:
        return self.superstep >= 3
class Weighted(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 1.0
    class Edge(gl.Edge):
        weight: float
    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr.x
    def apply(self, v: Vertex, total: float) -> None:
        v.x = total
class Divides(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n = 1 // v.n
class Wrong(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.m = 1
"""
FILES = {
    "edges.tsv": b"".join(b"%d\t%d\n" % (k * 7 % 12, k * 5 % 11) for k in range(40)),
    "weighted.csv": b"source,target,weight,km\n"
    + b"".join(b"%d,%d,%d,0.5\n" % (k % 9, k * 5 % 7, k) for k in range(20)),
    "names.tsv": b"ann bob\nbob \xc3\xa9ve\n\xc3\xa9ve ann\n",
    "bad.txt": b"1 2\n3\nx y z\n4 5\n",
    "empty.txt": b"",
    "bytes.bin": b"\x00\xff\x01\n",
    "square.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n2 2 5\n3 3 6\n1 2 1\n3 1 1",
    "mesh.graph": b"4 3\n2\n1 3\n2 4\n3\n",
    "values.tsv": b"0\t0.5\n1\t0.25\n2\t1\n",
    "id.csv": b"id,x\n0,1\n1,2\n",
    "program.py": PROGRAM.encode(),
    "raises.py": b"1 / 0\n",
    "syntax.py": b"class (:\n",
}
GRAPHS = (
    ("edges.tsv",) * 16
    + ("weighted.csv",) * 16
    + (
        "names.tsv",
        "square.mtx",
        "mesh.graph",
        "bad.txt",
        "empty.txt",
        "bytes.bin",
        "nothing.tsv",
        ".",
        "*.tsv",
        "*.none",
        "/dev/null",
        "",
        "edges.tsv/",
        "folder",
        "program.py",
        "\udcff.tsv",
    )
)
HOSTILE = (
    "",
    "0",
    "1",
    "-1",
    "2",
    "1e9",
    "nan",
    "inf",
    "-inf",
    "1.5",
    "x",
    "9" * 30,
    "-0",
    "0x1",
    "1_0",
    "é",
    "\udcff",
    " ",
    "none",
    "true",
    "=",
    "a=b",
    "=b",
    "a=",
    "a=b=c",
    "--",
    "-",
    "-1e400",
    "\n",
    "a" * 300,
    "%s",
    "{}",
    "../x",
    "2147483648",
    "9223372036854775808",
    "1,2",
    ",",
    "*",
    "[",
    "#",
    "edges.tsv",
    "/",
    "~",
    "$HOME",
    "'",
    '"',
    "\\",
    "auto",
)
OUTPUTS = ("out.tsv", "out.csv", "out.tsv.gz", "out/") * 8 + (
    "out.txt",
    "/dev/null",
    "out",
    "",
    "edges.tsv",
    "folder/",
    "folder",
    "nowhere/out.tsv",
    ".",
    "/dev/full",
    "out.json",
    "é.tsv",
)
NUMBERS = ("1", "2", "1", "2", "3", "5", "10", "3", "0", "5", "10", "0.5", "0.85", "1e-6", "-1", "100")
WORDS = {
    "GRAPH": GRAPHS,
    "FILE|DIR/": OUTPUTS,
    "FILE": ("values.tsv", "id.csv", "run.json", "nothing.tsv", "edges.tsv", "/dev/null"),
    "FILE.py:Class": ("program.py:Fine",) * 12
    + (
        "program.py:Weighted",
        "program.py:Divides",
        "program.py:Wrong",
        "program.py",
        "program.py:None",
        "raises.py:A",
        "syntax.py:A",
        "nothing.py:A",
        ":",
        "edges.tsv:A",
    ),
    "NAME": (
        *NAMES,
        "weight",
        "km",
        "edges",
        "metis",
        "matrixmarket",
        "auto",
        "nothing",
    ),
    "FIELD=NAME": ("weight=2", "weight=km", "weight=none", "km=3", "x=weight", "source=1", "weight=9"),
    "FIELD=FILE": (
        "score=values.tsv",
        "component=values.tsv",
        "n=values.tsv",
        "x=nothing.tsv",
        "score=bad.txt",
    ),
    "NAME=VALUE": ("start_at=2", "start_at=x", "start=1", "n=1", "start_at=1.5", "start_at=" + "9" * 30),
    "A,B": ("score", "n", "score,n", "id", "side", "x,,", "component"),
    "CHAR": ("tab", ",", "whitespace", ";", "::", "a", " "),
    "CHARS": ("#", "%", "", "#;", "é"),
    "LEVEL": ("debug", "info", "warning", "error"),
    "DIR": ("made", "folder", "edges.tsv"),
    "K[,K...]": ("1", "2", "5", "1,2", "3,2,1", "2,2", "0", "2,x"),
    "ID": ("0", "1", "99", "ann", "left:0", "right:1", "-1", "x"),
    "SECONDS": ("5", "0", "0.01", "20"),
    "KIND": ("rmat", "powerlaw", "bipartite", "grid", "erdos-renyi") * 4 + ("er",),
}
# Values that ask for a very large answer, which the machine may not hold.
SIZES = (
    "--scale",
    "--edge-factor",
    "--vertices",
    "--edges",
    "--left",
    "--right",
    "--rows",
    "--columns",
    "--max-degree",
    "-k",
    "--parts",
    "--threads",
)
