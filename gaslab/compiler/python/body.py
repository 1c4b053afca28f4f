"""Expressions and statements of one method as Python text: the twin of `c.body`.

A method is a function of ``c`` (the view, `Interpreter`'s), ``n`` (the near vertex's field
values), ``v`` and ``x`` (the near and the far vertex, local ids), ``e`` (the edge's slot) and, of
apply and helpers, their scalars.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.python import chance
from gaslab.compiler.python.arrays import PythonArrays, zero
from gaslab.compiler.python.lists import WORDS
from gaslab.errors import unknown, unknown_node


class PythonBody(PythonArrays):
    """Writes the statements of one function of a tree; *near* is the role whose values are in ``n``."""

    def __init__(self, tree: t.Tree, function: t.Function, near: str = "v") -> None:
        self.tree, self.function, self.near = tree, function, near
        gather = tree.gather if function.name == "gather" else None
        self.collects = gather.storage if gather is not None and gather.collects else ""
        self.lines: list[str] = []
        self.depth = 1

    def text(self, head: str) -> str:
        """Return the whole function; *head* is its ``def`` line."""
        given = {name for name, _ in self.function.parameters}
        for name, kind in self.function.locals.items():
            if name not in given:
                self.put(f"l_{name} = {zero(kind)}")
        if begin := chance.begin(self.tree, self.function):
            self.put(begin)
        if self.function.name == "merge":
            self.put("made = no_record()")
        self.block(self.function.body)
        if self.function.returns is not None:
            self.put(f"return {zero(self.function.returns)}")
        return head + "\n" + "".join(self.lines or ["    pass\n"]) + "\n"

    # ---- statements ----------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line + "\n")

    def block(self, statements: tuple[t.Stmt, ...]) -> None:
        for statement in statements:
            self.statement(statement)

    def nested(self, head: str, statements: tuple[t.Stmt, ...]) -> None:
        self.put(head + ":")
        self.depth += 1
        self.block(statements)
        if not statements:
            self.put("pass")
        self.depth -= 1

    def statement(self, s: t.Stmt) -> None:
        if isinstance(s, t.Assign):
            self.assign(s)
        elif isinstance(s, t.If):
            self.nested(f"if {self.expr(s.test)}", s.body)
            rest = s.otherwise
            while len(rest) == 1 and isinstance(rest[0], t.If):  # Python ends at a hundred levels
                self.nested(f"elif {self.expr(rest[0].test)}", rest[0].body)
                rest = rest[0].otherwise
            if rest:
                self.nested("else", rest)
        elif isinstance(s, t.While):
            self.nested(f"while heed(c, {s.site}) and {self.expr(s.test)}", s.body)
        elif isinstance(s, t.ForRange):
            bounds = ", ".join(map(self.expr, (s.start, s.stop, s.step)))
            self.nested(f"for l_{s.target.name} in steps(c, {bounds}, {s.site})", s.body)
        elif isinstance(s, t.Each):
            self.each(s)
        elif isinstance(s, t.AddPart):
            self.add_part(s)
        elif isinstance(s, t.AddPair):
            self.add_pair(s)
        elif isinstance(s, t.Merge):
            into = "sent" if s.into == "sent" else "t"
            self.put("made = no_record()")
            self.block(s.body)
            self.put(f"{into}[:] = do_merge(c, None, 0, {into}, made)")
        elif isinstance(s, t.Solve):
            self.solve(s)
        elif isinstance(s, t.Stop):
            self.put("c.stopped = True")
        elif isinstance(s, t.Break):
            self.put("break")
        elif isinstance(s, t.Post):
            self.put("c.post(x)" if s.value is None else f"c.post(x, {self.expr(s.value)})")
        elif isinstance(s, t.Continue):
            self.put("continue")
        elif isinstance(s, t.Return) and self.collects:
            value = "None" if s.value is None else narrowed(self.collects, self.expr(s.value), s.site)
            self.put(f"return {value}")
        elif isinstance(s, t.Return) and self.function.name == "merge":
            self.put("return made")
        elif isinstance(s, t.Return):
            value = "" if s.value is None else f" {self.expr(s.value)}"
            copied = s.value is not None and isinstance(s.value.type, t.Array)
            self.put(f"return list({value})" if copied else f"return{value}")
        elif isinstance(s, t.Contribute):
            self.contribute(s)
        elif isinstance(s, t.Signal):
            self.send(s)
        else:
            raise unknown_node("interpret", s)

    def send(self, s: t.Signal) -> None:
        if s.target == "id":
            self.send_to_id(s)
            return
        if s.target not in t.ENDS:
            raise unknown("interpret", s)
        at, place = t.ENDS[s.target], "message_next" if self.function.name == "apply" else "message"
        if s.parts is not None:
            self.put(f"sent = c.message_at(c.{place}, {at})")
            self.block(s.parts)
            self.put(f"c.keep_message(c.{place}, {at}, sent)")
        if s.message is not None:
            assert self.tree.message is not None
            self.put(f"sent = {narrowed(self.tree.message.storage, self.expr(s.message), s.site)}")
        if self.tree.by_priority:
            priority = "0" if s.priority is None else self.expr(s.priority)
            self.put(f"c.prioritise({at}, within({priority}, 0, {2**63 - 2}, {s.site}))")
        self.put(f"c.signal(v, {at})" if s.message is None else f"c.send(c.{place}, {at}, sent)")

    def send_to_id(self, s: t.Signal) -> None:
        assert s.to is not None
        message = priority = "None"
        if s.parts is not None:
            self.put("sent = c.no_message()")
            self.block(s.parts)
            message = "sent"
        if s.message is not None:
            assert self.tree.message is not None
            message = narrowed(self.tree.message.storage, self.expr(s.message), s.site)
        if self.tree.by_priority:
            priority = "0" if s.priority is None else self.expr(s.priority)
            priority = f"within({priority}, 0, {2**63 - 2}, {s.site})"
        place = "message_next" if self.function.name == "apply" else "message"
        self.put(f"c.signal_id({self.expr(s.to)}, {message}, {priority}, c.{place}, {s.site})")

    def contribute(self, s: t.Contribute) -> None:
        place = s.place
        on_edge = isinstance(place, t.EdgeField)
        field = (self.tree.edge_fields if on_edge else self.tree.vertex_fields)[place.index]
        combiner = field.added
        if isinstance(place, t.EdgeField):
            assert s.value is not None
            delta = f"(c.delta_forth if c.forward else c.delta_back)['d{place.index}']"
            self.put(f"{delta}[e] = {combiner.python(f'{delta}.item(e)', self.expr(s.value))}")
            return
        at = self.at(place.role)
        if s.value is None:
            self.put(f"c.touch({at})")
            return
        if isinstance(s.target, t.Element):
            self.put(f"at = {at}, {self.position(s.target.index)}")
            at = "*at"
        both = combiner.python(f"c.given_to(c.delta['d{place.index}'], {at})", self.expr(s.value))
        self.put(f"c.give(c.delta['d{place.index}'], {both}, {at})")

    def assign(self, s: t.Assign) -> None:
        target, value = s.target, self.expr(s.value)
        if isinstance(target, t.Element):
            storage = storage_of(self.tree, target.array)
            store = f"{self.element_place(target)} = {narrowed(storage, value, s.site)}"
            if self.function.name == "init" and isinstance(target.array, t.VertexField):
                self.store_unless_given(target.array.index, store, value, self.expr(target.index))
            else:
                self.put(store)
            return
        if isinstance(target, t.Local):
            self.put(f"l_{target.name} = {value}")
        elif isinstance(target, t.PartOf):
            storage = storage_of(self.tree, target)
            self.put(f"{self.part(target)} = {narrowed(storage, value, s.site)}")
        elif isinstance(target, t.EdgeField):
            storage = self.tree.edge_fields[target.index].storage
            self.put(f"c.edge[{target.index}][e] = {narrowed(storage, value, s.site)}")
        elif not isinstance(target, t.VertexField):
            raise unknown_node("interpret", target)
        else:
            storage = self.tree.vertex_fields[target.index].storage
            if self.function.name == "visit":
                place = f"c.vertex[{target.index}][{self.at(target.role)}]"
                self.put(f"{place} = {narrowed(storage, value, s.site)}")
                return
            store = f"n[{target.index}] = {narrowed(storage, value, s.site)}"
            if self.function.name == "init":
                self.store_unless_given(target.index, store, value)
            else:
                self.put(store)

    def store_unless_given(self, field: int, store: str, *values: str) -> None:
        """Write a store by ``init``: what the caller gives stays, what is drawn is drawn."""
        self.put(f"if c.given >> {field} & 1: {', '.join(values)}")
        self.put(f"else: {store}")

    def at(self, role: str) -> str:
        """Return the name of the vertex in that role."""
        return "v" if role == (self.near or "v") else "x"

    def add_part(self, s: t.AddPart) -> None:
        place = s.target.array if isinstance(s.target, t.Element) else s.target
        assert isinstance(place, t.PartOf)
        combiner = self.tree.part(place).combiner
        target, value = self.part(place), self.expr(s.value)
        if isinstance(s.target, t.Element):
            self.put(f"at = {self.position(s.target.index)}")
            target += "[at]"
        self.put(f"{target} = {narrowed(combiner.storage, combiner.python(target, value), s.site)}")

    def add_pair(self, s: t.AddPair) -> None:
        places = [s.target, self.tree.payload(s.target)]
        parts = [self.tree.part(place) for place in places]
        values = zip(parts, (s.key, s.payload), strict=True)
        given = ", ".join(narrowed(p.combiner.storage, self.expr(x), s.site) for p, x in values)
        self.put(f"given = {given}")
        kept = ", ".join(map(self.part, places))
        self.put(f"{kept} = earlier_{parts[0].combiner.op}(given, ({kept}))")

    # ---- expressions ---------------------------------------------------------------------------

    def expr(self, x: t.Expr) -> str:
        if isinstance(x, t.Const):
            return f"({x.value!r})" if x.type != "float" else f"({float(x.value)!r})"
        if isinstance(x, t.Local):
            return f"l_{x.name}"
        if isinstance(x, t.Param):
            return f"c.params[{x.index}]"
        if isinstance(x, t.Aggregate):
            return f"c.aggregates[{x.index}]"
        if isinstance(x, t.Global):
            return f"c.{x.name}"
        if isinstance(x, t.VertexField):
            value = f"n[{x.index}]" if x.role == self.near else f"c.vertex[{x.index}].item({self.at(x.role)})"
            return f"({value} != 0)" if x.type == "bool" else value
        if isinstance(x, t.VertexAttribute):
            array = "gid" if x.name == "id" else x.name
            return f"c.{array}.item({self.at(x.role)})"
        if isinstance(x, t.EdgeField):
            value = f"c.edge[{x.index}].item(e)"
            return f"({value} != 0)" if x.type == "bool" else value
        if isinstance(x, t.Forward):
            return "c.forward"
        if isinstance(x, t.Element):
            return self.element(x)
        if isinstance(x, t.Index):
            return f"index({self.expr(x.value)}, {x.size}, {x.site})"
        if isinstance(x, t.PartOf):
            return self.part(x)
        if isinstance(x, t.Reduce):
            return self.reduce(x)
        if isinstance(x, t.Unary):
            value = f"({x.op} {self.expr(x.operand)})"
            return f"wrap{value}" if x.type == "int" else value
        if isinstance(x, t.Binary):
            return self.binary(x)
        if isinstance(x, t.Compare):
            return f"({self.expr(x.left)} {x.op} {self.expr(x.right)})"
        if isinstance(x, t.Logical):
            return "(" + f" {x.op} ".join(map(self.expr, x.operands)) + ")"
        if isinstance(x, t.Conditional):
            return f"({self.expr(x.then)} if {self.expr(x.test)} else {self.expr(x.otherwise)})"
        if isinstance(x, t.Let):
            return f"(once{x.number} := {self.expr(x.value)}, {self.expr(x.body)})[1]"
        if isinstance(x, t.Bound):
            return f"once{x.number}"
        if isinstance(x, t.Cast):
            if x.type == "int" and x.operand.type == "float":
                return f"to_int({self.expr(x.operand)}, {x.site})"
            return f"{x.type}({self.expr(x.operand)})"
        if isinstance(x, t.CallHelper):
            arguments = "".join(", " + self.expr(a) for a in x.arguments)
            return f"helper{x.index}(c{arguments})"
        if isinstance(x, t.Draw):
            return chance.draw(x, ", ".join(map(self.expr, x.arguments)))
        if isinstance(x, t.NoList):
            return "[]"
        if isinstance(x, t.ListWord):
            if x.function not in WORDS:
                raise unknown("interpret", x)
            site = f", {x.site}" if x.site >= 0 else ""
            return f"list_{x.function}({', '.join(map(self.expr, x.arguments))}{site})"
        if isinstance(x, t.Call):
            return self.call(x)
        raise unknown_node("interpret", x)

    def binary(self, x: t.Binary) -> str:
        left, right = self.expr(x.left), self.expr(x.right)
        if x.op == "/":
            return f"true_divide({left}, {right}, {x.site})" if x.int_divisor else f"divide({left}, {right})"
        if x.op == "**":
            if x.type == "int":
                return f"power_i({left}, {right})"
            if isinstance(x.right, t.Const) and x.right.value == 2:  # a product, as in C
                return f"square({left})"
            return f"math_pow({left}, {right})"
        helper = t.ARITHMETIC.get((x.op, x.type))
        if helper is None:
            value = f"({left} {x.op} {right})"
            return f"wrap{value}" if x.type == "int" else value
        site = f", {x.site}" if x.type == "int" else ""
        return f"{helper}({left}, {right}{site})"

    def call(self, x: t.Call) -> str:
        arguments = ", ".join(map(self.expr, x.arguments))
        if x.function == "abs":
            return f"wrap(abs({arguments}))" if x.type == "int" else f"abs({arguments})"
        if x.function in ("min", "max"):
            return f"{x.function}imum({arguments})"
        name = x.function.removeprefix("math.")
        if name == "log" and len(x.arguments) == 2:
            return f"log({arguments})"
        if name not in t.MATH_ARITY or name == x.function:
            raise unknown("interpret", x)
        return f"math_{name}({arguments})"


def storage_of(tree: t.Tree, place: t.VertexField | t.EdgeField | t.Local | t.PartOf) -> str:
    """Return the storage type of the elements of an array."""
    if isinstance(place, t.PartOf):
        return tree.part(place).combiner.storage
    if isinstance(place, t.Local):
        return t.WIDE[t.element_of(place.type)]
    fields = tree.vertex_fields if isinstance(place, t.VertexField) else tree.edge_fields
    return fields[place.index].storage


def narrowed(storage: str, expression: str, site: int) -> str:
    """Return the Python expression of *expression* as it comes back from its storage; it may fault."""
    if storage in t.INTEGER_RANGE and storage != "int64":
        lo, hi = t.INTEGER_RANGE[storage]
        return f"within({expression}, {lo}, {hi}, {site})"
    if storage not in t.STORAGE:
        raise unknown("interpret", storage)
    return f"float32({expression})" if storage == "float32" else expression
