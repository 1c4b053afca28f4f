"""A gather of a drawn program that stops early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.pairs.words import V

if TYPE_CHECKING:
    from tests.pairs.programs import Program


def stopping(program: Program, where: object) -> list[str]:
    assert program.totals is not None
    op, given = program.totals.op, program.totals.given(where)  # type: ignore[arg-type]
    least = op in ("Min", "All")
    if op == "record":  # the same from every edge
        return ["gl.stop()", "return self.Total(falls=3)"]
    if op in ("ArgMin", "ArgMax"):
        bound = "-3" if program.totals.kinds[0] == "int" else "-3.0"
        key = program.totals.value(program.totals.kinds[0], where, 1)  # type: ignore[arg-type]
        payload = {"int": "7", "float": "0.5", "id": "v.id"}[program.totals.kinds[1]]
        return [
            f"g = {'max' if op == 'ArgMin' else 'min'}({key}, {bound})",
            f"if g == {bound}:",
            "    gl.stop()",
            f"return (g, {payload})",
        ]
    if op == "BitOr":
        return [f"g = {given} & 3", "if g == 3:", "    gl.stop()", "return g"]
    if op not in ("Min", "Max", "Any", "All"):
        return [f"if {program.value('bool', V, 1)}:", "    gl.stop()", f"return {given}"]
    if program.totals.kinds[0] == "bool":
        return [f"g = {given}", f"if {'not g' if least else 'g'}:", "    gl.stop()", "return g"]
    bound = program.one(["-3", "0", "5"])
    if program.totals.kinds[0] == "float":
        bound += ".0"
    return [
        f"g = {'max' if least else 'min'}({given}, {bound})",
        f"if g == {bound}:",
        "    gl.stop()",
        "return g",
    ]
