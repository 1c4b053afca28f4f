"""A typed tree as text, so that tests can say in a line what parse must give.

Locals carry no type, constants show theirs by how they are written, casts are written out as
``float(...)``, parentheses stand around every operator: ``v.score = (float(v.degree) + 1.0)``.
"""

from __future__ import annotations

from gaslab.compiler import tree as t


def function_text(tree: t.Tree, function: t.Function) -> str:
    """Return the body of *function*, a statement a line."""
    return "\n".join(_lines(tree, function.body, ""))


def phase_text(tree: t.Tree, phase: str) -> str:
    """Return the body of a phase of *tree*."""
    return function_text(tree, tree.functions[phase])


def typed(names: tuple[t.Local, ...]) -> dict[str, t.Type]:
    """Return the type of each of *names*, say a function's parameters."""
    return {name.name: name.type for name in names}


def _lines(tree: t.Tree, body: tuple[t.Stmt, ...], indent: str) -> list[str]:
    found = []
    inner = indent + "    "
    for x in body:
        if isinstance(x, t.Assign):
            found.append(f"{indent}{_text(tree, x.target)} = {_text(tree, x.value)}")
        elif isinstance(x, t.If):
            found += [f"{indent}if {_text(tree, x.test)}:", *_lines(tree, x.body, inner)]
            if x.otherwise:
                found += [f"{indent}else:", *_lines(tree, x.otherwise, inner)]
        elif isinstance(x, t.While):
            found += [f"{indent}while {_text(tree, x.test)}:", *_lines(tree, x.body, inner)]
        elif isinstance(x, t.ForRange):
            bounds = ", ".join(_text(tree, bound) for bound in (x.start, x.stop, x.step))
            found += [
                f"{indent}for {_text(tree, x.target)} in range({bounds}):",
                *_lines(tree, x.body, inner),
            ]
        elif isinstance(x, t.Return):
            found.append(f"{indent}return" + (f" {_text(tree, x.value)}" if x.value else ""))
        elif isinstance(x, t.Signal):
            found.append(f"{indent}signal({_text(tree, x.message) if x.message else ''})")
        else:
            found.append(indent + type(x).__name__.lower())
    return found


def _text(tree: t.Tree, x: t.Expr) -> str:
    def text(y: t.Expr) -> str:
        return _text(tree, y)

    if isinstance(x, t.Const):
        assert x.type == type(x.value).__name__
        return repr(x.value)
    if isinstance(x, t.Param | t.Aggregate | t.Global):
        return f"self.{x.name}"
    if isinstance(x, t.VertexField):
        assert x.type == tree.vertex_fields[x.index].type
        return f"{x.role}.{tree.vertex_fields[x.index].name}"
    if isinstance(x, t.VertexAttribute):
        return f"{x.role}.{x.name}"
    if isinstance(x, t.EdgeField):
        assert x.type == tree.edge_fields[x.index].type
        return f"e.{tree.edge_fields[x.index].name}"
    if isinstance(x, t.Local):
        return x.name
    if isinstance(x, t.Unary):
        return f"({x.op} {text(x.operand)})"
    if isinstance(x, t.Binary | t.Compare):
        assert x.op in ("/", "**") or x.left.type == x.right.type
        return f"({text(x.left)} {x.op} {text(x.right)})"
    if isinstance(x, t.Logical):
        assert all(operand.type == "bool" for operand in x.operands)
        return "(" + f" {x.op} ".join(map(text, x.operands)) + ")"
    if isinstance(x, t.Conditional):
        assert x.test.type == "bool"
        assert x.then.type == x.otherwise.type == x.type
        return f"({text(x.then)} if {text(x.test)} else {text(x.otherwise)})"
    if isinstance(x, t.Let):
        return f"(once{x.number} := {text(x.value)}; {text(x.body)})"
    if isinstance(x, t.Bound):
        return f"once{x.number}"
    if isinstance(x, t.Cast):
        return f"{x.type}({text(x.operand)})"
    arguments = ", ".join(map(text, x.arguments))
    if isinstance(x, t.CallHelper):
        helper = tree.helpers[x.index]
        assert [a.type for a in x.arguments] == [parameter.type for parameter in helper.parameters]
        return f"{helper.name}{x.index}({arguments})"
    return f"{x.function}({arguments})"
