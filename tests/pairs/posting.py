"""Cached totals of a drawn program: what its gather reads of them, and how its scatter posts the changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.pairs.words import V

if TYPE_CHECKING:
    from tests.pairs.programs import Program


def posts(program: Program) -> bool:
    """Whether changes are posted as sums, minima or maxima of a field, or caches are cleared alone."""
    total = program.totals
    return (
        program.has("post_delta") and total is not None and total.op in ("Sum", "Min", "Max", "BitOr", "Prod")
    )


def cached_of(program: Program, u: str) -> str:
    """Return what a cached gather reads of a vertex, where its changes are posted."""
    return f"{u}.low" if program.fixed else f"{u}.n"


def posted(program: Program, u: str, was: bool = False) -> str:
    assert program.totals is not None
    n = f"{u}._was" if was else cached_of(program, u)
    kind = program.totals.kinds[0]
    if program.totals.op == "Prod":
        return "1"
    return {"int": n, "float": f"{n} * 0.5", "bool": f"{n} < 3", "id": f"{u}.id"}[kind]


def in_scatter(program: Program) -> list[str]:
    """Return how a scatter keeps the caches of its neighbours right."""
    total, clears = program.totals, program.has("clear_cache")
    if not posts(program) or total is None:
        return (
            [f"if {program.value('bool', V, 1)}:", "    nbr.clear_cache()"]
            if clears or program.has("post_delta")
            else []
        )
    now, was = posted(program, "v"), posted(program, "v", was=True)
    if total.op == "Sum":
        post = [f"nbr.post_delta({now} - ({was}))"] if total.kinds[0] != "bool" else ["nbr.clear_cache()"]
    elif total.op == "Prod":
        post = ["nbr.post_delta(1)"]
    elif total.op in ("Min", "Max") and total.kinds[0] in ("int", "float"):
        better = "<=" if total.op == "Min" else ">="
        post = [
            f"if {now} {better} {was}:",
            f"    nbr.post_delta({now})",
            "else:",
            "    nbr.clear_cache()",
        ]
    elif total.kinds[0] == "id":
        post = ["nbr.post_delta(v.id)"]
    else:
        post = [
            f"if v._was == {cached_of(program, 'v')}:",
            f"    nbr.post_delta({now})",
            "else:",
            "    nbr.clear_cache()",
        ]
    if clears:
        return [
            f"if {program.value('bool', V, 1)}:",
            *program.indented(post),
            "else:",
            "    nbr.clear_cache()",
        ]
    if program.odds(0.5):  # what nobody posts is found out
        return [f"if {program.value('bool', replace(V, changing=False), 1)}:", *program.indented(post)]
    return post
