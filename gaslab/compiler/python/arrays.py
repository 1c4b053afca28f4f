"""Arrays as Python text, the twin of `c.arrays`: arrays are flat lists of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gaslab.compiler import tree as t
from gaslab.errors import unknown

ZERO = {"float": "0.0", "int": "0", "bool": "False", "id": "0"}
ZERO |= {kind: "[]" for kind in t.STORAGE if t.is_list(kind)}


def zero(kind: t.Type) -> str:
    """Return a value of that type."""
    return f"[{ZERO[kind.element]}] * {kind.size}" if isinstance(kind, t.Array) else ZERO[kind]


class PythonArrays:
    """Expressions and statements over elements; a part of `PythonBody`."""

    tree: t.Tree
    near: str

    if TYPE_CHECKING:  # the rest of `PythonBody`

        def expr(self, x: t.Expr) -> str: ...

        def put(self, line: str) -> None: ...

        def nested(self, head: str, statements: tuple[t.Stmt, ...]) -> None: ...

        def at(self, role: str) -> str: ...

    def position(self, x: t.Expr) -> str:
        """Return the index of an element; what the parser computes with indices never wraps."""
        if isinstance(x, t.Binary):
            return f"({self.position(x.left)} {x.op} {self.position(x.right)})"
        return self.expr(x)

    def element(self, x: t.Element) -> str:
        place, index = x.array, self.position(x.index)
        if isinstance(place, t.Local):
            return f"l_{place.name}[{index}]"
        if isinstance(place, t.PartOf):
            return f"{self.part(place)}[{index}]"
        if isinstance(place, t.EdgeField):
            value = f"c.edge_rows[{place.index}].item(e, {index})"
        elif place.role == self.near:
            value = f"n[{place.index}][{index}]"
        else:
            value = f"c.vertex_rows[{place.index}].item({self.at(place.role)}, {index})"
        return f"({value} != 0)" if x.type == "bool" else value

    def element_place(self, x: t.Element) -> str:
        """Return where an element is stored."""
        place, index = x.array, self.position(x.index)
        if isinstance(place, t.Local):
            return f"l_{place.name}[{index}]"
        if isinstance(place, t.PartOf):
            return f"{self.part(place)}[{index}]"
        if isinstance(place, t.EdgeField):
            return f"c.edge_rows[{place.index}][e, {index}]"
        if place.role == self.near:
            return f"n[{place.index}][{index}]"
        return f"c.vertex_rows[{place.index}][{self.at(place.role)}, {index}]"

    def part(self, x: t.PartOf) -> str:
        name, _, k = x.record.partition(" ")
        known = {"into": "t", "sent": "sent", "made": "made", "self": f"c.aggregates[{k}]"}
        return f"{known.get(name, f'l_{name}')}[{x.index}]"

    def each(self, s: t.Each) -> None:
        self.nested(f"for l_{s.counter} in range({self.position(s.count)})", s.body)

    def solve(self, s: t.Solve) -> None:
        if s.method not in ("lu", "spd"):
            raise unknown("interpret", s)
        assert isinstance(s.matrix.type, t.Array)
        assert isinstance(s.right.type, t.Array)
        n = s.matrix.type.shape[0]
        columns = s.right.type.size // n
        self.put(f"solve_{s.method}(l_{s.matrix.name}, l_{s.right.name}, {n}, {columns}, {s.site})")

    def reduce(self, x: t.Reduce) -> str:
        wide = x.op == "sum" and x.type == "float" and x.count >= t.WIDE_SUM
        if x.op not in ("sum", "prod", "min", "max", "argmin", "argmax"):
            raise unknown("interpret", x)
        name = "sum_of_four" if wide else f"reduce_{x.op}"
        values = f"[{self.expr(x.value)} for l_{x.counter} in range({x.count})]"
        return f"{name}({values}, {x.type == 'int'})"
