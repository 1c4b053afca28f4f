"""Checks of the arguments of public calls, each made once and with one wording.

Each check returns the argument as plain Python, or raises UsageError with the name, the value and what is
needed: ``max_iterations='5': a whole number is needed, not str``. Numbers of numpy are numbers; bools are
not. A check looks at nothing but the argument, so every rank that passes the same raises the same. No
numpy here: programs are made, and some compiled, before it is loaded.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Collection, Hashable, Iterable, Mapping
from numbers import Real
from typing import Any

from gaslab.errors import UsageError, nearest

SHOWN = 60  # characters of a value in a message
THREADS = 1 << 15  # of a rank, at most: more is a slip, and OpenMP would end the process
ROWS = ("same", "parts", "root")  # what each rank passes of the rows of its data
PLACES = ("all", "root", "local")  # where an answer goes
GRAPH = "a gaslab.Graph"


def wrong(name: str, value: Any, needed: str) -> UsageError:
    """Return the error for an argument: its name and value, and in words what is needed.

    The name of a parameter of a class has the class before it: ``PageRank.damping``.
    """
    return UsageError(f"{_said(name, value)}: {needed}")


def _said(name: str, value: Any) -> str:
    owner, _, last = name.rpartition(".")
    said = f"{last}={shown(value)}"
    return f"{owner}({said})" if owner else said


ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object, in its repr


def shown(value: Any) -> str:
    """Return a value as messages show it: on one line, without an address, cut where it is long."""
    try:
        words = ADDRESS.sub("", " ".join(repr(value).split()))  # another on each rank
    except Exception:  # a class's own __repr__ may raise anything, and that of a huge int does
        words = f"<{type(value).__name__}>"
    return words if len(words) <= SHOWN else words[: SHOWN - 3] + "..."


def one_of(words: Iterable[str]) -> str:
    """Return words as messages list them: ``a, b or c``."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def whole(
    name: str, value: Any, least: int | None = None, most: int | None = None, *, optional: bool = False
) -> Any:
    """Return a whole number from *least* to *most* as an int; 5.0 is one, 1.5, nan, True and "5" are not."""
    if optional and value is None:
        return None
    try:
        found = int(value) if _is_number(value) else None
    except (ValueError, OverflowError):  # nan, inf
        found = None
    if found is None or found != value:
        raise wrong(name, value, f"a whole number is needed, not {type(value).__name__}")
    if (least is not None and found < least) or (most is not None and found > most):
        raise wrong(name, value, f"a whole number {_range(least, most)} is needed")
    return found


def number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    nan: bool = False,
    hint: str = "",
    optional: bool = False,
) -> Any:
    """Return a number within bounds as a float; inf and nan only where they are said to be meant."""
    if optional and value is None:
        return None
    if not _is_number(value):
        raise wrong(name, value, f"a number is needed, not {type(value).__name__}{hint}")
    try:
        found = float(value)
    except OverflowError:
        raise wrong(name, value, "a number within the range of float64 is needed") from None
    if (math.isnan(found) and not nan) or (math.isinf(found) and not infinite):
        raise wrong(name, value, f"a finite number is needed{hint}")
    inside = (
        (least is None or found >= least)
        and (above is None or found > above)
        and (most is None or found <= most)
        and (below is None or found < below)
    )
    if not inside:
        raise wrong(name, value, f"a number {_range(least, most, above, below)} is needed{hint}")
    return found


def flag(name: str, value: Any, *, optional: bool = False) -> Any:
    """Return True or False; numpy's are taken, 0 and "no" are not."""
    if optional and value is None:
        return None
    numpy = sys.modules.get("numpy")
    if isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_)):
        return bool(value)
    raise wrong(name, value, f"a bool is needed, not {type(value).__name__}")


def flags(**values: Any) -> list[bool]:
    """Return several flags, in their order."""
    return [flag(name, value) for name, value in values.items()]


def choice(name: str, value: Any, known: Collection[str], *, optional: bool = False) -> Any:
    """Return one of some words; of another the error names the nearest."""
    if optional and value is None:
        return None
    if isinstance(value, str) and value in known:
        return value
    word = value if isinstance(value, str) else shown(value)
    raise UsageError(f"{_said(name, value)} is unknown{nearest(word, known)}")


def text(name: str, value: Any, *, optional: bool = False) -> Any:
    """Return a str."""
    if optional and value is None:
        return None
    if not isinstance(value, str):
        raise wrong(name, value, f"a str is needed, not {type(value).__name__}")
    return value


def texts(name: str, value: Any, *, optional: bool = False) -> Any:
    """Return several strings as a list; one alone is refused, for each character would be one."""
    if optional and value is None:
        return None
    listed = several(name, value, "a sequence of str")
    for one in listed:
        if not isinstance(one, str):
            raise wrong(name, value, f"a sequence of str is needed, and {shown(one)} is none")
    return [str(one) for one in listed]  # numpy's own str is one, too


def path(name: str, value: Any, *, optional: bool = False) -> Any:
    """Return the path of a file, a str or `os.PathLike`, as a str."""
    if optional and value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise wrong(name, value, f"the path of a file is needed, not {type(value).__name__}")
    found = os.fspath(value)
    if not isinstance(found, str):
        raise wrong(name, value, f"a path of str is needed, not of {type(found).__name__}")
    if not found or "\0" in found:
        raise wrong(name, value, "no file can have this path")
    return found


def mapping(name: str, value: Any, what: str = "a mapping", *, optional: bool = False) -> Any:
    """Return a mapping; *what* says in the error which one is needed."""
    if optional and value is None:
        return None
    if not isinstance(value, Mapping):
        raise wrong(name, value, f"{what} is needed, not {type(value).__name__}")
    return value


def numbers(name: str, value: Any) -> None:
    """Check an optional mapping to numbers of at least 0."""
    for key, one in (mapping(name, value, "a mapping to numbers", optional=True) or {}).items():
        if not (type(one) is float and 0.0 <= one < math.inf):  # a name takes longer than a look
            number(f"{name}[{shown(key)}]", one, least=0)


def several(name: str, value: Any, what: str) -> list[Any]:
    """Return the members of an iterable that is no text as a list; *what* says what they are."""
    numberless = getattr(value, "ndim", 1) == 0  # an array of numpy without any axis
    if isinstance(value, (str, bytes, type)) or not isinstance(value, Iterable) or numberless:
        raise wrong(name, value, f"{what} is needed, not {type(value).__name__}")
    return list(value)


def instance(
    name: str, value: Any, kind: type | tuple[type, ...], what: str, *, optional: bool = False
) -> Any:
    """Return an instance of a class, or of one of several; *what* says in words what is needed."""
    if optional and value is None:
        return None
    if not isinstance(value, kind):
        raise wrong(name, value, f"{what} is needed, not {_kind(value)}")
    return value


def ids(name: str, value: Any, what: str = "an iterable of vertex ids") -> list[Any]:
    """Return vertex ids as a list; whether the graph has them is another question."""
    listed = several(name, value, what)
    for one in listed:
        if not isinstance(one, Hashable):
            raise wrong(name, value, f"{what} is needed, and {shown(one)} is none")
    return listed


def threads(value: Any) -> Any:
    """Return ``threads=``, the threads of a rank; None stays None."""
    return whole("threads", value, 1, THREADS, optional=True)


def bound_columns(value: Any) -> Any:
    """Return ``columns=`` that binds fields to a graph's columns; None stays None."""
    what = "a mapping from field to column"
    for field, column in (mapping("columns", value, what, optional=True) or {}).items():
        if not isinstance(field, str) or not isinstance(column, (str, type(None))):
            raise wrong("columns", value, f"{what} is needed, and {shown(field)}: {shown(column)} is none")
    return value


def function(name: str, value: Any, what: str = "a function") -> Any:
    """Return something that can be called."""
    if not callable(value):
        raise wrong(name, value, f"{what} is needed, not {type(value).__name__}")
    return value


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _range(
    least: float | None, most: float | None, above: float | None = None, below: float | None = None
) -> str:
    bounds = (("of at least", least), ("above", above), ("at most", most), ("below", below))
    if least is not None and most is not None:
        return f"from {least} to {most}"
    return " and ".join(f"{words} {bound:g}" if isinstance(bound, float) else f"{words} {bound}"
                        for words, bound in bounds if bound is not None)  # fmt: skip
