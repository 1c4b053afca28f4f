"""`read_graph`: a graph from files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gaslab.comm import Comm
from gaslab.graph import Graph
from gaslab.ingest import EdgeList, read_edges


def read_graph(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    ids: str = "auto",
    columns: Mapping[str, int | str | None] | Sequence[str] | None = None,
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    directed: bool = True,
    bipartite: bool = False,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Read a graph from text with an edge per line: SNAP, TSV, CSV or blanks between fields (collective).

    Each rank parses its own byte range of a plain file; a gzip file is read by one rank.

    Parameters
    ----------
    path : path, glob, or sequence of them
    ids : {"auto", "int", "str"}
        Whether vertex ids are integers from 0 to 2**63 - 1 or text; "auto" decides over all of the input.
    columns : dict of str to position or header name, or sequence of names, optional
        Further fields to keep as values of the edges; by default all. None in a dict leaves one out.
    comments : str
        The characters that start a comment line.
    delimiter : str, optional
        What is between fields; by default found from the first data line.
    header : bool, optional
        Whether the first line names the fields; by default found from it.
    directed : bool
        False: each line is one edge between its two ends, in both directions.
    bipartite : bool
        True: the two columns are ids of two kinds of vertices, left ones (``v.side == 0``) and right ones.
    on_bad_line : {"error", "skip"}
    max_bad_lines : int, optional
        With "skip": how many there may be.
    drop_duplicates, drop_self_loops : bool
        Leave out all but the first of parallel edges; edges from a vertex to itself.
    strategy : str, optional
        The vertex-cut, by default ``"1d"``; see `gaslab.partition.strategies`.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Raises
    ------
    InputError
        A file is missing, cut short or without an edge, or a line is bad: file, line and text are named.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.tsv")
    >>> _ = open(path, "w").write("0 1\\n1 2\\n2 0\\n")
    >>> graph = gl.read_graph(path)
    >>> graph.num_vertices, graph.num_edges
    (3, 3)
    """

    def load(comm: Comm) -> EdgeList:
        return read_edges(
            path, comm, ids=ids, columns=columns, comments=comments, delimiter=delimiter, header=header,
            directed=directed, bipartite=bipartite, on_bad_line=on_bad_line, max_bad_lines=max_bad_lines,
            drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops,
        )  # fmt: skip

    return Graph._ingest(load, strategy, comm)
