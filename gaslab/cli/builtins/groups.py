"""Commands that put vertices into groups: components, strong-components, kcore."""

from __future__ import annotations

from gaslab.cli.builtins.entry import Builtin, plain

COMMANDS = {
    "components": Builtin(
        "Weakly connected components, each named by its smallest vertex id.",
        ("component",), plain("components", "components"), "groups",
    ),
    "strong-components": Builtin(
        "Strongly connected components, each named by its smallest vertex id.",
        ("component",), plain("strong_components", "strong_components"), "groups",
    ),
    "kcore": Builtin(
        "Core numbers: the largest k such that a vertex is in a part of least degree k.",
        ("core",), plain("kcore", "kcore"), "largest",
    ),
}  # fmt: skip
