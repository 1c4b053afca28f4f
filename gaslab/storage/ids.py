"""The user ids of a graph as plain arrays: of each side a table by global id, dealt to the parts.

Part p of k has the ids of the global ids g with g % k == p, in their order, as rank p of k keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gaslab._kernels.names import PADDING
from gaslab.errors import UsageError
from gaslab.ingest.ids import Kind, VertexIds
from gaslab.ingest.names import Names, concatenate
from gaslab.ingest.sides import SIDES, SidedIds
from gaslab.parallel.comm import Comm
from gaslab.storage.part import Arrays

Table = np.ndarray | Names


@dataclass(frozen=True)
class Side:
    """What the ids of one side are, the only one but in a bipartite graph."""

    kind: Kind
    num_vertices: int
    negative: bool = False
    table: bool = True  # else the ids are 0 to num_vertices - 1

    def described(self) -> dict[str, Any]:
        return asdict(self)


def sides_of(ids: VertexIds) -> list[Side]:
    """Return the sides of a graph's ids (collective); UsageError where they are neither numbers nor text."""
    found = []
    for number, one in enumerate(ids.directories()):
        if one.kind == "object":
            kinds = sorted({type(x).__name__ for x in one.lookup(np.arange(min(one.num_vertices, 1000)))})
            side = f" on the {SIDES[number]}" if ids.num_left is not None else ""
            raise UsageError(
                f"the ids{side} are objects ({', '.join(kinds)}), and a saved graph has ids that are "
                "integers or text; number the vertices, or make the ids text"
            )
        found.append(Side(one.kind, one.num_vertices, one.negative, one.table_here() is not None))
    return found


def deal_out(ids: VertexIds, parts: int, host: np.ndarray) -> dict[int, Arrays]:
    """Return the tables of the parts that this rank hosts (collective); *host* is the rank of each part."""
    comm, dealt = ids.comm, {int(p): Arrays() for p in np.flatnonzero(host == ids.comm.rank)}
    for number, one in enumerate(ids.directories()):
        table = one.table_here()
        if table is None:
            continue
        gids = np.arange(comm.rank, one.num_vertices, comm.size)
        if parts != comm.size:
            gids, table = _moved(comm, gids, table, host[gids % parts])
        for part, arrays in dealt.items():
            here = table if parts == comm.size else _taken(table, np.flatnonzero(gids % parts == part))
            if isinstance(here, Names):
                arrays[f"ids-{number}-starts"] = here.start
                arrays[f"ids-{number}-text"] = _padded(here.arena[: here.start[-1]])
            else:
                arrays[f"ids-{number}"] = here
    return dealt


def gather_in(
    comm: Comm, sides: Sequence[Side], parts: int, mine: Sequence[int], arrays: Sequence[Arrays]
) -> VertexIds:
    """Return the ids of a graph of the tables of all parts, of which this rank has those of *mine*."""
    made = []
    for number, side in enumerate(sides):
        if not side.table:
            made.append(VertexIds(comm, side.kind, side.num_vertices))
            continue
        gids = [np.arange(part, side.num_vertices, parts) for part in mine]
        tables = [_table(one, number, side) for one in arrays]
        if parts == comm.size and list(mine) == [comm.rank]:
            table = tables[0]
        else:
            every = np.concatenate([np.empty(0, np.int64), *gids])
            _, table = _moved(comm, every, _joined(tables, side), every % comm.size)
        known = VertexIds(comm, side.kind, side.num_vertices, table)
        known.negative = side.negative
        made.append(known)
    return made[0] if len(made) == 1 else SidedIds(comm, *made)


def check_ids(arrays: Arrays, sides: Sequence[Side], part: int, parts: int) -> None:
    """Raise ValueError, with the array, where a part has no id for each of its global ids."""
    for number, side in enumerate(sides):
        if not side.table:
            continue
        count = len(range(part, side.num_vertices, parts))
        name = f"ids-{number}" if side.kind == "int" else f"ids-{number}-starts"
        starts, rows = arrays[name], count + (side.kind != "int")
        if starts.shape != (rows,) or starts.dtype != np.int64:
            raise ValueError(f"{name} has no id for each of {count} vertices")
        if side.kind == "int":
            continue
        text = arrays[f"ids-{number}-text"]
        if text.dtype != np.uint8 or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
            raise ValueError(f"{name} are no starts of names")
        if text.shape != (int(starts[-1]) + PADDING,):
            raise ValueError(f"ids-{number}-text is not as long as its names")


def _table(arrays: Arrays, number: int, side: Side) -> Table:
    if side.kind == "int":
        return arrays[f"ids-{number}"]
    return Names(arrays[f"ids-{number}-text"], arrays[f"ids-{number}-starts"])


def _joined(tables: Sequence[Table], side: Side) -> Table:
    if side.kind == "int":
        return np.concatenate([np.empty(0, np.int64), *tables])
    return concatenate([one for one in (Names.of([]), *tables) if isinstance(one, Names)])


def _moved(comm: Comm, gids: np.ndarray, table: Table, to: np.ndarray) -> tuple[np.ndarray, Table]:
    """Send each id, and its global id, to a rank; return what is received, by global id (collective)."""
    order = np.argsort(to, kind="stable")
    bounds = np.searchsorted(to[order], np.arange(comm.size + 1))
    gids, table = gids[order], _taken(table, order)
    received = np.concatenate(comm.alltoall([gids[bounds[p] : bounds[p + 1]] for p in range(comm.size)]))
    found: Table
    if isinstance(table, Names):
        found = concatenate(table.exchange(comm, bounds))
    else:
        found = np.concatenate(comm.alltoall([table[bounds[p] : bounds[p + 1]] for p in range(comm.size)]))
    by_id = np.argsort(received, kind="stable")
    return received[by_id], _taken(found, by_id)


def _taken(table: Table, which: np.ndarray) -> Table:
    return table.take(which) if isinstance(table, Names) else table[which]


def _padded(text: np.ndarray) -> np.ndarray:
    return np.concatenate([text, np.zeros(PADDING, np.uint8)])
