"""Statements of a method as Python text, the twin of `c.statements`."""

from __future__ import annotations

from dataclasses import replace

from gaslab.compiler import tree as t
from gaslab.compiler.python import rng
from gaslab.compiler.python.body import Body
from gaslab.compiler.python.expressions import element_place, expr, part_place, position, vertex_in
from gaslab.compiler.python.names import narrowed, zero
from gaslab.errors import unknown, unknown_node


def text_of(body: Body, head: str) -> str:
    """Return the whole function; *head* is its ``def`` line."""
    parameters = {parameter.name for parameter in body.function.parameters}
    for name, kind in body.function.locals.items():
        if name not in parameters:
            body.put(f"l_{name} = {zero(kind)}")
    if begin := rng.begin(body.tree, body.function):
        body.put(begin)
    if body.function.name == "merge":
        body.put("made = no_record()")
    block(body, body.function.body)
    if body.function.returns is not None:
        body.put(f"return {zero(body.function.returns)}")
    return head + "\n" + "".join(body.lines or ["    pass\n"]) + "\n"


def block(body: Body, statements: tuple[t.Stmt, ...]) -> None:
    for statement in statements:
        write(body, statement)


def nested(body: Body, head: str, statements: tuple[t.Stmt, ...]) -> None:
    body.put(head + ":")
    body.depth += 1
    block(body, statements)
    if not statements:
        body.put("pass")
    body.depth -= 1


def write(body: Body, s: t.Stmt) -> None:
    if isinstance(s, t.Assign):
        assign(body, s)
    elif isinstance(s, t.Append):
        append(body, s)
    elif isinstance(s, t.If):
        nested(body, f"if {expr(body, s.test)}", s.body)
        rest = s.otherwise
        while len(rest) == 1 and isinstance(rest[0], t.If):  # Python allows a hundred levels
            nested(body, f"elif {expr(body, rest[0].test)}", rest[0].body)
            rest = rest[0].otherwise
        if rest:
            nested(body, "else", rest)
    elif isinstance(s, t.While):
        nested(body, f"while heed(c, {s.site}) and {expr(body, s.test)}", s.body)
    elif isinstance(s, t.ForRange):
        bounds = ", ".join(expr(body, a) for a in (s.start, s.stop, s.step))
        nested(body, f"for l_{s.target.name} in steps(c, {bounds}, {s.site})", s.body)
    elif isinstance(s, t.Each):
        nested(body, f"for l_{s.counter} in range({position(body, s.count)})", s.body)
    elif isinstance(s, t.AddPart):
        add_part(body, s)
    elif isinstance(s, t.AddOuter):
        add_outer(body, s)
    elif isinstance(s, t.AddPair):
        add_pair(body, s)
    elif isinstance(s, t.AddByKey):
        assert isinstance(body.tree.gather, t.KeyedCombiner)
        combiner = body.tree.gather
        key = narrowed(combiner.key, expr(body, s.key), s.site)
        value = narrowed(combiner.storage, expr(body, s.value), s.site)
        body.put(f"add_by_key(t, {key}, {value})")
    elif isinstance(s, t.Merge):
        into = "sent" if s.into == "sent" else "t"
        body.put("made = no_record()")
        block(body, s.body)
        body.put(f"{into}[:] = do_merge(c, None, 0, {into}, made)")
    elif isinstance(s, t.Solve):
        solve(body, s)
    elif isinstance(s, t.ConjugateGradient):
        conjugate_gradient(body, s)
    elif isinstance(s, t.Sort):
        body.put(f"l_{s.array.name}.sort(key=nan_last)")
    elif isinstance(s, t.Dirichlet):
        body.put(f"l_{s.array.name} = dirichlet(c.rng, l_{s.array.name}, {s.site})")
        round_all(body, s.array)
    elif isinstance(s, t.AddLive):
        place = element_place(body, s.target) if isinstance(s.target, t.Element) else expr(body, s.target)
        body.put(f"{place} = wrap({place} + {expr(body, s.value)})")
    elif isinstance(s, t.Stop):
        body.put("c.stopped = True")
    elif isinstance(s, t.Break):
        body.put("break")
    elif isinstance(s, t.Post):
        body.put("c.post(x)" if s.value is None else f"c.post(x, {expr(body, s.value)})")
    elif isinstance(s, t.Continue):
        body.put("continue")
    elif isinstance(s, t.Return) and body.collects:
        value = "None" if s.value is None else narrowed(body.collects, expr(body, s.value), s.site)
        body.put(f"return {value}")
    elif isinstance(s, t.Return) and body.function.name == "merge":
        body.put("return made")
    elif isinstance(s, t.Return):
        value = "" if s.value is None else f" {expr(body, s.value)}"
        copied = s.value is not None and isinstance(s.value.type, t.Array)
        body.put(f"return list({value})" if copied else f"return{value}")
    elif isinstance(s, t.Contribute):
        contribute(body, s)
    elif isinstance(s, t.Signal):
        signal(body, s)
    else:
        raise unknown_node("interpret", s)


def solve(body: Body, s: t.Solve) -> None:
    if s.method not in ("lu", "spd"):
        raise unknown("interpret", s)
    assert isinstance(s.matrix.type, t.Array)
    assert isinstance(s.right.type, t.Array)
    n = s.matrix.type.shape[0]
    columns = s.right.type.size // n
    body.put(f"solve_{s.method}(l_{s.matrix.name}, l_{s.right.name}, {n}, {columns}, {s.site})")
    round_all(body, s.right)


def conjugate_gradient(body: Body, s: t.ConjugateGradient) -> None:
    assert isinstance(s.right.type, t.Array)
    arrays = ", ".join(f"l_{x.name}" for x in (s.matrix, s.right, s.answer))
    body.put(f"conjugate_gradient(c, {arrays}, {s.right.type.size}, {expr(body, s.steps)}, {s.site})")
    round_all(body, s.answer)


def round_all(body: Body, x: t.Local) -> None:
    """Write the rounding of a vector that was computed in float64 to the program's precision."""
    if body.tree.precision == "float32":
        body.put(f"l_{x.name}[:] = map(float32, l_{x.name})")


def signal(body: Body, s: t.Signal) -> None:
    if s.target == "id":
        signal_by_id(body, s)
        return
    if s.target not in t.ENDS:
        raise unknown("interpret", s)
    if body.tree.collects_messages and s.sends:
        signal_by_id(body, replace(s, to=t.VertexAttribute(s.target, "id", "id")))
        return
    at, place = t.ENDS[s.target], "message_next" if body.function.name == "apply" else "message"
    if s.parts is not None:
        body.put(f"sent = c.message_at(c.{place}, {at})")
        block(body, s.parts)
        body.put(f"c.keep_message(c.{place}, {at}, sent)")
    if s.message is not None:
        assert body.tree.message is not None
        body.put(f"sent = {narrowed(body.tree.message.storage, expr(body, s.message), s.site)}")
    if body.tree.by_priority:
        body.put(f"c.prioritise({at}, {priority_of(body, s)})")
    body.put(f"c.signal(v, {at})" if s.message is None else f"c.send(c.{place}, {at}, sent)")


def priority_of(body: Body, s: t.Signal) -> str:
    value = "0" if s.priority is None else expr(body, s.priority)
    return f"within({value}, 0, {2**63 - 2}, {s.site})"


def signal_by_id(body: Body, s: t.Signal) -> None:
    assert s.to is not None
    message = "None"
    if s.parts is not None:
        body.put("sent = c.no_message()")
        block(body, s.parts)
        message = "sent"
    if s.message is not None:
        assert body.tree.message is not None
        message = narrowed(body.tree.message.storage, expr(body, s.message), s.site)
    if s.members:
        assert body.tree.message is not None
        values = zip(t.TUPLES[body.tree.message.storage], s.members, strict=True)
        message = f"({', '.join(narrowed(one, expr(body, x), s.site) for one, x in values)})"
    place = "message_next" if body.function.name == "apply" else "message"
    priority = priority_of(body, s) if body.tree.by_priority else "None"
    body.put(f"c.signal_id({expr(body, s.to)}, {message}, {priority}, c.{place}, {s.site})")


def contribute(body: Body, s: t.Contribute) -> None:
    place = s.place
    on_edge = isinstance(place, t.EdgeField)
    field = (body.tree.edge_fields if on_edge else body.tree.vertex_fields)[place.index]
    combiner = field.added
    if isinstance(place, t.EdgeField):
        assert s.value is not None
        delta = f"(c.delta_forth if c.forward else c.delta_back)['d{place.index}']"
        body.put(f"{delta}[e] = {combiner.python(f'{delta}.item(e)', expr(body, s.value))}")
        return
    at = vertex_in(body, place.role)
    if s.value is None:
        body.put(f"c.touch({at})")
        return
    if isinstance(s.target, t.Element):
        body.put(f"at = {at}, {position(body, s.target.index)}")
        at = "*at"
    both = combiner.python(f"c.delta_at(c.delta['d{place.index}'], {at})", expr(body, s.value))
    body.put(f"c.add_delta(c.delta['d{place.index}'], {both}, {at})")


def assign(body: Body, s: t.Assign) -> None:
    target, value = s.target, expr(body, s.value)
    if isinstance(target, t.Element):
        storage = body.tree.storage_of(target.array)
        store = f"{element_place(body, target)} = {narrowed(storage, value, s.site)}"
        if body.function.name == "init" and isinstance(target.array, t.VertexField):
            store_unless_initial(body, target.array.index, store, value, expr(body, target.index))
        else:
            body.put(store)
        return
    if isinstance(target, t.Local):
        body.put(f"l_{target.name} = {value}")
    elif isinstance(target, t.PartOf):
        storage = body.tree.storage_of(target)
        body.put(f"{part_place(body, target)} = {narrowed(storage, value, s.site)}")
    elif isinstance(target, t.EdgeField):
        storage = body.tree.edge_fields[target.index].storage
        body.put(f"c.edge[{target.index}][e] = {narrowed(storage, value, s.site)}")
    elif not isinstance(target, t.VertexField):
        raise unknown_node("interpret", target)
    else:
        storage = body.tree.vertex_fields[target.index].storage
        if body.function.name == "visit":
            place = f"c.vertex[{target.index}][{vertex_in(body, target.role)}]"
            body.put(f"{place} = {narrowed(storage, value, s.site)}")
            return
        store = f"n[{target.index}] = {narrowed(storage, value, s.site)}"
        if body.function.name == "init":
            store_unless_initial(body, target.index, store, value)
        else:
            body.put(store)


def append(body: Body, s: t.Append) -> None:
    k = s.target.index
    storage = t.element_storage(body.tree.vertex_fields[k].storage)
    value = narrowed(storage, expr(body, s.value), s.site)
    store = f"n[{k}] = [*n[{k}], {value}]"
    if body.function.name == "init":
        store_unless_initial(body, k, store, value)
    else:
        body.put(store)


def store_unless_initial(body: Body, field: int, store: str, *values: str) -> None:
    """Write a store by ``init``; if the run has initial values, only its draws remain."""
    body.put(f"if c.initial_fields >> {field} & 1: {', '.join(values)}")
    body.put(f"else: {store}")


def add_part(body: Body, s: t.AddPart) -> None:
    place = s.target.array if isinstance(s.target, t.Element) else s.target
    assert isinstance(place, t.PartOf)
    combiner = body.tree.part(place).combiner
    target, value = part_place(body, place), expr(body, s.value)
    if isinstance(s.target, t.Element):
        body.put(f"at = {position(body, s.target.index)}")
        target += "[at]"
    body.put(f"{target} = {narrowed(combiner.storage, combiner.python(target, value), s.site)}")


def add_outer(body: Body, s: t.AddOuter) -> None:
    combiner, n = body.tree.part(s.target).combiner, body.tree.part(s.target).shape[0]
    target = f"{part_place(body, s.target)}[row * {n} + column]"
    product = "vector[row] * vector[column]"
    both = combiner.python(target, f"float32({product})" if body.tree.precision == "float32" else product)
    body.put(f"vector = [{expr(body, s.value)} for l_{s.counter} in range({n})]")
    body.put(f"for row in range({n}):")
    body.put(f"    for column in range(row + 1): {target} = {narrowed(combiner.storage, both, s.site)}")


def add_pair(body: Body, s: t.AddPair) -> None:
    places = [s.target, body.tree.payload(s.target)]
    parts = [body.tree.part(place) for place in places]
    values = zip(parts, (s.key, s.payload), strict=True)
    new = ", ".join(narrowed(p.combiner.storage, expr(body, x), s.site) for p, x in values)
    body.put(f"new = {new}")
    kept = ", ".join(part_place(body, a) for a in places)
    body.put(f"{kept} = earlier_{parts[0].combiner.op}(new, ({kept}))")
