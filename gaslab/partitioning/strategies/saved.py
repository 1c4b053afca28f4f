"""An existing cut, by gaslab or another tool, in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.errors import InputError, UsageError
from gaslab.ingest.ids import VertexIds, placed
from gaslab.ingest.names import Names, NameTable
from gaslab.ingest.number_ids import number_integers, number_names
from gaslab.ingest.parted import PartedEdges, read_parted
from gaslab.parallel.comm import Comm
from gaslab.partitioning.context import Context
from gaslab.partitioning.index import Index
from gaslab.partitioning.registry import strategy
from gaslab.partitioning.shuffle import INT32_LIMIT, send_back, shuffle

Ends = list[np.ndarray]
NO_ROW = (1 << 63) - 1  # behind all rows


@strategy("file")
def by_file(src: np.ndarray, dst: np.ndarray, k: int, context: Context, *, path: str) -> np.ndarray:
    """Assign each edge the part that a file gives for its ends.

    Parameters
    ----------
    path : str
        Text or Parquet with the columns ``source``, ``target`` and ``part``, with rows in any order. A row
        applies to all parallel edges; in an undirected graph the ends may be in either order.

    Raises
    ------
    InputError
        The file cannot be read; a part is not in 0 to k-1; rows with the same ends have different parts; an
        edge of the file is not in the graph, or an edge of the graph not in the file.
    """
    comm, ids = context.comm, context.ids
    if ids is None:
        raise UsageError("strategy 'file' needs the ids of the vertices: Context(..., ids=edges.ids)")
    kind = "int" if ids.kind == "int" else "str"
    rows = read_parted(path, kind, ids.num_left is not None, comm, context.threads)
    _check_parts(rows, k, comm)
    graph, listed, known = _in_common([src, dst], rows, context, ids)
    columns: dict[str, np.ndarray] = {
        "part": rows.part.astype(np.int32), "row": np.arange(rows.part.size) + rows.first,
    }  # fmt: skip
    home = _bring_home(graph, {}, known.count, context)
    _bring_home(listed, columns, known.count, context)
    edge_key, row_key = _keys(graph, listed, known.count)
    by_key = np.argsort(row_key, kind="stable")  # of the same ends by their order in the file
    row_key, part, row = row_key[by_key], columns["part"][by_key], columns["row"][by_key]
    _check_same(row_key, part, row, rows, comm)
    in_order = np.argsort(edge_key)  # else the search misses the cache
    place = placed(in_order, np.searchsorted(row_key, edge_key[in_order]))
    found = np.zeros(place.size, bool)
    within = place < row_key.size
    found[within] = row_key[place[within]] == edge_key[within]
    _check_known(row_key, place[found], row, rows, comm)
    _check_complete(graph, found, known, path, comm)
    return send_back(comm, part[place], home)


# ---- numbers that are the same for the same vertex of the graph and of the file --------------------------


@dataclass
class _Numbers:
    """The vertices of the graph and of the file; in a bipartite graph the sources, then the targets."""

    ids: list[VertexIds]

    @property
    def count(self) -> int:
        return sum(one.num_vertices for one in self.ids)

    def named(self, low: int, high: int) -> str:
        """Return an edge's name in messages (collective)."""
        names = [*self.ids[0].named([low]), *self.ids[-1].named([high - self.shift])]
        return " -> ".join(names)

    @property
    def shift(self) -> int:
        """The number of the first target."""
        return self.ids[0].num_vertices if len(self.ids) > 1 else 0


def _in_common(
    ends: Ends, rows: PartedEdges, context: Context, ids: VertexIds
) -> tuple[Ends, Ends, _Numbers]:
    """Return the ends of edges and of rows in common numbering (collective)."""
    of_rows = [rows.src, rows.dst]
    if ids.num_left is None:
        graph, listed, known = _numbered(ends, of_rows, rows.ids, context, ids)
        if not context.directed:
            graph, listed = ([np.minimum(*both), np.maximum(*both)] for both in (graph, listed))
        return graph, listed, _Numbers([known])
    (src,), (row_src,), left = _numbered(ends[:1], of_rows[:1], rows.ids, context, ids)
    (dst,), (row_dst,), right = _numbered(ends[1:], of_rows[1:], rows.ids, context, ids)
    numbers = _Numbers([left, right])
    return [src, dst + numbers.shift], [row_src, row_dst + numbers.shift], numbers


def _numbered(
    ends: Ends, of_rows: Ends, row_ids: VertexIds, context: Context, ids: VertexIds
) -> tuple[Ends, Ends, VertexIds]:
    """Number the vertices at some ends by their user ids (collective)."""
    mine = Index(ends[0], ends[-1], context.num_vertices)
    listed = Index(of_rows[0], of_rows[-1], row_ids.num_vertices)
    users = [ids.lookup(mine.gids), row_ids.lookup(listed.gids)]
    if all(user.dtype == np.int64 for user in users):
        numbers = [user.copy() for user in users]
        largest = max(int(user.max(initial=-1)) for user in users)
        least = min(int(user.min(initial=0)) for user in users)
        known = number_integers(numbers, largest, context.comm, context.threads, least)
    else:
        table = NameTable()
        places = [table.intern(Names.of([*map(str, user.tolist())])) for user in users]
        gids, known = number_names(table.names(), context.comm)
        numbers = [gids[place] for place in places]
    threads = context.threads
    return (
        [numbers[0][mine.of(end, threads)] for end in ends],
        [numbers[1][listed.of(end, threads)] for end in of_rows],
        known,
    )


# ---- edges and rows of the same ends on the same rank ----------------------------------------------------


def _bring_home(ends: Ends, columns: dict[str, np.ndarray], count: int, context: Context) -> np.ndarray:
    """Send ends to the rank chosen by a hash of both, in place; return the rank of each (collective)."""
    home = np.empty(ends[0].size, np.int32)
    kernels.by_edge(ends[0], ends[1], context.comm.size, home, context.threads)
    shuffle(context.comm, ends, columns, home, num_vertices=count, threads=context.threads)
    return home


def _keys(graph: Ends, listed: Ends, count: int) -> Ends:
    """Return for each edge and each row a number, equal for the same ends."""
    low, high = (np.concatenate(end) for end in zip(graph, listed, strict=True))
    index = Index(low, high, count)
    size = np.int64(index.gids.size)
    return [index.of(ends[0]) * size + index.of(ends[1]) for ends in (graph, listed)]


# ---- what is wrong with a file ---------------------------------------------------------------------------


def _check_parts(rows: PartedEdges, k: int, comm: Comm) -> None:
    """Raise for the first row with an invalid part (collective)."""
    wrong = np.flatnonzero(~((rows.part >= 0) & (rows.part < k) & (rows.part == np.floor(rows.part))))
    most = int(comm.allreduce(int(rows.part[rows.part <= INT32_LIMIT].max(initial=0)), "max"))

    def what(at: int) -> str:
        value = rows.part[wrong[at]]
        return f"part {value.item()} is not one of 0 to {k - 1}"

    way_out = "write whole numbers from 0"
    if most >= k:
        way_out += f", or cut into {most + 1} parts (-k {most + 1}; for a run mpiexec -n {most + 1})"
    _refuse(rows, rows.first + wrong, what, way_out, comm)


def _check_same(
    key: np.ndarray, part: np.ndarray, row: np.ndarray, rows: PartedEdges, comm: Comm
) -> None:
    """Raise for the first row whose part differs from an earlier row's with the same ends (collective)."""
    other = np.flatnonzero((key[1:] == key[:-1]) & (part[1:] != part[:-1])) + 1
    other = other[np.argsort(row[other])]

    def what(at: int) -> str:
        before = int(np.searchsorted(key, key[other[at]]))
        where = rows.row(int(row[before]))[0]
        return f"part {part[other[at]]}, but {where} has part {part[before]} for these ends"

    way_out = "edges with the same ends stay together: give them one part"
    _refuse(rows, row[other], what, way_out, comm)


def _check_known(key: np.ndarray, used: np.ndarray, row: np.ndarray, rows: PartedEdges, comm: Comm) -> None:
    """Raise for the first row whose edge is not in the graph (collective)."""
    unused = np.ones(key.size, bool)
    unused[used] = False
    first = np.flatnonzero(unused & np.concatenate([[True], key[1:] != key[:-1]])[: key.size])
    unknown = np.sort(row[first])
    way_out = "take the graph that was cut, or leave the row out"
    _refuse(rows, unknown, lambda at: "there is no such edge in the graph", way_out, comm)


def _refuse(
    rows: PartedEdges, wrong: np.ndarray, what: Callable[[int], str], way_out: str, comm: Comm
) -> None:
    """Raise for the first of the rows *wrong*, if any rank has one (collective).

    *wrong* are positions in the file, ascending; *what* gives the error of one by its place there.
    """
    count = int(comm.allreduce(wrong.size))
    if not count:
        return
    here = comm.attempt(lambda: (int(wrong[0]), what(0)) if wrong.size else (NO_ROW, ""))
    first, said = min(comm.allgather(here))
    where, shown = comm.on_root(lambda: rows.row(first))
    more = f" ({count - 1} more such row{'s' if count > 2 else ''})" if count > 1 else ""
    raise InputError(f"{where}: {said}: {shown}; {way_out}{more}")


def _check_complete(ends: Ends, found: np.ndarray, known: _Numbers, path: str, comm: Comm) -> None:
    """Raise for the first edge without a row (collective)."""
    lost = np.flatnonzero(~found)
    count = int(comm.allreduce(lost.size))
    if not count:
        return
    first = lost[np.lexsort((ends[1][lost], ends[0][lost]))[:1]]
    pairs = comm.allgather([end[first].tolist() for end in ends])
    (low,), (high,) = min(pair for pair in pairs if pair[0])
    edge = known.named(low, high)
    more = f" and {count - 1} more edge{'s' if count > 2 else ''}" if count > 1 else ""
    raise InputError(
        f"{path}: no row has a part for the edge {edge}{more} of the graph; "
        "take the graph that was cut, or cut this one"
    )
