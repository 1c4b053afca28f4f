"""Assignments as C text: to locals, fields, parts and elements."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import lists, ranges
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import array_at, expr, part_place, place_of
from gaslab.compiler.c.names import edge_name, field_name, is_bounded, narrowed
from gaslab.errors import unknown_node


def assign(body: Body, s: t.Assign) -> None:
    if isinstance(s.target, t.Element):
        assign_element(body, s.target, s)
        return
    if isinstance(s.value, t.CallHelper) and isinstance(s.value.type, t.Array):
        assert isinstance(s.target, t.Local)
        body.put(expr(body, s.value)[:-1] + f", l_{s.target.name});")
        return
    target, value = s.target, expr(body, s.value)
    if isinstance(target, t.Local):
        body.put(f"l_{target.name} = {value};")
    elif isinstance(target, t.PartOf):
        body.put(f"{part_place(body, target)} = {stored(body, body.tree.storage_of(target), s, value)};")
    elif isinstance(target, t.EdgeField):
        storage = body.tree.edge_fields[target.index].storage
        body.put(f"c->{edge_name(body.tree, target.index)}[e] = {stored(body, storage, s, value)};")
    elif not isinstance(target, t.VertexField):
        raise unknown_node("emit", target)
    else:
        storage = body.tree.vertex_fields[target.index].storage
        if body.function.name == "visit":  # both ends are in memory: they may be the same vertex
            place = place_of(body, target.role, field_name(body.tree, target.index))
            body.put(f"*({t.STORAGE[storage][1]} *)&{place} = {stored(body, storage, s, value)};")
            return
        store = f"n->{field_name(body.tree, target.index)} = {stored(body, storage, s, value)};"
        if t.is_list(storage):
            store = lists.assign(body.tree, target.index, value, s.site)
        if body.function.name == "init":
            store_unless_initial(body, target.index, store, value)
        else:
            body.put(store)


def append(body: Body, s: t.Append) -> None:
    """Write ``v.field.append(value)``."""
    storage = t.element_storage(body.tree.vertex_fields[s.target.index].storage)
    value = narrowed(storage, expr(body, s.value), s.site)
    store = lists.append(body.tree, s.target.index, value, s.site)
    if body.function.name == "init":
        store_unless_initial(body, s.target.index, store, value)
    else:
        body.put(store)


def drawn_value(s: t.If) -> t.Assign | None:
    """Return ``if gl.uniform() * old < new: e.field = value`` as an assignment of either value.

    This is how a sampler accepts a proposal, which the processor cannot predict. Two kinds of tests keep
    their branch: a draw compared only with constants mostly has the same outcome, and a second comparison may
    say which end writes the edge.
    """
    inner = s.body[0] if len(s.body) == 1 and not s.otherwise else None
    if not isinstance(inner, t.Assign) or not isinstance(inner.target, t.EdgeField):
        return None
    kind, parts = inner.target.type, list(t.nodes(s.test))
    if not isinstance(s.test, t.Compare) or any(isinstance(x, t.Forward) for x in parts):
        return None
    if not all(any(isinstance(x, needed) for x in parts) for needed in (t.Draw, t.VertexField | t.Local)):
        return None
    if isinstance(kind, t.Array) or not isinstance(inner.value, t.Local | t.Const):
        return None
    value = t.Conditional(s.test, inner.value, inner.target, kind)
    return t.Assign(inner.target, value, inner.site)


def stored(body: Body, storage: str, s: t.Assign, value: str) -> str:
    """Return *value* (C text) narrowed for storage; a value that may not fit may fault."""
    known = ranges.of(s.value, body.intervals) if is_bounded(storage) else None
    low, high = t.INTEGER_RANGE.get(storage, (0, 0))
    if is_bounded(storage) and (
        fits(body.tree, s.value, storage) or (known is not None and low <= known[0] and known[1] <= high)
    ):
        return f"({t.STORAGE[storage][1]})({value})"
    return narrowed(storage, value, s.site)


def fits(tree: t.Tree, x: t.Expr, storage: str) -> bool:
    """Return whether *x* is read from a place whose numbers all fit *storage*."""
    place = x.array if isinstance(x, t.Element) else x
    if not isinstance(place, t.VertexField | t.EdgeField | t.PartOf | t.Shared):
        return False
    lo, hi = t.INTEGER_RANGE[storage]
    least, most = t.INTEGER_RANGE.get(tree.storage_of(place), (lo - 1, hi))
    return lo <= least and most <= hi


def assign_element(body: Body, target: t.Element, s: t.Assign) -> None:
    storage = body.tree.storage_of(target.array)
    index, value = expr(body, target.index), expr(body, s.value)
    place = f"{array_at(body, target.array)}[{index}]"
    if body.function.name == "visit" and isinstance(target.array, t.VertexField):
        place = f"*({t.STORAGE[storage][1]} *)&{place}"
    store = f"{place} = {stored(body, storage, s, value)};"
    if body.function.name == "init" and isinstance(target.array, t.VertexField):
        store_unless_initial(body, target.array.index, store, value, index)
    else:
        body.put(store)


def store_unless_initial(body: Body, field: int, store: str, *values: str) -> None:
    """Write a store by ``init``; if the run has initial values, only its draws remain."""
    body.put(f"if (c->initial_fields >> {field} & 1) {{")
    for value in values:
        body.put(f"    (void){value};")
    body.put("} else {")
    body.put(f"    {store}")
    body.put("}")
