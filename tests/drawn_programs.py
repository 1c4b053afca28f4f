"""Random whole programs by seed: who runs, what is gathered, what is sent, along which edges.

Every float is a small multiple of a power of two, so that sums are exact in every order and all
engines, ranks and threads take the same branches.
"""

from __future__ import annotations

import random

LEAVES = {
    "int": ["{u}.n", "{u}.n", "{u}.k", "{u}.degree", "{u}.out_degree", "self.superstep", "self.p", "3", "-1"],
    "float": ["{u}.x", "{u}.x", "{u}.y", "{u}.z[1]", "{u}.z[{u}.degree % 3]", "self.q", "0.5", "2.0"],
    "bool": ["{u}.b", "{u}.in_degree > 1", "{u}.id == self.source", "True"],
    "id": ["{u}.id", "{u}.least", "self.source"],
}
# {i} {f} {b} {d} stand for an int, a float, a bool and an id
SHAPES = {
    "int": ["({i} + {i}) % 101", "({i} - {i}) % 101", "({i} * 3) % 101", "min({i}, {i})", "max({i}, {i})",
            "({i} if {b} else {i})", "abs({i})", "int({f}) % 7", "({i} & 15)", "({i} ^ 5)"],
    "float": ["({f} + {f}) % 16.0", "({f} - {f}) % 16.0", "min({f}, {f})", "max({f}, {f})",
              "({f} if {b} else {f})", "abs({f})", "({f} * 0.5) % 16.0", "({i} % 9) * 0.25"],
    "bool": ["({i} < {i})", "({f} <= {f})", "({i} % 2 == 0)", "not {b}", "({b} and {b})", "({b} or {b})",
             "({d} < {d})", "({d} == {d})"],
    "id": ["min({d}, {d})", "max({d}, {d})", "({d} if {b} else {d})"],
}  # fmt: skip
KINDS = {"i": "int", "f": "float", "b": "bool", "d": "id"}
COMBINERS = {
    "gl.Sum[int]": "int", "gl.Sum[float]": "float", "gl.Min[float]": "float", "gl.Max[float]": "float",
    "gl.Min[int]": "int", "gl.Max[gl.int32]": "int", "gl.Max[bool]": "bool", "gl.Min[bool]": "bool",
    "gl.Min[gl.VertexId]": "id", "gl.Max[gl.VertexId]": "id",
}  # fmt: skip
AGAIN = ("v.signal()", "v.signal()", "self.signal(v.id)", "self.signal(self.source)")
NAMED = ("nbr.id", "v.id", "self.source")
DIRECTIONS = ("gl.IN", "gl.OUT", "gl.ALL")
HEAD = """class P(gl.VertexProgram):
    source: gl.VertexId
    p: int = 3
    q: float = -0.75
"""
FIELDS = """    class Vertex(gl.Vertex):
        x: float = 0.5
        y: gl.float32 = -1.5
        n: int = 3
        k: gl.int16 = 4
        b: bool = True
        least: gl.VertexId
        z: gl.Vector = gl.field(shape=3, init=0.25)
    class Edge(gl.Edge):
        weight: float
        cost: gl.int32 = 2
"""
# What becomes of a total or message of each type, kept within bounds: the identity of a Min or Max may come,
# and of ids that is no vertex at all.
VECTORS = [
    "v.z = v.z * 0.5 + {f}", "v.z = np.minimum(v.z, np.abs(v.z - {f}))", "v.z[{i} % 3] = {f}",
    "v.x = np.sum(v.z) % 16.0", "v.y = np.max(v.z * v.z) % 16.0", "v.n = np.argmin(v.z)",
]  # fmt: skip
TAKEN = {
    "int": "v.n = (v.n + {0} % 101) % 101",
    "float": "v.x = (v.x + {0}) % 16.0 if abs({0}) < 1e9 else 0.25",
    "bool": "v.b = v.b != {0}",
}


def taken(value: str, combiner: str, kind: str) -> str:
    """Return the statement by which apply takes in a total or message."""
    if kind == "id":
        return f"v.least = {combiner[3:6].lower()}(v.least, {value})"
    return TAKEN[kind].format(value)


class Writer:
    """Writes one program, all of it from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.by_rule = False  # `active` chooses who runs

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def value(self, kind: str, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        """Return an expression of *kind* over the vertices named *around*, and the edge."""
        if depth == 0 or self.chance(0.2):
            leaves = LEAVES[kind]
            if edge and self.chance(0.4):
                leaves = {"float": ["e.weight"], "int": ["e.cost"], "bool": ["e.forward"]}.get(kind, leaves)
            return self.random.choice(leaves).replace("{u}", self.random.choice(around))
        text = self.random.choice(SHAPES[kind])
        for slot, wanted in KINDS.items():
            while "{" + slot + "}" in text:
                text = text.replace("{" + slot + "}", f"({self.value(wanted, around, depth - 1, edge)})", 1)
        return text

    def writes(self) -> list[str]:
        """Return statements that change the vertex."""
        lines = []
        for field, kind in self.random.sample(
            [("x", "float"), ("y", "float"), ("n", "int"), ("k", "int"), ("b", "bool"), ("least", "id")], 3
        ):
            line = f"v.{field} = {self.value(kind, ('v',))}"
            lines += [f"if {self.value('bool', ('v',))}:", f"    {line}"] if self.chance(0.4) else [line]
        if self.chance(0.4):
            line = self.random.choice(VECTORS)
            lines.append(
                line.format(f=f"({self.value('float', ('v',))})", i=f"({self.value('int', ('v',))})")
            )
        if self.chance(0.3):
            lines.append(self.random.choice(["v.n = gl.integers(50)", "v.b = gl.uniform() < 0.5"]))
        return lines

    def combiner(self) -> tuple[str, str]:
        return self.random.choice(list(COMBINERS.items()))

    def program(self) -> str:
        """Return the text of class P."""
        gathers, scatters = self.chance(0.7), self.chance(0.65)
        sends = scatters and self.chance(0.6)
        lines = [HEAD]
        if gathers:
            lines.append(f"    gather_edges = {self.random.choice(DIRECTIONS)}\n")
        if scatters:
            lines.append(f"    scatter_edges = {self.random.choice(DIRECTIONS)}\n")
        lines.append(FIELDS)
        if self.chance(0.6):
            combiner, kind = self.combiner()
            lines += self.method(
                "whole(self, v)", combiner, [f"return {self.value(kind, ('v',))}"], "@gl.aggregator"
            )
        lines += self.method("init(self, v)", None, ["v.least = v.id", *self.writes()])
        if self.chance(0.3):
            name = self.random.choice(["start", "active"])
            self.by_rule = name == "active"
            lines += self.method(f"{name}(self, v)", "bool", [f"return {self.value('bool', ('v',))}"])
        both = ("v", "nbr")
        takes, sent = "", ""
        apply = []
        if gathers:
            combiner, kind = self.combiner()
            lines += self.method(
                "gather(self, v, e, nbr)", combiner, [f"return {self.value(kind, both, edge=True)}"]
            )
            takes = ", total"
            apply.append(taken("total", combiner, kind))
        if sends:
            combiner, sent = self.combiner()
            takes += f", message: {combiner}"
            apply.append(taken("message", combiner, sent))
        again = (
            [f"if {self.value('bool', ('v',))}:", f"    {self.random.choice(AGAIN)}"]
            if scatters and self.chance(0.3)
            else []
        )
        lines += self.method(f"apply(self, v{takes})", None, [*apply, *self.writes(), *again])
        if scatters:
            given = [self.value(sent, both, 1, edge=True)] if sends else []
            if self.chance(0.3) and not self.by_rule:
                given.append(f"priority=abs({self.value('int', both, 1)}) % 4")
            signal = f"nbr.signal({', '.join(given)})"
            if self.chance(0.3):
                signal = f"self.signal({', '.join([self.random.choice(NAMED), *given])})"
            body = [f"if {self.value('bool', both, edge=True)}:", f"    {signal}"]
            if sends and self.chance(0.3):
                body += [f"elif {self.value('bool', both, 1)}:", "    nbr.signal()"]
            lines += self.method("scatter(self, v, e, nbr)", None, body)
        return "".join(lines)

    def method(self, head: str, returns: str | None, body: list[str], above: str = "") -> list[str]:
        arrow = f" -> {returns}" if returns else ""
        decorated = [f"    {above}\n"] if above else []
        return [*decorated, f"    def {head}{arrow}:\n", *(f"        {line}\n" for line in body)]


def drawn_program(seed: int) -> str:
    """Return the text of a module with the program P."""
    return "import numpy as np\n\nimport gaslab as gl\n\n" + Writer(seed).program()
