"""Expressions and statements of one method as C text.

A method sees `c` (the context: typed arrays, parameters, aggregates, the fault), `n` (the near
vertex, its values in registers), `x` (the far vertex, a local id) and `e` (the edge's slot).
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import chance, letters, lists, work
from gaslab.compiler.c.arrays import ArrayBody, declaration, row
from gaslab.compiler.c.names import (
    C_TYPE,
    aggregate_name,
    c_string,
    constant,
    edge_name,
    field_name,
    helper_name,
    narrowed,
    param_name,
    widened,
)
from gaslab.compiler.tree import STORAGE
from gaslab.compiler.tree.uses import by_source, marked_field
from gaslab.errors import unknown, unknown_node

# Python's math -> C, where the names differ
MATH = {"gamma": "tgamma"}


class Body(ArrayBody):
    """Emits the statements of one function of a tree.

    *near* is the role (``"v"`` or ``"nbr"``) whose values are in ``n``; *signal* is the C statement
    for a signal and *deliver* the one before it, where a message travels, with
    ``{at}`` and ``{message}`` in them.
    *row* is ``"out"`` where ``q`` is the edge's place among its source's (see `by_source`).
    """

    def __init__(
        self, tree: t.Tree, function: t.Function, near: str = "v", signal: str = "", deliver: str = "",
        row: str = "",
    ) -> None:  # fmt: skip
        self.tree, self.function, self.near = tree, function, near
        self.signal, self.deliver, self.row = signal, deliver, row
        gather = tree.gather if function.name == "gather" else None
        self.collects = gather.storage if gather is not None and gather.collects else ""
        marked = marked_field(tree) if gather is not None and not gather.collects else None
        self.marked = None if marked is None else f"n->{field_name(tree, marked)}"
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0
        self._exits: list[str] = []  # how each loop around is left
        self.drawing = chance.drawing_helpers(tree)

    def text(self) -> str:
        """Return the declarations and statements, without the function's head and braces."""
        given = {name for name, _ in self.function.parameters}
        for name, kind in self.function.locals.items():
            if name not in given:
                self.put(declaration(kind, f"l_{name}"))
        if begin := chance.begin(self.tree, self.function):
            self.put(begin)
        self.block(self.function.body)
        if isinstance(self.function.returns, str):
            self.put("return (gl_list){0};" if t.is_list(self.function.returns) else "return 0;")
        return "".join(self.lines)

    # ---- statements ----------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line + "\n")

    def block(self, statements: tuple[t.Stmt, ...]) -> None:
        for statement in statements:
            site = self.tree.sites[statement.site]
            self.lines.append(f"#line {site.line} {c_string(site.file)}\n")
            self.statement(statement)

    def nested(self, head: str, statements: tuple[t.Stmt, ...]) -> None:
        self.put(head + " {")
        self.depth += 1
        self.block(statements)
        self.depth -= 1
        self.put("}")

    def statement(self, s: t.Stmt) -> None:
        if isinstance(s, t.Assign):
            self.assign(s)
        elif isinstance(s, t.If):
            self.nested(f"if ({self.expr(s.test)})", s.body)
            if s.otherwise:
                self.nested("else", s.otherwise)
        elif isinstance(s, t.While):
            self._exits.append("break;")
            self.nested(f"while (!gl_halted(c, {s.site}) && {self.expr(s.test)})", s.body)
            self._exits.pop()
        elif isinstance(s, t.ForRange):
            self.for_range(s)
        elif isinstance(s, t.Each):
            self.each(s)
        elif isinstance(s, t.AddPart):
            self.add_part(s)
        elif isinstance(s, t.AddPair):
            self.add_pair(s)
        elif isinstance(s, t.Merge):
            self.merge(s)
        elif isinstance(s, t.Solve):
            self.solve(s)
        elif isinstance(s, t.Stop):
            self.put("c->stopped = 1;")
        elif isinstance(s, t.Break):
            self.put(self._exits[-1])
        elif isinstance(s, t.Post):
            self.post(s)
        elif isinstance(s, t.Continue):
            self.put("continue;")
        elif isinstance(s, t.Return) and self.collects:
            if s.value is None:
                self.put("return 0;")
                return
            self.put(f"{{ *place = {narrowed(self.collects, self.expr(s.value), s.site)}; return 1; }}")
        elif isinstance(s, t.Return):
            self.give_back(s)
        elif isinstance(s, t.Contribute):
            self.contribute(s)
        elif isinstance(s, t.Signal):
            self.send(s)
        else:
            raise unknown_node("emit", s)

    def post(self, s: t.Post) -> None:
        """Add to the neighbour's cached total on this rank, or forget it."""
        self.put("c->posted = 1;")
        if s.value is None:
            self.put("w->cached[x] = 0;")
            return
        combiner = self.tree.gather
        assert combiner is not None
        kind = STORAGE[combiner.storage][1]
        both = combiner.c(widened(combiner.storage, "*total"), self.expr(s.value))
        self.put(f"if (w->cached[x]) {{ {kind} *total = &(({kind} *)w->cache)[x]; "
                 f"*total = {narrowed(combiner.storage, both, s.site)}; w->cached[x] = 2; }}")  # fmt: skip

    def give_back(self, s: t.Return) -> None:
        if s.value is not None and isinstance(s.value.type, t.Array):
            assert isinstance(s.value, t.Local)
            self.put(f"__builtin_memcpy(result, l_{s.value.name}, {s.value.type.size} * sizeof *result);")
            self.put("return;")
            return
        self.put("return;" if s.value is None else f"return {self.expr(s.value)};")

    def array(self, place: t.VertexField | t.EdgeField | t.Local | t.PartOf) -> str:
        if isinstance(place, t.PartOf):
            return self.part(place)
        if isinstance(place, t.Local):
            return f"l_{place.name}"
        if isinstance(place, t.EdgeField):
            field = self.tree.edge_fields[place.index]
            return "(&" + row(field, f"c->{edge_name(self.tree, place.index)}", "e") + ")"
        field, name = self.tree.vertex_fields[place.index], field_name(self.tree, place.index)
        if place.role == self.near:
            return f"n->{name}"
        vertex = "v" if self.function.name == "visit" and place.role == "v" else "x"
        return "(&" + row(field, f"c->{name}", vertex) + ")"

    def assign_element(self, target: t.Element, s: t.Assign) -> None:
        storage = self.storage(target.array)
        index, value = self.expr(target.index), self.expr(s.value)
        place = f"{self.array(target.array)}[{index}]"
        if self.function.name == "visit" and isinstance(target.array, t.VertexField):
            place = f"*({STORAGE[storage][1]} *)&{place}"
        store = f"{place} = {narrowed(storage, value, s.site)};"
        if self.function.name == "init" and isinstance(target.array, t.VertexField):
            self.store_unless_given(target.array.index, store, value, index)
        else:
            self.put(store)

    def assign(self, s: t.Assign) -> None:
        if isinstance(s.target, t.Element):
            self.assign_element(s.target, s)
            return
        if isinstance(s.value, t.CallHelper) and isinstance(s.value.type, t.Array):
            assert isinstance(s.target, t.Local)
            self.put(self.expr(s.value)[:-1] + f", l_{s.target.name});")
            return
        target, value = s.target, self.expr(s.value)
        if isinstance(target, t.Local):
            self.put(f"l_{target.name} = {value};")
        elif isinstance(target, t.PartOf):
            self.put(f"{self.part(target)} = {narrowed(self.storage(target), value, s.site)};")
        elif isinstance(target, t.EdgeField):
            storage = self.tree.edge_fields[target.index].storage
            self.put(f"c->{edge_name(self.tree, target.index)}[e] = {narrowed(storage, value, s.site)};")
        elif not isinstance(target, t.VertexField):
            raise unknown_node("emit", target)
        else:
            storage = self.tree.vertex_fields[target.index].storage
            if self.function.name == "visit":  # both ends are in memory: they may be one vertex
                place = self.place(target.role, field_name(self.tree, target.index))
                self.put(f"*({STORAGE[storage][1]} *)&{place} = {narrowed(storage, value, s.site)};")
                return
            store = f"n->{field_name(self.tree, target.index)} = {narrowed(storage, value, s.site)};"
            if t.is_list(storage):
                store = lists.assign(self.tree, target.index, value)
            if self.function.name == "init":
                self.store_unless_given(target.index, store, value)
            else:
                self.put(store)

    def store_unless_given(self, field: int, store: str, *values: str) -> None:
        """Write a store by ``init``: what the caller gives stays, what is drawn is drawn."""
        self.put(f"if (c->given >> {field} & 1) {{")
        for value in values:
            self.put(f"    (void){value};")
        self.put("} else {")
        self.put(f"    {store}")
        self.put("}")

    def contribute(self, s: t.Contribute) -> None:
        """Add to what the end will get: ``v`` is near when pushed, ``nbr`` when pulled."""
        field = s.place
        if isinstance(field, t.EdgeField):
            assert s.value is not None
            self.put(f"gl_contribute_e{field.index}(w, e, forward, {self.expr(s.value)});")
            return
        place = "v" if field.role == self.near else "x"
        if s.value is None:
            self.put(f"gl_touch(w, {place});")
            return
        index = f"{self.expr(s.target.index)}, " if isinstance(s.target, t.Element) else ""
        self.put(f"gl_contribute_{field.index}(w, {place}, {index}{self.expr(s.value)});")

    def for_range(self, s: t.ForRange) -> None:
        self.loops += 1
        i, first, step, count = (f"{name}{self.loops}" for name in ("i", "first", "step", "count"))
        self.put("{")
        self.depth += 1
        stop = f"stop{self.loops}"
        for name, bound in ((first, s.start), (stop, s.stop), (step, s.step)):
            self.put(f"const int64_t {name} = {self.expr(bound)};")
        self.put(f"const uint64_t {count} = "
                 f"gl_range_length(c, {first}, {stop}, {step}, {s.site});")  # fmt: skip
        look, value = work.look_every(self.tree, s), f"l_{s.target.name} = {first} + (int64_t){i} * {step};"
        if look is None:
            self.loop(f"for (uint64_t {i} = 0; {i} < {count} && !c->code; {i}++) {{", value, s.body, "break;")
        else:  # in runs that do not look, so that these may be vectorised
            until, over = f"until{self.loops}", f"over{self.loops}"
            self.put(f"for (uint64_t {i} = 0; {i} < {count} && !gl_halted(c, {s.site});) {{")
            self.put(f"    const uint64_t {until} = {count} - {i} < {look} ? {count} : {i} + {look};")
            head = f"    for (; {i} < {until} && !c->code; {i}++) {{"
            left = self.loop(head, value, s.body, f"goto {over};")
            self.put("}")
            if left:
                self.put(f"{over}:;")
        self.depth -= 1
        self.put("}")

    def loop(self, head: str, first: str, body: tuple[t.Stmt, ...], leave: str) -> bool:
        """Write a loop that *leave* leaves; return whether its body does."""
        self.put(head)
        self.depth += 1
        self.put(first)
        self._exits.append(leave)
        begin = len(self.lines)
        self.block(body)
        self._exits.pop()
        self.depth -= 1
        self.put("}")
        return any(line.strip() == leave for line in self.lines[begin:])

    def send(self, s: t.Signal) -> None:
        if s.target == "id":
            letters.send(self, s)
            return
        if s.target not in t.ENDS:
            raise unknown("emit", s)
        at = t.ENDS[s.target]
        if s.parts is not None:
            self.put(f"{{ gl_message *sent = {self.deliver.replace('{at}', at)};")
            self.depth += 1
            self.block(s.parts)
            self.depth -= 1
            self.put("}")
        if s.message is not None:
            combiner = self.tree.message
            assert combiner is not None
            message = narrowed(combiner.storage, self.expr(s.message), s.site)
            self.put(self.deliver.replace("{at}", at).replace("{message}", message))
        if self.tree.by_priority:
            priority = "0" if s.priority is None else self.expr(s.priority)
            priority = f"gl_within(c, {priority}, 0, INT64_MAX - 1, {s.site})"
            self.put(f"gl_prioritise(w, {at}, {priority});")
        self.put(self.signal.replace("{at}", at))

    def place(self, role: str, name: str) -> str:
        """Return where a vertex's value is: in ``n``, or in an array: the far end's, in visit either's."""
        if role == self.near:
            return f"n->{name}"
        return f"c->{name}[v]" if self.function.name == "visit" and role == "v" else f"c->{name}[x]"

    # ---- expressions ---------------------------------------------------------------------------

    def expr(self, x: t.Expr | chance.Text) -> str:
        if self.tree.draws:
            x, before = chance.in_order(x, self.drawing)
            if before:
                texts = [(self.expr(operand), operand) for operand in before]
                return chance.sequenced(self.plain_expr(x), texts)
        return self.plain_expr(x)

    def plain_expr(self, x: t.Expr | chance.Text) -> str:
        if isinstance(x, chance.Text):
            return x.text
        if isinstance(x, t.Const):
            return constant(x.value, x.type)
        if isinstance(x, t.Local):
            return f"l_{x.name}"
        if isinstance(x, t.Param):
            return f"c->{param_name(self.tree, x.index)}"
        if isinstance(x, t.Aggregate):
            return f"c->{aggregate_name(self.tree, x.index)}"
        if isinstance(x, t.Global):
            return f"c->{x.name}"
        if isinstance(x, t.VertexField):
            name = field_name(self.tree, x.index)
            if t.is_list(x.type) and x.role != self.near:
                far = "v" if self.function.name == "visit" and x.role == "v" else "x"
                return lists.read(self.tree, x.index, far)
            return widened(self.tree.vertex_fields[x.index].storage, self.place(x.role, name))
        if isinstance(x, t.VertexAttribute):
            return self.place(x.role, x.name)
        if isinstance(x, t.EdgeField):
            if t.is_list(x.type):
                return lists.read_edge(self.tree, x.index)
            place = f"{edge_name(self.tree, x.index)}[e]"
            if self.row == "out" and x.index in by_source(self.tree):
                place = f"by_source{x.index}[q]"
            return widened(self.tree.edge_fields[x.index].storage, f"c->{place}")
        if isinstance(x, t.Forward):
            return "forward"
        if isinstance(x, t.Element):
            return self.element(x)
        if isinstance(x, t.Index):
            return self.index(x)
        if isinstance(x, t.PartOf):
            return widened(self.storage(x), self.part(x))
        if isinstance(x, t.Reduce):
            return self.reduce(x)
        if isinstance(x, t.Unary):
            return f"({'!' if x.op == 'not' else x.op}{self.expr(x.operand)})"
        if isinstance(x, t.Binary):
            return self.binary(x)
        if isinstance(x, t.Compare):
            return f"({self.expr(x.left)} {x.op} {self.expr(x.right)})"
        if isinstance(x, t.Logical):
            return "(" + (" && " if x.op == "and" else " || ").join(map(self.expr, x.operands)) + ")"
        if isinstance(x, t.Conditional):
            return f"({self.expr(x.test)} ? {self.expr(x.then)} : {self.expr(x.otherwise)})"
        if isinstance(x, t.Let):
            kind = C_TYPE[t.element_of(x.value.type)]
            return f"({{ const {kind} once{x.number} = {self.expr(x.value)}; {self.expr(x.body)}; }})"
        if isinstance(x, t.Bound):
            return f"once{x.number}"
        if isinstance(x, t.Cast):
            return self.cast(x)
        if isinstance(x, t.CallHelper):
            arguments = "".join(", " + self.expr(a) for a in x.arguments)
            return f"{helper_name(self.tree, x.index)}(c{arguments})"
        if isinstance(x, t.Draw):
            return chance.draw(x, [self.expr(a) for a in x.arguments])
        if isinstance(x, t.NoList):
            return "(gl_list){0}"
        if isinstance(x, t.ListWord):
            return lists.word(x, list(map(self.expr, x.arguments)), self.marked)
        if isinstance(x, t.Call):
            return self.call(x)
        raise unknown_node("emit", x)

    def binary(self, x: t.Binary) -> str:
        left, right = self.expr(x.left), self.expr(x.right)
        if x.op == "/" and x.int_divisor:
            return f"gl_true_divide(c, {left}, {right}, {x.site})"
        if x.op == "**":
            return self.power(x, left, right)
        helper = t.ARITHMETIC.get((x.op, x.type))
        if helper is None:
            return f"({left} {x.op} {right})"
        if x.type == "float":
            return f"gl_{helper}({left}, {right})"
        return f"gl_{helper}(c, {left}, {right}, {x.site})"

    def power(self, x: t.Binary, left: str, right: str) -> str:
        """Small constant powers are products (squared and multiplied, in one order everywhere)."""
        exponent = x.right.value if isinstance(x.right, t.Const) else None
        if x.type == "float" and exponent != 2:
            return f"__builtin_pow({left}, {right})"
        assert exponent is not None
        kind, one = C_TYPE[x.type], constant(1, x.type)
        steps, bits = [], int(exponent)
        while bits:
            if bits & 1:
                steps.append("r = r * b;")
            bits >>= 1
            if bits:
                steps.append("b = b * b;")
        return f"({{ {kind} b = {left}, r = {one}; {' '.join(steps)} r; }})"

    def cast(self, x: t.Cast) -> str:
        operand = self.expr(x.operand)
        if x.type == "bool":
            return f"({operand} != 0)"
        if x.type == "int" and x.operand.type == "float":
            return f"gl_to_int(c, {operand}, {x.site})"
        return f"(({C_TYPE[x.type]}){operand})"

    def call(self, x: t.Call) -> str:
        arguments = [self.expr(a) for a in x.arguments]
        name = x.function.removeprefix("math.")
        if name == "abs":
            return f"__builtin_fabs({arguments[0]})" if x.type == "float" else f"gl_abs_i({arguments[0]})"
        if name in ("min", "max") and x.function == name:
            suffix = "f" if x.type == "float" else "i"
            result = arguments[0]
            for argument in arguments[1:]:
                result = f"gl_{name}_{suffix}({result}, {argument})"
            return result
        if name in ("degrees", "radians"):  # CPython's own formulas
            factor = "(180.0 / 3.141592653589793)" if name == "degrees" else "(3.141592653589793 / 180.0)"
            return f"({arguments[0]} * {factor})"
        if name == "log" and len(arguments) == 2:
            return f"(__builtin_log({arguments[0]}) / __builtin_log({arguments[1]}))"
        if name in ("isnan", "isinf", "isfinite"):
            return f"(__builtin_{name}({arguments[0]}) != 0)"
        if name == "ldexp":
            return f"gl_ldexp({', '.join(arguments)})"
        if name not in t.MATH_ARITY or name == x.function:
            raise unknown("emit", x)
        return f"__builtin_{MATH.get(name, name)}({', '.join(arguments)})"
