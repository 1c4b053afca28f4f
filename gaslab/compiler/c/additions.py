"""Statements that add, as C text: to parts of accumulators, to cached totals, to fields of an edge's ends."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr, part_place
from gaslab.compiler.c.names import narrowed, widened
from gaslab.compiler.c.records import pair


def add_part(body: Body, s: t.AddPart) -> None:
    place = s.target.array if isinstance(s.target, t.Element) else s.target
    assert isinstance(place, t.PartOf)
    combiner, target = body.tree.part(place).combiner, part_place(body, place)
    value = expr(body, s.value)
    if isinstance(s.target, t.Element):
        index = expr(body, s.target.index)
        if isinstance(s.target.index, t.Index):
            body.put(f"{{ const int64_t at = {index};")
            index = "at"
        target = f"{target}[{index}]"
    both = combiner.c(widened(combiner.storage, target), value)
    if combiner.storage == "float64":  # of an aggregate
        both = combiner.wide_c(target, value)
    end = " }" if isinstance(s.target, t.Element) and isinstance(s.target.index, t.Index) else ""
    kept = f"({t.STORAGE[combiner.storage][1]}){both}"
    if not (body.function.name == "gather" and _counts(s, combiner)):
        kept = narrowed(combiner.storage, both, s.site)
    body.put(f"{target} = {kept};{end}")


def _counts(s: t.AddPart, combiner: t.Combiner) -> bool:
    """Return whether it counts edges in at least 32 bits: a vertex has fewer than 2**31 on a rank."""
    one = isinstance(s.value, t.Const) and s.value.value == 1
    return one and combiner.op == "sum" and combiner.storage in ("int32", "uint32", "int64", "uint64")


def add_live(body: Body, s: t.AddLive) -> None:
    """Write an addition to the block's totals: in visit, the aggregates of the context."""
    place, value = s.target, expr(body, s.value)
    if isinstance(place, t.Aggregate):
        body.put(f"((gl_scalar *)c->aggregate)[{body.tree.slot(place.index)}].i += {value};")
        return
    part = place.array if isinstance(place, t.Element) else place
    assert isinstance(part, t.PartOf)
    _, slot = body.tree.record(part)
    if isinstance(place, t.PartOf):
        body.put(f"((gl_scalar *)c->aggregate)[{slot}].i += {value};")
        return
    body.put(f"{{ const int64_t at = {expr(body, place.index)};")
    body.put(f"((gl_scalar *)c->aggregate)[{slot} + at].i += {value};")
    kept, body.derived = body.derived, {}
    for k, one in enumerate(kept.values()):
        if part in one.sources:
            now = expr(body, one.value)
            body.put(f"{{ const int64_t l_{one.counter} = at; c->derived{k}[at] = {now}; }}")
    body.derived = kept
    body.put("}")


def add_pair(body: Body, s: t.AddPair) -> None:
    key = s.target
    payload = body.tree.payload(key)
    parts = (body.tree.part(key), body.tree.part(payload))
    places, values = (
        (part_place(body, key), part_place(body, payload)),
        (expr(body, s.key), expr(body, s.payload)),
    )
    body.put(pair(parts, places, values, s.site))


def post(body: Body, s: t.Post) -> None:
    """Write the update, or the clearing, of the neighbour's cached total on this rank."""
    body.put("c->posted = 1;")
    if s.value is None:
        body.put("w->cached[x] = 0;")
        return
    combiner = body.tree.gather
    assert combiner is not None
    kind = t.STORAGE[combiner.storage][1]
    both = combiner.c(widened(combiner.storage, "*total"), expr(body, s.value))
    body.put(f"if (w->cached[x]) {{ {kind} *total = &(({kind} *)w->cache)[x]; "
             f"*total = {narrowed(combiner.storage, both, s.site)}; w->cached[x] = 2; }}")  # fmt: skip


def contribute(body: Body, s: t.Contribute) -> None:
    """Write a contribution to an end of the edge: ``v`` is near when pushed, ``nbr`` when pulled."""
    field = s.place
    if isinstance(field, t.EdgeField):
        assert s.value is not None
        body.put(f"gl_contribute_e{field.index}(w, e, forward, {expr(body, s.value)});")
        return
    place = "v" if field.role == body.near else "x"
    if s.value is None:
        body.put(f"gl_touch(w, {place});")
        return
    index = f"{expr(body, s.target.index)}, " if isinstance(s.target, t.Element) else ""
    body.put(f"gl_contribute_{field.index}(w, {place}, {index}{expr(body, s.value)});")
