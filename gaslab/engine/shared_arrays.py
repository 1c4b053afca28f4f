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
    """Return the arrays of each phase, in the tree's order and their storage types, only read (collective).

    Those that are no parameters are copied: what the user changes meanwhile counts in the next run. Raises
    UsageError where ranks have different ones, or where one has values that its type does not hold.
    """
    known: dict[tuple[int, str], np.ndarray] = {}
    return [
        [_array(tree, k, one, program, comm, known) for k, one in enumerate(tree.shared)] for tree in trees
    ]


def _array(
    tree: Tree, k: int, variable: Variable, program: VertexProgram, comm: Comm, known: dict[Any, np.ndarray]
) -> np.ndarray:
    if k not in tree.outside:  # ranks have compared these with the call
        return np.ascontiguousarray(program.parameters()[variable.name], dtype_of(variable.storage))
    value = np.asarray(tree.outside[k])
    key = id(tree.outside[k]), variable.storage
    if key not in known:
        _compare(tree, variable, value, comm)
        made = np.array(converted(value, variable, variable.name), order="C")
        made.setflags(write=False)
        known[key] = made
    return known[key]


def _compare(tree: Tree, variable: Variable, value: np.ndarray, comm: Comm) -> None:
    """Raise UsageError where the content of an array is not the same on all ranks (collective)."""
    if comm.size > 1 and len(set(comm.meet(fingerprint(value), f"the array {variable.name}"))) > 1:
        raise UsageError(
            f"{tree.name} reads the array {variable.name!r}, whose content is not the same on all ranks; "
            "every rank must have the same"
        )
