"""`read_graph` and `load_graph`: a graph from files."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gaslab import arguments
from gaslab.graph.graph import Graph
from gaslab.ingest.read import columns_of, paths_of, read_edges
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import as_comm
from gaslab.storage.load import SavedGraph, open_saved


@collective()
def read_graph(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    ids: str = "auto",
    columns: Mapping[str, int | str | None] | Sequence[str] | None = None,
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    directed: bool | None = None,
    bipartite: bool = False,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    format: str = "auto",
    vocabulary: str | os.PathLike[str] | None = None,
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Read a graph from an edge list: SNAP, TSV, CSV or fields separated by blanks (collective).

    Also reads MatrixMarket coordinate files and METIS files, whose vertices are 1 to n, and UCI bags of
    words, bipartite graphs of documents and words; see ``docs/graphs.md``. Each rank parses its own byte
    range of a plain file; a gzip file is read by one rank.

    Parameters
    ----------
    path : path, glob, or sequence of them
        Files, a folder of files of one format, or a folder written by `gaslab.Graph.save`.
    ids : {"auto", "int", "str"}
        Whether vertex ids are integers from 0 to 2**63 - 1 or text; "auto" decides from the whole input.
    columns : dict of str to position or header name, or sequence of names, optional
        Further fields to keep as edge columns; by default all numeric ones. Fields named here must exist and
        be numbers in every row. None in a dict leaves a field out.
    comments : str
        The characters that start a comment line.
    delimiter : str, optional
        The field separator: a punctuation character, the same one twice (``"::"``), or a name such as
        ``"tab"``; by default detected from the first lines.
    header : bool, optional
        Whether the first line names the fields; by default detected from it and the lines after it.
    directed : bool, optional
        False: each line is one edge between its two ends, in both directions. By default True for edge lists,
        and as stated in the file for other formats; with True an undirected file gives edges in both
        directions.
    bipartite : bool
        True: the two columns are ids of two kinds of vertices, left (``v.side == 0``) and right. A bag of
        words is always bipartite: documents are left, words right.
    on_bad_line : {"error", "skip"}
    max_bad_lines : int, optional
        With "skip": the number of bad lines allowed.
    drop_duplicates, drop_self_loops : bool
        Drop all but the first of parallel edges; drop edges from a vertex to itself.
    format : {"auto", "edges", "matrixmarket", "metis", "bagofwords"}
        The file format; "auto" looks at the name (``.mtx``; ``.graph``, ``.metis``; ``docword.*``) and the
        first lines.
    vocabulary : path, optional
        For a bag of words: a UTF-8 text file with one word per line, as many as the header states and all
        distinct. The word on line k is the id of word k, which is the int k without a vocabulary.
    strategy : str, optional
        The vertex-cut; see `gaslab.partitioning.strategies`. By default ``"auto:stateful=0"``, a quick one
        chosen for the graph and the number of ranks.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Raises
    ------
    InputError
        A file is missing, truncated, without edges or in an unsupported format, or a line is bad; the error
        names the file, line and text.
    UsageError
        An option is unknown, or does not apply to the file's format.

    Warns
    -----
    UserWarning
        Columns are left out because they are text, or it is unclear whether the first line is a header.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.tsv")
    >>> _ = open(path, "w").write("0 1\\n1 2\\n2 0\\n")
    >>> graph = gl.read_graph(path)
    >>> graph.num_vertices, graph.num_edges
    (3, 3)
    >>> path = os.path.join(tempfile.mkdtemp(), "small.mtx")
    >>> head = "%%MatrixMarket matrix coordinate real symmetric\\n"
    >>> _ = open(path, "w").write(head + "4 4 2\\n2 1 0.5\\n3 2 1.5\\n")
    >>> graph = gl.read_graph(path)
    >>> graph.num_vertices, graph.num_edges, graph.directed, sorted(graph.edge_columns["weight"].tolist())
    (4, 2, False, [0.5, 1.5])
    >>> bag, words = os.path.join(os.path.dirname(path), "docword.txt"), path + ".vocab"
    >>> _ = open(bag, "w").write("2\\n2\\n3\\n1 1 4\\n1 2 1\\n2 2 6\\n")
    >>> _ = open(words, "w").write("graph\\nedge\\n")
    >>> graph = gl.read_graph(bag, vocabulary=words)
    >>> graph.num_left, gl.degrees(graph).vertices.side(1).to_dict("edges")
    (2, {'edge': 2, 'graph': 1})
    """

    options: dict[str, Any] = {
        "ids": ids, "columns": columns, "comments": comments, "delimiter": delimiter, "header": header,
        "directed": directed, "bipartite": bipartite, "on_bad_line": on_bad_line,
        "max_bad_lines": max_bad_lines, "drop_duplicates": drop_duplicates,
        "drop_self_loops": drop_self_loops, "format": format, "vocabulary": vocabulary,
    }  # fmt: skip
    started = time.perf_counter()
    saved = open_saved(paths_of(path), as_comm(comm), options, read_edges)
    if saved is not None:
        return Graph._from_saved(saved, strategy, started)
    return Graph._ingest(lambda comm: read_edges(path, comm, **options), strategy, comm)


@collective()
def load_graph(
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str | None] | Sequence[str] | None = None,
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Load a graph from a folder that `gaslab.Graph.save` or ``gaslab convert`` wrote (collective).

    If the number of ranks equals the number of parts, each rank maps its part into memory: nothing is parsed
    or cut. On fewer ranks, the parts are packed onto the ranks by their edges and what they exchange. On more
    ranks, or with a different *strategy*, the edges are cut again, by the saved strategy or by *strategy*.

    Parameters
    ----------
    path : path
        The folder that contains ``gaslab-graph.json``.
    columns : mapping or sequence of str, optional
        The edge columns to read, by default all: their names, or a mapping from a column's new name to its
        saved name, None to leave it out.
    strategy : str, optional
        The vertex-cut, by default the one that the graph was saved with.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Raises
    ------
    InputError
        The folder is not a saved graph, is from another version, incomplete or damaged; the error names the
        file.
    UsageError
        The edge column or strategy does not exist.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "graph")
    >>> gl.Graph.generate("rmat", scale=8, edge_factor=4, seed=1).save(folder)
    >>> gl.load_graph(folder).num_edges
    1024
    """
    started = time.perf_counter()
    chosen: Any = columns_of(columns)
    saved = SavedGraph(as_comm(comm), arguments.path("path", path), chosen)
    return Graph._from_saved(saved, strategy, started)
