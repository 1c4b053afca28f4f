"""Statements: definite assignment, types of locals, what may be written where."""

from __future__ import annotations

import ast

from gaslab.compiler.calls import Calls
from gaslab.compiler.convert import named
from gaslab.compiler.frame import Unit
from gaslab.compiler.source import FunctionSource
from gaslab.compiler.tree import (
    STORAGE,
    Assign,
    Break,
    Const,
    Continue,
    EdgeField,
    Expr,
    ForRange,
    Function,
    If,
    Local,
    Return,
    Signal,
    Stmt,
    VertexField,
    While,
)
from gaslab.compiler.values import ATTRIBUTES

REFUSED: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "a def inside a method is not in the language; move it to the top of the module",
    ast.AsyncFunctionDef: "async is not in the language; write a plain def",
    ast.ClassDef: "a class inside a method is not in the language",
    ast.Import: "import inside a method is not in the language; import at the top of the module",
    ast.ImportFrom: "import inside a method is not in the language; import at the top of the module",
    ast.Try: "try is not in the language; test the values beforehand",
    ast.Raise: "raise is not in the language; give the field a value that says it",
    ast.Assert: "assert is not in the language; give the field a value that says it",
    ast.With: "with is not in the language",
    ast.Delete: "del is not in the language",
    ast.Global: "global is not in the language; use a field, an aggregator or a parameter",
    ast.Nonlocal: "nonlocal is not in the language; use a field, an aggregator or a parameter",
    ast.Match: "match is not in the language; write if and elif",
}


class Body(Calls):
    """One method; `build` returns it as a tree.

    The types of locals are widened until nothing changes (int and float make float), walking the
    body anew each time; the last walk makes the tree.
    """

    def __init__(
        self, unit: Unit, source: FunctionSource, name: str,
        entities: dict[str, str], parameters: dict[str, str], returns: str | None,
    ) -> None:  # fmt: skip
        super().__init__(unit, source, name, entities)
        self.parameters = parameters
        self.returns = returns
        self.result: str | None = returns
        self.breaks: list[list[set[str]]] = []
        self.taken: set[str] = set()

    # ---- the whole function

    def settle_types(self) -> None:
        """Walk the body until the types of its locals are final."""
        self.types = dict(self.parameters)
        self.unsettled = True
        while self.unsettled:
            self.unsettled = False
            self.walk()

    def build(self) -> Function:
        """Return the function as a tree; its types are settled."""
        self.final = True
        self.name_locals()
        body = self.walk()
        parameters = [(self.canonical(n), t) for n, t in self.parameters.items()]
        parameters += [(local.name, local.type) for local in self.hidden.values()]
        types = dict(parameters)
        types.update({self.written.get(n, n): t for n, t in self.types.items()})
        wider = [
            Assign(
                self.local(n),
                self.widened(Local(self.canonical(n), t), self.types[n]),
                self.site(self.source.node),
            )
            for n, t in self.parameters.items()
            if self.types[n] != t
        ]
        return Function(
            name=self.name,
            parameters=tuple(parameters),
            returns=self.result,
            locals=types,
            body=(*wider, *body),
            reads=frozenset(self.reads),
            writes=frozenset(self.writes),
            site=self.site(self.source.node),
        )

    def canonical(self, name: str) -> str:
        """Return what the tree calls parameter *name*."""
        return name

    def name_locals(self) -> None:
        """Choose the names of locals in the tree: ASCII, distinct, and none like a parameter's."""
        canonical = {n: self.canonical(n) for n in self.parameters}
        used = set(canonical.values()) | {local.name for local in self.hidden.values()}
        for name, type in self.types.items():
            if self.parameters.get(name) == type:
                self.written[name] = canonical[name]
                continue
            ascii_name = (
                name if name.isascii() else "".join(c if c.isascii() else f"_{ord(c):x}" for c in name)
            )
            written, k = ascii_name, 0
            while written in used:
                k += 1
                written = f"{ascii_name}_{k}"
            used.add(written)
            self.written[name] = written

    def walk(self) -> tuple[Stmt, ...]:
        self.assigned = set(self.parameters)
        self.breaks = []
        self.taken = set()
        body = self.block(self.source.node.body)
        if self.assigned is not None and self.must_return():
            name = self.source.node.name
            raise self.error(
                self.source.node, f"{name} may end without returning a value; add a return at its end"
            )
        return body

    def must_return(self) -> bool:
        return self.returns is not None

    def block(self, statements: list[ast.stmt]) -> tuple[Stmt, ...]:
        """Return the tree of *statements*; what cannot be reached is left out."""
        found: list[Stmt] = []
        for statement in statements:
            if self.assigned is None:
                break
            method = getattr(self, f"do_{type(statement).__name__}", None)
            if method is None:
                text = REFUSED.get(type(statement), "this statement is not in the language")
                raise self.error(statement, text)
            found += method(statement)
        return tuple(found)

    # ---- simple statements

    def do_Pass(self, node: ast.Pass) -> list[Stmt]:
        return []

    def do_Expr(self, node: ast.Expr) -> list[Stmt]:
        value = node.value
        if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is ...):
            return []
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            owner = value.func.value
            role = self.entities.get(owner.id) if isinstance(owner, ast.Name) else None
            if role not in (None, "self") and value.func.attr == "signal":
                return [self.signal(value, value.func, str(role))]
        self.value(value)
        raise self.error(value, "this line has no effect; assign its value or remove it")

    def signal(self, node: ast.Call, callee: ast.Attribute, role: str) -> Stmt:
        if self.name != "scatter" or self.is_helper:
            where = "a helper" if self.is_helper else self.name
            raise self.error(callee, f"{where} cannot signal; write nbr.signal() in scatter")
        if role != "nbr":
            raise self.error(callee, "only the neighbour is signalled; write nbr.signal()")
        if node.keywords or len(node.args) > 1:
            raise self.error(
                node, "signal takes one message at most; write nbr.signal() or nbr.signal(message)"
            )
        if not node.args:
            return Signal(None, self.site(node))
        combiner = self.unit.declared.message
        if combiner is None:
            raise self.error(
                node.args[0],
                "apply takes no message; declare it there: def apply(self, v, message: gl.Min[float])",
            )
        value = self.fit(self.value(node.args[0]), combiner.type, node.args[0], "the message")
        return Signal(value, self.site(node))

    def do_Return(self, node: ast.Return) -> list[Stmt]:
        site = self.site(node)
        if self.returns is None and not self.is_helper:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.error(node.value, f"{self.name} returns nothing; write `return` alone")
            self.assigned = None
            return [Return(None, site)]
        if node.value is None:
            raise self.error(node, f"{self.source.node.name} must return a value here")
        value = self.returned(self.value(node.value), node.value)
        self.assigned = None
        return [Return(value, site)]

    def returned(self, value: Expr, node: ast.AST) -> Expr:
        """Return *value* in the type that this function returns."""
        assert self.returns is not None
        return self.fit(value, self.returns, node, f"{self.source.node.name}'s value")

    # ---- assignment

    def do_Assign(self, node: ast.Assign) -> list[Stmt]:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple | ast.List):
            return self.unpack(node.targets[0], node.value, node)
        value = self.value(node.value)
        if len(node.targets) == 1:
            return [self.store(node.targets[0], value, node)]
        kept, before = self.keep(value, node)
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List):
                raise self.error(target, "one value cannot be unpacked; write a, b = x, y")
        return [*before, *(self.store(target, kept, node) for target in node.targets)]

    def unpack(self, targets: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> list[Stmt]:
        """``a, b = x, y``: every value is computed before any target is written."""
        if not isinstance(value, ast.Tuple | ast.List):
            raise self.error(value, "one value cannot be unpacked; write a, b = x, y")
        for part in (*targets.elts, *value.elts):
            if isinstance(part, ast.Starred):
                raise self.error(part, "`*` cannot stand here; write the values one by one")
        if len(targets.elts) != len(value.elts):
            raise self.error(value, f"{len(targets.elts)} names but {len(value.elts)} values")
        before: list[Stmt] = []
        kept = []
        for part in value.elts:
            one, statements = self.keep(self.value(part), node)
            kept.append(one)
            before += statements
        return before + [self.store(t, v, node) for t, v in zip(targets.elts, kept, strict=True)]

    def keep(self, value: Expr, node: ast.AST) -> tuple[Expr, list[Stmt]]:
        """Return *value* by way of a local of its own, so that later writes leave it alone."""
        if isinstance(value, Const):
            return value, []
        name = self.fresh("_value", self.taken)
        self.taken.add(name)
        wide = self.settle(name, value.type, node)
        return self.local(name), [Assign(self.local(name), self.widened(value, wide), self.site(node))]

    def do_AugAssign(self, node: ast.AugAssign) -> list[Stmt]:
        if not isinstance(node.target, ast.Name | ast.Attribute):
            raise self.error(node.target, "only locals and fields can be assigned")
        self.check_writable(node.target)
        value = self.binary(node.op, self.value(node.target), self.value(node.value), node)
        return [self.store(node.target, value, node)]

    def do_AnnAssign(self, node: ast.AnnAssign) -> list[Stmt]:
        if not isinstance(node.target, ast.Name):
            raise self.error(
                node.target, "a field is declared in class Vertex or Edge; assign it without a type"
            )
        storage = self.unit.helpers.local_storage(self, node.annotation)
        if storage is None:
            text = ast.unparse(node.annotation)
            raise self.error(node.annotation, f"{text} is not in the language; write float, int or bool")
        type, name = STORAGE[storage][0], node.target.id
        if self.declared.setdefault(name, type) != type:
            raise self.error(node, f"{name!r} is declared {named(self.declared[name])} before; use two names")
        self.settle(name, type, node)
        if node.value is None:
            return []
        return [self.store(node.target, self.value(node.value), node)]

    def store(self, target: ast.expr, value: Expr, node: ast.stmt) -> Stmt:
        """Return the assignment of *value* to a local or a field."""
        if isinstance(target, ast.Name):
            return self.store_local(target, value, node)
        place = self.check_writable(target)
        fields = (
            self.unit.declared.edge_fields
            if isinstance(place, EdgeField)
            else self.unit.declared.vertex_fields
        )
        field = fields[place.index]
        self.writes.add(("e." if isinstance(place, EdgeField) else "v.") + field.name)
        what = ast.unparse(target)
        return Assign(place, self.fit(value, field.type, getattr(node, "value", node), what), self.site(node))

    def store_local(self, target: ast.Name, value: Expr, node: ast.stmt) -> Stmt:
        name = target.id
        if name in self.entities:
            raise self.error(target, f"{name!r} cannot be assigned; use another name")
        at = getattr(node, "value", node)
        if name in self.declared:
            value = self.fit(value, self.declared[name], at, repr(name))
        wide = self.settle(name, value.type, at)
        if self.assigned is not None:
            self.assigned.add(name)
        return Assign(self.local(name), self.widened(value, wide), self.site(node))

    def check_writable(self, target: ast.expr) -> VertexField | EdgeField:
        """Return the field that *target* names; raises if this function may not write it."""
        if isinstance(target, ast.Name):
            return VertexField("v", 0, "")  # a local; only fields have rules
        role = None
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            role = self.entities.get(target.value.id)
        if role is None or not isinstance(target, ast.Attribute):
            raise self.error(target, "only locals and fields can be assigned")
        owner = ast.unparse(target.value)
        if role == "self":
            raise self.error(
                target, "a program is immutable; use a vertex field, or an aggregator for a total"
            )
        if role == "nbr":
            raise self.error(
                target,
                f"{owner} is the neighbour and cannot be written; signal it, it writes itself in apply",
            )
        if self.is_helper:
            raise self.error(target, "a helper only reads; return the value and assign it where it is called")
        place = self.peek(target)
        if role == "v" and target.attr in ATTRIBUTES:
            raise self.error(target, f"{owner}.{target.attr} belongs to the graph and cannot be written")
        if role == "v" and self.name not in ("init", "apply"):
            where = "apply" if self.name in ("gather", "scatter") else "init or apply"
            raise self.error(target, f"{self.name} cannot write {owner}; write it in {where}")
        if role == "e" and self.name != "scatter":
            raise self.error(target, f"{self.name} cannot write {owner}; write it in scatter")
        if role == "e" and self.unit.declared.scatter_edges == 3:
            raise self.error(
                target,
                "with scatter_edges = gl.ALL both ends would write the edge; write scatter_edges = gl.OUT",
            )
        return place

    def peek(self, target: ast.Attribute) -> VertexField | EdgeField:
        """Return the field *target* without counting it as read."""
        reads = set(self.reads)
        place = self.value(target)
        self.reads = reads
        return place  # type: ignore[return-value]

    # ---- control

    def do_If(self, node: ast.If) -> list[Stmt]:
        test = self.truth(node.test)
        before = self.copy()
        body = self.block(node.body)
        after_body, self.assigned = self.assigned, before
        otherwise = self.block(node.orelse)
        self.assigned = meet([after_body, self.assigned])
        return [If(test, body, otherwise, self.site(node))]

    def copy(self) -> set[str] | None:
        return None if self.assigned is None else set(self.assigned)

    def do_While(self, node: ast.While) -> list[Stmt]:
        self.no_else(node)
        test = self.truth(node.test)
        forever = isinstance(test, Const) and bool(test.value)
        before = self.copy()
        body, breaks = self.loop(node.body)
        self.assigned = meet(breaks if forever else [before, *breaks])
        return [While(test, body, self.site(node))]

    def do_For(self, node: ast.For) -> list[Stmt]:
        self.no_else(node)
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.lookup(call.func) is range
        if not is_range or not isinstance(call, ast.Call):
            raise self.error(node.iter, "a for loop runs over range(...) alone; the engine visits the edges")
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.error(call, "range takes 1 to 3 ints: range(stop), range(start, stop, step)")
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "a loop counts in one local: for i in range(...)")
        bounds = [self.fit(self.value(a), "int", a, "range's argument") for a in call.args]
        start = bounds[0] if len(bounds) > 1 else Const(0, "int")
        stop = bounds[min(1, len(bounds) - 1)]
        step = bounds[2] if len(bounds) > 2 else Const(1, "int")
        before = self.copy()
        first = self.store_local(node.target, Const(0, "int"), node)
        assert isinstance(first, Assign)
        target = first.target
        assert isinstance(target, Local)
        lead: tuple[Stmt, ...] = ()
        if target.type != "int":  # the user's local is a float elsewhere: count apart from it
            counter, _ = self.counter(node)
            lead = (Assign(target, self.widened(counter, target.type), self.site(node)),)
            target = counter
        body, breaks = self.loop(node.body)
        self.assigned = meet([before, *breaks])
        return [ForRange(target, start, stop, step, (*lead, *body), self.site(node))]

    def counter(self, node: ast.AST) -> tuple[Local, str]:
        name = self.fresh("_count", self.taken)
        self.taken.add(name)
        self.settle(name, "int", node)
        return self.local(name), name

    def loop(self, body: list[ast.stmt]) -> tuple[tuple[Stmt, ...], list[set[str] | None]]:
        """Return the tree of a loop's body and what is assigned at each of its breaks."""
        self.breaks.append([])
        statements = self.block(body)
        return statements, list(self.breaks.pop())

    def no_else(self, node: ast.While | ast.For) -> None:
        if node.orelse:
            raise self.error(
                node.orelse[0], "else behind a loop is not in the language; set a local before break"
            )

    def do_Break(self, node: ast.Break) -> list[Stmt]:
        assert self.assigned is not None
        self.breaks[-1].append(self.assigned)
        self.assigned = None
        return [Break(self.site(node))]

    def do_Continue(self, node: ast.Continue) -> list[Stmt]:
        self.assigned = None
        return [Continue(self.site(node))]


def meet(paths: list[set[str] | None]) -> set[str] | None:
    """Return what is assigned on every path that arrives; None if none does."""
    arriving = [p for p in paths if p is not None]
    return set.intersection(*arriving) if arriving else None
