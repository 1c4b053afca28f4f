"""Trees that are kept: a program of a package whose modules stay as they are is parsed once.

Any other is parsed for every run, as what it reads may have changed: its source, its class, the helpers and
constants of its module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gaslab.compiler import tree as t

Trees = tuple[t.Tree, ...]  # of all phases
Values = tuple[tuple[str, int], ...]  # of the int parameters that are lengths of fields

PACKAGES = ["gaslab.programs"]
MOST = 256  # trees that are kept: those of a program for so many lengths, say

_lengths: dict[type, list[str]] = {}
_trees: dict[tuple[type, Values, tuple[bool, ...]], Trees] = {}


def stays(cls: type) -> bool:
    """Return whether *cls* is a class of `PACKAGES`, and not made by a function there."""
    if not isinstance(cls, type):
        return False
    packages = tuple(f"{package}." for package in PACKAGES)
    return f"{cls.__module__}.".startswith(packages) and "<locals>" not in cls.__qualname__


def parsed_once(
    parse: Callable[..., Trees], cls: type, shapes: Mapping[str, int] | None, options: tuple[bool, ...]
) -> Trees:
    """Return the trees of *cls* for those shapes and options, by *parse* where they are not kept."""

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
