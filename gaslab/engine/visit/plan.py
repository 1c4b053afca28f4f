"""Where visit keeps vertices and edges on each rank: made once per run, from the schedule and the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.engine.visit.schedule import Schedule
from gaslab.parallel.comm import Comm
from gaslab.program import ALL
from gaslab.ragged import RaggedColumn, Rows
from gaslab.replication.exchange import Exchange, Section

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph


class Places:
    """The places on this rank for the blocks that sit at its tables, as many as sit there at once.

    A vertex's place is its block's first place plus its position among the block's vertices, which
    ascend by global id. `block` and `position` are int32 by local id, on mirrors too; vertices without
    edges are in no block.
    """

    def __init__(self, schedule: Schedule, graph: Graph, exchange: Exchange) -> None:
        self.comm, self._schedule = graph.comm, schedule
        size, ways, local = self.comm.size, schedule.ways, graph.local
        self.rank_at = (np.arange(ways) * size // ways)[schedule.seats]  # [rounds, blocks]

        met = np.flatnonzero(local.degree[: local.num_masters])
        block = schedule.block_of(local.gid[met], local.in_degree[met] > 0)
        self._masters = split(met, self.rank_at[0, block], size)
        blocks = rows_to(self.comm, split(block, self.rank_at[0, block], size))[0]
        gids, counts = rows_to(self.comm, [local.gid[ids] for ids in self._masters])
        order = np.lexsort((gids, blocks))
        here = np.bincount(blocks, minlength=schedule.blocks)
        self._sizes: np.ndarray = self.comm.allreduce(here)
        position = np.empty(order.size, np.int32)
        position[order] = np.arange(order.size) - (np.cumsum(here) - here)[blocks[order]]
        self._counts = counts

        self._slots = self._walk()
        self._room = int(self._sizes.max())
        self.size = self._room * int((self.rank_at[0] == self.comm.rank).sum())
        self._place = self._slots[0, blocks] * self._room + position
        self.block = np.zeros(local.num_local, np.int32)
        self.position = np.zeros(local.num_local, np.int32)
        self.block[met] = block
        answers = rows_to(self.comm, np.split(position, np.cumsum(counts)[:-1]))[0]
        self.position[np.concatenate(self._masters)] = answers
        exchange.spread([Section(ALL, (self.block, self.position))], None).end()

    def _walk(self) -> np.ndarray:
        """Return which run of places each block has on its rank in each round: int64 [rounds, blocks].

        A block that arrives takes the places of one that has just left; as many leave as arrive.
        """
        slots = np.zeros(self.rank_at.shape, np.int64)
        for rank in range(self.comm.size):
            here = self.rank_at == rank
            slots[0, here[0]] = np.arange(here[0].sum())
            for turn in range(1, self._schedule.rounds):
                before, now = here[turn - 1], here[turn]
                slots[turn, now] = slots[turn - 1, now]
                slots[turn, now & ~before] = slots[turn - 1, before & ~now]
        return slots

    def at(self, turn: np.ndarray, block: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return the place of vertices in some round, on the ranks they are on then, as int32."""
        return (self._slots[turn, block] * self._room + position).astype(np.int32)  # type: ignore[no-any-return]

    def moves(self, turn: int) -> tuple[dict[int, list[slice]], dict[int, list[slice]]]:
        """Return the places that blocks leave after a round, and take for the next, by the other's rank."""
        after = (turn + 1) % self._schedule.rounds
        leaving: dict[int, list[slice]] = {}
        coming: dict[int, list[slice]] = {}
        for block, size in enumerate(self._sizes.tolist()):
            start, end = int(self.rank_at[turn, block]), int(self.rank_at[after, block])
            old, new = (int(self._slots[t, block]) * self._room for t in (turn, after))
            if size and (start, old) != (end, new):
                if start == self.comm.rank:
                    leaving.setdefault(end, []).append(slice(old, old + size))
                if end == self.comm.rank:
                    coming.setdefault(start, []).append(slice(new, new + size))
        return leaving, coming

    def bring(self, values: np.ndarray, into: np.ndarray) -> None:
        """Copy *values* of masters, by local id, to the places of their blocks in round 0 (collective)."""
        into[self._place] = rows_to(self.comm, [values[ids] for ids in self._masters])[0]

    def take_back(self, values: np.ndarray, into: np.ndarray) -> None:
        """Copy *values* from the places of round 0 to the masters (collective)."""
        parts = np.split(values[self._place], np.cumsum(self._counts)[:-1])
        into[np.concatenate(self._masters)] = rows_to(self.comm, parts)[0]


class Edges:
    """The edges visited on this rank, in order; `source` and `target` are the places of their ends.

    They are ordered by round, table, source and target (global ids); parallel edges as they were given.
    """

    def __init__(self, schedule: Schedule, places: Places, graph: Graph) -> None:
        self.comm, size = graph.comm, graph.comm.size
        source, target = graph.local.in_neighbor, graph.local.targets()
        turn = schedule.round_of(places.block[source], places.block[target])
        table = schedule.seats[turn, places.block[source]]
        self._slots = split(np.arange(source.size, dtype=np.int32), table * size // schedule.ways, size)
        columns = [
            turn * schedule.ways + table, graph.local.gid[source], graph.local.gid[target],
            places.block[source], places.position[source], places.block[target], places.position[target],
        ]  # fmt: skip
        came = [rows_to(self.comm, [column[ids] for ids in self._slots]) for column in columns]
        self._counts = came[0][1]
        task, a, b, *ends = (values for values, _ in came)
        self._order = np.lexsort((b, a, task))
        task, first, first_position, second, second_position = (x[self._order] for x in (task, *ends))
        self._bounds = np.searchsorted(task, np.arange(schedule.rounds * schedule.ways + 1)).astype(np.int64)
        self._ways = schedule.ways
        self.source = places.at(task // schedule.ways, first, first_position)
        self.target = places.at(task // schedule.ways, second, second_position)

    def bounds(self, turn: int) -> np.ndarray:
        """Return the int64 bounds of the tables' edges in a round."""
        return self._bounds[turn * self._ways : (turn + 1) * self._ways + 1]

    def bring(self, values: Any) -> Any:
        """Return *values*, in slot order, in the order of visits (collective)."""
        if isinstance(values, Rows):
            column = RaggedColumn(*values.pack(np.arange(values.size, dtype=np.int32)))
            came = RaggedColumn.exchange(self.comm, [column[ids] for ids in self._slots])
            column = RaggedColumn.joined(came)[self._order]
            return Rows.of(column.lengths, column.values)
        return rows_to(self.comm, [values[ids] for ids in self._slots])[0][self._order]

    def take_back(self, values: np.ndarray, into: np.ndarray) -> None:
        """Copy *values*, in the order of visits, into an array in slot order (collective)."""
        came = np.empty_like(values)
        came[self._order] = values
        parts = np.split(came, np.cumsum(self._counts)[:-1])
        into[np.concatenate(self._slots)] = rows_to(self.comm, parts)[0]


def split(values: np.ndarray, rank: np.ndarray, size: int) -> list[np.ndarray]:
    """Return *values* by the rank each belongs to, their order kept."""
    order = np.argsort(rank, kind="stable")
    bounds = np.cumsum(np.bincount(rank, minlength=size))
    return np.split(values[order], bounds[:-1])


def rows_to(comm: Comm, parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Send ``parts[p]`` to rank p; return what came, in rank order, and how many rows from each."""
    row = parts[0].shape[1:]
    came = [part.reshape(-1, *row) for part in comm.alltoall([part.reshape(-1) for part in parts])]
    return np.concatenate(came), np.array([part.shape[0] for part in came])
