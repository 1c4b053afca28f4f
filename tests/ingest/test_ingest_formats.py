"""Files in other formats: refused by name with the way out, never taken for an edge list."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import re
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest.formats import FOREIGN, HEAD_BYTES, find_format
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


def _written(write: Any) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


NET = nx.path_graph(3)
FRAME = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
TEXT: dict[str, bytes] = {
    "a GraphML file": "\n".join(nx.generate_graphml(NET)).encode(),
    "a GEXF file": "\n".join(nx.generate_gexf(NET)).encode(),
    "a GML file": "\n".join(nx.generate_gml(NET)).encode(),
    "a Pajek file": "\n".join(nx.generate_pajek(NET)).encode(),
    "a JSON file": b'{"nodes": [{"id": 0}], "links": []}',
    "a Graphviz file": b"strict digraph {\n0 -> 1;\n}\n",
    "a GDF file": b"nodedef>name VARCHAR\ns1\nedgedef>node1 VARCHAR,node2 VARCHAR\ns1,s1\n",
    "a UCINET file": b"dl n=3 format=edgelist1\nlabels:\na b c\ndata:\n1 2\n",
    "a LEDA graph": b"LEDA.GRAPH\nvoid\nvoid\n-2\n",
    "a LEMON graph": b"@nodes\nlabel\n0\n1\n@arcs\n label\n0 1 0\n",
    "a graph in graph6, sparse6 or digraph6": nx.to_graph6_bytes(NET),
    "a DIMACS graph": b"c a road network\nc\np sp 3 2\na 1 2 4\na 2 3 5\n",
    "a PBBS or Ligra adjacency graph": b"AdjacencyGraph\n3\n2\n0\n1\n2\n1\n2\n",
    "an XML or HTML file": b"<!DOCTYPE html>\n<html><body>404 not found</body></html>\n",
}
BINARY: dict[str, bytes] = {
    "a NumPy array": _written(lambda file: np.save(file, np.eye(3))),
    "a zip archive": _written(lambda file: np.savez(file, np.eye(3))),
    "a pickle": pickle.dumps(NET),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(40),
    "a MATLAB file": b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(100),
    "an SQLite database": b"SQLite format 3\0" + bytes(100),
    "a Parquet file": b"PAR1\x15\x04\x15\x30" + bytes(40),
    "an Arrow or Feather file": b"ARROW1\0\0" + bytes(40),
    "an ORC file": b"ORC\x0a\x03" + bytes(40),
    "an Avro file": b"Obj\x01\x04\x16avro.schema",
    "an Excel workbook": b"\xd0\xcf\x11\xe0" + bytes(40),
    "a PDF file": b"%PDF-1.7\n1 0 obj\n2 3\n",
    "a tar archive": bytes(257) + b"ustar\x0000" + bytes(300),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c\0\4",
    "an R data file": b"RDX3\nX\n",
}


def _edges(comm: Comm, path: str, options: dict[str, Any]) -> int:
    return read_edges(path, comm, **options).counts["edges"]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("what", [*TEXT, *BINARY])
def test_the_first_bytes_say_what_a_file_is(tmp_path: Path, what: str, zipped: bool) -> None:
    content = {**TEXT, **BINARY}[what]
    path = tmp_path / ("g.txt.gz" if zipped else "g.txt")
    path.write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: is {what}; ") as error:
        read_edges(path, Comm())
    assert ("--format edges (format='edges')" in str(error.value)) == (what in TEXT)
    if what in BINARY:
        with pytest.raises(InputError, match=f"is {what}; "):
            read_edges(path, Comm(), format="edges")
    with pytest.raises(InputError, match=f"is {what}; a table of vertices is text, .* or .*npz"):
        gl.read_vertices(path)


@pytest.mark.parametrize("ending", sorted({ending for one in FOREIGN for ending in one.endings}))
def test_endings_say_what_a_file_is(tmp_path: Path, ending: str) -> None:
    what = next(one.what for one in FOREIGN if ending in one.endings)
    for name in (f"g{ending}", f"G{ending.upper()}", f"g{ending}.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(b"1 2\n") if name.endswith("gz") else b"1 2\n")
        expected = f"{path}: is named {ending}, as {what} is; "
        with pytest.raises(InputError, match=re.escape(expected) + ".*--format edges"):
            read_edges(path, Comm())
        assert read_edges(path, Comm(), format="edges").counts["edges"] == 1


def test_what_other_libraries_write_is_refused(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "m.npz", sp.eye_array(3).tocsr())
    nx.write_graphml(NET, tmp_path / "g.graphml")
    nx.write_gexf(NET, tmp_path / "g.xml")
    nx.write_adjlist(NET, tmp_path / "g.adjlist")
    FRAME.to_json(tmp_path / "g.data", orient="records")
    FRAME.to_json(tmp_path / "h.data", orient="records", lines=True)
    FRAME.to_pickle(tmp_path / "p.data")
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match=r"^.*: is (named .*, as )?an? (?!edge)"):
            read_edges(path, Comm())


@pytest.mark.parametrize(
    "text",
    ["PAR1 BRCA2\nORC ELF\n", "ORC a\n", "ARROW1 b\n", "graph x\nx y\n", "c d\np q\n", "c 1\np 2\n",
     "creator x\n", "*a b\n", "{a} {b}\n", "[1] [2]\n", "<a> <b>\n", "p sp\n", "dl n\n", "nodes arcs\n",
     "LEDA.GRAPHS x\n",
     "@a b\n", "BZh a\n", "%PDF\n1 2\n", "digraph a\n", "Obj a\n", "MATLAB python\n", "%%Matrix\n1 2\n",
     "7z x\n"],
)  # fmt: skip
def test_names_that_look_like_a_format_are_edges(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(text)
    assert read_edges(path, Comm()).counts["edges"] == sum(line[0] != "%" for line in text.splitlines())


@pytest.mark.parametrize("what", ["a Pajek file", "a JSON file", "a DIMACS graph", "a Parquet file"])
def test_every_rank_refuses_alike(ranks: Ranks, tmp_path: Path, what: str) -> None:
    (tmp_path / "a.txt").write_text("1 2\n")
    path = tmp_path / "b.txt"
    path.write_bytes({**TEXT, **BINARY}[what])
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: is {what}; "):
        ranks.run(_edges, str(tmp_path / "*.txt"), {})


def test_a_format_may_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.net"
    path.write_text("*a *b\n*b *c\n")
    assert read_edges(path, Comm(), format="edges").counts["edges"] == 2
    assert main(["info", str(path), "--format", "edges", "--quiet"]) == 0
    assert "edges" in capsys.readouterr().out
    assert main(["info", str(path), "--quiet"]) == 1
    assert (
        f"{path}: is named .net, as a Pajek file is; read it with networkx.read_pajek"
        in capsys.readouterr().err
    )
    assert main(["info", str(path), "--format", "edge"]) == 2
    assert "'edge' is unknown; did you mean 'edges'?" in capsys.readouterr().err
    known = "auto, bagofwords, edges, matrixmarket, metis"
    with pytest.raises(UsageError, match=re.escape(f"format='pajek' is unknown; known: {known}")):
        read_edges(path, Comm(), format="pajek")


@pytest.mark.parametrize("piece", [
    b"#\n", b"%\n", b"\n", b" ", b"c\n", b"c ", b"<", b"[ ", b"{\n", b"graph ", b"//\n", b"graph\n",
    b"digraph x", b"p sp ", b"dl ", b"creator ", b"comment\n", b"*", b"9",
])  # fmt: skip
def test_looking_takes_no_longer_than_the_head_says(piece: bytes) -> None:
    began = time.perf_counter()
    for head in (piece * (HEAD_BYTES // len(piece)), b"x" + piece * (HEAD_BYTES // len(piece))):
        with contextlib.suppress(InputError):
            find_format("g.txt", head)
    assert time.perf_counter() - began < 1.0
