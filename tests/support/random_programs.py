"""Random programs of the language, by seed, that never fault: to compare the engines."""

from __future__ import annotations

import random

FIELDS = {"n": "int", "m": "int", "x": "float", "y": "float", "b": "bool", "c": "bool"}
HEAD = """
def falling(a, b):
    if a > b:
        return a - b
    while a < b:
        a = a * 2 + 7
        b = b - 3
    return a % 100
def mixed(u, z):
    return u.x * 0.5 + z if u.b else z - u.n
class P(gl.VertexProgram):
    p: int = 3
    q: float = -0.75
    class Vertex(gl.Vertex):
        x: float = 0.5
        y: gl.float32 = -1.5
        n: int = 3
        m: gl.int32 = -4
        b: bool = True
        c: bool = False
"""
LEAVES = {
    "int": ["v.n", "v.m", "v.degree", "self.superstep", "self.p", "self.num_vertices", "-3", "0", "7"],
    "float": ["v.x", "v.y", "self.q", "0.5", "-1.25", "3.0", "0.1"],
    "bool": ["v.b", "v.c", "True", "False"],
}
# {i} {f} {b} {any} stand for values of that type. Ints stay small and divisors above zero, so that
# nothing faults; floats may become inf or nan. (max of an int and a float is a float here, but in
# Python sometimes an int, by which nothing can be divided when it is 0: hence the + 0.0.)
SHAPES = {
    "int": [
        "({i} + {i}) % 1013", "({i} - {i}) % 1013", "({i} * {i}) % 1013", "{i} // (abs({i}) + 1)",
        "{i} % max({i}, 1)", "int(mixed(v, 0.5) % 97.0) if abs(v.x) < 9.0 else {i}", "({i} if {b} else {i})",
        "min({i}, {i}, {i})", "max({i}, {i})", "({i} & {i})", "({i} | {i})", "({i} ^ {i})",
        "((({i}) & 1023) << (({i}) & 3))", "(({i}) >> (({i}) & 3))", "(-{i})", "(~{i})", "({b} + {b})",
        "({i} and {i})", "({i} or {i})", "falling({i}, {i})", "abs({i})",
    ],
    "float": [
        "({any} + {f}) % 31.0", "({any} - {f}) % 31.0", "({any} * {f}) % 31.0", "{any} / (abs({any}) + 1)",
        "{f} / {f}", "{f} // {f}", "({f} if {b} else {any}) * 1.0", "min({f}, {f})", "max({any}, {f}) + 0.0",
        "math.sqrt({any})", "math.exp({any})", "math.sin({any})", "math.log1p({any})", "math.fabs({any})",
        "float({i})", "mixed(v, {f})", "({f} ** 2) % 7.0",
    ],
    "bool": [
        "({any} < {any})", "({any} <= {any})", "({any} == {any})", "({any} != {any})", "(not {any})",
        "({b} and {b})", "({b} or {b})", "({any} < {any} <= {any})", "({i} in (1, 2, {i}))", "bool({any})",
    ],
}  # fmt: skip


class Writer:
    """Writes one program; `known` are the locals that have a value, with their types."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.known: dict[str, str] = {}
        self.count = 0

    def value(self, kind: str, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(LEAVES[kind] + 3 * [n for n, k in self.known.items() if k == kind])
        parts = self.random.choice(SHAPES[kind]).split("{")
        text = parts[0]
        for part in parts[1:]:
            slot, _, rest = part.partition("}")
            wanted = {"i": "int", "f": "float", "b": "bool"}.get(slot) or self.random.choice([*LEAVES])
            text += f"({self.value(wanted, depth - 1)}){rest}"
        return f"({text})"

    def stored(self, kind: str) -> str:
        value = self.value(kind, 3)
        return f"({value}) % 1009" if kind == "int" else value

    def new(self, kind: str) -> str:
        self.count += 1
        name = f"local{self.count}"
        self.known[name] = kind
        return name

    def block(self, depth: int, indent: str) -> list[str]:
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, indent)
        return lines

    def inner(self, depth: int, indent: str) -> list[str]:
        """Return a block whose locals end with it."""
        before = dict(self.known)
        lines = self.block(depth - 1, indent + "    ")
        self.known = before
        return lines

    def statement(self, depth: int, indent: str) -> list[str]:
        choice = self.random.choice(["field", "field", "local", "again", "pair", "augmented", "if", "for"])
        if choice == "local" or (choice == "again" and not self.known):
            kind = self.random.choice([*LEAVES])
            value = self.value(kind, 2)
            return [f"{indent}{self.new(kind)} = {value}"]
        if choice == "again":
            name, kind = self.random.choice([*self.known.items()])
            return [f"{indent}{name} = {self.stored(kind)}"]
        if choice == "pair":
            return [f"{indent}v.n, v.m = {self.stored('int')}, {self.stored('int')}"]
        if choice == "augmented":
            return [
                f"{indent}v.{self.random.choice('xy')} {self.random.choice('+-*')}= {self.value('float', 1)}"
            ]
        if choice == "if" and depth:
            lines = [f"{indent}if {self.value('bool', 2)}:", *self.inner(depth, indent)]
            return (
                [*lines, f"{indent}else:", *self.inner(depth, indent)]
                if self.random.random() < 0.5
                else lines
            )
        if choice == "for" and depth:
            before, bounds = dict(self.known), self.random.choice(["", "1, ", "-2, "])
            stop, counter = self.value("int", 1), self.new("int")
            lines = [f"{indent}for {counter} in range({bounds}({stop}) % 5):", *self.inner(depth, indent)]
            word = self.random.choice(["break", "continue"])
            lines += [
                f"{indent}    if {self.value('bool', 1)}:",
                f"{indent}        {word}",
                *self.inner(1, indent),
            ]
            self.known = before
            return lines
        name, kind = self.random.choice([*FIELDS.items()])
        return [f"{indent}v.{name} = {self.stored(kind)}"]


def random_program(seed: int) -> str:
    """Return the text of a program class P and its helpers."""
    writer, indent = Writer(seed), " " * 8
    gathered = writer.value("float", 2).replace("v.x", "nbr.x").replace("v.n", "nbr.m")
    counted = writer.value("int", 2)
    init = writer.block(1, indent)
    writer.known = {"steady": "float"}
    apply = writer.block(3, indent)
    lines = [
        "    @gl.aggregator",
        "    def counted(self, v) -> gl.Sum[int]:",
        f"        return ({counted}) % 100",
        "    def init(self, v):",
        *init,
        "    def gather(self, v, e, nbr) -> gl.Sum[float]:",
        f"        return ({gathered}) % 5.0",
        "    def apply(self, v, total):",
        "        steady = total if abs(total) < 1e9 else 1.0",
        "        v.x = (v.x + steady) % 64.0 if abs(v.x) < 1e9 else 0.25",
        "        v.n += self.counted",
        *apply,
    ]
    return HEAD + "\n".join(lines) + "\n"
