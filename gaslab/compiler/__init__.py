"""The compiler: program class -> typed tree (`parse`) -> C text (`emit`) -> loaded library (`build`)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gaslab.compiler import build
from gaslab.compiler.emit import emit as emit_text
from gaslab.compiler.tree import Tree

if TYPE_CHECKING:
    from gaslab.comm import Comm

MODES = ("auto", "require", "never")


@dataclass(frozen=True)
class Compiled:
    """A program ready to run: its tree, and its library or (without a compiler) its interpreter."""

    tree: Tree
    library: build.Library | None
    seconds: float
    cached: bool


def compile_program(cls: type, comm: Comm, mode: str = "auto") -> Compiled:
    """Compile a program class. Collective."""
    from gaslab.compiler.parse import parse

    begin = time.perf_counter()
    tree = parse(cls)
    library = build.load(emit_text(tree), comm)
    return Compiled(tree, library, time.perf_counter() - begin, library.cached)
