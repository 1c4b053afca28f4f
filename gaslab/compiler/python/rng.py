"""Draws in plain Python: the twin of ``philox.h`` and of `c.rng`."""

from __future__ import annotations

from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.python import distributions
from gaslab.compiler.python.numerics import Fault, math_function
from gaslab.errors import unknown
from gaslab.language import rng

CHOICE = 9  # gl_fault.code
_MASK32, _MASK64, _STEP = (1 << 32) - 1, (1 << 64) - 1, 0x9E3779B97F4A7C15


def begin(tree: t.Tree, function: t.Function) -> str:
    """Return the statement that starts the draws of a method; nothing if it has none."""
    if "self.draws" not in function.reads or any(function is helper for helper in tree.helpers):
        return ""
    where = "edge(v, x, e)" if function.name in rng.EDGE_PHASES else "vertex(v)"
    if function.name == "visit":
        where = "visit(v, x, e)"
    return f"c.rng.begin({rng.PHASES[function.name]}, c.rng.{where})"


def draw(x: t.Draw, arguments: str) -> str:
    """Return a draw as a Python expression."""
    if x.kind in distributions.SCALARS:
        return f"{x.kind}(c.rng, {arguments}, {x.site})"
    if x.kind not in rng.TYPES:
        raise unknown("interpret", x)
    return f"c.rng.{x.kind}({arguments}{f', {x.site}' if x.kind == 'integers' else ''})"


def philox(seed: int, number: int, moment: int, unit: int) -> tuple[int, int]:
    """Return the two 64-bit words of a block of Philox-4x32-10."""
    c0, c1, c2, c3 = number, moment, unit & _MASK32, unit >> 32
    k0, k1 = seed & _MASK32, seed >> 32
    for _ in range(10):
        a, b = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & _MASK32, (a >> 32) ^ c3 ^ k1, a & _MASK32
        k0, k1 = (k0 + 0x9E3779B9) & _MASK32, (k1 + 0xBB67AE85) & _MASK32
    return c1 << 32 | c0, c3 << 32 | c2


def spread(z: int) -> int:
    """Return splitmix64's finaliser of a 64-bit word."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK64
    return z ^ (z >> 31)


def edge_key(source: int, target: int, occurrence: int) -> int:
    """Return the key of an edge by the global ids of its ends and its place among parallels."""
    key = 0
    for part in (source, target, occurrence):
        key = spread((key ^ part) + _STEP & _MASK64)
    return key


def edge_hash(source: int, target: int, occurrence: int) -> int:
    """Return the unit of an edge for ``rng="hash"``."""
    point = source * 0xD1342543DE82EF95 + target * 0xAF251AF3B0F025B5 + occurrence * 0x8EBC6AF09C88C6E3
    return point & _MASK64


def point_word(point: int) -> int:
    """Return the word of a point for ``rng="hash"``."""
    product = point * (point ^ 0xE7037ED1A0B428DB)
    return product >> 64 ^ product & _MASK64


def moment_hash(seed: int, moment: int) -> int:
    """Return the contribution of seed and moment to a unit for ``rng="hash"``."""
    return spread(spread(seed + _STEP & _MASK64) + moment * 0xD1342543DE82EF95 & _MASK64)


class Random:
    """The draws of one method call after another; *block* is the methods' view."""

    def __init__(self, block: Any, kind: str, precision: str) -> None:
        self._block, self._kind, self.precision = block, kind, precision
        self._edge_key = edge_hash if kind == "hash" else edge_key
        self._mix = point_word if kind == "hash" else spread

    def vertex(self, v: int) -> int:
        gid: int = self._block.gid.item(v)
        return spread(gid + _STEP & _MASK64) if self._kind == "hash" else gid

    def edge(self, here: int, there: int, e: int) -> int:
        """Return the key of the edge at slot e with ends *here* and *there*."""
        c = self._block
        begins = c.in_begin
        into = begins.item(there) <= e < begins.item(there + 1)
        source, target = (here, there) if into else (there, here)
        first = e
        while first > begins.item(target) and c.in_neighbor.item(first - 1) == c.in_neighbor.item(e):
            first -= 1
        return self._edge_key(c.gid.item(source), c.gid.item(target), e - first)

    def visit(self, source: int, target: int, e: int) -> int:
        """Return the key of the edge visited as number e; parallel edges are adjacent in their block."""
        c, first = self._block, e
        ends = (source, target)
        while first > c.first and (c.in_neighbor.item(first - 1), c.out_neighbor.item(first - 1)) == ends:
            first -= 1
        return self._edge_key(c.gid.item(source), c.gid.item(target), e - first)

    def begin(self, phase: int, unit: int) -> None:
        self._moment, self._unit, self._number = self._block.superstep << 4 | phase, unit, 0
        if self._kind == "stream":
            self._state = philox(self._block.seed, 0, self._moment, unit)[0]
        elif self._kind == "hash":
            self._state = moment_hash(self._block.seed, self._moment & _MASK32) ^ unit

    def _next(self) -> int:
        self._state = self._state + _STEP & _MASK64
        return self._mix(self._state)

    def words(self) -> tuple[int, int]:
        """Return the next two random words."""
        if self._kind != "counter":
            return self._next(), self._next()
        self._number += 1
        return philox(self._block.seed, self._number - 1, self._moment, self._unit)

    def word(self) -> int:
        """Return the next random word."""
        return self.words()[0] if self._kind == "counter" else self._next()

    def point(self) -> float:
        """Return a number in [0, 1) with the precision of the program's floats."""
        word = self.word()
        return (word >> 40) * 2.0**-24 if self.precision == "float32" else (word >> 11) * 2.0**-53

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.point()

    def normal(self) -> float:
        first, second = self.words()
        radius = math_function("sqrt")(-2.0 * math_function("log")(((first >> 11) + 1) * 2.0**-53))
        angle = 6.283185307179586 * ((second >> 11) * 2.0**-53)
        return radius * math_function("cos")(angle)  # type: ignore[no-any-return]

    def integers(self, n: int, site: int) -> int:
        if n < 1:
            raise Fault(CHOICE, site)
        return self.word() * n >> 64
