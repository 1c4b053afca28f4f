"""Lists and sorted sets: their declaration, and the words that are asked of their values.

A list stands only where it is read: it has no operators, no methods and no locals. So what is
written about one is a `ListWord`, or the assignment of a whole list to a field.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gaslab import program
from gaslab.compiler.parse.convert import named
from gaslab.compiler.tree import (
    STORAGE,
    Expr,
    ListWord,
    NoList,
    Type,
    element_storage,
    is_list,
)

if TYPE_CHECKING:
    from gaslab.compiler.parse.calls import Calls
    from gaslab.compiler.parse.frame import Frame
    from gaslab.compiler.parse.names import Names
    from gaslab.errors import ProgramError

WORDS: dict[Any, str] = {program.common: "common", program.mode: "mode", program.mex: "mex"}
EMPTY = NoList("list:")
NO_VALUE = "a list is read by its words: x[i], len(x), y in x, for y in x, gl.mode(x)"


def list_storage(annotation: Any, storage: str | None) -> str | None:
    """Return the list type of an annotation whose elements are of *storage*; *storage* if it is no list."""
    marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Ragged)]
    if not marks or storage is None or is_list(storage):
        return None if marks else storage
    return f"{marks[0].kind}:{storage}"


def refused_elements(storage: str) -> str | None:
    """Return why a list type cannot be, None if it can."""
    if storage.startswith("set:") and STORAGE[element_storage(storage)][0] not in ("int", "id"):
        return "a sorted set holds ints or vertex ids; write gl.List[...]"
    return None


def element_type(kind: Type) -> str:
    """Return the expression type of the elements of a list type."""
    return STORAGE[element_storage(kind)][0]


def fits(value: Expr, kind: Type) -> Expr | None:
    """Return *value* as the list type *kind*: a set is a list too, and ``[]`` is anything; else None."""
    if value == EMPTY:
        return NoList(str(kind))
    same = is_list(value.type) and element_storage(value.type) == element_storage(kind)
    return value if same and kind in (value.type, f"list:{element_storage(kind)}") else None


def no_number(f: Frame, value: Expr, node: ast.AST) -> ProgramError:
    """Return the error for a list where a number is needed."""
    return f.error(node, f"this is {named(value.type)}; {NO_VALUE}")


# ---- words -----------------------------------------------------------------------------------------


def length(x: Expr) -> Expr:
    """``len(x)``"""
    return ListWord("len", (x,), "int")


def item(f: Names, x: Expr, node: ast.Subscript) -> Expr:
    """``x[i]``"""
    if isinstance(node.slice, ast.Slice):
        raise f.error(node.slice, "a list is not cut; write for i in range(...) and x[i]")
    return at(f, x, f.fit(f.value(node.slice), "int", node.slice, "a position"), node)


def at(f: Frame, x: Expr, index: Expr, node: ast.AST) -> Expr:
    """Return the element of *x* at *index*; outside of it is a fault."""
    return ListWord("item", (index, x), element_type(x.type), f.site(node))


def contains(f: Frame, value: Expr, x: Expr, node: ast.AST) -> Expr:
    """``value in x``"""
    wanted = f.fit(value, element_type(x.type), node, f"an element of {named(x.type)}")
    return ListWord("in", (wanted, x), "bool")


def call(f: Calls, node: ast.Call, word: str) -> Expr:
    """``gl.common(a, b)``, ``gl.mode(x)``, ``gl.mex(x)``"""
    name = f"gl.{word}"
    f.no_keywords(node, name)
    f.count(node, name, *((2, 2) if word == "common" else (1, 1)))
    given = [f.value(argument) for argument in node.args]
    for value, argument in zip(given, node.args, strict=True):
        if not is_list(value.type) or value == EMPTY:
            raise f.error(argument, f"{name} takes a list but this is {named(value.type)}")
        if word == "common" and not value.type.startswith("set:"):
            raise f.error(argument, f"gl.common takes sorted sets but this is {named(value.type)}")
    kind = element_type(given[0].type)
    if word == "common":
        if given[0].type != given[1].type:
            raise f.error(node, f"{named(given[0].type)} meets {named(given[1].type)}; make them agree")
        return ListWord("common", tuple(given), "int")
    if kind not in (("int",) if word == "mex" else ("int", "id")):
        of = "ints" if word == "mex" else "ints or vertex ids"
        raise f.error(node.args[0], f"{name} takes a list of {of} but this is {named(given[0].type)}")
    return ListWord(word, (given[0],), kind, f.site(node) if word == "mode" else -1)
