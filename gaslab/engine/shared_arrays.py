"""Binds arrays from outside: parameters, and arrays of the user's modules, functions and classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gaslab.compiler.tree import Tree, Variable
from gaslab.engine.bind import converted
from gaslab.engine.storage import dtype_of
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.parallel.fingerprint import fingerprint
from gaslab.program import VertexProgram


def bind_arrays(trees: Iterable[Tree], program: VertexProgram, comm: Comm) -> list[list[np.ndarray]]:
    """Return each phase's arrays, read-only, in the tree's order and their storage types (collective).

    Arrays that are not parameters are copied: later changes by the user count in the next run. Raises
    UsageError if ranks have different ones, or if one has values that its type cannot hold.
    """
    trees, known = list(trees), dict[Any, np.ndarray]()
    _compare(trees, comm)
    return [[_array(tree, k, one, program, known) for k, one in enumerate(tree.shared)] for tree in trees]


def _array(
    tree: Tree, k: int, variable: Variable, program: VertexProgram, known: dict[Any, np.ndarray]
) -> np.ndarray:
    if k not in tree.outside:  # ranks compared these with the call
        return np.ascontiguousarray(program.parameters()[variable.name], dtype_of(variable.storage))
    key = id(tree.outside[k]), variable.storage
    if key not in known:
        known[key] = _copied(tree, variable, np.asarray(tree.outside[k]))
    return known[key]


def _copied(tree: Tree, variable: Variable, value: np.ndarray) -> np.ndarray:
    """Return a read-only copy of a user's array; raises UsageError if it no longer fits the program."""
    what = f"{tree.name} reads the array {variable.name!r}"
    if value.shape != variable.shape:
        raise UsageError(
            f"{what}, which had the shape {variable.shape} when the program was prepared and has "
            f"{value.shape} now; prepare it again"
        )
    made = np.array(converted(value, variable, variable.name), order="C")
    if made.dtype.kind == "f" and np.any(np.isinf(made) & np.isfinite(value)):
        raise UsageError(f"{what}, which has values that {variable.storage} cannot hold; scale it")
    made.setflags(write=False)
    return made


def _compare(trees: list[Tree], comm: Comm) -> None:
    """Raise UsageError if an array's content is not the same on all ranks (collective)."""
    arrays = [(tree, tree.shared[k], value) for tree in trees for k, value in sorted(tree.outside.items())]
    if comm.size == 1 or not arrays:
        return
    prints = [fingerprint(np.asarray(value)) for _, _, value in arrays]
    if len(set(comm.meet(fingerprint(prints), f"the arrays of {trees[0].name}"))) == 1:
        return
    of_arrays = zip(*comm.allgather(prints), strict=True)
    tree, variable, _ = arrays[next(k for k, ranks in enumerate(of_arrays) if len(set(ranks)) > 1)]
    raise UsageError(
        f"{tree.name} reads the array {variable.name!r}, whose content is not the same on all ranks; "
        "every rank must have the same"
    )
