"""Cached trees: a built-in program is parsed once per process.

Any other is parsed for every run, because its source, its class, or the helpers and constants of its module
may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gaslab.compiler import tree as t

Trees = tuple[t.Tree, ...]  # of all phases
Values = tuple[tuple[str, int], ...]  # of the int parameters that are lengths of fields

PACKAGE = "gaslab.programs."
MOST = 256  # cached trees: one program for this many lengths, say

_lengths: dict[type, list[str]] = {}
_trees: dict[tuple[type, Values, tuple[bool, ...]], Trees] = {}


def stays(cls: type) -> bool:
    """Return whether *cls* is a built-in program, not made by a function."""
    return isinstance(cls, type) and cls.__module__.startswith(PACKAGE) and "<locals>" not in cls.__qualname__


def parsed_once(
    parse: Callable[..., Trees], cls: type, shapes: Mapping[str, int] | None, options: tuple[bool, ...]
) -> Trees:
    """Return the trees of *cls* for those shapes and options, by *parse* if not cached."""

    def key() -> tuple[type, Values, tuple[bool, ...]]:
        values = tuple((name, shapes[name]) for name in _lengths[cls] if name in shapes) if shapes else ()
        return cls, values, options

    if cls in _lengths and key() in _trees:
        return _trees[key()]
    trees = parse(cls, shapes, *options)
    while len(_trees) >= MOST:
        del _trees[next(iter(_trees))]
    _lengths[cls] = sorted({name for tree in trees for name in tree.lengths})
    _trees[key()] = trees
    return trees
