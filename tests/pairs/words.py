"""Expressions of drawn programs: ints, floats, bools and ids over the fields that a program has.

Floats are small multiples of 1/16, so that sums are exact in every order; ints stay small. So all engines,
ranks and threads take the same branches, and answers compare bit for bit. What is not exact goes into the
field `w`, which nothing else reads.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

KINDS = {"i": "int", "f": "float", "b": "bool", "d": "id"}
# what a feature adds: kind -> leaves ({u} is a vertex) and shapes ({i} {f} {b} {d} are values); "a & b" adds
# where both are
LEAVES: dict[str, dict[str, list[str]]] = {
    "": {
        "int": [
            "{u}.n",
            "{u}.n",
            "{u}.degree",
            "{u}.out_degree",
            "{u}.in_degree",
            "3",
            "-1",
            "self.num_vertices % 5",
        ],
        "float": ["0.5", "2.0", "-1.25"],
        "bool": ["{u}.in_degree > 1", "True"],
        "id": ["{u}.id"],
    },
    "float field": {"float": ["{u}.x", "{u}.x", "{u}.x"]},
    "float32 field": {"float": ["{u}.y"]},
    "bool field": {"bool": ["{u}.b", "{u}.b"]},
    "id field": {"id": ["{u}.least", "{u}.none"], "bool": ["{u}.least == gl.NOBODY"]},
    "vector of ids": {
        "id": ["{u}.ring[1]", "{u}.ring[{u}.degree % 3]"],
        "bool": ["({u}.ring[-1] == {u}.id)"],
    },
    "bits of vectors": {
        "int": [
            "np.sum(~{u}.mask & 63)",
            "({u}.mask << 1 | ({u}.degree & 3))[{u}.degree % 3]",
            "np.max(np.bitwise_count({u}.mask ^ 21 >> {u}.mask % 4))",
        ]
    },
    "vector field": {"float": ["{u}.z[1]", "{u}.z[{u}.degree % 3]", "{u}.z[-1]"]},
    "matrix field": {"float": ["{u}.m[1, 0]", "{u}.m[{u}.degree % 2, 1]"]},
    "private field": {"int": ["{u}._own"]},
    "vertex column": {"int": ["{u}.colour"]},
    "drawn start": {"int": ["{u}.drawn"]},
    "list words": {
        "int": ["len({u}.near)", "len({u}.some)", "gl.mex({u}.some)"],
        "bool": ["3 in {u}.some", "({u}.n in {u}.some)", "{u}.id in {u}.near"],
    },
    "id parameter": {"bool": ["{u}.id == self.source"], "id": ["self.source"]},
    "int parameter": {"int": ["self.p"]},
    "float parameter": {"float": ["self.q"]},
    "math": {"float": ["-0.0"]},
    "module constant": {"int": ["LIMIT"], "float": ["SHARE"]},
    "vector parameter": {
        "float": ["self.steps[1]", "self.steps[{u}.degree % 4]", "self.steps[-1]"],
        "int": ["len(self.steps) + self.span"],
    },
    "matrix parameter": {"float": ["self.grid[1, {u}.degree % 3]", "self.grid[-1, 0]"]},
    "module array": {
        "int": ["TABLE[{u}.degree % 4]", "self.PLACES[{u}.out_degree % 2]"],
        "float": ["WEIGHTS[1, {u}.in_degree % 2]"],
    },
    "slice": {"float": ["np.sum((np.ones(5) * ({u}.degree % 7))[1:-1])"]},
    "slice & vector field": {"float": ["np.max({u}.z[:2])", "{u}.z[1:][{u}.degree % 2]"]},
    "slice & matrix field": {"float": ["np.min({u}.m[:, 1])"]},
    "slice & vector parameter": {"float": ["np.max(self.steps[self.span - 3:])"]},
    "slice & matrix parameter": {"float": ["np.sum(self.grid[1:, :2]) % 16.0"]},
    "slice & module array": {"float": ["np.sum(WEIGHTS[0][:1])"], "int": ["np.max(TABLE[1:3])"]},
    "concatenate": {"float": ["np.max(np.concatenate((np.ones(2) * ({u}.degree % 5), np.zeros(1))))"]},
    "concatenate & vector field": {"float": ["np.concatenate([{u}.z, np.ones(2)])[{u}.degree % 5]"]},
    "concatenate & vector parameter": {"float": ["np.concatenate((np.ones(1), self.steps))[{u}.degree % 5]"]},
    "concatenate & module array": {"int": ["np.sum(np.concatenate((TABLE, self.PLACES)))"]},
    "helper of vectors & vector parameter": {"float": ["most(self.steps)"]},
    "v.index": {"int": ["({u}.index % 101)"], "bool": ["{u}.index < 3"]},
    "v.side": {"int": ["{u}.side"], "bool": ["{u}.side == 0"]},
    "helper of numbers": {"int": ["falling({i}, {i})"], "float": ["lower({f}, {f})"]},
    "helper of vertices": {"int": ["sized({u}, {i})"], "float": ["half({u}, self)"]},
    "helper of vectors": {"float": ["most(np.ones(3) * ({u}.degree % 7))"]},
    "method as helper": {"int": ["self.twice({i})"]},
}
STEPS = ("self.superstep", "self.phase_step")
SMALL = {f"{kind} field": kind for kind in ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"]}
EDGE_LEAVES: dict[str, dict[str, list[str]]] = {
    "edge column": {
        "float": ["e.weight", "e.weight"],
        "bool": ["e.weight > 2.0", "e.weight < 0.5", "e.weight <= 7.5"],  # some seldom true, seldom false
    },
    "edge default": {"int": ["e.cost"]},
    "edge vector": {"float": ["e.place[1]", "e.place[0]"]},
    "edge list": {"int": ["len(e.tokens)"], "bool": ["3 in e.tokens"]},
    "edge set": {"int": ["len(e.marks)"], "bool": ["2 in e.marks"]},
    "drawn edge field": {"int": ["e.luck"]},
    "list words": {"int": ["gl.common(v.near, nbr.near)"]},
    "e.forward": {"bool": ["e.forward"]},
    "helper of an edge": {"int": ["of_edge(e, {i})"]},
}
SHAPES: dict[str, dict[str, list[str]]] = {
    "": {
        "int": ["({i} + {i}) % 101", "min({i}, {i})", "max({i}, {i})"],
        "float": ["({f} + {f}) % 16.0", "min({f}, {f})", "max({f}, {f})", "({i} % 9) * 0.25"],
        "bool": ["({i} < {i})", "({f} <= {f})", "({i} % 2 == 0)"],
        "id": ["min({d}, {d})", "max({d}, {d})"],
    },
    "conditional": {
        "int": ["({i} if {b} else {i})"],
        "float": ["({f} if {b} else {f})"],
        "id": ["({d} if {b} else {d})"],
    },
    "and or not": {
        "bool": ["not {b}", "({b} and {b})", "({b} or {b})"],
        "int": ["({i} and {i})", "({i} or {i})"],
    },
    "chained comparison": {"bool": ["({i} < {i} <= {i})", "({f} >= {f} > {f})"]},
    "in": {"bool": ["({i} in (1, 2, {i}))", "({i} not in (0, 3))"]},
    "integer arithmetic": {
        "int": [
            "({i} - {i}) % 101",
            "({i} * 3) % 101",
            "abs({i})",
            "({i} // (abs({i}) % 5 + 1))",
            "({i} % (abs({i}) % 5 + 2))",
            "({i} % 5) ** 2",
            "({b} + {b})",
            "int({b})",
            "(-{i})",
            "int({f}) % 7",
            "min({i}, {i}, {i})",
            "({i} * {i}) % 97",
        ],
        "bool": ["({i} != {i})", "bool({i})"],
    },
    "bits": {
        "int": [
            "({i} & 15)",
            "({i} ^ 5)",
            "({i} | 8)",
            "(~{i})",
            "(({i} & 63) << ({i} & 3))",
            "({i} >> ({i} & 3))",
        ]
    },
    "bit_count": {"int": ["({i}).bit_count()", "np.bitwise_count({i})"]},
    "float arithmetic": {
        "float": [
            "({f} - {f}) % 16.0",
            "abs({f})",
            "({f} // 1.0) * 0.5",
            "(-{f})",
            "({f} * 2.0) % 16.0",
            "({f} - {f} % 0.25)",
            "float({i} % 8)",
            "({i} % 8) / 2",
            "({f} * -1.0)",
        ],
        "bool": ["({f} == {f})"],
    },
    "math": {
        "float": [
            "math.floor({f}) * 1.0",
            "math.ceil({f}) * 0.5",
            "math.fabs({f})",
            "math.copysign(0.5, {f})",
            "math.trunc({f}) * 0.25",
            "math.sqrt(4.0)",
        ],
        "int": ["int(math.floor({f})) % 9"],
        "bool": ["math.isnan({f})", "(math.copysign(1.0, {f}) < 0.0)"],
    },
    "id field": {"bool": ["({d} < {d})", "({d} == {d})"]},
}
WILD = [
    "math.sqrt({f})",
    "{f} / {f}",
    "math.log1p({f})",
    "math.exp({f})",
    "{f} ** 2",
    "math.sin({f}) * 3.0",
    "math.atan2({f}, {f})",
    "math.inf * {f}",
    "math.log({f})",
    "{f} / 3.0",
    "math.pow({f}, 0.5)",
    "{f} % {f}",
    "{f} // {f}",
    "math.hypot({f}, {f})",
    "math.tanh({f})",
]
WILD_VECTORS = ["np.sqrt", "np.exp", "np.log", "np.tanh", "np.sin", "np.cos"]

DRAWS = {  # of a feature, by kind
    "uniform": {
        "int": ["int(gl.uniform(0.0, 8.0))", "int(gl.exponential(3.0))"],
        "bool": ["gl.uniform() < 0.5", "gl.exponential() > gl.exponential(2.0)"],
    },
    "normal": {
        "int": ["int(min(max(gl.normal(2.0), -4.0), 4.0))", "int(gl.gamma(2.0, 0.5))"],
        "bool": ["gl.normal() > 0.25", "gl.gamma(0.5) < 0.25"],
    },
    "integers": {
        "int": ["gl.integers(9)", "gl.categorical(np.ones(4))", "gl.poisson(2.5)"],
        "bool": ["gl.integers(5) < 2", "gl.categorical(np.ones(11) * 0.5) == 1", "gl.poisson(12) < 11"],
    },
}


@dataclass(frozen=True)
class Where:
    """What can be read where an expression stands."""

    roles: tuple[str, ...]
    edge: bool = False
    changing: bool = True  # self.superstep and aggregators
    draws: bool = False
    lists: bool = True
    ends: bool = True  # of an edge, which e.forward distinguishes


V, BOTH = Where(("v",)), Where(("v", "nbr"), edge=True)


class Words:
    """Draws values of each kind."""

    def __init__(self, draws: random.Random, features: Collection[str]) -> None:
        self.random, self.features = draws, features
        self.drawn = [f for f in DRAWS if f in features]
        self.aggregate = ""  # an int aggregator that methods may read
        self.extra: dict[str, list[str]] = {}  # locals

    def has(self, *names: str) -> bool:
        return any(name in self.features for name in names)

    def odds(self, probability: float) -> bool:
        return self.random.random() < probability

    def one(self, options: list[str]) -> str:
        return self.random.choice(options)

    def value(self, kind: str, where: Where, depth: int = 2) -> str:
        """Return an expression of *kind*."""
        if where.draws and self.drawn and depth and self.odds(0.2) and kind in ("int", "bool"):
            return self.draw(kind)
        leaf = depth == 0 or self.odds(0.2)
        options = self.leaves(kind, where) if leaf else self.shapes(kind)
        return self.filled(self.one(options), where, depth - 1)

    def leaves(self, kind: str, where: Where) -> list[str]:
        found = list(self.extra.get(kind, ()))
        if where.edge and self.odds(0.5):
            of_edge = [
                x
                for f, kinds in EDGE_LEAVES.items()
                if self.has(f)
                for x in kinds.get(kind, ())
                if where.ends or f != "e.forward"
                if ".near" not in x or (self.has("set field") and where.lists)
            ]
            if of_edge or found:
                return of_edge or found
        for feature, kinds in LEAVES.items():
            if feature == "" or all(map(self.has, feature.split(" & "))):
                found += kinds.get(kind, ())
        if kind == "int" and self.has(*SMALL):
            found += ["{u}.k", "{u}.k"]
        if where.changing and kind == "int":
            found += [word for word in STEPS if self.has(word)] + [self.aggregate] * bool(self.aggregate)
        for feature, name in (("list field", ".some"), ("set field", ".near")):
            if not self.has(feature) or not where.lists:
                found = [x for x in found if name not in x]
        return found

    def shapes(self, kind: str) -> list[str]:
        return [x for f, kinds in SHAPES.items() if not f or self.has(f) for x in kinds.get(kind, ())]

    def draw(self, kind: str) -> str:
        return self.one(DRAWS[self.one(self.drawn)][kind])

    def filled(self, text: str, where: Where, depth: int) -> str:
        """Return *text* with expressions in its slots."""
        text = text.replace("{u}", self.one(list(where.roles)))
        for slot, wanted in KINDS.items():
            while "{" + slot + "}" in text:
                text = text.replace("{" + slot + "}", f"({self.value(wanted, where, max(depth, 0))})", 1)
        return text
