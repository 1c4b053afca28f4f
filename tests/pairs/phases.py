"""The phases of a drawn program, when it is done, and its twin with the directions in each phase."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.pairs.writer import WAYS

if TYPE_CHECKING:
    from tests.pairs.programs import Program


def done(program: Program, name: str) -> list[str]:
    if not program.has("done"):
        return []
    if program.has("fault in done"):
        return program.method(f"{name}(self)", "bool", ["return 1 // (self.num_edges - self.num_edges) > 0"])
    if program.fixed:
        return program.method(f"{name}(self)", "bool", ["return False"])
    test = program.one(["self.superstep >= 2", "str(self.whole)[-1] in '1357'", "False"])
    return program.method(f"{name}(self)", "bool", [f"return {test}"])


def phases(program: Program, methods: list[str]) -> list[str]:
    """Return the class's methods as phases, with one before or behind them."""
    lines = []
    words = {}
    for name in methods:
        words |= {name: name} if name != "visit" else {}
    if program.has("done"):
        lines += done(program, "finished")
        words["done"] = "finished"
    for what in ("gather", "scatter"):
        if program.has(what) and program.ways[what] != "method" and program.has("directions of the phase"):
            words[f"{what}_edges"] = program.ways[what]
        if program.has(what) and program.ways[what] == "method" and program.odds(0.5):
            words.pop(f"{what}_edges", None)
            words[f"{what}_edges"] = f"{what}_edges"
    counted = f"return ({program.value('int', program.quiet_edges)}) % 101"
    lines += program.method("counted(self, v, e, nbr)", "gl.Sum[int]", [counted])
    takes, kept = "sum", [f"v.{program.names['int']} = (v.n + sum % 101) % 101"]
    if program.has("messages between phases") and program.message is not None:
        takes += f", message: {program.message.text}"
        kept += program.message.taken("message")
    lines += program.method(f"keep(self, v, {takes})", None, kept)
    other = "gl.Phase(gather=counted, apply=keep, supersteps=1"
    if program.odds(0.5):
        other += f", gather_edges={program.one(list(WAYS.values()))}"
    own = ", ".join(f"{role}={name}" for role, name in words.items())
    length = repr("many") if program.has("supersteps by name") else program.one(["1", "2", "3"])
    several = [other + ")", f"gl.Phase({own}, supersteps={length})"]
    if program.has("start= ids", "start= messages"):
        several.reverse()  # which are for the first phase
    else:
        program.random.shuffle(several)
    lines += ["    phases = (", *(f"        {phase}," for phase in several), "    )"]
    if program.has("repeat_phases"):
        lines.append(f"    repeat_phases = {repr('p') if program.has('int parameter') else 2}")
    if program.has("phases begin anew"):
        lines += program.method("done(self)", "bool", ["return self.superstep >= 3"])
    return lines


def twin(text: str) -> str:
    """Return the program with its phases' directions in each phase, "" where none is left to the class."""
    tree = ast.parse(text)
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    named = {x.name: ast.Name(x.name) for x in body if isinstance(x, ast.FunctionDef)}
    ways: dict[str, ast.expr] = {k: x for k, x in named.items() if k.endswith("_edges")}
    assigned = [x for x in body if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name)]
    ways |= {x.targets[0].id: x.value for x in assigned if x.targets[0].id.endswith("_edges")}  # type: ignore[attr-defined]
    changed = False
    for node in ast.walk(next((x.value for x in assigned if x.targets[0].id == "phases"), ast.Pass())):  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            said = {keyword.arg for keyword in node.keywords}
            for name, way in ways.items():
                if name.removesuffix("_edges") in said and name not in said:
                    node.keywords.append(ast.keyword(name, way))
                    changed = True
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n" if changed else ""
