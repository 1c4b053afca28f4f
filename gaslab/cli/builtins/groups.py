"""Commands that put vertices into groups: components, strong-components, kcore, cdlp."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli.builtins.entry import Builtin, plain


def _cdlp(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.cdlp import cdlp

    return cdlp(graph, iterations=options.pop("max_iterations"), **options)


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
    "cdlp": Builtin(
        "Communities by label propagation, as Graphalytics defines them; --iterations rounds (10).",
        ("label",), _cdlp, "groups", defaults={"max_iterations": 10},
    ),
}  # fmt: skip
