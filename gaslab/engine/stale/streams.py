"""Batches between ranks that may be in different supersteps.

A superstep is a sequence of stages. In each stage a rank posts one batch to every other rank, and goes on
when it has a new enough batch of that stage from each. The batches of one sender are unpacked in the order in
which it posted them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab.parallel.backoff import Backoff
from gaslab.parallel.comm import CHUNK
from gaslab.parallel.transport import Transport

VALUES, COUNTS, SHARES, SUMS = range(4)  # the stages of a superstep, in their order
MOST_PARTS = 5  # of a batch
LAST = 1 << 62  # the superstep of a rank that sends no more
NOTHING = -2  # the superstep of a rank that has sent nothing


@dataclass
class Batch:
    """The bytes from one rank to another in one stage of one superstep."""

    stage: int
    superstep: int
    basis: int  # it has nothing older than the end of this superstep
    parts: list[np.ndarray]


class Streams:
    """The batches to and from all other ranks, on one rank."""

    def __init__(self, transport: Transport, backoff: Backoff) -> None:
        self.transport, self._backoff = transport, backoff
        self.peers = [p for p in range(transport.size) if p != transport.rank]
        self.waited = 0.0  # seconds
        self._queues: dict[int, deque[Batch]] = {p: deque() for p in self.peers}
        self._pieces: dict[int, list[np.ndarray]] = {p: [] for p in self.peers}
        self._heard = np.full((4, transport.size), NOTHING, np.int64)
        self._basis = self._heard.copy()
        self._posted = [NOTHING] * 4

    def post(self, stage: int, superstep: int, basis: int, parts: Sequence[dict[int, np.ndarray]]) -> None:
        """Start sending one batch to every other rank; a part has bytes by rank, maybe none for some."""
        self._posted[stage] = superstep
        nothing = np.empty(0, np.uint8)
        for p in self.peers:
            mine = [np.ascontiguousarray(part.get(p, nothing)).view(np.uint8) for part in parts]
            head = np.array([stage, superstep, basis, len(mine), *(part.size for part in mine)], np.int64)
            padded = [x for part in mine for x in (part, np.zeros(-part.size % 8, np.uint8))]
            data = np.concatenate([head.view(np.uint8), *padded])
            for lo in range(0, data.size + 1, CHUNK):  # a partial piece ends the batch
                self.transport.post(p, data[lo : lo + CHUNK])

    def wait(self, stage: int, least: int) -> None:
        """Wait until the last batch of *stage* of every rank has no value older than superstep *least*."""
        self._until(lambda: all(self._basis[stage, p] >= least for p in self.peers))

    def wait_for_all(self, stage: int) -> None:
        """Wait until every rank has sent as many batches of *stage* as this rank."""
        self._until(lambda: all(self._heard[stage, p] >= self._posted[stage] for p in self.peers))

    def _until(self, come: Any) -> None:
        self._collect()
        if come():
            return
        began = time.perf_counter()
        self._backoff.reset()
        while not come():
            if self._collect():
                self._backoff.reset()
            else:
                self._backoff.wait()
        self.waited += time.perf_counter() - began

    def _collect(self) -> bool:
        received = self.transport.collect()
        for p, piece in received:
            self._pieces[p].append(piece)
            if piece.size < CHUNK:
                pieces, self._pieces[p] = self._pieces[p], []
                self._enqueue(p, pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
        return bool(received)

    def _enqueue(self, p: int, data: np.ndarray) -> None:
        stage, superstep, basis, count = data[:32].view(np.int64).tolist()
        sizes = data[32 : 32 + 8 * count].view(np.int64).tolist()
        at, parts = 32 + 8 * count, []
        for size in sizes:
            parts.append(data[at : at + size])
            at += size + -size % 8
        self._queues[p].append(Batch(stage, superstep, basis, parts))
        self._heard[stage, p], self._basis[stage, p] = superstep, basis

    def waves(self, stage: int | None) -> Iterator[tuple[int, dict[int, Batch]]]:
        """Yield the batches received, in the order of each sender, up to its last of *stage* (None: all).

        Batches of one stage from several ranks are yielded together, at most one from each, by rank.
        """
        left = {}
        for p, queue in self._queues.items():
            last = [k + 1 for k, batch in enumerate(queue) if stage is None or batch.stage == stage]
            if last:
                left[p] = last[-1]
        while left:
            heads = {p: self._queues[p][0].stage for p in left}
            chosen = max(heads.values(), key=lambda s: s if s != stage else -1)  # laggards first
            wave = {p: self._queues[p].popleft() for p, s in sorted(heads.items()) if s == chosen}
            left = {p: n - (p in wave) for p, n in left.items() if n > (p in wave)}
            yield chosen, wave

    def give_up(self) -> None:
        """Stop other ranks from waiting for this one, then close (collective)."""
        for stage in range(4):
            self.post(stage, LAST, LAST, [{}] * MOST_PARTS)
        self.close()

    def close(self) -> None:
        """Receive and drop the batches still under way (collective)."""
        self.transport.close()
