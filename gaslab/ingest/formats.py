"""The format of a file, by ending and first bytes; unsupported formats are refused by name.

A line of almost any text format contains two words, and so could pass for an edge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gaslab.errors import InputError

CALLED = {
    "edges": "edge list", "matrixmarket": "MatrixMarket", "metis": "METIS", "bagofwords": "bag-of-words",
    "ldac": "Blei lda-c", "svmlight": "libsvm/SVMlight", "text": "plain text",
}  # fmt: skip
FORMATS = ("auto", "edges", "matrixmarket", "metis", "bagofwords")  # of graphs
CORPUS_FORMATS = ("auto", "edges", "matrixmarket", "bagofwords", "ldac", "svmlight", "text")
HEAD_BYTES = 1 << 16  # marks of a format
BANNER = b"%%matrixmarket"
_NEAR_BANNER = re.compile(rb"(?:\xef\xbb\xbf)?\s*%[ \t%]*matrixmarket\b", re.I)  # as some write it
_BANNER_LINE = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|%(?!%matrixmarket)[^\n]*\n)*%%matrixmarket", re.I)
# Three lines of one whole number each, then one of three fields; with such a name the first line is enough.
_BAG_NAME = "docword."
_BAG_LINE = rb"(?:\xef\xbb\xbf)?\s*\d+[ \t]*(?:\r?\n|$)"
_BAG_HEAD = re.compile(_BAG_LINE + rb"(?:\s*\d+[ \t]*\r?\n){2}\s*\S+[ \t]+\S+[ \t]+\S+[ \t]*(?:\r?\n|$)")
ENDINGS = {".mtx": "matrixmarket", ".graph": "metis", ".metis": "metis"}
IF_EDGES = "or pass --format edges (format='edges') if it is an edge list"

_NETWORKX = "read it with networkx.{} and gl.Graph.from_networkx"
_PANDAS = "read it with pandas.{} and gl.Graph.from_pandas"
_CONTROL = frozenset(range(9)) | frozenset(range(14, 32))


@dataclass(frozen=True)
class Foreign:
    """An unsupported format: its name, the way out, and its marks."""

    what: str
    way_out: str
    endings: tuple[str, ...] = ()
    starts: tuple[bytes, ...] = ()  # any of these first bytes
    test: Callable[[bytes], bool] | None = None  # of the head, without leading blank lines
    binary: bool = True  # never an edge list, whatever its ending


def _begins(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.match(pattern, head, re.IGNORECASE) is not None


def _magic(*words: bytes) -> Callable[[bytes], bool]:
    """Test for words that may also be names, followed by non-text bytes."""
    return lambda head: head.startswith(words) and not _CONTROL.isdisjoint(head[:64])


def _markup(tag: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(b"<") and tag in head


def _text(
    what: str, way_out: str, endings: tuple[str, ...], test: Callable[[bytes], bool] | None = None
) -> Foreign:
    """Return a text format, recognised by its look."""
    return Foreign(what, way_out, endings, (), test, False)


FOREIGN = (
    Foreign("UTF-16 text", "convert it first (iconv -f utf-16 -t utf-8)", (), (b"\xff\xfe", b"\xfe\xff")),
    Foreign(
        "an Excel workbook", _PANDAS.format("read_excel"), (".xlsx", ".xls", ".ods"), (b"\xd0\xcf\x11\xe0",)
    ),
    Foreign(
        "a NumPy .npz archive",
        "read it with scipy.sparse.load_npz and gl.Graph.from_scipy, or with "
        "numpy.load and gl.Graph.from_edges",
        (".npz",),
    ),
    Foreign("a NumPy array", "read it with numpy.load and gl.Graph.from_edges", (".npy",), (b"\x93NUMPY",)),
    Foreign(
        "a pickle",
        "load it in Python, and make a graph with gl.Graph.from_networkx, from_scipy, "
        "from_pandas or from_edges",
        (".pkl", ".pickle", ".pt", ".pth"),
        tuple(b"\x80" + bytes([k]) for k in range(2, 6)),
    ),
    Foreign("bzip2 data", "decompress it first (bunzip2)", (), tuple(b"BZh%d1AY" % k for k in range(1, 10))),
    Foreign("xz data", "decompress it first (unxz)", (), (b"\xfd7zXZ",)),
    Foreign("zstd data", "decompress it first (unzstd)", (), (b"\x28\xb5\x2f\xfd",)),
    Foreign("lz4 data", "decompress it first (unlz4)", (), (b"\x04\x22\x4d\x18",)),
    Foreign("a 7z archive", "unpack it first (7z x)", (), (b"7z\xbc\xaf\x27\x1c",)),
    Foreign("a zip archive", "unpack it first (unzip)", (), (b"PK\x03\x04", b"PK\x05\x06")),
    Foreign(
        "a tar archive",
        "unpack it first (tar -xf)",
        (".tar", ".tgz"),
        (),
        lambda head: head[257:262] == b"ustar",
    ),
    Foreign("a Parquet file", _PANDAS.format("read_parquet"), (".parquet", ".pq"), (), _magic(b"PAR1")),
    Foreign(
        "an Arrow or Feather file",
        _PANDAS.format("read_feather"),
        (".feather", ".arrow", ".ipc"),
        (),
        _magic(b"ARROW1", b"FEA1"),
    ),
    Foreign("an ORC file", _PANDAS.format("read_orc"), (".orc",), (), _magic(b"ORC")),
    Foreign("an Avro file", "read it with fastavro and gl.Graph.from_edges", (".avro",), (b"Obj\x01",)),
    Foreign(
        "an HDF5 file",
        "read it with h5py and gl.Graph.from_edges, or with pandas.read_hdf and gl.Graph.from_pandas",
        (".h5", ".hdf5", ".hdf"),
        (b"\x89HDF\r\n\x1a\n",),
    ),
    Foreign(
        "a MATLAB file",
        "read it with scipy.io.loadmat and gl.Graph.from_scipy",
        (".mat",),
        (b"MATLAB 5.0 MAT-file", b"MATLAB 7."),
    ),
    Foreign(
        "an R data file",
        "write the edges as text in R (write.table)",
        (".rds", ".rda", ".rdata"),
        (b"RDX2\n", b"RDX3\n"),
    ),
    Foreign(
        "an SQLite database", _PANDAS.format("read_sql"), (".sqlite", ".sqlite3"), (b"SQLite format 3\0",)
    ),
    Foreign("a PDF file", "save its table as text", (".pdf",), (b"%PDF-",)),
    _text("a GraphML file", _NETWORKX.format("read_graphml"), (".graphml",), _markup(b"<graphml")),
    _text("a GEXF file", _NETWORKX.format("read_gexf"), (".gexf",), _markup(b"<gexf")),
    _text(
        "an XML or HTML file",
        "write its edges as text, one a line",
        (".xml", ".html", ".htm"),
        _begins(rb"<(?:\?xml|!doctype|html)\b"),
    ),
    _text(
        "a GML file",
        _NETWORKX.format("read_gml"),
        (".gml",),
        _begins(rb"(?:(?:creator|version|comment|label)\b[^\n]*\n|#[^\n]*\n|\s)*graph\s*\["),
    ),
    _text(
        "a Graphviz file",
        _NETWORKX.format("nx_pydot.read_dot"),
        (".dot", ".gv"),
        _begins(rb"(?:(?://|#)[^\n]*\n|\s)*(?:strict )?(?:di)?graph\b[^\n{;]{0,200}\{"),
    ),
    _text(
        "a Pajek file",
        _NETWORKX.format("read_pajek"),
        (".net", ".paj", ".pajek"),
        _begins(rb"(?:%[^\n]*\n|\s)*\*(?:network|vertices|arcs|edges|arcslist|edgeslist|matrix)\b"),
    ),
    _text(
        "a JSON file",
        "read it with networkx.node_link_graph and gl.Graph.from_networkx, or with "
        "pandas.read_json and gl.Graph.from_pandas",
        (".json", ".jsonl", ".ndjson", ".geojson"),
        _begins(rb"\{\s*[\"}]|\[\s*[\"{\[]"),
    ),
    _text("a GDF file", "write its edges as text, one a line", (".gdf",), _begins(rb"nodedef>")),
    _text("a UCINET file", "write its edges as text, one a line", (), _begins(rb"dl[ \t]+n[ \t]*=")),
    _text("a LEDA graph", _NETWORKX.format("read_leda"), (), _begins(rb"LEDA\.GRAPH\b")),
    _text("a LEMON graph", "write its edges as text, one a line", (".lgf",), _begins(rb"@(?:nodes|arcs)\b")),
    Foreign(
        "a graph in graph6, sparse6 or digraph6",
        "read it with networkx.read_graph6 or read_sparse6 and gl.Graph.from_networkx",
        (".g6", ".s6", ".d6"),
        (b">>graph6<<", b">>sparse6<<", b">>digraph6<<"),
        None,
        False,
    ),
    _text(
        "a DIMACS graph",
        'write its edges as text, one a line: awk \'$1 == "a" || $1 == "e" {print $2, $3, $4}\'',
        (".gr", ".dimacs"),
        _begins(rb"(?:c(?:[ \t][^\n]*)?\r?\n|\s)*p[ \t]+(?:sp|edges?|col|max|min|asn|ds|tw)[ \t]+\d"),
    ),
    _text(
        "a PBBS or Ligra adjacency graph",
        "write its edges as text, one a line",
        (),
        _begins(rb"(?:weighted)?adjacency(?:graph|hypergraph)\s"),
    ),
    _text("an adjacency list", _NETWORKX.format("read_adjlist"), (".adjlist", ".tgf")),
)


def find_format(name: str, head: bytes, wanted: str = "auto") -> str:
    """Return the format of the file *name*, whose text begins with *head*: *wanted*, or its apparent format.

    Raises InputError for an unsupported format, and for a MatrixMarket file if another is wanted.
    """
    return known_format(name, head, wanted, ENDINGS) or ("bagofwords" if is_bag(name, head) else "edges")


def known_format(name: str, head: bytes, wanted: str, endings: Mapping[str, str]) -> str | None:
    """Return the format from *wanted*, the banner or the ending of a file; None if they say nothing.

    Raises InputError as `find_format` does.
    """
    refuse_foreign(name, head, wanted)
    if is_matrix(name, head, wanted):
        return "matrixmarket"
    return endings.get(ending_of(name)) if wanted == "auto" else wanted


def refuse_foreign(name: str, head: bytes, wanted: str) -> None:
    """Raise InputError for a file in an unsupported format."""
    other = foreign(name, head, wanted)
    if other is not None:
        way_out = f"{other.way_out}, {IF_EDGES}"
        if foreign("", head, wanted) is None:
            raise InputError(f"{name}: is named {ending_of(name)}, as {other.what} is; {way_out}")
        raise InputError(f"{name}: is {other.what}; {other.way_out if other.binary else way_out}")


def is_matrix(name: str, head: bytes, wanted: str) -> bool:
    """Return whether a file begins like a MatrixMarket file; InputError if another format is wanted.

    A first line that is nearly the banner counts: reading it as a matrix refuses that line.
    """
    found = _BANNER_LINE.match(head) is not None
    if found and wanted not in ("auto", "matrixmarket"):
        raise InputError(f"{name}: is a MatrixMarket file; --format {wanted} (format={wanted!r}) is wrong")
    return found or (wanted == "auto" and _NEAR_BANNER.match(head) is not None)


def is_bag(name: str, head: bytes) -> bool:
    """Return whether a file is a bag of words: no edge list begins with a line of one field."""
    named = os.path.basename(name).lower().startswith(_BAG_NAME)
    return re.match(_BAG_LINE if named else _BAG_HEAD, head) is not None


def foreign(name: str, head: bytes, wanted: str = "auto") -> Foreign | None:
    """Return the unsupported format of the file *name*, whose text begins with *head*.

    If *wanted* gives the format, the ending decides nothing, and text is not examined.
    """
    ending = ending_of(name)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for one in FOREIGN:
        if wanted == "auto" and ending in one.endings:
            return one
        if (one.binary or wanted == "auto") and (
            head.startswith(one.starts) or (one.test is not None and one.test(text))
        ):
            return one
    return None


def ending_of(name: str) -> str:
    """Return a file name's ending, in lower case, without ``.gz``: ``.mtx``."""
    return os.path.splitext(name.lower().removesuffix(".gz"))[1]
