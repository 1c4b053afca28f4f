"""Assignments as C text: to locals, fields, parts and elements."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import lists
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import array_at, expr, part_place, place_of
from gaslab.compiler.c.names import edge_name, field_name, narrowed
from gaslab.compiler.tree import STORAGE
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
        body.put(f"{part_place(body, target)} = {narrowed(body.tree.storage_of(target), value, s.site)};")
    elif isinstance(target, t.EdgeField):
        storage = body.tree.edge_fields[target.index].storage
        body.put(f"c->{edge_name(body.tree, target.index)}[e] = {narrowed(storage, value, s.site)};")
    elif not isinstance(target, t.VertexField):
        raise unknown_node("emit", target)
    else:
        storage = body.tree.vertex_fields[target.index].storage
        if body.function.name == "visit":  # both ends are in memory: they may be one vertex
            place = place_of(body, target.role, field_name(body.tree, target.index))
            body.put(f"*({STORAGE[storage][1]} *)&{place} = {narrowed(storage, value, s.site)};")
            return
        store = f"n->{field_name(body.tree, target.index)} = {narrowed(storage, value, s.site)};"
        if t.is_list(storage):
            store = lists.assign(body.tree, target.index, value)
        if body.function.name == "init":
            store_unless_initial(body, target.index, store, value)
        else:
            body.put(store)


def assign_element(body: Body, target: t.Element, s: t.Assign) -> None:
    storage = body.tree.storage_of(target.array)
    index, value = expr(body, target.index), expr(body, s.value)
    place = f"{array_at(body, target.array)}[{index}]"
    if body.function.name == "visit" and isinstance(target.array, t.VertexField):
        place = f"*({STORAGE[storage][1]} *)&{place}"
    store = f"{place} = {narrowed(storage, value, s.site)};"
    if body.function.name == "init" and isinstance(target.array, t.VertexField):
        store_unless_initial(body, target.array.index, store, value, index)
    else:
        body.put(store)


def store_unless_initial(body: Body, field: int, store: str, *values: str) -> None:
    """Write a store by ``init``, skipped where the run has initial values; it draws all the same."""
    body.put(f"if (c->given >> {field} & 1) {{")
    for value in values:
        body.put(f"    (void){value};")
    body.put("} else {")
    body.put(f"    {store}")
    body.put("}")
