"""Random whole programs by seed: who runs, what is gathered, what is sent, along which edges.

Every float is a small multiple of a power of two, so that sums are exact in every order and all
engines, ranks and threads take the same branches.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

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
    "gl.Min[gl.VertexId]": "id", "gl.Max[gl.VertexId]": "id", "gl.BitOr[int]": "int", "gl.Any[bool]": "bool",
}  # fmt: skip
PAIRS = {
    "gl.ArgMin[float, gl.VertexId]": ("float", "id"), "gl.ArgMax[int, gl.VertexId]": ("int", "id"),
    "gl.ArgMin[gl.int16, float]": ("int", "float"), "gl.ArgMax[gl.float32, int]": ("float", "int"),
}  # fmt: skip
# Of an accumulator: each part's declaration, what an edge or vertex gives, and what apply makes of the sum.
PARTS = {
    "count: int": ("{i}", "v.n = (v.n + {0}.count % 101) % 101"),
    "low: gl.Min[float]": ("{f}", "v.x = (v.x + {0}.low) % 16.0 if abs({0}.low) < 1e9 else 0.25"),
    "high: gl.Max[gl.int16]": ("{i}", "v.k = max(min({0}.high, 50), -50)"),
    "odd: gl.Any[bool]": ("{b}", "v.b = v.b != {0}.odd"),
    "every: gl.All[bool]": ("{b}", "v.b = v.b or {0}.every"),
    "bits: gl.BitOr[int]": ("({i} & 15)", "v.n = (v.n + {0}.bits) % 101"),
    "best: gl.ArgMin[float, gl.VertexId]": ("({f}, {d})", "v.least = min(v.least, {0}.best[1])"),
    "most: gl.ArgMax[int, float]": ("({i}, {f})", "v.x = ({0}.most[1] + {0}.most[0] % 7) % 16.0"),
    "z: gl.Vector = gl.field(shape=3)": ("np.ones(3) * {f} - {u}.z", "v.z = (v.z + {0}.z) * 0.125"),
    "top: gl.Vector = gl.field(shape=2, combine=gl.MAX)": (
        "np.ones(2) * {f}", "v.y = {0}.top[1] % 16.0 if {0}.top[1] > -1e9 else 0.5",
    ),
    "bins: gl.Vector = gl.field(shape=4, dtype=gl.int32)": (
        "gl.at({i} % 4, {i})", "v.n = (v.n + {0}.bins[1] - {0}.bins[-1]) % 101",
    ),
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
"""
EDGE = """    class Edge(gl.Edge):
        weight: float
        cost: gl.int32 = 2
"""
FIELDS += EDGE
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


@dataclass(frozen=True)
class Single:
    """One number or id that is combined."""

    text: str  # the annotation
    kind: str
    declared = ""  # a class that the program needs for it

    def given(self, writer: Writer, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        """Return an expression of what is combined."""
        return writer.value(self.kind, around, depth, edge)

    def taken(self, name: str) -> list[str]:
        """Return the statements by which apply takes in a total or message of that name."""
        if self.kind == "id":
            return [f"v.least = {self.text[3:6].lower()}(v.least, {name})"]
        return [TAKEN[self.kind].format(name)]


@dataclass(frozen=True)
class Pair:
    """A key with its payload."""

    text: str
    kinds: tuple[str, str]
    declared = ""

    def given(self, writer: Writer, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        return "({}, {})".format(*(writer.value(kind, around, depth, edge) for kind in self.kinds))

    def taken(self, name: str) -> list[str]:
        least = f"v.least = min(v.least, of_{name})"
        second = least if self.kinds[1] == "id" else TAKEN[self.kinds[1]].format(f"of_{name}")
        return [f"key_{name}, of_{name} = {name}", TAKEN[self.kinds[0]].format(f"key_{name}"), second]


@dataclass(frozen=True)
class Parts:
    """An accumulator with some parts, of which each gives some."""

    text: str  # the name of its class
    parts: tuple[str, ...]

    @property
    def declared(self) -> str:
        return "".join((f"    class {self.text}(gl.Accumulator):\n", *(f"        {p}\n" for p in self.parts)))

    def given(self, writer: Writer, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        some = [p for p in self.parts if writer.chance(0.8)]
        values = [
            f"{part.partition(':')[0]}={writer.filled(PARTS[part][0], around, depth - 1, edge)}"
            for part in some
        ]
        return f"self.{self.text}({', '.join(values)})"

    def taken(self, name: str) -> list[str]:
        return [PARTS[part][1].format(name) for part in self.parts]


@dataclass(frozen=True)
class Own:
    """An accumulator that the program merges itself."""

    text = "Own"
    declared = """    class Own(gl.Accumulator):
        n: int = 0
        least: int = 1000
        x: float = 0.0
    def merge(self, a: Own, b: Own) -> Own:
        return self.Own(n=a.n + b.n, least=min(a.least, b.least), x=a.x + b.x if a.n > -1000 else b.x + a.x)
"""

    def given(self, writer: Writer, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        return f"self.Own({writer.filled('n={i}, least={i}, x={f}', around, depth - 1, edge)})"

    def taken(self, name: str) -> list[str]:
        return [f"v.n = (v.n + {name}.n + {name}.least) % 101", f"v.x = (v.x + {name}.x) % 16.0"]


@dataclass(frozen=True)
class Around:
    """The set of some of the ids at the other ends; only a gather has it."""

    text = "gl.SortedSet[gl.VertexId]"
    declared = ""

    def given(self, writer: Writer, around: tuple[str, ...], depth: int = 2, edge: bool = False) -> str:
        return f"nbr.id if {writer.value('bool', around, depth, edge)} else None"

    def taken(self, name: str) -> list[str]:
        return [f"v.n = (v.n + len({name}) + gl.common({name}, v.around)) % 101", f"v.around = {name}"]


Combined = Single | Pair | Parts | Own | Around


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
        return self.filled(self.random.choice(SHAPES[kind]), around, depth, edge)

    def filled(self, text: str, around: tuple[str, ...], depth: int, edge: bool = False) -> str:
        """Return *text* with expressions in its slots."""
        text = text.replace("{u}", self.random.choice(around))
        for slot, wanted in KINDS.items():
            while "{" + slot + "}" in text:
                value = self.value(wanted, around, max(depth - 1, 0), edge)
                text = text.replace("{" + slot + "}", f"({value})", 1)
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

    def combiner(self, name: str) -> Combined:
        """Return what is combined; *name* is that of its class if it is an accumulator."""
        if self.chance(0.3):
            return Parts(name, tuple(self.random.sample(list(PARTS), 3)))
        if self.chance(0.15):
            return Own()
        if self.chance(0.25):
            return Pair(*self.random.choice(list(PAIRS.items())))
        return Single(*self.random.choice(list(COMBINERS.items())))

    def program(self) -> str:
        """Return the text of class P."""
        gathers, scatters = self.chance(0.7), self.chance(0.65)
        sends = scatters and self.chance(0.6)
        lines = [HEAD]
        if gathers:
            lines.append(f"    gather_edges = {self.random.choice(DIRECTIONS)}\n")
        if scatters:
            lines.append(f"    scatter_edges = {self.random.choice(DIRECTIONS)}\n")
        total: Combined = Around() if self.chance(0.15) else self.combiner("Total")
        message, whole = self.combiner("Letter"), self.combiner("Sum")
        aggregates = self.chance(0.6)
        lines.append(FIELDS)
        if gathers and isinstance(total, Around):
            lines[-1] = lines[-1].replace(EDGE, f"        around: {total.text}\n{EDGE}")
        used = [one for needed, one in ((gathers, total), (sends, message), (aggregates, whole)) if needed]
        lines += dict.fromkeys(one.declared for one in used)  # each once
        if aggregates:
            lines += self.method(
                "whole(self, v)", whole.text, [f"return {whole.given(self, ('v',))}"], "@gl.aggregator"
            )
        lines += self.method("init(self, v)", None, ["v.least = v.id", *self.writes()])
        if self.chance(0.3):
            name = self.random.choice(["start", "active"])
            self.by_rule = name == "active"
            lines += self.method(f"{name}(self, v)", "bool", [f"return {self.value('bool', ('v',))}"])
        both = ("v", "nbr")
        takes = ""
        apply = []
        if gathers:
            given = f"return {total.given(self, both, edge=True)}"
            lines += self.method("gather(self, v, e, nbr)", total.text, [given])
            takes = ", total"
            apply += total.taken("total")
        if sends:
            takes += f", message: {message.text}"
            apply += message.taken("message")
        again = (
            [f"if {self.value('bool', ('v',))}:", f"    {self.random.choice(AGAIN)}"]
            if scatters and self.chance(0.3)
            else []
        )
        lines += self.method(f"apply(self, v{takes})", None, [*apply, *self.writes(), *again])
        if scatters:
            sent = [message.given(self, both, 1, edge=True)] if sends else []
            if self.chance(0.3) and not self.by_rule:
                sent.append(f"priority=abs({self.value('int', both, 1)}) % 4")
            signal = f"nbr.signal({', '.join(sent)})"
            if self.chance(0.3):
                signal = f"self.signal({', '.join([self.random.choice(NAMED), *sent])})"
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
