"""A gather's total built where apply would copy it: in a vector field of its vertex."""

from __future__ import annotations

from gaslab.compiler.c.names import field_name
from gaslab.compiler.tree import (
    Assign,
    Const,
    Each,
    Element,
    PartOf,
    RecordCombiner,
    Tree,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.statements import is_elementwise


def place(tree: Tree) -> str:
    """Return the near vertex's field ``n->...`` in which its total may be built; "" without one.

    The total is one vector with the field's storage type. Apply begins by copying all of it to the field, and
    does not use it otherwise; gather does not read the field.
    """
    gather, apply = tree.gather, tree.functions.get("apply")
    if not isinstance(gather, RecordCombiner) or gather.own or len(gather.parts) != 1 or apply is None:
        return ""
    first = apply.body[0] if apply.body else None
    if not isinstance(first, Each) or not is_elementwise(first):
        return ""
    copy = first.body[0]
    if not isinstance(copy, Assign) or not isinstance(copy.target, Element):
        return ""
    target, value = copy.target.array, copy.value
    if not isinstance(target, VertexField) or not isinstance(value, Element) or _totals(value) != 1:
        return ""
    field = tree.vertex_fields[target.index]
    whole = first.count == Const(gather.parts[0].slots, "int") and field.type == value.array.type
    if not whole or tree.storage_of(value.array) != field.storage or _totals(apply.body) != 1:
        return ""
    if field.name in tree.reads("gather", "v") | tree.reads("gather", "nbr"):
        return ""
    return f"n->{field_name(tree, target.index)}"


def _totals(x: object) -> int:
    """Return how often the total is named in expressions or statements."""
    named = [getattr(one, "record" if isinstance(one, PartOf) else "name", "") for one in nodes(x)]
    return named.count("total")
