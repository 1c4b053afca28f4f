"""What of a program cannot fault: it may be evaluated where Python would not, or left out where it would."""

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
    """Return whether a target that has a signal needs no more of the edges that lead to it.

    So it is where scatter does nothing but to signal, without a message, and no edge can end the run.
    """
    if tree.message is not None or tree.contributed():
        return False
    return not _may_fault(tree, tree.functions["scatter"].body)


def _may_fault(tree: Tree, x: Any) -> bool:
    for node in nodes(x):
        if isinstance(node, CallHelper):
            if _may_fault(tree, tree.helpers[node.index].body):
                return True
        elif not (harmless(node) or _is_safe(node)):
            return True
    return False


def _is_safe(node: Any) -> bool:
    """Return whether a node that is not cheap is free of faults all the same."""
    if isinstance(node, ListWord):
        return node.function not in ("item", "member", "mode")
    if isinstance(node, Draw):
        checked = all(isinstance(x, Const) for x in node.arguments)
        return node.kind == "uniform" or (node.kind == "normal" and checked)
    if isinstance(node, Binary):  # of floats, with the value that IEEE 754 gives
        return node.type == "float" and not node.int_divisor
    return isinstance(node, Reduce) or (isinstance(node, Call) and node.type == "float")
