"""Fingerprints of values: equal if two ranks passed the same, different if not.

Ranks compare fingerprints before a collective call (`gaslab.parallel.collective`). A fingerprint depends only
on the content: not on addresses, hash seeds, the order of a mapping, or whether a number is Python's or
numpy's.
"""

from __future__ import annotations

import array
import dataclasses
import enum
import functools
import hashlib
import marshal
import os
import types
import zlib
from collections.abc import Mapping, Sequence, Set, ValuesView
from typing import Any

SIZE = 16  # bytes
PLAIN: tuple[Any, ...] = (bool, int, float, complex, str, bytes, bytearray)  # a bool is also an int
OF_PYTHON = ("__dict__", "__weakref__", "__module__", "__doc__", "__static_attributes__", "__firstlineno__")
MARSHALLED = {bool, int, float, str, type(None)}  # types of values compared in bulk

Path = frozenset[int]  # of the objects being visited, by id


def fingerprint(value: Any, path: Path = frozenset()) -> bytes:
    """Return the fingerprint of *value*; for an object that does not show its content, of its type.

    A class shows it with a method ``__fingerprint__`` that returns what counts. Arrays count by dtype, shape
    and a checksum of their bytes.

    >>> import numpy as np
    >>> fingerprint({"a": 1, "b": [2.0]}) == fingerprint({"b": (np.float64(2),), "a": np.int64(1)})
    True
    >>> fingerprint(np.zeros(3)) == fingerprint(np.array([0.0, 0.0, 1.0]))
    False
    """
    value = _plain(value)
    for kind in PLAIN:
        if isinstance(value, kind) and not isinstance(value, enum.Enum):
            return _digest(kind.__name__, f"{kind(value):x}" if kind is int else repr(kind(value)))
    if value is None or value is Ellipsis:
        return _digest(repr(value))
    if id(value) in path:
        return _digest("again")
    path = path | {id(value)}
    if isinstance(value, os.PathLike):
        return fingerprint(os.fspath(value), path)
    if isinstance(value, enum.Enum):
        return _digest("enum", type(value).__qualname__, value.name)
    content = _content(value)
    if content is not value:
        return _digest(type(value).__name__, fingerprint(content, path))
    if isinstance(value, type):
        return _class(value, path)
    if isinstance(value, (staticmethod, classmethod)):
        return fingerprint(value.__func__, path)
    if isinstance(value, functools.partial):
        return _digest("partial", fingerprint([value.func, value.args, value.keywords], path))
    if isinstance(value, (types.FunctionType, types.MethodType)):
        return _function(value, path)
    if isinstance(value, types.CodeType):
        return _code(value, path)
    if isinstance(value, Mapping):
        return _mapping(value, path)
    if isinstance(value, Set):
        return _digest("set", *sorted(fingerprint(item, path) for item in value))
    if isinstance(value, range):
        return _digest("range", repr(value))
    if isinstance(value, (Sequence, ValuesView, array.array, memoryview)):
        return _sequence(list(value), path)
    return _object(value)


def _plain(value: Any) -> Any:
    """Return a numpy scalar as Python's; anything else unchanged."""
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_scalar and hasattr(value, "item") else value


def _sequence(values: list[Any], path: Path) -> bytes:
    """Many plain values by their joint bytes: one by one they would take a second per million."""
    kinds = set(map(type, values))
    if any(kind.__module__ == "numpy" for kind in kinds):
        values = [_plain(value) for value in values]
        kinds = set(map(type, values))
    if kinds <= MARSHALLED:
        return _digest("sequence", marshal.dumps(values, 2))
    return _digest("sequence", *(fingerprint(item, path) for item in values))


def _mapping(values: Mapping[Any, Any], path: Path) -> bytes:
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= {int, str}:
        keys = sorted(values)
        return _digest("mapping", _sequence(keys, path), _sequence([values[key] for key in keys], path))
    return _digest("mapping", *sorted(fingerprint(item, path) for item in values.items()))


def _object(value: Any) -> bytes:
    """Dates and exact numbers by their repr; other objects, whose repr may be an address, by type."""
    kind = type(value)
    if kind.__module__ in ("datetime", "decimal", "fractions", "uuid"):
        return _digest(kind.__qualname__, repr(value))
    return _digest("object", kind.__module__, kind.__qualname__)


def _content(value: Any) -> Any:
    """Return the content of an object: an array's bytes, a frame's columns; else the object."""
    if isinstance(value, type):
        return value
    if (own := getattr(type(value), "__fingerprint__", None)) is not None:
        return own(value)
    kind = type(value).__module__.partition(".")[0]
    if kind == "numpy" and hasattr(value, "dtype"):
        return _array(value)
    if kind == "pandas" and hasattr(value, "iloc"):
        columns = [value.iloc[:, k] for k in range(value.shape[1])] if value.ndim == 2 else [value]
        names = list(value.columns) if value.ndim == 2 else []
        return [names, *(one.to_numpy() for one in (value.index, *columns))]
    if kind == "pandas" and hasattr(value, "to_numpy"):
        return value.to_numpy()
    if kind == "scipy" and hasattr(value, "tocoo"):
        entries = value.tocoo()
        return [entries.shape, entries.row, entries.col, entries.data]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return value


def _array(value: Any) -> Any:
    """Return the content of an array; for other numpy objects, a text."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        return str(value)  # of a dtype, of a date
    if isinstance(value, np.ma.MaskedArray):
        return [np.ma.getmaskarray(value), value.filled()]
    if value.dtype.hasobject:
        return value.tolist()
    data: Any = np.ascontiguousarray(value).reshape(-1)
    checksum = zlib.crc32(data.view(np.uint8)) if data.size else 0
    return [str(value.dtype), value.shape, checksum]


def _class(cls: type, path: Path) -> bytes:
    """A user's class by its name and members; other classes by name."""
    parts: list[bytes] = [_digest("class", cls.__qualname__)]
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "gaslab"):
            parts.append(_digest(base.__module__, base.__qualname__))
            continue
        for name, member in sorted(vars(base).items()):
            if name not in OF_PYTHON:
                parts.append(_digest(name, fingerprint(member, path)))
    return _digest(*parts)


def _function(function: Any, path: Path) -> bytes:
    """A function by its code, its defaults and the values it closes over."""
    closed = []
    for cell in function.__closure__ or ():
        try:
            closed.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            closed.append("empty")
    values = [function.__defaults__, function.__kwdefaults__, closed]
    if isinstance(function, types.MethodType):
        values.append(function.__self__)
    return _digest("function", _code(function.__code__, path), fingerprint(values, path))


def _code(code: types.CodeType, path: Path) -> bytes:
    return _digest("code", code.co_name, code.co_code, fingerprint(code.co_consts, path),
                   repr(code.co_names), repr(code.co_varnames))  # fmt: skip


def _digest(*parts: str | bytes) -> bytes:
    found = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.digest()
