"""The edges visited on a rank, in order."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import gaslab._kernels.csr as kernels
from gaslab.engine.visit.blocks import Blocks
from gaslab.engine.visit.places import Walk
from gaslab.engine.visit.schedule import Schedule
from gaslab.engine.visit.transfer import rows_to, split
from gaslab.ragged import RaggedColumn, Rows

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph

DIGIT = 11  # bits sorted in a pass of `kernels.radix_pass`
CHUNK = 1 << 16  # edges looked up at a time


class Edges:
    """The edges visited on this rank, in order; `source` and `target` are the places of their ends.

    Edges are ordered by round, then by table, and at a table by the numbers of their sources in `Blocks`,
    then their targets; parallel edges keep the order of the input. In a round the tables with the most edges
    come first, so that threads, which take the next table in turn, finish together; but tables from which a
    block moves to another rank come before all others: the rest are visited while it travels.
    """

    def __init__(
        self, schedule: Schedule, rank_of_table: np.ndarray, blocks: Blocks, walk: Walk, graph: Graph
    ) -> None:
        self._comm, self._threads, self._ways = graph.comm, graph.local.threads, schedule.ways
        block_of = np.arange(schedule.blocks, dtype=np.int32).repeat(blocks.sizes)
        tasks = schedule.tasks()

        self._kept: list[tuple[weakref.ref[np.ndarray], np.ndarray]] = []  # fields, and the values brought
        self._slots: list[np.ndarray] | None = None  # of the edges visited on each rank; None: all are here
        a = blocks.number[graph.local.in_neighbor]
        b = blocks.number.repeat(np.diff(graph.local.in_begin))
        if self._comm.size > 1:
            rank = rank_of_table[_pairs(tasks, block_of, a, b) % schedule.ways]
            self._slots = split(np.arange(rank.size, dtype=np.int32), rank, self._comm.size)
            a, counts = rows_to(self._comm, [a[ids] for ids in self._slots])
            b, _ = rows_to(self._comm, [b[ids] for ids in self._slots])
            self._cuts = np.cumsum(counts)[:-1]
        task = _pairs(tasks, block_of, a, b)
        count = np.zeros(schedule.rounds * schedule.ways, np.int64)
        for chunk in _chunks(task.size, max(CHUNK, count.size)):
            count += np.bincount(task[chunk], minlength=count.size)
        turn = np.arange(count.size, dtype=np.int32) // np.int32(schedule.ways)
        tables = np.lexsort((-count, ~walk.leaves.reshape(-1), turn))
        self._bounds = np.append(0, np.cumsum(count[tables]))
        leaving, here = walk.leaves.sum(axis=1), int((rank_of_table == self._comm.rank).sum())
        self._half = np.where(leaving, np.maximum(leaving, here // 2), schedule.ways).tolist()
        stands = np.empty(count.size, np.int32)
        stands[tables] = np.arange(count.size)
        for chunk in _chunks(task.size):
            task[chunk] = stands.take(task[chunk])
        self._order = in_order(task, count.size, a, b, block_of.size)

        # From numbers to places, by round and block; an end's numbers are freed once it has its places.
        shift = (walk.first - blocks.first).astype(blocks.number.dtype).reshape(-1)
        turn = turn[tables] * np.int32(schedule.blocks)
        self.source = _places(a, self._order, turn, task, block_of, shift)
        del a
        self.target = _places(b, self._order, turn, task, block_of, shift)

    def bounds(self, turn: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the int64 bounds of the tables' edges before and after a round's message."""
        of_round, half = self._bounds[turn * self._ways : (turn + 1) * self._ways + 1], self._half[turn]
        return of_round[: half + 1], of_round[half:]

    def bring(self, values: Any) -> Any:
        """Return *values*, in slot order, in the order of visits (collective)."""
        if isinstance(values, Rows):
            column = RaggedColumn(*values.pack(np.arange(values.size, dtype=np.int32)))
            if self._slots is not None:
                received = RaggedColumn.exchange(self._comm, [column[ids] for ids in self._slots])
                column = RaggedColumn.joined(received)
            column = column[self._order]
            return Rows.of(column.lengths, column.values)
        if self._slots is not None:
            values = rows_to(self._comm, [values[ids] for ids in self._slots])[0]
        if values.ndim > 1:
            return values[self._order]
        ordered = np.empty_like(values)
        kernels.take_slots(values, self._order, ordered, self._threads)
        return ordered

    def bring_all(self, fields: Sequence[Any], read: Sequence[bool]) -> list[Any]:
        """Return fields as `bring` does (collective); arrays that are only *read* are kept for later runs.

        They are kept as long as the field and the plan.
        """
        self._kept = [(known, made) for known, made in self._kept if known() is not None]
        keeps = [only and isinstance(values, np.ndarray) for only, values in zip(read, fields, strict=True)]
        found = [next((made for known, made in self._kept if known() is x), None) for x in fields]
        lacks = any(keep and made is None for keep, made in zip(keeps, found, strict=True))
        if fields and self._comm.allreduce(int(lacks), "max"):  # all ranks bring, or none does
            self._kept, found = [], [None] * len(fields)
        for k, values in enumerate(fields):
            if not keeps[k]:
                found[k] = self.bring(values)
            elif found[k] is None:
                made: np.ndarray = self.bring(values)
                found[k] = made
                self._kept.append((weakref.ref(values), made))
        return found

    def take_back(self, values: np.ndarray, into: np.ndarray) -> None:
        """Copy *values*, in the order of visits, into an array in slot order (collective)."""
        if self._slots is None:
            into[self._order] = values
            return
        ordered = np.empty_like(values)
        ordered[self._order] = values
        into[np.concatenate(self._slots)] = rows_to(self._comm, np.split(ordered, self._cuts))[0]

    def memory_bytes(self) -> int:
        """The bytes of the arrays held here."""
        kept = [made for known, made in self._kept if known() is not None]
        arrays = (self.source, self.target, self._order, self._bounds, *(self._slots or ()), *kept)
        return sum(int(values.nbytes) for values in arrays)


def _pairs(table: np.ndarray, block_of: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the entry of *table* for the blocks of *a* and of *b*."""
    found = np.empty(a.size, table.dtype)
    for chunk in _chunks(a.size):
        found[chunk] = table[block_of.take(a[chunk]), block_of.take(b[chunk])]
    return found


def _chunks(size: int, length: int | None = None) -> Iterator[slice]:
    """Return slices of edges: numpy's intermediate arrays are as long as a slice."""
    length = length or CHUNK
    return (slice(begin, begin + length) for begin in range(0, size, length))


def in_order(task: np.ndarray, tasks: int, a: np.ndarray, b: np.ndarray, numbers: int) -> np.ndarray:
    """Return the positions of edges by task, then *a*, then *b*, then position, as int32: a radix sort."""
    wide = max(numbers - 1, 0).bit_length()
    order, other = np.arange(task.size, dtype=np.int32), np.empty(task.size, np.int32)
    counts = np.empty((1 << DIGIT) + 1, np.int64)
    for key, bits in ((b, wide), (a, wide), (task, tasks.bit_length())):
        for shift in range(0, bits, DIGIT):
            kernels.radix_pass(key, order, shift, counts, other)
            order, other = other, order
    return order


def _places(
    numbers: np.ndarray, order: np.ndarray, turn: np.ndarray, task: np.ndarray, block_of: np.ndarray,
    shift: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the places of vertices by their *numbers*, in the order of visits, as int32."""
    made = np.empty(order.size, np.int32)
    for chunk in _chunks(order.size):
        edges = order[chunk]
        number = numbers.take(edges)
        made[chunk] = number + shift.take(turn.take(task.take(edges)) + block_of.take(number))
    return made
