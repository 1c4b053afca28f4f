"""Commands about a vertex and its neighbours: mis."""

from __future__ import annotations

from gaslab.cli.builtins.entry import Builtin, plain

COMMANDS = {
    "mis": Builtin(
        "A maximal independent set: no two members are neighbours, and everybody else has one.",
        ("member",), plain("mis", "mis"), "members",
    ),
}  # fmt: skip
