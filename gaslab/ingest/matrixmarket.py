"""MatrixMarket coordinate files: a matrix of m rows and n columns, one entry per line, as edges.

Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935, 1996.

Entry (i, j) is the edge i -> j; ids are 1 to n as in the file, with or without entries. A square matrix is a
graph; one of any shape is a bipartite graph with row i on the left and column j on the right.

| symmetry | the graph |
|---|---|
| general | directed; with ``directed=False`` each entry is an edge between i and j |
| symmetric, hermitian | undirected; if directed or bipartite, an entry off the diagonal is two edges |
| skew-symmetric | directed: i -> j with the entry's value, j -> i with its negative |

Values are the column ``weight``: of int64 (``integer``) or float64 (``real``); ``pattern`` has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaslab._kernels import ids as kernels
from gaslab.errors import InputError, UsageError
from gaslab.ingest.edges import Numbered
from gaslab.ingest.files import InputFile, numbered_lines
from gaslab.ingest.formats import BANNER, IF_EDGES
from gaslab.ingest.ids import VertexIds, from_one
from gaslab.ingest.layout import Options, only_of_edge_lists
from gaslab.ingest.matrix_entries import Fault, Head, count_faults, read_entries
from gaslab.ingest.problems import shown
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.text import Parsed
from gaslab.ingest.vocabulary import right_side
from gaslab.parallel.comm import Comm

FIELDS = {
    "real": "real",
    "double": "real",
    "integer": "integer",
    "unsigned-integer": "integer",
    "pattern": "pattern",
}
SYMMETRIES = {
    "general": "general",
    "symmetric": "symmetric",
    "hermitian": "symmetric",
    "skew-symmetric": "skew",
}
SCIPY = "read it with scipy.io.mmread and gl.Graph.from_scipy"
SPARSE = "read it with scipy.io.mmread and gl.corpus_from, or write it as scipy.sparse.coo_array with mmwrite"


@dataclass(frozen=True)
class Matrix:
    """The lines above the entries."""

    head: Head
    field: str
    symmetry: str


def read_matrix(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read the entries of one file, each rank its own range of lines (collective).

    Raises InputError for a file that is not such a matrix, ends too early, has too many entries, or has a
    line that is not an entry; UsageError for a matrix that does not fit the options.
    """
    file, directed, bipartite = files[0], options.directed, options.bipartite
    only_of_edge_lists(options, file)
    matrix = comm.on_root(lambda: find_matrix(file, options.counts))
    _check_shape(file, matrix, directed, bipartite)
    if options.counts and matrix.symmetry != "general":
        raise InputError(
            f"{file.name}:1: a {matrix.symmetry} matrix is not a corpus, which has a row for each document "
            "and a column for each word; write it as a general one"
        )
    rows, width = matrix.head.sizes
    where = f"{file.name}:{matrix.head.line}: "
    known: VertexIds = from_one(comm, rows, where)
    number = None
    if bipartite:
        number, right = right_side(options.vocabulary, width, where.removesuffix(": "), comm)
        known = SidedIds(comm, known, right)
    skew = matrix.symmetry == "skew"
    faults = [_faults] if skew else [count_faults] if options.counts else []
    found = read_entries(files, matrix.head, options, comm, *faults)
    src, dst, columns = found.src, found.dst, list(found.columns.values())
    if matrix.field == "real":
        columns = [column.astype(np.float64, copy=False) for column in columns]
    mirrored = skew or (matrix.symmetry == "symmetric" and (bipartite or directed is True))
    if mirrored:
        src, dst, columns = _with_mirrors(src, dst, columns, skew, comm)
    if number is not None:
        kernels.translate(dst, number, options.threads)
    if bipartite:
        dst += rows
    one_way = mirrored or matrix.symmetry == "general"
    return Numbered(
        src, dst, dict(zip(found.columns, columns, strict=True)), known,
        directed=one_way if directed is None else directed, counts=found.counts,
    )  # fmt: skip


def find_matrix(file: InputFile, corpus: bool = False) -> Matrix:
    """Read the banner and the size of a file, which may be a corpus (not collective)."""
    banner, number, at, size = _head(file)
    words = banner.decode("utf-8", "replace").lower().split()
    where = f"{file.name}:1: "
    if not words or words[0].encode() != BANNER:
        raise InputError(
            f"{where}a MatrixMarket file begins with %%MatrixMarket, not {shown(banner)}; {IF_EDGES}"
        )
    if len(words) != 5:
        raise InputError(f"{where}{shown(banner)} is not '%%MatrixMarket matrix coordinate FIELD SYMMETRY'")
    _, kind, layout, field, symmetry = words
    if kind != "matrix":
        raise InputError(f"{where}a MatrixMarket {kind}; only matrices are read")
    if layout == "array":
        way_out = SPARSE if corpus else f"{SCIPY} (of a scipy.sparse.coo_array)"
        raise InputError(f"{where}a dense MatrixMarket array; {way_out}")
    if layout != "coordinate":
        raise InputError(f"{where}MatrixMarket data in the layout {layout!r}; it is 'coordinate'")
    if field == "complex" and corpus:
        raise InputError(f"{where}a matrix of complex values; counts are whole numbers")
    if field == "complex":
        raise InputError(
            f"{where}a matrix of complex values, and those of edges are real; {SCIPY} (of abs(matrix))"
        )
    for word, known in ((field, FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            raise InputError(f"{where}{word!r} is none of {', '.join(known)}")
    if field == "pattern" and symmetry in ("skew-symmetric", "hermitian"):
        raise InputError(
            f"{where}a pattern has no values, so that it cannot be {symmetry}; it is 'symmetric'"
        )
    found = re.fullmatch(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*", size)
    if found is None:
        what = f"is {shown(size)}" if size else "is missing; the file is cut short"
        raise InputError(f"{file.name}:{number}: the size of the matrix, 'rows columns entries', {what}")
    rows, columns, entries = map(int, found.groups())
    if SYMMETRIES[symmetry] != "general" and rows != columns:
        raise InputError(f"{file.name}:{number}: a {symmetry} matrix of {rows} rows and {columns} columns")
    names = ("row", "column") if FIELDS[field] == "pattern" else ("row", "column", "weight")
    says = f"the size line {shown(size)} says"
    integer = FIELDS[field] == "integer"
    head = Head((rows, columns), entries, names, integer, number, at, says, comments="%")
    return Matrix(head, FIELDS[field], SYMMETRIES[symmetry])


def _head(file: InputFile) -> tuple[bytes, int, int, bytes]:
    """Return the first line, and number, offset and text of the first that is neither blank nor a comment."""
    banner, number, at = b"", 0, 0
    for number, at, text in numbered_lines(file):
        line = text.removesuffix(b"\r")
        banner = line if number == 1 else banner
        if line.strip(b" \t") and not line.lstrip(b" \t").startswith(b"%"):
            return banner, number, at, line
    return banner, number, at, b""


def _check_shape(file: InputFile, matrix: Matrix, directed: bool | None, bipartite: bool) -> None:
    rows, columns = matrix.head.sizes
    if rows != columns and not bipartite:
        raise UsageError(
            f"{file.name}: a matrix of {rows} rows and {columns} columns; pass bipartite=True "
            "(--bipartite), and rows and columns are vertices of two kinds"
        )
    if matrix.symmetry == "skew" and directed is False:
        raise UsageError(
            f"{file.name}: directed=False (--undirected) for a skew-symmetric matrix, whose entries "
            "(i, j) and (j, i) differ in sign"
        )


def _faults(parsed: Parsed) -> list[Fault]:
    """Return further invalid entries of a skew-symmetric matrix."""
    diagonal = parsed.src == parsed.dst
    if not diagonal.any():
        return []
    return [(int(np.argmax(diagonal)), "a skew-symmetric matrix has no entries on its diagonal")]


def _with_mirrors(
    src: np.ndarray, dst: np.ndarray, columns: list[np.ndarray], negate: bool, comm: Comm
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return entries, each off the diagonal followed by its mirror image (collective)."""
    twice = 1 + (src != dst)
    entry = np.repeat(np.arange(src.size), twice)
    image = np.zeros(entry.size, bool)
    image[1:] = entry[1:] == entry[:-1]
    found = []
    for column in columns:
        if negate and column.dtype == np.int64:
            smallest = int(comm.allreduce(int(column.min(initial=0)), "min"))
            column = column.astype(np.float64) if smallest == np.iinfo(np.int64).min else column
        values = column[entry]
        found.append(np.where(image, -values, values) if negate else values)
    return np.where(image, dst[entry], src[entry]), np.where(image, src[entry], dst[entry]), found
