"""Writes one program that has the features it is asked for."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

from tests.pairs.features import ADDITIVE, CACHED
from tests.pairs.takes import Takes
from tests.pairs.totals import OWN, Total
from tests.pairs.words import BOTH, SMALL, STEPS, WILD, WILD_VECTORS, V, Where

WAYS = {"IN": "gl.IN", "OUT": "gl.OUT", "ALL": "gl.ALL", "NONE": "gl.NONE"}
HELPERS = {
    "helper of numbers": "def falling(a, b):\n    if a > b:\n        return a - b\n"
    "    while a < b:\n        a = a * 2 + 7\n        b = b - 3\n    return a % 100\n\n\n"
    "def lower(a, b):\n    return min(a, b)\n",
    "helper of vertices": "def sized(u, k):\n    return (u.n + k * u.degree) % 101\n\n\n"
    "def half(u, me):\n    return u.n % 9 * 0.5 if me.num_edges > 3 else 0.25\n",
    "helper of an edge": "def of_edge(e, k):\n    return (k + {edge}) % 101\n",
    "helper of vectors": "def most(x):\n    return np.max(x * 0.5)\n",
    "fault in a helper": "def bad(a):\n    {bad}\n",
}
ARRAYS = (
    "TABLE = np.array([3, -1, 2, 7], dtype=np.int32)\n"
    "WEIGHTS = np.array([[0.5, -0.25], [1.0, 2.0]], dtype=np.float32)\n"
)
FAULTS = {
    "division": "{t} = 7 // ({a} - {a})",
    "modulo": "{t} = 7 % ({a} - {a})",
    "cast": "{t} = int(1e300 * ({a} + 1))",
    "index": "line = np.ones(3)\n{t} = line[abs({a}) + 3]",
    "narrow store": "v.tiny = 1000 + abs({a})",
}
FAULTY_DRAWS = {  # of a feature, in place of its kind of fault; {a} is 0 or more
    "uniform": ("gl.exponential(-1.0 - {a})", "gl.exponential(math.inf * (1 + {a}))"),
    "normal": (
        "gl.normal(-1.0 - {a})", "gl.normal(math.nan * {a})", "gl.normal(\n    -1.0 - {a}\n)",
        "gl.gamma(-0.5 - {a})", "gl.gamma(1.0, -1.0 - {a})",
    ),
    "integers": (
        "gl.integers(-{a})", "gl.poisson(-1.0 - {a})", "gl.poisson(1e300 * (1 + {a}))",
        "gl.categorical(np.ones(3) * ({a} - {a}))", "np.sum(gl.dirichlet(np.ones(3) * (-1.0 - {a})))",
    ),
}  # fmt: skip
MAY_DRAW = ("init", "start", "active", "apply")


class Writer(Takes):
    """Writes the program; `parameters` are those it needs beside its defaults."""

    def __init__(self, draws: random.Random, features: Collection[str]) -> None:
        super().__init__(draws, features)
        self.cached = self.has(*CACHED)
        self.kept = ""  # the declaration of a field to which apply copies the whole total
        self.now = replace(V, changing=not self.fixed or self.has("aggregator read", *STEPS))

    # ---- statements --------------------------------------------------------------------------------

    def store(self, kind: str, where: Where) -> list[str]:
        """Return an assignment to the field of *kind*."""
        value = self.value(kind, replace(where, draws=where.draws and self.odds(0.5)))
        name = f"v.{self.names[kind]}"
        if kind == "int":
            return [f"{name} = ({value}) % 101"]
        if kind == "float" and not self.fixed and self.has("augmented assignment") and self.odds(0.3):
            return [f"{name} {self.one(['+=', '-='])} {value}", f"{name} %= 16.0"]
        return [f"{name} = {value}"]

    def statement(self, where: Where) -> list[str]:
        """Return some lines that change the vertex."""
        kind = self.one([k for k in self.names if self.can(k)])
        options = [lambda: self.store(kind, where)] * 2
        options += [lambda: [f"if {self.value('bool', where)}:", *self.indented(self.store(kind, where))]]
        for feature, made in (
            ("elif", self.branches),
            ("while", self.loop_while),
            ("for", self.loop_for),
            ("tuple assignment", self.two),
            ("numpy", self.vectors),
            ("linear algebra", self.matrices),
            ("wild floats", self.wild),
            ("list words", self.over_list),
            ("matrix parameter", self.products),
        ):
            if self.has(feature):
                options.append(lambda made=made: made(where))
        if self.has(*SMALL) and not self.fixed:
            options.append(lambda: [f"v.k = abs({self.value('int', where)}) % 100"])
        if self.has("float32 field") and not self.fixed:
            options.append(lambda: [f"v.y = {self.value('float', where)}"])
        if self.has("private field") and not self.fixed:
            options.append(lambda: [f"v._own = ({self.value('int', where)} + v._own) % 11"])
        if self.has("vector of ids") and not self.fixed:
            options.append(lambda: [f"v.ring[{self.value('int', where)} % 3] = {self.value('id', where)}"])
            options.append(lambda: ["v.ring = np.copy(v.ring)", "v.ring[0] = v.id"])
        if self.has("bits of vectors") and not self.fixed:
            i = self.value("int", where)
            other = self.one(["63", "abs(v.mask)"])
            options.append(lambda: [f"v.mask = ~v.mask & {other} ^ (({i}) & 15)"])
            options.append(lambda: ["v.mask |= 4", f"v.mask <<= ({i}) & 3", "v.mask %= 101"])
        if self.has("append"):
            options += [lambda: self.grow(where)] * 2
        return options[self.random.randrange(len(options))]()

    def grow(self, where: Where) -> list[str]:
        """Return lines by which a list grows, and what is read of it."""
        i, n = self.value("int", where), f"v.{self.names['int']}"
        lines = [
            [f"v.grown.append({i})"],
            [f"v.who.append({self.value('id', where)})", "v.grown.append(len(v.who))"],
            [f"for i in range(({i}) % 9):", "    v.grown.append(i)"],
            ["if len(v.grown) > 20:", "    v.grown = []", f"v.grown.append({i})"],
        ]
        if not self.fixed:
            lines.append([f"v.grown.append({i})", f"{n} = ({n} + v.grown[-1] + len(v.grown)) % 101"])
            lines.append(["if v.id not in v.who:", "    v.who.append(v.id)", f"    {n} = len(v.who)"])
        return self.random.choice(lines)

    def branches(self, where: Where) -> list[str]:
        first, second, third = (self.store("int", where) for _ in range(3))
        tests = [self.value("bool", where) for _ in range(2)]
        return [
            f"if {tests[0]}:",
            *self.indented(first),
            f"elif {tests[1]}:",
            *self.indented(second),
            "else:",
            *self.indented(third),
        ]

    def body(self, where: Where, local: str) -> list[str]:
        lines = [f"{local} = ({local} * 3 + ({self.value('int', where, 1)})) % 97"]
        if self.has("augmented assignment"):
            lines.append(f"{local} {self.one(['+=', '-=', '^=', '|='])} ({self.value('int', where, 1)}) % 16")
        if self.has("continue") and self.odds(0.5):
            lines = [f"if {local} % 4 == 1:", "    continue", *lines]
        if self.has("break") and self.odds(0.5):
            lines += [f"if {local} > 60:", "    break"]
        if self.odds(0.1):
            lines += [f"if {local} < 0:", "    pass"]
        return lines

    def loop_for(self, where: Where) -> list[str]:
        bounds = self.one(["{}", "1, {}", "-2, {}, 2", "{}, -1, -1"]).format(
            f"({self.value('int', where, 1)}) % 6"
        )
        return [
            f"a = {self.value('int', where, 1)} % 50",
            f"for i in range({bounds}):",
            *self.indented(self.body(where, "a")),
            "    a = a + i",
            f"v.{self.names['int']} = a % 101",
        ]

    def loop_while(self, where: Where) -> list[str]:
        return [
            "i = 0",
            f"a = {self.value('int', where, 1)} % 50",
            "while i < 5:",
            "    i = i + 1",
            *self.indented(self.body(where, "a")),
            f"v.{self.names['int']} = a % 101",
        ]

    def two(self, where: Where) -> list[str]:
        values = ", ".join(f"({self.value('int', where)}) % 101" for _ in range(2))
        name = self.names["int"]
        return [f"a, c = {values}", f"v.{name} = (a - c) % 101"]

    def vectors(self, where: Where) -> list[str]:
        z, f, i = (
            "v.z" if self.has("vector field") else "np.ones(3)",
            self.value("float", where),
            self.value("int", where),
        )
        name, of = self.names["int"], f"v.{self.names['float']}"
        options = [
            f"v.{name} = np.argmin({z} * {f})",
            f"v.{name} = len({z}) + np.argmax({z} - {f})",
            f"v.{name} = np.searchsorted(np.sort({z}), {f})",
            f"x = np.sort({z} * 2.0)\nv.{name} = np.searchsorted(x, {f}, side='right')",
            f"v.{name} = int(np.prod({z} - {f})) % 101",
            f"x = np.copy({z})\nx[{i} % 3] = {f}\nv.{name} = np.argmax(x)",
        ]
        if where.draws and self.has("normal"):  # a statement of its own: no draw may stand before it
            options += [f"x = gl.dirichlet(np.ones(3) * 0.5)\nv.{name} = np.argmax(x)"] * 2
        if self.has("float field"):
            options += [
                f"{of} = np.sum({z}) % 16.0",
                f"{of} = np.max({z} * 2.0) % 16.0",
                f"{of} = np.dot({z}, np.ones(3)) % 16.0",
                f"{of} = np.min(np.abs({z} - {f}))",
                f"{of} = np.sort({z} * {f})[1] % 16.0",
                f"{of} = np.cumsum({z} + {f})[-1] % 16.0",
                f"{of} = np.mean(np.ones(4) * {f})",
            ]
        if self.has("vector field") and not self.fixed:
            options += [
                f"v.z = (v.z + {f}) % 16.0",
                f"v.z = np.minimum(v.z, np.abs(v.z - {f}))",
                f"v.z[{i} % 3] = {f}",
                f"v.z[{i} % 3] += {f}\nv.z = v.z % 16.0",
                "v.z = -v.z",
                "v.z = np.cumsum(np.sort(v.z)) % 16.0",
                f"v.z[-1] += {f}\nv.z = v.z % 16.0",
                "v.z = np.zeros(len(v.z)) + 0.25",
            ]
        return self.one(options).split("\n")

    def matrices(self, where: Where) -> list[str]:
        f, of = self.value("float", where), f"v.{self.names['int']}"
        m = "v.m" if self.has("matrix field") else "(np.eye(2) * 0.5)"
        options = [
            f"{of} = int(np.sum({m} @ np.ones(2))) % 101",
            f"{of} = int(np.max(np.linalg.solve(np.eye(2) * 2.0, np.ones(2) * {f}))) % 101",
            f"{of} = int(np.sum(gl.solve_spd(np.eye(2) * 4.0, np.ones(2) * {f}))) % 101",
            f"{of} = int(np.linalg.norm(np.ones(4) * {f})) % 101",
            f"right = np.ones(2) * {f}\n"
            f"{of} = int(np.sum(gl.conjugate_gradient(np.eye(2) * 4.0, right, np.zeros(2), 2))) % 101",
        ]
        if self.has("matrix field") and not self.fixed:
            options += [
                f"v.m = np.outer(np.ones(2) * {f}, np.ones(2))",
                f"v.m[{self.value('int', where)} % 2, 1] = {f}",
                f"v.m[1, {self.value('int', where)} % 2] *= 1.0 if {f} < 1.0 else 0.5",
                "v.m = v.m * -1.0",
                f"v.m = np.maximum(v.m, {f})",
            ]
        return self.one(options).split("\n")

    def products(self, where: Where) -> list[str]:
        """Return lines that read whole rows of the parameter that is a matrix."""
        of = f"v.{self.names['int']}"
        options = [
            f"across = self.grid @ (np.ones(3) * {self.value('float', where)})\n{of} = np.argmax(across)",
            f"down = np.ones(2) @ self.grid\n{of} = int(np.sum(down) * 4.0) % 101",
            f"apart = self.grid[0] - self.grid[{self.value('int', where)} % 2]\n{of} = np.argmin(apart)",
        ]
        return self.one(options).split("\n")

    def wild(self, where: Where) -> list[str]:
        if self.has("numpy") and self.odds(0.3):
            z = "v.z" if self.has("vector field") else "np.ones(3)"
            some = f"{self.one(WILD_VECTORS)}({z} * {self.value('float', where)})"
            both = self.one([f"np.minimum({some}, {z})", f"np.maximum({z}, {some})"])
            whole = [f"np.sum({some})", f"np.sum({both})", f"np.min({some})", f"np.max({some})"]
            return [f"v.w = {self.one([*whole, f'np.argmin({some}) * 0.5', f'np.argmax({some}) * 0.5'])}"]
        return [f"v.w = {self.filled(self.one(WILD), where, 2)}"]

    def over_list(self, where: Where) -> list[str]:
        x = "v.some" if self.has("list field") else ("v.near" if self.has("set field") else "")
        if not x:
            return ["pass"]
        if self.has("for"):
            return [
                "a = 0",
                f"for y in {x}:",
                f"    a = a + {'y % 7' if x == 'v.some' else '(1 if y == v.id else 2)'}",
                f"v.{self.names['int']} = a % 101",
            ]
        return [f"if {x}:", f"    v.{self.names['int']} = len({x})"]

    def statements(self, where: Where, most: int = 4) -> list[str]:
        return [line for _ in range(self.random.randrange(1, most)) for line in self.statement(where)]

    # ---- faults --------------------------------------------------------------------------------------

    def fault(self, place: str, role: str = "v", stores: bool = False) -> list[str]:
        """Return the lines that fail in the method *place*, if it shall."""
        if not self.has(f"fault in {place}"):
            return []
        test = f"{role}.id == self.source" if self.has("id parameter") else f"{role}.degree % 4 == 3"
        draws = place in MAY_DRAW or self.has(f"draw in {place}")
        return [f"if {test}:", *self.indented(self.failing(f"{role}.degree", stores and role == "v", draws))]

    def failing(self, value: str, stores: bool, draws: bool = False) -> list[str]:
        if draws and self.drawn and self.odds(0.5):
            return ("t = " + self.one([*FAULTY_DRAWS[self.one(self.drawn)]]).format(a=value)).split("\n")
        kind = next((k for k in FAULTS if self.has(f"{k} fault")), "division")
        if kind == "narrow store" and not stores:
            kind = "division"
        if self.has("fault in a helper") and kind != "narrow store":
            return [f"t = bad({value})"]
        return FAULTS[kind].format(t="t", a=value).split("\n")

    def helpers(self) -> str:
        texts = []
        for feature, text in HELPERS.items():
            if not self.has(feature):
                continue
            if feature == "helper of an edge":
                text = text.replace("{edge}", "e.cost" if self.has("edge default") else "1")
            if feature == "fault in a helper":
                kind = next((k for k in FAULTS if self.has(f"{k} fault") and k != "narrow store"), "division")
                bad = FAULTS[kind].format(t="t", a="a").replace("\n", "\n    ") + "\n    return t"
                text = text.replace("{bad}", bad)
            texts.append(text)
        constants = "LIMIT = 7\nSHARE = 0.25\n" if self.has("module constant") else ""
        constants += ARRAYS if self.has("module array") else ""
        return (
            "import math\n\nimport numpy as np\n\nimport gaslab as gl\n\n"
            + "\n\n".join([constants, *texts])
            + "\n"
        )

    # ---- additive fields and totals -------------------------------------------------------------------

    def additive(self, where: Where) -> list[str]:
        """Return the contributions of a scatter."""
        lines = []
        f, i = self.value("float", where, 1), self.value("int", where, 1)
        rows = {
            "sync=gl.SUM": [f"nbr.got += ({i}) % 101", f"v.got -= ({i}) % 7", f"nbr.pool += {f}"],
            "sync=gl.MIN": [f"nbr.under = min(nbr.under, {i})"],
            "sync=gl.MAX": [f"nbr.over = max(nbr.over, {f} + 0.0)"],
            "additive vector": [f"nbr.pile += {f}", f"nbr.pile[1] += {f}"],
            "additive edge field": [f"e.paid += {f}"],
        }
        for feature, texts in rows.items():
            if self.has(feature):
                lines.append(self.one(texts))
        if self.fixed and lines:
            return ["if v._turns == 1:", *self.indented(lines)]
        return lines

    def takes_additive(self) -> list[str]:
        if self.fixed:
            return []
        lines = []
        rows = {
            "sync=gl.SUM": ["v.n, v.got = (v.n + v.got) % 101, 0", "v.pool = v.pool % 16.0"],
            "sync=gl.MIN": ["v.n = (v.n + v.under) % 101"],
            "sync=gl.MAX": ["v.over = v.over % 8.0"],
            "additive vector": ["v.n = (v.n + int(v.pile[1])) % 101"],
        }
        for feature, texts in rows.items():
            if self.has(feature) and self.odds(0.7):
                lines.append(self.one(texts))
        return lines

    @property
    def adds(self) -> bool:
        return self.has(*ADDITIVE)

    def total(self, what: str, name: str) -> Total | None:
        """Return what *what* combines."""
        op = next(
            (
                f.removeprefix(f"{what} ")
                for f in sorted(self.features)
                if f.startswith(f"{what} ") and f.removeprefix(f"{what} ") in OPS
            ),
            None,
        )
        return (
            Total(op, name, self, ids=self.has("aggregator of ids") if what == "aggregator" else None)
            if op
            else None
        )


OPS = (
    "Sum",
    "Min",
    "Max",
    "Prod",
    "Any",
    "All",
    "Count",
    "BitOr",
    "ArgMin",
    "ArgMax",
    "record",
    "own merge",
    "List",
    "SortedSet",
    "SumBy",
    "tuples",
)
BOTH_ENDS, OWN_MERGE = BOTH, OWN
