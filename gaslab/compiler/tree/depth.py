"""Programs nested too deeply for the compiler, which walks their trees recursively."""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass
from typing import Any

from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.source_places import error_at
from gaslab.errors import ProgramError

TOO_DEEP = "this is nested too deeply; compute parts of it in separate lines or methods"


def deepest(function: ast.AST) -> ast.AST:
    """Return the statement of *function* around the deepest node."""
    most, found = -1, function
    stack: list[tuple[ast.AST, ast.AST, int]] = [(function, function, 0)]
    while stack:
        node, statement, depth = stack.pop()
        if depth > most:
            most, found = depth, statement
        for child in ast.iter_child_nodes(node):
            stack.append((child, child if isinstance(child, ast.stmt) else statement, depth + 1))
    return found


def too_deep(tree: Tree) -> ProgramError:
    """Return the error at the most deeply nested statement of *tree*."""
    functions = [*tree.helpers, *tree.functions.values(), *(a.function for a in tree.aggregators)]
    most, at, seen = -1, 0, set[int]()
    stack: list[tuple[Any, int, int]] = [(f, f.site, 0) for f in functions]
    while stack:
        node, site, depth = stack.pop()
        if depth > most:
            most, at = depth, site
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, tuple):
            stack += [(child, site, depth) for child in node]
        elif is_dataclass(node):
            own = getattr(node, "site", -1)
            site = own if isinstance(own, int) and own >= 0 else site
            stack += [(getattr(node, field.name), site, depth + 1) for field in fields(node)]
    return error_at(tree.sites[at], TOO_DEEP)
