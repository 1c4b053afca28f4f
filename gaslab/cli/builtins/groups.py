"""Commands that put vertices into groups: components, strong-components."""

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
}  # fmt: skip
