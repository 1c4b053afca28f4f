"""The draws of the reference engine: Philox-4x32-10 following its paper, in plain Python.

Shares nothing with ``philox.h`` and its twin in `compiler.python`, so that each tests the other.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gaslab.errors import ProgramError
from gaslab.language.rng import EDGE_FIELD, FIELD, PHASES, Draw
from gaslab.reference.arithmetic import rounded
from gaslab.reference.arrays import of_language, rounded_all
from gaslab.reference.distributions import Words, drawn

_BITS32, _BITS64 = 2**32, 2**64
_GOLDEN = 0x9E3779B97F4A7C15
_ODD = (0xD1342543DE82EF95, 0xAF251AF3B0F025B5, 0x8EBC6AF09C88C6E3)  # of source, target and occurrence


def philox4x32(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """Return the ten-round block of four 32-bit words.

    >>> [hex(word) for word in philox4x32([0, 0, 0, 0], [0, 0])]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    words, keys = list(counter), list(key)
    for _ in range(10):
        high0, low0 = divmod(words[0] * 0xD2511F53, _BITS32)
        high1, low1 = divmod(words[2] * 0xCD9E8D57, _BITS32)
        words = [high1 ^ words[1] ^ keys[0], low1, high0 ^ words[3] ^ keys[1], low0]
        keys = [(keys[0] + 0x9E3779B9) % _BITS32, (keys[1] + 0xBB67AE85) % _BITS32]
    return words


def splitmix64(state: int) -> int:
    """Return the output of splitmix64 for a state."""
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % _BITS64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % _BITS64
    return state ^ state >> 31


def wyrand(state: int) -> int:
    """Return the output of wyrand for a state."""
    high, low = divmod(state * (state ^ 0xE7037ED1A0B428DB), _BITS64)
    return high ^ low


class PlainRandom:
    """The random numbers of one method call after another."""

    def __init__(self, seed: int, kind: str) -> None:
        self.seed, self.kind = seed % _BITS64, kind

    def learn(self, ids: list[Any], edges: Sequence[tuple[Any, Any]]) -> None:
        """Note the vertices, in the order of their global ids, and the edges."""
        self.position = {vertex: k for k, vertex in enumerate(ids)}
        before: Counter[tuple[Any, Any]] = Counter()
        self.keys, self.hashes = [], []
        for source, target in edges:
            key = 0
            for part in (self.position[source], self.position[target], before[source, target]):
                key = splitmix64(((key ^ part) + _GOLDEN) % _BITS64)
            self.keys.append(key)
            parts = (self.position[source], self.position[target], before[source, target])
            self.hashes.append(sum(map(operator.mul, parts, _ODD)) % _BITS64)
            before[source, target] += 1

    def begin(self, phase: str, superstep: int, vertex: Any, edge: int | None) -> None:
        """Begin a call: for an edge method, of the *edge* with that number, else of the *vertex*."""
        self.phase, self.superstep, self.count = phase, superstep, 0
        self.unit = self.position[vertex] if edge is None else self.keys[edge]
        if self.kind == "hash":
            place = splitmix64((self.unit + _GOLDEN) % _BITS64) if edge is None else self.hashes[edge]
            seeded = splitmix64((self.seed + _GOLDEN) % _BITS64)
            moment = (superstep * 16 + PHASES.get(phase, 0)) % _BITS32
            self.mixed = place ^ splitmix64((seeded + moment * _ODD[0]) % _BITS64)

    def block(self, count: int, moment: int, unit: int) -> tuple[int, int]:
        """Return a Philox block as two 64-bit words, the lower half first."""
        key = [self.seed % _BITS32, self.seed // _BITS32]
        a, b, c, d = philox4x32([count, moment, unit % _BITS32, unit // _BITS32], key)
        return b * _BITS32 + a, d * _BITS32 + c

    def draw(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        """Return the next draw of this call."""
        if self.phase not in PHASES:
            raise ProgramError(f"{self.phase} cannot draw; draw in apply and keep the number in a field")
        return of_language(rounded_all(drawn(kind, tuple(map(_plain, arguments)), self.words, rounded)))

    def words(self, used: int) -> tuple[int, int]:
        """Return the next two random words, of which *used* are used."""
        moment = self.superstep * 16 + PHASES[self.phase]
        if self.kind == "counter":
            words = self.block(self.count, moment, self.unit)
            self.count += 1
        else:
            seed = self.mixed if self.kind == "hash" else self.block(0, moment, self.unit)[0]
            states = [(seed + (self.count + k + 1) * _GOLDEN) % _BITS64 for k in range(2)]
            mix = wyrand if self.kind == "hash" else splitmix64
            words = (mix(states[0]), mix(states[1]))
            self.count += used
        return words

    def vertex_start(
        self, draw: Draw, index: int, vertex: Any, parameters: dict[str, Any], shape: tuple[int, ...] = ()
    ) -> Any:
        """Return the start of vertex field number *index*."""
        return self.start(draw, index * 16 + FIELD, self.position[vertex], parameters, shape)

    def edge_start(
        self, draw: Draw, index: int, parameters: dict[str, Any], shape: tuple[int, ...] = ()
    ) -> list[Any]:
        """Return the start of edge field number *index*, for all edges."""
        moment = index * 16 + EDGE_FIELD
        return [self.start(draw, moment, key, parameters, shape) for key in self.keys]

    def _of_element(self, k: int, moment: int, unit: int) -> Words:
        """Return the source of random words for element k of a field: blocks k, k + 2**16, …"""
        numbers = itertools.count(k, 1 << 16)
        return lambda used: self.block(next(numbers), moment, unit)

    def start(
        self, draw: Draw, moment: int, unit: int, parameters: dict[str, Any], shape: tuple[int, ...]
    ) -> Any:
        """Return a number, or nested lists of them: element k, counted row by row, is draw number k."""
        arguments, each = draw.values(parameters), range(math.prod(shape))
        numbers = [drawn(draw.kind, arguments, self._of_element(k, moment, unit)) for k in each]
        if not shape:
            return numbers[0]
        length = math.prod(shape[1:])
        return numbers if len(shape) == 1 else [
            numbers[k : k + length] for k in range(0, len(numbers), length)
        ]  # fmt: skip


def _plain(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.astype(np.float64).tolist()
    return float(x) if isinstance(x, float) else int(x)
