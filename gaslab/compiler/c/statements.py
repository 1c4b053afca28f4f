"""Statements of a method as C text; `write` has a case for every kind (a type checker sees it)."""

from __future__ import annotations

import re

from gaslab.compiler import tree as t
from gaslab.compiler.c import distributions, keyed, outer_products, ranges, rng, stop_checks, total_in_field
from gaslab.compiler.c.additions import add_live, add_pair, add_part, contribute, post
from gaslab.compiler.c.arrays import declaration, in_double, shared_vector
from gaslab.compiler.c.assign import append, assign, drawn_value, fits
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import array_at, expr
from gaslab.compiler.c.names import c_string, is_bounded, is_zero, narrowed
from gaslab.compiler.c.signals import signal
from gaslab.compiler.c.sorting import sort
from gaslab.errors import unknown, unknown_node

_MAY_FAULT = re.compile(r"\(c[,)]")  # calls that take the context


def text_of(body: Body) -> str:
    """Return the declarations and statements, without the function's head and braces."""
    elsewhere = {parameter.name for parameter in body.function.parameters}
    if body.divided is not None:
        elsewhere |= body.divided.vectors.keys()
        for name, vector in body.divided.vectors.items():
            body.put(shared_vector(body.function.name, name, vector))
    for name, kind in body.function.locals.items():
        if name not in elsewhere:
            body.put(declaration(kind, f"l_{name}"))
    if begin := rng.begin(body.tree, body.function):
        body.put(begin)
    statements = body.function.body if body.divided is None else body.divided.rest
    if body.function.name == "apply" and (place := total_in_field.place(body.tree)):
        copy, *after = statements
        nested(body, f"if ((const void *)l_total != (const void *){place})", (copy,))
        statements = tuple(after)
    block(body, statements)
    if isinstance(body.function.returns, str):
        body.put("return (gl_list){0};" if t.is_list(body.function.returns) else "return 0;")
    return "".join(body.lines)


def block(body: Body, statements: tuple[t.Stmt, ...]) -> None:
    for statement in statements:
        site = body.tree.sites[statement.site]
        body.lines.append(f"#line {site.line} {c_string(site.file)}\n")
        write(body, statement)


def nested(body: Body, head: str, statements: tuple[t.Stmt, ...]) -> None:
    body.put(head + " {")
    body.depth += 1
    block(body, statements)
    body.depth -= 1
    body.put("}")


def write(body: Body, s: t.Stmt) -> None:
    if isinstance(s, t.Assign):
        assign(body, s)
    elif isinstance(s, t.Append):
        append(body, s)
    elif isinstance(s, t.If) and (drawn := drawn_value(s)):
        assign(body, drawn)
    elif isinstance(s, t.If):
        nested(body, f"if ({expr(body, s.test)})", s.body)
        if s.otherwise:
            nested(body, "else", s.otherwise)
    elif isinstance(s, t.While):
        body.exits.append("break;")
        nested(body, f"while (gl_check_stop(c, {s.site}), {expr(body, s.test)})", s.body)
        body.exits.pop()
    elif isinstance(s, t.ForRange):
        for_range(body, s)
    elif isinstance(s, t.Each):
        each(body, s)
    elif isinstance(s, t.AddPart):
        add_part(body, s)
    elif isinstance(s, t.AddOuter):
        outer_products.add_outer(body, s)
    elif isinstance(s, t.AddPair):
        add_pair(body, s)
    elif isinstance(s, t.AddByKey):
        assert isinstance(body.tree.gather, t.KeyedCombiner)
        body.put(keyed.add(s, expr(body, s.key), expr(body, s.value), body.tree.gather))
    elif isinstance(s, t.Merge):
        merge(body, s)
    elif isinstance(s, t.Solve):
        solve(body, s)
    elif isinstance(s, t.ConjugateGradient):
        conjugate_gradient(body, s)
    elif isinstance(s, t.Sort):
        body.put(sort(s))
    elif isinstance(s, t.Dirichlet):
        body.put(distributions.dirichlet(s, body.tree.precision))
    elif isinstance(s, t.Stop):
        body.put("c->stopped = 1;")
    elif isinstance(s, t.Break):
        body.put(body.exits[-1])
    elif isinstance(s, t.Post):
        post(body, s)
    elif isinstance(s, t.Continue):
        body.put("continue;")
    elif isinstance(s, t.Return) and body.collects:
        if s.value is None:
            body.put("return 0;")
            return
        body.put(f"{{ *place = {narrowed(body.collects, expr(body, s.value), s.site)}; return 1; }}")
    elif isinstance(s, t.Return):
        give_back(body, s)
    elif isinstance(s, t.Contribute):
        contribute(body, s)
    elif isinstance(s, t.AddLive):
        add_live(body, s)
    elif isinstance(s, t.Signal):
        signal(body, s, block)
    else:
        raise unknown_node("emit", s)


def each(body: Body, s: t.Each) -> None:
    i = f"l_{s.counter}"
    head = f"for (int64_t {i} = 0; {i} < {expr(body, s.count)}; {i}++)"
    if not t.is_elementwise(s):
        nested(body, head, s.body)
        return
    (assigned,) = s.body
    assert isinstance(assigned, t.Assign)
    assert isinstance(assigned.target, t.Element)
    place, filler = assigned.target.array, assigned.value
    if isinstance(place, t.Local) and isinstance(filler, t.Const) and is_zero(filler.value):
        body.put(f"gl_zero(l_{place.name}, {expr(body, s.count)} * sizeof *l_{place.name});")
        return
    storage, value = body.tree.storage_of(assigned.target.array), expr(body, assigned.value)
    checked = is_bounded(storage) and not fits(body.tree, assigned.value, storage)
    if not checked or _MAY_FAULT.search(value) or body.function.name in ("init", "visit"):
        body.put("#pragma GCC ivdep")
        nested(body, head, s.body)
        return
    lo, hi = t.INTEGER_RANGE[storage]  # checked once after the loop, so that it vectorises
    element = f"{array_at(body, assigned.target.array)}[{i}]"
    body.put("{ int64_t outside = 0;")
    body.put("#pragma GCC ivdep")
    body.put(f"{head} {{ const int64_t whole = {value}; outside |= whole < {lo} | whole > {hi}; "
             f"{element} = ({t.STORAGE[storage][1]})whole; }}")  # fmt: skip
    body.put(f"if (__builtin_expect(outside != 0, 0)) gl_raise(c, GL_FAULT_RANGE, {assigned.site}); }}")


def merge(body: Body, s: t.Merge) -> None:
    """Write the statements that fill a new record and pass it to the program's merge."""
    into = "sent" if s.into == "sent" else "t"
    body.put("{")
    body.put("    gl_own filled, *made = &filled;")
    body.put("    gl_begin_own(made);")
    block(body, s.body)
    body.put(f"    gl_add_one(c, {into}, made);")
    body.put("}")


def solve(body: Body, s: t.Solve) -> None:
    if s.method not in ("lu", "spd"):
        raise unknown("emit", s)
    assert isinstance(s.matrix.type, t.Array)
    assert isinstance(s.right.type, t.Array)
    n = s.matrix.type.shape[0]
    columns = s.right.type.size // n
    arrays = [(f"l_{s.matrix.name}", n * n), (f"l_{s.right.name}", s.right.type.size)]
    call = f"gl_solve_{s.method}(c, {{0}}, {{1}}, {n}, {columns}, {s.site});"
    body.put(in_double(body.tree.precision, arrays, call))


def conjugate_gradient(body: Body, s: t.ConjugateGradient) -> None:
    assert isinstance(s.right.type, t.Array)
    n = s.right.type.size
    arrays = [(f"l_{s.matrix.name}", n * n), (f"l_{s.right.name}", n), (f"l_{s.answer.name}", n)]
    call = f"gl_conjugate_gradient(c, {{0}}, {{1}}, {{2}}, room, {n}, {{steps}}, {s.site});"
    call = call.replace("{steps}", expr(body, s.steps).replace("{", "{{").replace("}", "}}"))
    body.put(f"{{ double room[3 * {n}];")
    body.put(in_double(body.tree.precision, arrays, call) + " }")


def give_back(body: Body, s: t.Return) -> None:
    if s.value is not None and isinstance(s.value.type, t.Array):
        assert isinstance(s.value, t.Local)
        body.put(f"__builtin_memcpy(result, l_{s.value.name}, {s.value.type.size} * sizeof *result);")
        body.put("return;")
        return
    body.put("return;" if s.value is None else f"return {expr(body, s.value)};")


def for_range(body: Body, s: t.ForRange) -> None:
    body.loops += 1
    interval, look = ranges.of_loop(s), stop_checks.look_every(body.tree, s)
    if interval is not None and look is None:
        counted(body, s, interval)
        return
    i, first, step, count = (f"{name}{body.loops}" for name in ("i", "first", "step", "count"))
    body.put("{")
    body.depth += 1
    stop = f"stop{body.loops}"
    for name, bound in ((first, s.start), (stop, s.stop), (step, s.step)):
        body.put(f"const int64_t {name} = {expr(body, bound)};")
    body.put(f"const uint64_t {count} = "
             f"gl_range_length(c, {first}, {stop}, {step}, {s.site});")  # fmt: skip
    value = f"l_{s.target.name} = {first} + (int64_t){i} * {step};"
    if look is None:
        loop_of(body, f"for (uint64_t {i} = 0; {i} < {count}; {i}++) {{", value, s.body, "break;")
    else:  # in runs without checks, so that they may vectorise
        until, over = f"until{body.loops}", f"over{body.loops}"
        body.put(f"for (uint64_t {i} = 0; {i} < {count};) {{")
        body.put(f"    gl_check_stop(c, {s.site});")
        body.put(f"    const uint64_t {until} = {count} - {i} < {look} ? {count} : {i} + {look};")
        head = f"    for (; {i} < {until}; {i}++) {{"
        left = loop_of(body, head, value, s.body, f"goto {over};")
        body.put("}")
        if left:
            body.put(f"{over}:;")
    body.depth -= 1
    body.put("}")


def counted(body: Body, s: t.ForRange, interval: ranges.Interval) -> None:
    """Write a loop of few rounds with constant bounds."""
    i, name = f"i{body.loops}", s.target.name
    first, stop, step = (expr(body, bound) for bound in (s.start, s.stop, s.step))
    down = isinstance(s.step, t.Const) and s.step.value < 0
    head = f"for (int64_t {i} = {first}; {i} {'>' if down else '<'} {stop}; {i} += {step}) {{"
    before, body.intervals = body.intervals, body.intervals | {name: interval}
    loop_of(body, head, f"l_{name} = {i};", s.body, "break;")
    body.intervals = before


def loop_of(body: Body, head: str, first: str, statements: tuple[t.Stmt, ...], leave: str) -> bool:
    """Write a loop that *leave* exits; return whether its body does."""
    body.put(head)
    body.depth += 1
    body.put(first)
    body.exits.append(leave)
    begin = len(body.lines)
    block(body, statements)
    body.exits.pop()
    body.depth -= 1
    body.put("}")
    return any(line.strip() == leave for line in body.lines[begin:])
