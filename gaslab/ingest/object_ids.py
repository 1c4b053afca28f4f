"""Ids that are neither all integers nor all text: hashable objects of any kinds.

Ranks exchange such ids pickled, and every rank keeps them all. They are ordered by value if they are numbers,
bytes or dates, or tuples of these; else in order of first appearance: the vertices of all ranks, then the
ends of edges.
"""

from __future__ import annotations

import pickle
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.missing import WAY_OUT, is_missing
from gaslab.ingest.rows import unpickled
from gaslab.parallel.comm import Comm

ORDERED = (bool, int, float, str, bytes, Decimal, date, datetime, timedelta)
SCALARS = (np.number, np.bool_, np.str_)  # of numpy, equivalent to Python's
PLAIN = {*ORDERED, np.int64, np.float64, np.str_, np.bool_}  # equal to their copies, unless missing
BY_VALUE = "give its class __eq__ and __hash__ that go by its value, or pass ids that are numbers or text"


def check_objects(name: str, objects: list[Any]) -> None:
    """Raise InputError for the first object that is missing, or that other ranks would not recognise."""
    for at, one in enumerate(objects):
        if is_missing(one):
            raise InputError(f"{name}[{at}] is missing ({one}){WAY_OUT}")
        if isinstance(one, str) and not one:
            raise InputError(f"{name}[{at}] is the empty string{WAY_OUT}")
        try:
            hash(one)
        except TypeError:
            raise InputError(f"{name}[{at}] is a {type(one).__name__}, which is not hashable") from None
    if set(map(type, objects)) <= PLAIN:
        return
    distinct = list(dict.fromkeys(objects))
    if _fault(distinct, list(map(hash, distinct))) is None:
        return
    for at, one in enumerate(objects):
        fault = _fault([one], [hash(one)])
        if fault is not None:
            kind = type(one).__name__
            raise InputError(
                f"{name}[{at}] is {arguments.shown(one)}, a {kind}, {fault}, so ranks cannot agree on it; "
                f"{BY_VALUE}"
            )


def _fault(objects: list[Any], hashes: list[int]) -> str | None:
    """Return an error of some of the objects, with these hashes; None if there is none."""
    try:
        copies = pickle.loads(pickle.dumps(objects, protocol=5))
    except (pickle.PickleError, AttributeError, ImportError, TypeError, RecursionError):
        return "which cannot be pickled"
    if copies != objects:
        return "which is not equal to a pickled copy of itself"
    return None if list(map(hash, copies)) == hashes else "whose hash differs from that of its pickled copy"


def number_objects(ends: list[np.ndarray], comm: Comm) -> tuple[list[np.ndarray], VertexIds]:
    """Return (the ends as global ids, the directory), as `number_integers` does for integers (collective).

    *ends* are this rank's sources, targets and further vertices.
    """
    src, dst, vertices = (part.tolist() for part in ends)
    pairs = [one for pair in zip(src, dst, strict=True) for one in pair] if dst else src
    mine = pickle.dumps((list(dict.fromkeys(vertices)), list(dict.fromkeys(pairs))), protocol=5)
    packed = comm.allgather(mine)
    listed = comm.attempt(lambda: [unpickled(part) for part in packed])
    seen = dict.fromkeys(one for part in (0, 1) for ends in listed for one in ends[part])
    objects = in_order(list(seen))
    place = {one: gid for gid, one in enumerate(objects)}

    def number() -> list[np.ndarray]:
        for one in (*src, *dst):
            if one not in place:
                raise InputError(
                    f"the id {arguments.shown(one)}, a {type(one).__name__}, has a different hash in another "
                    f"process, so ranks cannot agree on it; {BY_VALUE}"
                )
        return [np.array([place[one] for one in part], dtype=np.int64) for part in (src, dst)]

    return comm.attempt(number), VertexIds(comm, "object", len(objects), objects=objects)


def in_order(objects: list[Any]) -> list[Any]:
    """Return the objects by value if all have a common order; else unchanged.

    >>> in_order([(2, "a"), (1, "b")]), in_order([2.5, True, -1]), in_order(["a", 1])
    ([(1, 'b'), (2, 'a')], [-1, True, 2.5], ['a', 1])
    """
    if not all(map(_has_order, objects)):
        return objects
    try:
        return sorted(objects, key=_value)
    except TypeError:  # of several kinds, such as a number and text
        return objects


def _has_order(one: Any) -> bool:
    if isinstance(one, tuple):
        return all(map(_has_order, one))
    return type(one) in ORDERED or isinstance(one, SCALARS)


def _value(one: Any) -> Any:
    """Return an object's sort key."""
    if isinstance(one, tuple):
        return tuple(map(_value, one))
    return one.item() if isinstance(one, SCALARS) else one
