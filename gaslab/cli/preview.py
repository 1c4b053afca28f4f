"""How the first rows of an answer look: small aligned tables, gathered from all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

import gaslab as gl
from gaslab.results.tables import Table, render


def show(style: str, graph: gl.Graph, table: Table, count: int) -> list[str]:
    """Return the lines to print on rank 0, [] elsewhere (collective).

    Parameters
    ----------
    style : {"largest", "nearest", "groups", "members"}
        Vertices of the largest last field; of the smallest that is a distance; the groups of
        vertices with the same last field, the biggest first; or the vertices where it is true.
    table : Table
        This rank's rows, sorted by id.
    """
    if style == "groups":
        return _groups(graph, table, count)
    if style == "members":
        return _members(graph, table, count)
    key = _key(table, ascending=style == "nearest")
    if key is None:
        rows = np.arange(min(count, len(table)))
    else:
        distance = np.isfinite(key) & (key >= 0 if style == "nearest" else True)  # -1: not reached
        candidates = np.flatnonzero(distance)
        rows = candidates[np.argsort(key[candidates], kind="stable")[:count]]
    whole = _join(graph.comm.allgather(table.take(rows)))
    if graph.comm.rank > 0:
        return []
    order = np.lexsort((whole.global_ids["id"],) if (k := _key(whole, style == "nearest")) is None
                       else (whole.global_ids["id"], k))[:count]  # fmt: skip
    return _numbered(whole.take(order))


def _key(table: Table, ascending: bool) -> Any:
    """Return what to sort rows by, from small to large; None where no field is a number."""
    of_ids = {*table.global_ids, *(f"{name}_side" for name in table.global_ids)}
    numeric = [
        n for n in table.columns if n not in of_ids and table[n].ndim == 1 and table[n].dtype.kind in "iuf"
    ]
    if not numeric:
        return None
    values = table[numeric[-1]].astype(np.float64)
    return values if ascending else -values


def _join(tables: list[Table]) -> Table:
    first = tables[0]

    def one(name: str) -> np.ndarray:
        return np.concatenate([table[name] for table in tables])

    gids = {name: np.concatenate([table.global_ids[name] for table in tables]) for name in first.global_ids}
    return Table({name: one(name) for name in first.keys}, {name: one(name) for name in first.columns}, gids)


def _groups(graph: gl.Graph, table: Table, count: int) -> list[str]:
    """Count the vertices of each group where the group's own vertex is kept, then show the biggest."""
    comm, left = graph.comm, graph.ids.num_left
    name = table.columns[-1]
    if name.removesuffix("_side") in table.global_ids:  # the sides of the vertices that the column names
        name = name.removesuffix("_side")
    if name not in table.global_ids:
        return show("largest", graph, table, count)
    label, first, members = np.unique(table.global_ids[name], return_index=True, return_counts=True)
    names = table[name][first]
    owner = label * comm.size // max(graph.num_vertices, 1)
    cuts = np.searchsorted(owner, np.arange(comm.size + 1))
    spans = [slice(cuts[p], cuts[p + 1]) for p in range(comm.size)]
    labels = np.concatenate(comm.alltoall([label[span] for span in spans]))
    counts = np.concatenate(comm.alltoall([members[span].astype(np.int64) for span in spans]))
    mine, place = np.unique(labels, return_inverse=True)
    sizes = np.zeros(mine.size, np.int64)
    np.add.at(sizes, place, counts)
    total = int(comm.allreduce(mine.size))
    best = np.lexsort((mine, -sizes))[:count]
    gathered = comm.allgather((mine[best], sizes[best]))
    every, size = (np.concatenate([part[k] for part in gathered]) for k in (0, 1))
    order = np.lexsort((every, -size))[:count]
    known = dict(zip(label.tolist(), names.tolist(), strict=True))
    by_rank = comm.allgather({gid: known[gid] for gid in every[order].tolist() if gid in known})
    if comm.rank > 0:
        return []
    shown = {gid: user for part in by_rank for gid, user in part.items()}
    keys = {name: np.array([shown[gid] for gid in every[order].tolist()])}
    if left is not None:
        keys["side"] = (every[order] >= left).astype(np.int64)
    shares = np.array([f"{100 * n / graph.num_vertices:.1f}%" for n in size[order].tolist()])
    rows = Table(keys, {"vertices": size[order], "share": shares}, {name: every[order]})
    return [f"{total:,} group{'s' * (total != 1)}", *_numbered(rows)]


def _members(graph: gl.Graph, table: Table, count: int) -> list[str]:
    """Count the vertices whose last field is true, then show the first of them."""
    inside = np.flatnonzero(table[table.columns[-1]])
    total = int(graph.comm.allreduce(inside.size))
    whole = _join(graph.comm.allgather(table.take(inside[:count]).select()))
    if graph.comm.rank > 0:
        return []
    first = whole.take(np.argsort(whole.global_ids["id"])[:count])
    return [f"{total:,} of {graph.num_vertices:,} vertices", *_numbered(first)]


def _numbered(table: Table) -> list[str]:
    """Return the lines of a table with the rank of each row before it."""
    width = len(str(max(len(table), 1)))
    head, *rows = render(table)
    return [f"{'':{width}}  {head}", *(f"{k:{width}}  {row}" for k, row in enumerate(rows, 1))]


def with_sides(table: Table, names: list[str]) -> list[str]:
    """Return *names*, each column of ids before that of its sides, unless *names* has that one anywhere."""
    found = []
    for name in names:
        found.append(name)
        side = f"{name}_side"
        if name in table.global_ids and side in table and side not in names:
            found.append(side)
    return found
