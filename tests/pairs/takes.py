"""Writes how a method takes in a value, a list or a total by key: into a field of the vertex."""

from __future__ import annotations

import random
from collections.abc import Collection

from tests.pairs.features import FIXED_POINT
from tests.pairs.words import Words


class Takes(Words):
    """Writes statements that keep what was combined; `names` has the field for each kind."""

    def __init__(self, draws: random.Random, features: Collection[str]) -> None:
        super().__init__(draws, features)
        self.fixed = self.has(*FIXED_POINT)  # one fixed point: only `low` changes, and falls
        self.names = {"int": "n", "float": "x", "bool": "b", "id": "least"}
        if self.fixed:
            self.names = {"int": "on", "float": "ox", "bool": "ob", "id": "oid"}

    def can(self, kind: str) -> bool:
        return kind == "int" or self.has(f"{kind} field")

    @staticmethod
    def indented(lines: list[str]) -> list[str]:
        return ["    " + line for line in lines]

    def take(self, kind: str, name: str) -> list[str]:
        """Return how a method takes in a value of *kind*: added to what was, or alone at a fixed point."""
        to, n = f"v.{self.names[kind]}", f"v.{self.names['int']}"
        was = "" if self.fixed else f"{n} + "
        if kind == "int":
            return [f"{n} = ({was}{name} % 101) % 101"]
        if not self.can(kind):
            value = {
                "float": f"(int({name} * 4.0) if abs({name}) < 1e9 else 7)",
                "bool": f"(1 if {name} else 5)",
                "id": f"(1 if {name} < v.id else 5)",
            }[kind]
            return [f"{n} = ({was}{value}) % 101"]
        if self.fixed:
            return [f"{to} = {name}"]
        if kind == "float":
            return [f"{to} = ({to} + {name}) % 16.0 if abs({name}) < 1e9 else 0.25"]
        return [f"{to} = {to} != {name}"] if kind == "bool" else [f"{to} = min({to}, {name})"]

    def take_list(self, op: str, kind: str, name: str) -> list[str]:
        n = f"v.{self.names['int']}"
        was = "" if self.fixed else f"{n} + "
        lines = [f"{n} = ({was}len({name})) % 101"]
        if kind == "int" and self.has("numpy") and self.odds(0.5):  # it is in ascending order
            lines += [
                f"if len({name}) > 0 and {name}[0] >= 0 and {name}[-1] < 101:",
                f"    often = np.bincount({name}, minlength=101)",
                "    alike = np.bincount(often % 3, minlength=3)",
                f"    {n} = ({n} + often[{name}[0]] + np.argmax(often) + alike[1]) % 101",
            ]
        elif kind == "int" and self.odds(0.5):
            lines += [
                f"{n} = ({n} + gl.mex({name})) % 101",
                f"if len({name}) > 0:",
                f"    {n} = ({n} + gl.mode({name}) + {name}[0] - {name}[-1]) % 101",
            ]
        elif self.odds(0.5) and (kind != "bool"):
            lines += [f"if len({name}) > 0:", *self.indented(self.take(kind, f"{name}[-1]"))]
        if name == "message":  # a list that takes a whole message grows, and edges cannot read it
            grows = kind == "int" and op == "List" and self.has("append")
            return [*lines, "v.grown = message"] if grows else lines
        if not self.fixed and op == "SortedSet" and kind == "id" and self.has("set field"):
            lines += [f"{n} = ({n} + gl.common({name}, v.near)) % 101", f"v.near = {name}"]
        if not self.fixed and op == "List" and kind == "int" and self.has("list field"):
            lines += [f"v.some = {name}" if self.odds(0.7) else "v.some = []"]
        return lines

    def take_sums(self, key: str, value: str, name: str) -> list[str]:
        """Return how a method takes in a total by key, of keys and sums of these kinds."""
        n = f"v.{self.names['int']}"
        asked = {"int": n, "id": "v.id", "bool": "True"}[key]
        was = "" if self.fixed else f"{n} + "
        lines = [f"{n} = ({was}len({name})) % 101"]
        weighed = {"int": "key", "id": "(2 if key < v.id else 3)", "bool": "(4 if key else 5)"}[key]
        if self.odds(0.6):
            lines += [f"for key, value in {name}.items():"]
            if self.has("continue"):
                lines += ["    if value == 1:", "        continue"]
            lines += [f"    {n} = ({n} * 3 + {weighed} + int(value)) % 101"]
            if self.has("break"):
                lines += [f"    if {n} > 90:", "        break"]
        if self.odds(0.6):
            lines += self.choose_sum(key, asked, name)
        if self.odds(0.6):
            lines += [f"if {asked} in {name} or {name}[{asked}] != 0:", f"    {n} = ({n} + 1) % 101"]
            lines += self.take(value, f"{name}[{asked}]")
        if self.odds(0.6):
            lines += [f"if {name}:", *self.indented(self.take(key, f"{name}.argmax()"))]
        return lines

    def choose_sum(self, key: str, asked: str, name: str) -> list[str]:
        """Return a loop over a total by key that gives the same in any order of the keys."""
        n, sign = f"v.{self.names['int']}", self.one([">", ">=", "<", "<="])
        lines = [f"chosen, top, many = {asked}, {name}[{asked}], 0", f"for key, value in {name}.items():"]
        if self.has("continue"):
            lines += [f"    if key == {asked}:", "        continue"]
        lines += ["    many += 1 if value > 1 else 3"] * self.odds(0.5)
        lines += [f"    if value {sign} top:", "        chosen, top = key, value"]
        lines += self.take(key, "chosen")
        lines += [f"{n} = ({n} + many) % 101"]
        if self.has("break"):
            lines += [f"for key, value in {name}.items():"]
            lines += ["    if value == 3:", "        many = 5", "        break", f"{n} = ({n} + many) % 101"]
        return lines
