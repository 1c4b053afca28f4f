"""Code that cannot fault: it may be evaluated where Python would not, or skipped where it would."""

from __future__ import annotations

from typing import Any

from gaslab.compiler.tree.expressions import (
    Binary,
    Call,
    CallHelper,
    Cast,
    Categorical,
    Const,
    Draw,
    Index,
    KeyedWord,
    ListWord,
    Reduce,
    Search,
    nodes,
)
from gaslab.compiler.tree.program import Tree


def harmless(node: Any) -> bool:
    """Whether evaluating *node* where Python would not have is free of faults and cheap."""
    if isinstance(node, Binary):
        return node.op in ("+", "-", "*", "&", "|", "^") or (node.op == "/" and not node.int_divisor)
    if isinstance(node, Call):
        return node.function in ("abs", "bit_count", "min", "max", "minimum", "maximum")
    if isinstance(node, Cast):
        return not (node.type == "int" and node.operand.type == "float")
    if isinstance(node, ListWord):
        return node.function == "len"
    return not isinstance(node, CallHelper | Draw | Categorical | Index | KeyedWord | Reduce | Search)


def first_signal_decides(tree: Tree) -> bool:
    """Return whether a signalled target needs no more of its in-edges.

    That is so if scatter does nothing but signal, without a message, and no edge can end the run.
    """
    if tree.message is not None or tree.contributed():
        return False
    return not faults(tree, tree.functions["scatter"].body)


def faults(tree: Tree, x: Any) -> int:
    """Return how many nodes of an expression or of statements may fault, counting a helper's at each call."""
    of_helpers: list[int] = []
    for helper in tree.helpers:  # after the helpers that it calls
        of_helpers.append(_faults(helper.body, of_helpers))
    return _faults(x, of_helpers)


def _faults(x: Any, of_helpers: list[int]) -> int:
    return sum(
        of_helpers[node.index] if isinstance(node, CallHelper) else not (harmless(node) or _is_safe(node))
        for node in nodes(x)
    )


def _is_safe(node: Any) -> bool:
    """Return whether a costly node is still free of faults."""
    if isinstance(node, KeyedWord):
        return node.function != "argmax"
    if isinstance(node, ListWord):
        return node.function not in ("item", "member", "mode")
    if isinstance(node, Draw):
        checked = all(isinstance(x, Const) for x in node.arguments)
        return node.kind == "uniform" or (node.kind == "normal" and checked)
    if isinstance(node, Binary) and node.type == "int" and isinstance(node.right, Const):
        return 0 <= node.right.value < 64 if node.op in ("<<", ">>") else node.right.value != 0
    if isinstance(node, Binary):  # of floats, with the IEEE 754 value
        return node.type == "float" and not node.int_divisor
    return isinstance(node, Reduce) or (isinstance(node, Call) and node.type == "float")
