"""The visit of a drawn program, and the aggregators that it reads and adds to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.pairs.words import BOTH

if TYPE_CHECKING:
    from tests.pairs.programs import Program

BALLS = """    class Balls(gl.Accumulator):
        of: gl.Vector = gl.field(shape=3, dtype=int)
"""
WEIGHTS = (  # of three: by the live urn, by an aggregate that stays as it is for a sweep, or by both
    "1.0 + self.urn.of",
    "1.0 / (self.urn.of + 2.0)",
    "0.5 * (self.urn.of + 1)",
    "1.0 + self.steady.of",
    "(0.5 * self.steady.of + 1.0) * (1.0 / (self.urn.of + 2.0))",
)


def aggregators(program: Program) -> list[str]:
    """Return the live totals of a program that has them, and the aggregator beside them that is not live."""
    if not program.has("live total"):
        return []
    balls, live = ["return self.Balls(of=gl.at(v.degree % 3))"], "@gl.aggregator(live=True)"
    return [
        *program.method("tally(self, v)", "gl.Sum[int]", ["return v.degree"], live),
        *program.method("urn(self, v)", "Balls", balls, live),
        *program.method("steady(self, v)", "Balls", balls, "@gl.aggregator"),
    ]


def visit(program: Program) -> list[str]:
    """Return the method visit."""
    where = replace(BOTH, roles=("u", "w"), lists=False)
    body = program.fault("visit", "u")
    for line in ("u.n = ({i}) % 101", "w.n = ({i}) % 101", "w.x = {f}", "u.b = {b}", "w.least = {d}"):
        field = line[2:].split()[0]
        kind = {"n": "int", "x": "float", "b": "bool", "least": "id"}[field]
        if program.can(kind) and program.odds(0.6):
            body.append(program.filled(line, where, 1))
    if program.has("edge written"):
        body.append(program.filled("e.seen = (e.seen + {i}) % 101", where, 1))
    if program.has("live total"):
        body.append(program.filled("self.tally += ({i}) % 5", where, 1))
        body.append(
            program.one(["u.n = self.tally % 101", "self.tally -= 1", "w.n = (w.n + self.tally) % 101"])
        )
        drawn = program.one([f"gl.categorical({program.one(list(WEIGHTS))})", "u.degree % 3"])
        body.append(f"self.urn.of[{drawn}] += 1")
        body.append("w.n = (w.n + self.urn.of[1]) % 101")
        if program.odds(0.3):
            body.append("u.n = (u.n + int(np.sum(0.5 * self.steady.of))) % 101")
    return program.method("visit(self, u, e, w)", None, body or ["u.n = w.n"])
