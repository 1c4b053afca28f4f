"""Which rows of the user's arrays are this rank's: ``rows="same"``, ``"parts"`` or ``"root"``."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.arguments import shown
from gaslab.errors import InputError, UsageError
from gaslab.parallel.comm import Comm
from gaslab.parallel.fingerprint import fingerprint
from gaslab.ragged import RaggedColumn

Arrays = dict[str, np.ndarray]
NEEDS_THE_SAME = "rows='same' needs the same rows on every rank"
EXACT = {str, int, float, bool, bytes}  # equal values have equal fingerprints
OTHER_ROWS = "pass each rank its own rows with rows='parts', or rank 0 all of them with rows='root'"


def share(comm: Comm, make: Callable[[], Arrays], rows: str) -> Arrays:
    """Return this rank's part of each array (collective).

    *make* checks and returns the user's 1-D arrays; with ``"root"`` it runs on rank 0 alone.
    """
    arguments.choice("rows", rows, arguments.ROWS)
    arrays = comm.attempt(lambda: make() if rows != "root" or comm.rank == 0 else {})
    if rows == "root":
        nothing = comm.bcast({name: array[:0] for name, array in arrays.items()})
        return {name: _scattered(comm, arrays.get(name, empty)) for name, empty in nothing.items()}
    if comm.size == 1:
        return arrays
    by_rank = comm.allgather(_described(arrays) if rows == "same" else dict.fromkeys(arrays))
    for rank, other in enumerate(by_rank):
        if rows == "same" and other != by_rank[0]:
            raise UsageError(
                f"{NEEDS_THE_SAME}, but {_difference(by_rank[0], other, rank)}; {OTHER_ROWS}"
            )
        if set(other) != set(by_rank[0]):
            raise UsageError(f"rank 0 passed the columns {_listed(by_rank[0])}, rank {rank} {_listed(other)}")
    if rows == "same":
        _check_objects(comm, arrays)
    if rows == "parts":
        return arrays
    return {name: array[_span(len(array), comm.rank, comm.size)] for name, array in arrays.items()}


def _span(size: int, part: int, parts: int) -> slice:
    return slice(size * part // parts, size * (part + 1) // parts)


def _described(arrays: Arrays) -> dict[str, tuple[int, str, str]]:
    """Return the values that ranks compare: size, dtype and fingerprint of each array."""
    described = {}
    for name, array in arrays.items():
        if isinstance(array, RaggedColumn):
            both = _described({"lengths": array.lengths, "values": array.values})
            described[name] = (len(array), array.kind, repr(both))
        else:
            described[name] = (array.size, str(array.dtype), fingerprint(array).hex())
    return described


def _check_objects(comm: Comm, arrays: Arrays) -> None:
    """Raise if objects differ between ranks; fingerprints only have their classes (collective)."""
    for name, array in arrays.items():
        objects = array.tolist() if array.dtype == object and not isinstance(array, RaggedColumn) else []
        if set(map(type, objects)) <= EXACT:
            continue
        sent = comm.bcast(pickle.dumps(objects, protocol=5) if comm.rank == 0 else None)
        comm.attempt(partial(_compare, name, objects, sent, comm.rank))


def _compare(name: str, ours: list[Any], sent: Any, rank: int) -> None:
    """Raise if this rank's objects are not those that rank 0 pickled, or have different hashes."""
    theirs = unpickled(sent)
    if ours == theirs and list(map(hash, ours)) == list(map(hash, theirs)):
        return
    at = next(k for k, pair in enumerate(zip(ours, theirs, strict=True)) if not _same(*pair))
    one = ours[at]
    if one != theirs[at]:
        what = f"{name}[{at}] is {shown(theirs[at])} on rank 0 and {shown(one)} on rank {rank}"
        raise UsageError(f"{NEEDS_THE_SAME}, but {what}; {OTHER_ROWS}")
    raise InputError(
        f"{name}[{at}] is {shown(one)}, a {type(one).__name__}, whose hash on rank {rank} differs "
        "from that of its equal on rank 0, so ranks cannot agree on it; do not pickle a stored hash"
    )


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and hash(one) == hash(other)


def _difference(first: dict[str, Any], other: dict[str, Any], rank: int) -> str:
    if set(first) != set(other):
        return f"rank 0 passed the columns {_listed(first)}, rank {rank} {_listed(other)}"
    name = next(name for name in first if first[name] != other[name])
    (size, dtype, _), (other_size, other_dtype, _) = first[name], other[name]
    if (size, dtype) == (other_size, other_dtype):
        return f"the values of {name} differ between rank 0 and rank {rank}"
    return f"rank 0 passed {size} values of {dtype} as {name}, rank {rank} {other_size} of {other_dtype}"


def _listed(arrays: dict[str, Any]) -> str:
    return ", ".join(name for name in arrays if name not in ("source", "target", "vertices")) or "(none)"


def _scattered(comm: Comm, array: np.ndarray) -> np.ndarray:
    """Return this rank's part of rank 0's array (collective)."""
    parts = [array[_span(len(array), p, comm.size)] for p in range(comm.size)]
    if isinstance(array, RaggedColumn):
        return RaggedColumn.exchange(comm, parts)[0]
    if array.dtype != object:
        return comm.alltoall(parts)[0]
    packed = [np.frombuffer(pickle.dumps(part.tolist(), protocol=5), dtype=np.uint8) for part in parts]
    if comm.rank:
        packed = [np.empty(0, dtype=np.uint8)] * comm.size
    data = comm.alltoall(packed)[0].tobytes()
    return object_array(comm.attempt(lambda: unpickled(data)))


def unpickled(data: bytes) -> Any:
    """Return the objects that another rank pickled; InputError if this rank does not know their class."""
    try:
        return pickle.loads(data)
    except (pickle.UnpicklingError, AttributeError, ImportError) as error:
        raise InputError(
            f"a rank cannot read the objects of another: {error}; define their class on all"
        ) from error


def object_array(values: list[Any]) -> np.ndarray:
    """Return a 1-D object array of *values*, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
