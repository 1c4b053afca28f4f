"""The user's source: found through code objects, read through `linecache`, shown in errors.

``inspect.getsource`` of a class fails in a notebook cell, but each method's code object knows its
file name and first line, and `linecache` holds the text of files, notebook cells and doctests
alike. A file is parsed whole, once, so that every node keeps its true line and column.
"""

from __future__ import annotations

import ast
import linecache
import os
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from gaslab.annotations import functions_of
from gaslab.compiler.tree import Site
from gaslab.errors import ProgramError

Def = ast.FunctionDef | ast.AsyncFunctionDef


class SourceFile:
    """One file, cell or other text with its syntax tree; `of` keeps those it has read."""

    _known: dict[str, SourceFile] = {}

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self.tree = ast.parse("".join(lines))
        self.functions: dict[tuple[str, int], Def] = {}
        self.classes: list[ast.ClassDef] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                self.functions[node.name, first] = node
            elif isinstance(node, ast.ClassDef):
                self.classes.append(node)

    @classmethod
    def of(cls, name: str, module: dict[str, Any] | None = None) -> SourceFile | None:
        """Return the file that code objects call *name*, or None if its text is not to be had."""
        linecache.checkcache(name)
        lines = linecache.getlines(name, module)
        known = cls._known.get(name)
        if known is None or known.lines != lines:
            if not lines:
                return None
            try:
                known = cls(name, lines)
            except SyntaxError:  # the file changed after Python read it
                return None
            cls._known[name] = known
        return known

    def text(self, line: int) -> str:
        """Return a line, counted from 1, without its end."""
        return self.lines[line - 1].rstrip("\r\n") if 0 < line <= len(self.lines) else ""

    def site(self, node: ast.AST) -> Site:
        """Return the place of *node*."""
        line = getattr(node, "lineno", 1)
        return Site(self.name, line, self.text(line))

    def error(self, node: ast.AST, message: str) -> ProgramError:
        """Return the error *message* at *node*: file, line, column, the line itself and a caret.

        An attribute is pointed at by its name, not by the start of what stands before the dot.
        """
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if (
            isinstance(node, ast.Attribute)
            and node.end_lineno is not None
            and node.end_col_offset is not None
        ):
            line, offset = node.end_lineno, node.end_col_offset - len(node.attr.encode())
        elif isinstance(node, Def | ast.ClassDef):  # at the name, behind "def " or "class "
            offset += {ast.FunctionDef: 4, ast.AsyncFunctionDef: 10, ast.ClassDef: 6}[type(node)]
        text = self.text(line)
        before = text.encode()[:offset].decode(errors="ignore")  # ast counts bytes, people characters
        indent = "".join("\t" if character == "\t" else " " for character in before)
        return ProgramError(f"{shown(self.name)}:{line}:{len(before) + 1}: {message}\n{text}\n{indent}^")


def shown(name: str) -> str:
    """Return a file's name as errors show it: relative if it lies below the working directory."""
    try:
        relative = os.path.relpath(name)
    except (ValueError, OSError):
        return name
    return name if relative.startswith(os.pardir) or not os.path.exists(name) else relative


@dataclass(frozen=True)
class FunctionSource:
    """A function, its definition in the syntax tree, and the file around it."""

    function: FunctionType
    node: ast.FunctionDef
    file: SourceFile

    def error(self, node: ast.AST, message: str) -> ProgramError:
        return self.file.error(node, message)


def function_source(function: FunctionType) -> FunctionSource:
    """Return where *function* was written; raises ProgramError if that cannot be read."""
    code = function.__code__
    file = SourceFile.of(code.co_filename, function.__globals__)
    name = function.__qualname__.replace("<locals>.", "")
    if file is None:
        raise ProgramError(
            f"{shown(code.co_filename)}: the source of {name} cannot be read; "
            "define the program in a file or a notebook cell"
        )
    node = file.functions.get((code.co_name, code.co_firstlineno))
    if code.co_name == "<lambda>":
        raise ProgramError(
            f"{shown(code.co_filename)}:{code.co_firstlineno}: a lambda is not in the language; write a def"
        )
    if node is None or _parameters(node) != code.co_varnames[: len(_parameters(node))]:
        raise ProgramError(
            f"{shown(code.co_filename)}:{code.co_firstlineno}: {name} is not at this line any more; "
            "the file changed after it was loaded, load it again"
        )
    if isinstance(node, ast.AsyncFunctionDef):
        raise file.error(node, f"{name} is async; write a plain def")
    return FunctionSource(function, node, file)


def _parameters(node: Def) -> tuple[str, ...]:
    a = node.args
    return tuple(arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs))


@dataclass(frozen=True)
class ClassSource:
    """Where a class was written; `node` and `file` are None where that is not known."""

    cls: type
    node: ast.ClassDef | None
    file: SourceFile | None

    def declaration(self, name: str) -> ast.stmt | None:
        """Return the statement of the class body that declares attribute *name*."""
        for statement in self.node.body if self.node else ():
            targets: list[ast.expr] = []
            if isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            elif isinstance(statement, ast.Assign):
                targets = statement.targets
            elif isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
                return statement
            if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return statement
        return None

    def nested(self, cls: type) -> ClassSource:
        """Return the source of *cls*, an attribute of this class (or of what it inherits from)."""
        for statement in self.node.body if self.node else ():
            if (
                isinstance(statement, ast.ClassDef)
                and cls.__qualname__ == f"{self.cls.__qualname__}.{statement.name}"
            ):
                return ClassSource(cls, statement, self.file)
        return class_source(cls)

    def error(self, node: ast.AST | None, message: str) -> ProgramError:
        """Return the error *message* at *node*, else at the class."""
        at = node or self.node
        if at is None or self.file is None:
            return ProgramError(f"{self.cls.__module__}.{self.cls.__qualname__}: {message}")
        return self.file.error(at, message)

    def site(self, node: ast.AST | None) -> Site:
        """Return the place of *node*, else of the class."""
        at = node or self.node
        return (
            self.file.site(at)
            if at is not None and self.file is not None
            else Site(self.cls.__module__, 1, "")
        )


def class_source(cls: type) -> ClassSource:
    """Return where *cls* was written: around its methods, else by its name in its module's file."""
    for function in functions_of(cls).values():
        code = function.__code__
        file = SourceFile.of(code.co_filename, function.__globals__)
        for node in file.classes if file else ():
            if (
                node.name == cls.__name__
                and file
                and file.functions.get((code.co_name, code.co_firstlineno)) in node.body
            ):
                return ClassSource(cls, node, file)
    import sys

    name = getattr(sys.modules.get(cls.__module__), "__file__", None)
    file = SourceFile.of(name) if name else None
    line = getattr(cls, "__firstlineno__", None)  # from Python 3.13 on
    found = [n for n in (file.classes if file else ()) if n.name == cls.__name__]
    found = [
        n for n in found if line is None or min([n.lineno, *(d.lineno for d in n.decorator_list)]) == line
    ]
    return ClassSource(cls, found[-1], file) if found else ClassSource(cls, None, None)
