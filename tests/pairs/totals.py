"""What drawn programs combine: how it is declared, what contributes to it, and how a method takes it in.

Where a run has no supersteps, only the field `low` may change, and it only falls: `drive` is a contribution
that lets it fall, `fall` what becomes of a total.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.pairs.words import Where

if TYPE_CHECKING:
    from tests.pairs.writer import Writer

SINGLE = {
    "Sum": ("int", "float", "gl.int32"),
    "Min": ("int", "float", "gl.VertexId", "bool", "gl.int16"),
    "Max": ("int", "float", "gl.VertexId", "bool", "gl.float32"),
    "Prod": ("int", "float"),
    "Any": ("bool",),
    "All": ("bool",),
    "Count": ("",),
    "BitOr": ("int", "gl.int32"),
}
PAIR = ("float, gl.VertexId", "int, gl.VertexId", "gl.int16, float", "gl.float32, int", "int, int")
KEYED = (
    "int, int", "gl.VertexId, float", "gl.int16, float", "bool, int", "gl.VertexId, gl.int32",
    "int, gl.float32",
)  # fmt: skip
KIND = {"gl.int32": "int", "gl.int16": "int", "gl.float32": "float", "gl.VertexId": "id", "": "bool"}
# of an accumulator: the declaration, what contributes, and which kind of value apply reads of it
PARTS = {
    "count: int": ("{i}", "int", "{0}.count"),
    "weight: float": ("{f}", "float", "{0}.weight"),
    "least: gl.Min[float]": ("{f} + 0.0", "float", "{0}.least"),
    "high: gl.Max[gl.int16]": ("({i} % 101)", "int", "{0}.high"),
    "odd: gl.Any[bool]": ("{b}", "bool", "{0}.odd"),
    "whole: gl.All[bool]": ("{b}", "bool", "{0}.whole"),
    "mask: gl.BitOr[int]": ("({i} & 15)", "int", "{0}.mask"),
    "best: gl.ArgMin[float, gl.VertexId]": ("({f} + 0.0, {d})", "id", "{0}.best[1]"),
    "most: gl.ArgMax[int, float]": ("({i}, {f} + 0.0)", "float", "{0}.most[1]"),
    "vec: gl.Vector = gl.field(shape=3)": ("np.ones(3) * {f}", "float", "{0}.vec[1]"),
    "top: gl.Vector = gl.field(shape=2, combine=gl.MAX)": ("np.ones(2) * {f} + 0.0", "float", "{0}.top[1]"),
    "signs: gl.Vector = gl.field(shape=2, dtype=int, combine=gl.PROD)": (
        "gl.at({i} % 2, -1 if {b} else 1)",
        "int",
        "{0}.signs[0]",
    ),
    "flags: gl.Vector = gl.field(shape=2, dtype=int, combine=gl.BITOR)": (
        "gl.at({i} % 2, {i} & 15)",
        "int",
        "{0}.flags[1]",
    ),
    "bins: gl.Vector = gl.field(shape=4, dtype=gl.int32)": (
        "gl.at({i} % 4, {i} % 101)",
        "int",
        "{0}.bins[1]",
    ),
    "seen: gl.Vector = gl.field(shape=3, dtype=int)": ("gl.at({i} % 3)", "int", "{0}.seen[1]"),
    "square: gl.Matrix = gl.field(shape=(2, 2))": ("np.eye(2) * {f}", "float", "{0}.square[1, 1]"),
}
VECTORS = tuple(part for part in PARTS if "gl.Vector" in part or "gl.Matrix" in part)
LOW = "{near}.low + abs({c}) % 5"


@dataclass
class Total:
    """Something combined by *op*: in a gather, a message or an aggregator; `name` is of its class."""

    op: str
    name: str
    writer: Writer
    text: str = ""
    kinds: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    declared: str = ""
    ids: bool | None = None  # whether it has vertex ids; None for both
    kept: str = field(default="", init=False)  # what a vertex keeps of it: the declaration of a field

    def __post_init__(self) -> None:
        w = self.writer
        if self.op in SINGLE:
            annotation = w.one(self.some(SINGLE[self.op]))
            self.text = f"gl.{self.op}[{annotation}]" if annotation else "gl.Count"
            self.kinds = (KIND.get(annotation, annotation),)
        elif self.op in ("ArgMin", "ArgMax"):
            annotation = w.one(self.some(PAIR))
            self.text = f"gl.{self.op}[{annotation}]"
            self.kinds = tuple(KIND.get(t, t) for t in annotation.split(", "))
        elif self.op == "record":
            self.text = self.name
            parts = [p for p in PARTS if "Id" not in p or (w.has("id field") and self.ids is not False)]
            if w.has("gl.stop") and self.name == "Total":
                parts = [p for p in parts if p.split()[0] in ("least:", "odd:", "whole:", "best:", "top:")]
            self.parts = tuple(w.random.sample(parts, 3))
            if self.ids:
                self.parts = (
                    "best: gl.ArgMin[float, gl.VertexId]",
                    *[p for p in self.parts if "Id" not in p],
                )
            falls = "        falls: gl.Min[int]\n"
            if self.name == "Total" and not w.fixed and not w.has("gl.stop") and w.odds(0.4):
                self.parts, falls = (w.one([*VECTORS]),), ""
                self.kept = "kept:" + re.sub(r", combine=gl\.\w+", "", self.parts[0].partition(":")[2])
            lines = "".join(f"        {part}\n" for part in self.parts)
            self.declared = f"    class {self.name}(gl.Accumulator):\n{falls}{lines}"
        elif self.op == "own merge":
            self.text = "Own"
        elif self.op == "SumBy":
            annotation = w.one(self.some(KEYED))
            self.text = f"gl.SumBy[{annotation}]"
            self.kinds = tuple(KIND.get(t, t) for t in annotation.split(", "))
        elif self.op == "List":
            self.kinds = (w.one(["int", "float", "bool"]),)
            self.text = f"gl.List[{self.kinds[0]}]"
        elif self.op == "tuples":
            kinds = ["int", "float"] + ["id"] * w.has("id field")
            self.kinds = tuple(w.one(kinds) for _ in range(3 if w.odds(0.3) else 2))
            members = ", ".join("gl.VertexId" if kind == "id" else kind for kind in self.kinds)
            self.text = f"gl.List[tuple[{members}]]"
        else:
            self.kinds = (w.one(["id", "int"]) if w.has("id field") else "int",)
            self.text = "gl.SortedSet[{}]".format("gl.VertexId" if self.kinds[0] == "id" else "int")

    def some(self, types: tuple[str, ...]) -> list[str]:
        """Return the types of vertex ids, the others, or all of them."""
        with_ids = [t for t in types if "Id" in t]
        without = [t for t in types if "Id" not in t]
        if self.ids and with_ids:
            return with_ids
        return [*types] if self.writer.has("id field") and self.ids is None else without

    # ---- contributions -----------------------------------------------------------------------------

    def value(self, kind: str, where: Where, depth: int) -> str:
        """Return an expression of *kind* that may be combined in any order."""
        text = self.writer.value(kind, where, depth)
        if self.op == "Prod":
            return f"(-1.0 if {text} > 1.0 else 2.0)" if kind == "float" else text
        if kind == "float":
            return f"{text} + 0.0"  # -0.0 and 0.0 are equal, and which one is first depends on the ranks
        return f"({text}) % 101" if kind == "int" and self.op != "BitOr" else text

    def given(self, where: Where, depth: int = 2) -> str:
        """Return a contribution."""
        w = self.writer
        if self.op in SINGLE:
            text = self.value(self.kinds[0], where, depth)
            return f"({text}) & 255" if self.op == "BitOr" else text
        if self.op in ("ArgMin", "ArgMax"):
            return "({}, {})".format(*(self.value(kind, where, depth) for kind in self.kinds))
        if self.op == "record":
            some = [p for p in self.parts if w.odds(0.8)]
            given = ", ".join(
                f"{p.partition(':')[0]}={w.filled(PARTS[p][0], where, depth - 1)}" for p in some
            )
            return f"self.{self.name}({given})"
        if self.op == "own merge":
            return f"self.Own({w.filled('n=({i}) % 101, least=({i}) % 101, x={f} + 0.0', where, depth - 1)})"
        if self.op == "SumBy":
            key = w.value(self.kinds[0], where, depth)
            key = f"({key}) % 101" if self.kinds[0] == "int" else key
            text = f"({key}, {self.value(self.kinds[1], where, depth - 1)})"
            return f"{text} if {w.value('bool', where, depth)} else None" if w.odds(0.4) else text
        if self.op == "tuples":
            return "({})".format(", ".join(self.value(kind, where, depth) for kind in self.kinds))
        text = w.value(self.kinds[0], where, depth)
        if self.name == "Letter":
            return text
        return f"{text} if {w.value('bool', where, depth)} else None"

    def drive(self, near: str, c: str) -> str:
        """Return a contribution by which `low` falls at the other end; *c* is an int that never changes."""
        low = LOW.format(near=near, c=c)
        few = f"{near}.low < 3"
        texts = {
            "Sum": f"1 if {few} else 0",
            "Min": low,
            "Max": f"-({low})",
            "Prod": f"0 if {few} else 1",
            "Any": few,
            "All": f"not {few}",
            "Count": few,
            "BitOr": f"8 if {few} else 0",
            "record": f"self.{self.name}(falls={low})",
            "own merge": f"self.Own(falls={low})",
            "List": f"{low} if {near}.low < 40 else None",
        }
        if self.name == "Letter":
            texts["List"] = low
        if self.op in ("Min", "Max") and self.kinds[0] == "bool":
            return few if self.op == "Max" else f"not {few}"
        if self.op in ("Sum", "Prod", "Min", "Max") and self.kinds[0] == "float":
            return f"({texts[self.op]}) * 1.0"
        if self.op in ("ArgMin", "ArgMax"):
            key = low if self.op == "ArgMin" else f"-({low})"
            second = {"int": f"{near}.degree", "float": "0.5", "id": f"{near}.id"}[self.kinds[1]]
            return f"({key}{' * 1.0' if self.kinds[0] == 'float' else ''}, {second})"
        return texts[self.op]

    @property
    def drives(self) -> bool:
        return (
            self.op not in ("SortedSet", "SumBy", "tuples")
            and self.kinds[:1] != ("id",)
            and (self.op, *self.kinds) not in (("List", "bool"), ("List", "float"))
        )

    # ---- taking in ---------------------------------------------------------------------------------

    def fall(self, name: str) -> list[str]:
        """Return statements that let the local `fell` fall with a total that `drive` made."""
        text = {
            "Sum": f"{name} > 0",
            "Prod": f"{name} == 0",
            "Any": name,
            "Count": f"{name} > 0",
            "All": f"not {name}",
            "BitOr": f"{name} & 8 != 0",
        }.get(self.op)
        if self.op in ("Min", "Max") and self.kinds[0] == "bool":
            text = name if self.op == "Max" else f"not {name}"
        if text:
            return [f"if {text}:", "    fell = min(fell, 2)"]
        value = {
            "record": f"{name}.falls",
            "own merge": f"{name}.falls",
            "List": f"{name}[0]",
            "ArgMin": f"{name}[0]",
            "ArgMax": f"-{name}[0]",
            "Max": f"-{name}",
        }.get(self.op, name)
        lines = [f"if {value} < 1000 and {value} >= 0:", f"    fell = min(fell, int({value}))"]
        return [f"if len({name}) > 0:", *(f"    {line}" for line in lines)] if self.op == "List" else lines

    def copied(self, name: str) -> list[str]:
        """Return the copy to the field that a vertex keeps, with which apply begins."""
        return [f"v.kept = {name}.{self.parts[0].partition(':')[0]}"] if self.kept else []

    def taken(self, name: str) -> list[str]:
        """Return the statements by which a method takes in a total or message of that name."""
        w = self.writer
        if self.op in SINGLE:
            kind = "int" if self.op == "Count" else self.kinds[0]
            return w.take(kind, name)
        if self.op in ("ArgMin", "ArgMax"):
            if w.odds(0.5):
                return [
                    f"key_{name}, of_{name} = {name}",
                    *w.take(self.kinds[0], f"key_{name}"),
                    *w.take(self.kinds[1], f"of_{name}"),
                ]
            return [*w.take(self.kinds[0], f"{name}[0]"), *w.take(self.kinds[1], f"{name}[1]")]
        if self.op == "record":
            texts = {p: PARTS[p][2].format(name) for p in self.parts}
            if self.kept and w.odds(0.7):
                texts = {p: f"v.kept{text[text.index('[') :]}" for p, text in texts.items()}
            return [x for p, text in texts.items() for x in w.take(PARTS[p][1], text)]
        if self.op == "own merge":
            return [*w.take("int", f"{name}.n + {name}.least"), *w.take("float", f"{name}.x")]
        if self.op == "SumBy":
            return w.take_sums(self.kinds[0], self.kinds[1], name)
        if self.op == "tuples":
            names = ["one", "other", "third"][: len(self.kinds)]
            body = [x for kind, local in zip(self.kinds, names, strict=True) for x in w.take(kind, local)]
            lines = [f"for {', '.join(names)} in {name}:", *w.indented(body)]
            if w.odds(0.5):
                lines += [f"if len({name}) > 1:", *w.indented(w.take(self.kinds[1], f"{name}[-1][1]"))]
            return lines
        return [*w.take_list(self.op, self.kinds[0], name)]


OWN = """    class Own(gl.Accumulator):
        n: int = 0
        least: int = 1000
        x: float = 0.0
        falls: int = 1000
    def merge(self, a: Own, b: Own) -> Own:
{fault}        return self.Own(
            n=a.n + b.n, least=min(a.least, b.least), falls=min(a.falls, b.falls),
            x=a.x + b.x if a.n > -100000 else b.x + a.x,
        )
"""
