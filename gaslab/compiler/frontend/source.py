"""The user's source: found through code objects, read through `linecache`, shown in errors.

``inspect.getsource`` of a class fails in a notebook cell, but each method's code object knows its file name
and first line, and `linecache` holds the text of files, notebook cells and doctests. A file is parsed whole,
once, so that every node keeps its true line and column.
"""

from __future__ import annotations

import ast
import linecache
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.main_text import main_text
from gaslab.compiler.tree.source_places import shown
from gaslab.errors import ProgramError
from gaslab.language.annotations import functions_of

Def = ast.FunctionDef | ast.AsyncFunctionDef
_BEFORE_NAME = {
    ast.FunctionDef: len("def "),
    ast.AsyncFunctionDef: len("async def "),
    ast.ClassDef: len("class "),
}


class SourceFile:
    """One file, cell or other text with its syntax tree; `of` keeps the files it has read."""

    _known: dict[str, SourceFile] = {}
    _parsing = threading.Lock()  # before 3.11.5 CPython sometimes fails if two threads do

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self.functions: dict[tuple[str, int], Def] = {}  # by name and the line that Python counts as first
        self.classes: dict[str, list[ast.ClassDef]] = {}  # by qualified name, in the order of the file
        self.lambdas: dict[int, ast.Lambda] = {}  # the first on each line
        with self._parsing:
            tree = ast.parse("".join(lines))
        self._index(tree)

    def _index(self, tree: ast.AST) -> None:
        waiting = [(tree, "")]  # no recursion: a file may be nested deeply outside programs
        while waiting:
            node, prefix = waiting.pop()
            if isinstance(node, Def):
                self.functions[node.name, first_line(node)] = node
                prefix += f"{node.name}.<locals>."
            elif isinstance(node, ast.ClassDef):
                self.classes.setdefault(prefix + node.name, []).append(node)
                prefix += f"{node.name}."
            elif isinstance(node, ast.Lambda):
                self.lambdas.setdefault(node.lineno, node)
            waiting += [(child, prefix) for child in reversed([*ast.iter_child_nodes(node)])]

    @classmethod
    def of(cls, name: str, module: dict[str, Any] | None = None) -> SourceFile | None:
        """Return the file that code objects call *name*, or None if its text is not available."""
        linecache.checkcache(name)
        lines = linecache.getlines(name, module) or main_text(name, module)
        known = cls._known.get(name)
        if known is None or known.lines != lines:
            if not lines:
                return None
            try:
                known = cls(name, lines)
            except SyntaxError:  # the file changed after Python read it
                return None
            except (RecursionError, MemoryError):
                raise ProgramError(f"{shown(name)}: the file is nested too deeply to be read") from None
            cls._known[name] = known
        return known

    def text(self, line: int) -> str:
        """Return a line, counted from 1, without its end."""
        return self.lines[line - 1].rstrip("\r\n") if 0 < line <= len(self.lines) else ""

    def site(self, node: ast.AST) -> t.Site:
        """Return the place of *node*."""
        line = getattr(node, "lineno", 1)
        return t.Site(self.name, line, self.text(line))

    def error(self, node: ast.AST, message: str, *, at_attribute: bool = False) -> ProgramError:
        """Return the error *message* at *node*: file, line, column, the line itself and a caret.

        The caret is below the name of a function or class, and below the start of an expression;
        *at_attribute* moves it from the start of ``v.score`` to ``score``.
        """
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if at_attribute and isinstance(node, ast.Attribute):
            line = node.end_lineno or line
            offset = (node.end_col_offset or offset) - len(node.attr.encode())
        else:
            offset += _BEFORE_NAME.get(type(node), 0)  # type: ignore[call-overload]
        text = self.text(line)
        before = text.encode()[:offset].decode(errors="ignore")  # ast counts bytes, people count characters
        indent = "".join("\t" if character == "\t" else " " for character in before)
        return ProgramError(f"{shown(self.name)}:{line}:{len(before) + 1}: {message}\n{text}\n{indent}^")


def first_line(node: Def | ast.ClassDef) -> int:
    """Return the line that Python counts as first: the first decorator's."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


@dataclass(frozen=True)
class FunctionSource:
    """A function, its definition in the syntax tree, and the file around it."""

    function: FunctionType
    node: ast.FunctionDef
    file: SourceFile

    @property
    def arguments(self) -> tuple[ast.arg, ...]:
        """The positional parameters, including those before a ``/``."""
        return (*self.node.args.posonlyargs, *self.node.args.args)

    def error(self, node: ast.AST, message: str) -> ProgramError:
        """Return the error *message* at *node*."""
        return self.file.error(node, message)


def function_source(function: FunctionType) -> FunctionSource:
    """Return the source of *function*; raises ProgramError if it cannot be read."""
    code = function.__code__
    name = function.__qualname__.rpartition("<locals>.")[2]
    file = SourceFile.of(code.co_filename, function.__globals__)
    if code.co_name == "<lambda>":
        text = "a lambda is not in the language; write a def"
        at = file.lambdas.get(code.co_firstlineno) if file else None
        raise file.error(at, text) if file and at else _unplaced(code, text)
    if file is None:
        ways_out = "define the program in a file or a notebook cell, or put its text into linecache.cache"
        text = f"the source of {name} cannot be read; {ways_out}"
        raise _unplaced(code, text)
    node = file.functions.get(_key(function))
    for argument in _arguments(node) if node is not None else ():
        if argument.arg.startswith("__") and argument.arg not in code.co_varnames:
            text = f"{argument.arg!r} is renamed by Python within a class; drop the underscores"
            raise file.error(argument, text)
    if node is None or _parameters(node) != code.co_varnames[: len(_parameters(node))]:
        raise _unplaced(code, f"{name} is no longer at this line; reload the changed file")
    if isinstance(node, ast.AsyncFunctionDef):
        raise file.error(node, f"{name} is async, which is not in the language; write a plain def")
    return FunctionSource(function, node, file)


def _unplaced(code: CodeType, message: str) -> ProgramError:
    return ProgramError(f"{shown(code.co_filename)}:{code.co_firstlineno}: {message}")


def _arguments(node: Def) -> tuple[ast.arg, ...]:
    return (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


def _parameters(node: Def) -> tuple[str, ...]:
    return tuple(argument.arg for argument in _arguments(node))


@dataclass(frozen=True)
class ClassSource:
    """The source of a class; `node` and `file` are None if unknown."""

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
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return statement
        return None

    def nested(self, cls: type, name: str) -> ClassSource:
        """Return the source of *cls*, this class's attribute *name*."""
        statement = self.declaration(name)
        if isinstance(statement, ast.ClassDef):
            return ClassSource(cls, statement, self.file)
        return class_source(cls)

    def error(self, node: ast.AST | None, message: str) -> ProgramError:
        """Return the error *message* at *node*, else at the class."""
        at = node or self.node
        if at is None or self.file is None:
            return ProgramError(f"{self.cls.__module__}.{self.cls.__qualname__}: {message}")
        return self.file.error(at, message)

    def error_at(self, name: str, message: str) -> ProgramError:
        """Return the error *message* at the statement that declares attribute *name*."""
        return self.error(self.declaration(name), message)

    def error_at_value(self, name: str, message: str) -> ProgramError:
        """Return the error *message* at the value assigned to attribute *name*."""
        at = self.declaration(name)
        return self.error(getattr(at, "value", at), message)

    def site(self, node: ast.AST | None) -> t.Site:
        """Return the place of *node*, else of the class."""
        at = node or self.node
        if at is None or self.file is None:
            return t.Site(self.cls.__module__, 1, "")
        return self.file.site(at)


def class_source(cls: type) -> ClassSource:
    """Return the source of *cls*: around its methods, else by name in the files of its module and bases."""
    for function in functions_of(cls).values():
        file = SourceFile.of(function.__code__.co_filename, function.__globals__)
        for node in file.classes.get(cls.__qualname__, ()) if file else ():
            if file and file.functions.get(_key(function)) in node.body:
                return ClassSource(cls, node, file)
    line = getattr(cls, "__firstlineno__", None)  # from Python 3.13 on
    for file in _files(cls):
        found = file.classes.get(cls.__qualname__, [])
        found = [node for node in found if line is None or first_line(node) == line]
        if found:
            return ClassSource(cls, found[-1], file)
    return ClassSource(cls, None, None)


def declaring_source(cls: type, name: str) -> ClassSource:
    """Return the source of the class, *cls* or a base, that has *name* in its body."""
    return class_source(next(c for c in cls.__mro__ if name in vars(c)))


def _files(cls: type) -> Iterator[SourceFile]:
    """Yield the files that may hold a class without methods: its module's and its bases'."""
    name = getattr(sys.modules.get(cls.__module__), "__file__", None)
    file = SourceFile.of(name) if name else None
    if file is not None:
        yield file
    for base in cls.__mro__:
        for function in functions_of(base).values() if base.__module__ == cls.__module__ else ():
            file = SourceFile.of(function.__code__.co_filename, function.__globals__)
            if file is not None:
                yield file


def _key(function: FunctionType) -> tuple[str, int]:
    return function.__code__.co_name, function.__code__.co_firstlineno
