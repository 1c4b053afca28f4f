"""Expressions of a method as C text; `plain_expr` has a case for every kind (a type checker sees it)."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import distributions, keyed, lists, names, ranges, rng
from gaslab.compiler.c.arrays import row
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.records import part_name
from gaslab.compiler.tree.uses import by_source
from gaslab.errors import unknown, unknown_node

# Python's math -> C, where the names differ
MATH = {"gamma": "tgamma"}
EXACT = ("fabs", "floor", "ceil", "trunc", "sqrt", "copysign")  # in float the same, rounded once


def expr(body: Body, x: t.Expr | rng.Text) -> str:
    if body.tree.draws:
        x, before = rng.in_order(x, body.drawing)
        if before:
            texts = [(expr(body, operand), operand) for operand in before]
            return rng.sequenced(plain_expr(body, x), texts)
    return plain_expr(body, x)


def plain_expr(body: Body, x: t.Expr | rng.Text) -> str:
    if isinstance(x, rng.Text):
        return x.text
    if x in body.derived:
        return f"c->derived{list(body.derived).index(x)}[l_{body.derived[x].counter}]"
    if isinstance(x, t.Const):
        return names.constant(x.value, x.type)
    if isinstance(x, t.Local):
        return f"l_{x.name}"
    if isinstance(x, t.Param):
        return f"c->{names.param_name(body.tree, x.index)}"
    if isinstance(x, t.Shared):
        return f"c->{names.shared_name(body.tree, x.index)}"
    if isinstance(x, t.Aggregate):
        if body.tree.aggregators[x.index].live:
            return f"c->aggregate[{body.tree.slot(x.index)}].i"
        return f"c->{names.aggregate_name(body.tree, x.index)}"
    if isinstance(x, t.Global):
        return f"c->{x.name}"
    if isinstance(x, t.VertexField):
        name = names.field_name(body.tree, x.index)
        if t.is_list(x.type) and x.role != body.near:
            far = "v" if body.function.name == "visit" and x.role == "v" else "x"
            return lists.read(body.tree, x.index, far)
        return names.read(body.tree, body.tree.vertex_fields[x.index].storage, place_of(body, x.role, name))
    if isinstance(x, t.VertexAttribute):
        return place_of(body, x.role, x.name)
    if isinstance(x, t.EdgeField):
        if t.is_list(x.type):
            return lists.read_edge(body.tree, x.index)
        place = f"{names.edge_name(body.tree, x.index)}[e]"
        if body.row == "out" and x.index in by_source(body.tree, body.function.name):
            place = f"by_source{x.index}[q]"
        return names.read(body.tree, body.tree.edge_fields[x.index].storage, f"c->{place}")
    if isinstance(x, t.Forward):
        return "forward"
    if isinstance(x, t.Element):
        return element(body, x)
    if isinstance(x, t.Index):
        return index(body, x)
    if isinstance(x, t.PartOf):
        return names.read(body.tree, body.tree.storage_of(x), part_place(body, x))
    if isinstance(x, t.Reduce):
        return reduction(body, x)
    if isinstance(x, t.Search):
        return search(body, x)
    if isinstance(x, t.Categorical):
        return distributions.categorical(x, expr(body, x.value), body.fetched.get(x.count, ""))
    if isinstance(x, t.Unary):
        return f"({'!' if x.op == 'not' else x.op}{expr(body, x.operand)})"
    if isinstance(x, t.Binary):
        return binary(body, x)
    if isinstance(x, t.Compare):
        return f"({expr(body, x.left)} {x.op} {expr(body, x.right)})"
    if isinstance(x, t.Logical):
        return "(" + (" && " if x.op == "and" else " || ").join(expr(body, a) for a in x.operands) + ")"
    if isinstance(x, t.Conditional):
        return f"({expr(body, x.test)} ? {expr(body, x.then)} : {expr(body, x.otherwise)})"
    if isinstance(x, t.Let):
        kind = names.C_TYPE[t.element_of(x.value.type)]
        return f"({{ const {kind} once{x.number} = {expr(body, x.value)}; {expr(body, x.body)}; }})"
    if isinstance(x, t.Bound):
        return f"once{x.number}"
    if isinstance(x, t.Cast):
        return cast(body, x)
    if isinstance(x, t.CallHelper):
        arguments = "".join(", " + argument(body, a) for a in x.arguments)
        return f"{names.helper_name(body.tree, x.index)}(c{arguments})"
    if isinstance(x, t.Draw):
        return rng.draw(x, [expr(body, a) for a in x.arguments])
    if isinstance(x, t.NoList):
        return "(gl_list){0}"
    if isinstance(x, t.KeyedWord):
        assert isinstance(body.tree.gather, t.KeyedCombiner)
        return keyed.word(x, [expr(body, a) for a in x.arguments], body.tree.gather)
    if isinstance(x, t.ListWord):
        return lists.word(x, [expr(body, a) for a in x.arguments], body.marked)
    if isinstance(x, t.Call):
        return call(body, x)
    raise unknown_node("emit", x)


def index(body: Body, x: t.Index) -> str:
    interval = ranges.of(x.value, body.intervals)
    if interval is not None and interval[0] >= 0 and interval[1] < x.size:
        return expr(body, x.value)
    word = "gl_counted" if x.counted else "gl_index"
    return f"{word}(c, {expr(body, x.value)}, {x.size}, {x.site})"


def argument(body: Body, x: t.Expr) -> str:
    """Return a helper's argument for *x*; for an array, its address."""
    if isinstance(x, t.VertexField | t.EdgeField | t.PartOf) and isinstance(x.type, t.Array):
        return array_at(body, x)
    return expr(body, x)


def element(body: Body, x: t.Element) -> str:
    place = f"{array_at(body, x.array)}[{expr(body, x.index)}]"
    return names.read(body.tree, body.tree.storage_of(x.array), place)


def part_place(body: Body, x: t.PartOf) -> str:
    """Return the C place of a part."""
    record, slot = body.tree.record(x)
    if slot is None:
        pointer = {"into": "t", "sent": "sent", "made": "made"}.get(x.record, f"l_{x.record}")
        return f"{pointer}->{part_name(x.index, record.parts[x.index])}"
    table = "t" if x.record.startswith("into") else "c->aggregate"
    if not isinstance(x.type, t.Array):
        return f"{table}[{slot}].{names.MEMBER[x.type]}"
    const = "" if table == "t" else "const "
    return f"(({const}{names.WIDE_TYPE[x.type.element]} *)({table} + {slot}))"


def reduction(body: Body, x: t.Reduce) -> str:
    """Return a reduction as a statement expression; its names are unique at every depth."""
    body.reductions += 1
    depth, i = body.reductions, f"l_{x.counter}"
    value = expr(body, x.value)
    kind, total = names.C_TYPE[t.element_of(x.value.type)], f"r{depth}"
    loop = f"for (int64_t {i} = {{first}}; {i} < {x.count}; {i}++)"
    if x.op == "sum" and x.type == "float" and x.count >= t.WIDE_SUM:
        ways = t.WAYS[body.tree.precision]
        whole, q = x.count - x.count % ways, f"q{depth}"
        sums = added([f"{total}[{k}]" for k in range(ways)])
        rest = ""
        if whole < x.count:
            rest = f"{loop.format(first=whole)} {total}[0] += {value}; "
        if body.tree.precision == "float32":  # explicit vectors: gcc 12 vectorises this badly for AVX-512
            part, lanes = f"part{depth}", f"lanes{depth}"
            return (
                f"({{ gl_reals {lanes}[{ways} / GL_REALS] = {{{{0}}}}; "
                f"for (int64_t {q} = 0; {q} < {whole}; {q} += {ways}) {{ "
                f'gl_real {part}[{ways}]; _Pragma("GCC unroll {ways}") '
                f"for (int64_t {i} = {q}; {i} < {q} + {ways}; {i}++) {part}[{i} - {q}] = {value}; "
                f'_Pragma("GCC unroll 2") for (int k = 0; k < {ways} / GL_REALS; k++) '
                f"{lanes}[k] += ((const gl_reals *){part})[k]; }} gl_real {total}[{ways}]; "
                f"__builtin_memcpy({total}, {lanes}, sizeof {total}); {rest}{sums}; }})"
            )
        return (
            f"({{ gl_real {total}[{ways}] = {{0}}; for (int64_t {q} = 0; {q} < {whole}; {q} += {ways}) "
            f'_Pragma("GCC unroll {ways}") '  # so that they stay in registers, side by side
            f"for (int64_t {i} = {q}; {i} < {q} + {ways}; {i}++) {total}[{i} - {q}] += {value}; {rest}"
            f"{sums}; }})"
        )
    if x.op in ("sum", "prod"):
        sign = "+" if x.op == "sum" else "*"
        first = names.constant(0 if x.op == "sum" else 1, x.type)
        return (
            f"({{ {kind} {total} = {first}; {loop.format(first=0)} "
            f"{total} = {total} {sign} {value}; {total}; }})"
        )
    start = f"({{ const int64_t {i} = 0; {value}; }})"
    floats, y = t.element_of(x.value.type) == "float", f"y{depth}"
    if x.op in ("min", "max"):
        both = f"gl_{x.op}_{'f' if floats else 'i'}({total}, {y})"
        # nan is noted beside the chain of comparisons, which it would lengthen.
        nan, seen, found = "", "", total
        if floats:
            nan, seen = f"_Bool nan{depth} = {total} != {total}; ", f"nan{depth} |= {y} != {y}; "
            found = f'nan{depth} ? (gl_real)__builtin_nan("") : {total}'
        return (
            f"({{ {kind} {total} = {start}; {nan}{loop.format(first=1)} "
            f"{{ const {kind} {y} = {value}; {seen}{total} = {both}; }} {found}; }})"
        )
    if x.op not in ("argmin", "argmax"):
        raise unknown("emit", x)
    sign, other = ("<", ">") if x.op == "argmin" else (">", "<")
    better = f"{y} {sign} {total}"
    if floats:  # the first nan is numpy's answer
        better = f"!({y} {other}= {total}) && {total} == {total}"
    return (
        f"({{ {kind} {total} = {start}; int64_t at{depth} = 0; {loop.format(first=1)} "
        f"{{ const {kind} {y} = {value}; "
        f"if ({better}) {{ {total} = {y}; at{depth} = {i}; }} }} at{depth}; }})"
    )


def added(sums: list[str]) -> str:
    """Return the sum of the sums of a `Reduce`, in pairs."""
    while len(sums) > 2:
        sums = [f"({one} + {other})" for one, other in zip(sums[::2], sums[1::2], strict=True)]
    return " + ".join(sums)


LAST = 32  # elements of a search that are compared at once


def search(body: Body, x: t.Search) -> str:
    """Return a binary search without branches; its last elements are compared at once."""
    assert isinstance(x.array.type, t.Array)
    storage = body.tree.storage_of(x.array)
    c_type, kind = t.STORAGE[storage][1], names.C_TYPE[t.element_of(x.value.type)]
    found, last = "{0}", x.array.type.size
    while last > LAST:
        last -= (last + 1) // 2
    earlier = f"!(wanted < {found})" if x.right else f"({found} < wanted)"
    if "float" in (x.array.type.element, x.value.type):  # nan comes last
        one, other = (found, "wanted") if x.right else ("wanted", found)
        nan = f"{one} != {one} && {other} == {other}"
        earlier = f"{earlier} && !({nan})" if x.right else f"({earlier} || ({nan}))"
    return (
        f"({{ const {c_type} *row = {array_at(body, x.array)}; const {kind} wanted = {expr(body, x.value)}; "
        f"const {c_type} *low = row; "
        f'_Pragma("GCC unroll 16") for (int64_t rest = {x.array.type.size}; rest > {LAST};) {{ '
        f"const int64_t half = (rest + 1) / 2; low = {earlier.format('low[half - 1]')} ? low + half : low; "
        f"rest -= half; }} int64_t more = 0; "
        f"for (int64_t i = 0; i < {last}; i++) more += {earlier.format('low[i]')}; low - row + more; }})"
    )


def array_at(body: Body, place: t.VertexField | t.EdgeField | t.Local | t.PartOf | t.Shared) -> str:
    if isinstance(place, t.PartOf):
        return part_place(body, place)
    if isinstance(place, t.Local | t.Shared):
        return expr(body, place)
    if isinstance(place, t.EdgeField):
        field = body.tree.edge_fields[place.index]
        return "(&" + row(field, f"c->{names.edge_name(body.tree, place.index)}", "e") + ")"
    field, name = body.tree.vertex_fields[place.index], names.field_name(body.tree, place.index)
    if place.role == body.near:
        return f"n->{name}"
    vertex = "v" if body.function.name == "visit" and place.role == "v" else "x"
    return "(&" + row(field, f"c->{name}", vertex) + ")"


def place_of(body: Body, role: str, name: str) -> str:
    """Return the C place of a vertex's value: ``n``, or an array for the far end (in visit, for both)."""
    if role == body.near:
        return f"n->{name}"
    return f"c->{name}[v]" if body.function.name == "visit" and role == "v" else f"c->{name}[x]"


def binary(body: Body, x: t.Binary) -> str:
    left, right = expr(body, x.left), expr(body, x.right)
    if x.op == "/" and x.int_divisor:
        return f"gl_true_divide(c, {left}, {right}, {x.site})"
    if x.op == "**":
        return power(x, left, right)
    helper = t.ARITHMETIC.get((x.op, x.type))
    if helper is None:
        return f"({left} {x.op} {right})"
    if x.type == "float":
        return f"((gl_real)gl_{helper}({left}, {right}))"
    return f"gl_{helper}(c, {left}, {right}, {x.site})"


def power(x: t.Binary, left: str, right: str) -> str:
    """Small constant powers are products (squared and multiplied, in the same order everywhere)."""
    exponent = x.right.value if isinstance(x.right, t.Const) else None
    if x.type == "float" and exponent != 2:
        return f"((gl_real)__builtin_pow({left}, {right}))"
    assert exponent is not None
    kind, one = names.C_TYPE[x.type], names.constant(1, x.type)
    steps, bits = [], int(exponent)
    while bits:
        if bits & 1:
            steps.append("r = r * b;")
        bits >>= 1
        if bits:
            steps.append("b = b * b;")
    return f"({{ {kind} b = {left}, r = {one}; {' '.join(steps)} r; }})"


def cast(body: Body, x: t.Cast) -> str:
    operand = expr(body, x.operand)
    if x.type == "bool":
        return f"({operand} != 0)"
    if x.type == "int" and x.operand.type == "float":
        return f"gl_to_int(c, {operand}, {x.site})"
    return f"(({names.C_TYPE[x.type]}){operand})"


def call(body: Body, x: t.Call) -> str:
    """Return a call; math functions compute in double and round to the precision."""
    arguments = [expr(body, a) for a in x.arguments]
    name = x.function.removeprefix("math.")
    suffix = "f" if body.tree.precision == "float32" else ""
    if name == "abs":
        return f"__builtin_fabs{suffix}({arguments[0]})" if x.type == "float" else f"gl_abs_i({arguments[0]})"
    if name == "bit_count":
        return f"gl_bit_count({arguments[0]})"
    if name in ("min", "max") and x.function == name:
        kind = "f" if x.type == "float" else "i"
        result = arguments[0]
        for argument in arguments[1:]:
            result = f"gl_{name}_{kind}({result}, {argument})"
        return result
    if name in ("minimum", "maximum"):
        return f"gl_{name}({arguments[0]}, {arguments[1]})"
    if name in ("degrees", "radians"):  # CPython's own formulas
        factor = "(180.0 / 3.141592653589793)" if name == "degrees" else "(3.141592653589793 / 180.0)"
        return f"((gl_real)({arguments[0]} * {factor}))"
    if name == "log" and len(arguments) == 2:
        return f"((gl_real)(__builtin_log({arguments[0]}) / __builtin_log({arguments[1]})))"
    if name in ("isnan", "isinf", "isfinite"):
        return f"(__builtin_{name}({arguments[0]}) != 0)"
    if name == "ldexp":
        return f"((gl_real)gl_ldexp({', '.join(arguments)}))"
    if name not in t.MATH_ARITY or name == x.function:
        raise unknown("emit", x)
    if name in EXACT:
        return f"__builtin_{name}{suffix}({', '.join(arguments)})"
    return f"((gl_real)__builtin_{MATH.get(name, name)}({', '.join(arguments)}))"
