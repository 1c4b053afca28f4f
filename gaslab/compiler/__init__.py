"""The compiler: program class -> typed tree (`frontend`) -> C text (`c`) -> loaded library (`build`).

`compile_program` is the entry; without a C compiler the tree is run as Python text (`python`) instead. This
package imports no numpy, no kernel and no MPI, so that setup.py can compile the built-in programs.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gaslab.compiler import build
from gaslab.compiler.c import emit as emit_text
from gaslab.compiler.frontend import parse_phases
from gaslab.compiler.frontend.counts import MANY_EDGES
from gaslab.compiler.python import Interpreter
from gaslab.compiler.tree import Tree
from gaslab.compiler.tree.depth import too_deep
from gaslab.errors import PerformanceWarning, UsageError, warn_user
from gaslab.parallel.fingerprint import fingerprint

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

MODES = ("auto", "require", "never")


@dataclass(frozen=True)
class Compiled:
    """A program ready to run: its tree, and either its library or its interpreter."""

    tree: Tree
    library: build.Library | None
    interpreter: Interpreter | None
    seconds: float  # parse, emit, and find or compile
    cached: bool  # no C compiler ran


def compile_program(
    cls: type, comm: Comm, mode: str = "auto", shapes: Mapping[str, int] | None = None
) -> Compiled:
    """Return a program class ready to run; of several phases, the first. Collective."""
    return compile_phases(cls, comm, mode, shapes)[0]


def compile_phases(
    cls: type, comm: Comm, mode: str = "auto", shapes: Mapping[str, int] | None = None, edges: int = 0
) -> tuple[Compiled, ...]:
    """Return the phases of a program class ready to run; a program without phases is one. Collective.

    Parameters
    ----------
    cls : type
        A `gaslab.VertexProgram`.
    comm : Comm
        All its ranks get the same library.
    mode : {"auto", "require", "never"}
        ``"auto"`` interprets a program, with a warning, if neither a compiled library nor a compiler exists;
        ``"require"`` raises instead; ``"never"`` interprets every program.
    shapes : mapping, optional
        Values of int parameters; a parameter that is the length of a field is compiled in.
    edges : int
        Edges of the graph: below 2**30, edge counts are kept in 32 bits.

    Raises
    ------
    ProgramError
        The class is outside the language.
    CompileError
        The C compiler refused the program, or is missing and *mode* is ``"require"``.
    """
    if mode not in MODES:
        raise UsageError(f"compile={mode!r} is unknown; one of {', '.join(map(repr, MODES))}")
    began = time.perf_counter()
    made = []
    many = {"many_edges": True} if edges >= MANY_EDGES else {}
    for tree in parse_phases(cls, shapes, **many):
        made.append(_ready(tree, comm, mode, began))
        began = time.perf_counter()
    return tuple(made)


def compile_tree(tree: Tree, comm: Comm, mode: str = "auto") -> Compiled:
    """Return a tree ready to run; *mode* is that of `compile_phases`. Collective."""
    return _ready(tree, comm, mode, time.perf_counter())


def _ready(tree: Tree, comm: Comm, mode: str, began: float) -> Compiled:
    emitted, library = _emitted(tree), None
    _compare(tree, emitted, comm)
    if mode != "never":
        try:
            library = build.load(emitted.text, comm)
        except build.NoCompiler as error:
            if mode == "require":
                raise
            if not tree.phase:
                slow = f"{tree.name} runs interpreted, about a hundred times slower: {error}"
                warn_user(slow, PerformanceWarning, comm.rank)
    interpreter = Interpreter(tree) if library is None else None
    cached = library is None or library.cached
    return Compiled(tree, library, interpreter, time.perf_counter() - began, cached)


@dataclass(frozen=True)
class _Emitted:
    """The C text of a tree, and a digest of what must be the same on all ranks."""

    text: str
    digest: bytes


def _emitted(tree: Tree) -> _Emitted:
    try:
        content = pickle.dumps(replace(tree, outside={}))  # which the text does not have
    except RecursionError:
        raise too_deep(tree) from None
    return _emitted_from(content)


@lru_cache(maxsize=128)  # a program that runs again is parsed again: values it reads may have changed
def _emitted_from(content: bytes) -> _Emitted:
    tree = pickle.loads(content)
    text = emit_text(tree)
    fields = (tree.params, tree.vertex_fields, tree.edge_fields, tree.shared)
    declared = (*fields, tree.supersteps, tree.has_done, tree.rng, tree.precision)
    return _Emitted(text, fingerprint([build.key(text), declared]))


def _compare(tree: Tree, emitted: _Emitted, comm: Comm) -> None:
    """Raise UsageError if the ranks' programs differ, including constants and helpers."""
    if comm.size > 1 and len(set(comm.meet(emitted.digest, f"the program {tree.name}"))) > 1:
        raise UsageError(
            f"{tree.name} is not the same program on all ranks: its fields, its helpers or the constants "
            "that it reads differ"
        )


def compile_ahead(
    cls: type,
    target: Path | None = None,
    levels: Sequence[str] | None = None,
    shapes: Mapping[str, int] | None = None,
) -> list[Path]:
    """Compile a program for machines without a compiler; return the files written.

    Parameters
    ----------
    cls : type
        A `gaslab.VertexProgram`.
    target : Path, optional
        The future ``$GASLAB_CACHE_DIR`` of the other machine; by default this machine's cache. Each CPU level
        gets a library, under the name that `compile_program` looks for; a program that counts edges in 32
        bits gets a second one, for larger graphs.
    levels : sequence of str, optional
        CPU levels of `toolchain.levels`; by default all levels of this kind of machine.
    shapes : mapping, optional
        As for `compile_phases`; by default the parameters' defaults.
    """
    target = target or build.cache_directory()
    return [
        path for text in texts_ahead(cls, shapes) for path in build.compile_levels(text, target, levels)
    ]


def texts_ahead(cls: type, shapes: Mapping[str, int] | None = None) -> list[str]:
    """Return the C texts that `compile_ahead` compiles, each once."""
    trees = (*parse_phases(cls, shapes), *parse_phases(cls, shapes, many_edges=True))
    return list(dict.fromkeys(map(emit_text, trees)))
