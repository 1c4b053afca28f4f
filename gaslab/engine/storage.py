"""Storage types as numpy dtypes, and the identities of combiners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gaslab.compiler.tree import TUPLES, WIDE, Combiner, RecordCombiner, Tree
from gaslab.language.fields import RANGES
from gaslab.ragged import GrowingRows, Rows


def dtype_of(storage: str) -> np.dtype:
    """Return the numpy dtype of a storage type; a tuple's has the layout of the C struct."""
    if storage in TUPLES:
        members = [(f"m{k}", dtype_of(one)) for k, one in enumerate(TUPLES[storage])]
        return np.dtype(members, align=True)
    return np.dtype({"id": "int64", "id32": "uint32"}.get(storage, storage))


def new_rows(room: np.ndarray, storage: str, grows: bool = False) -> Rows:
    """Return empty rows of a storage type's elements, with room for at least this many each."""
    kind = GrowingRows if grows else Rows
    return kind(room, dtype_of(storage), of_ids=storage == "id32")


def limits_of(dtype: np.dtype) -> tuple[int, int]:
    """Return the smallest and the largest value that the language stores in an integer dtype.

    >>> limits_of(np.dtype("uint8")), limits_of(np.dtype("uint64")) == (0, 2**63 - 1)
    ((0, 255), True)
    """
    return RANGES[dtype.name]


def total_dtype(combiner: Combiner) -> np.dtype:
    """Return the dtype of a total; an accumulator with parts has that of the C struct."""
    if not isinstance(combiner, RecordCombiner):
        return dtype_of(combiner.storage)
    parts = [(p.name, dtype_of(p.combiner.storage), p.shape) for p in combiner.parts]
    return np.dtype(parts, align=True)


def identity(combiner: Combiner, wide: bool = False) -> Any:
    """Return the identity of a combiner in its storage type, or in that type's eight-byte form."""
    if isinstance(combiner, RecordCombiner):
        row = np.zeros((), total_dtype(combiner))
        for part in combiner.parts:
            row[part.name] = identity(part.combiner)
        return row[()]
    kept = replace(combiner, storage=WIDE[combiner.type]) if wide else combiner
    return dtype_of(kept.storage).type(kept.identity)


def scalars(values: list[Any]) -> np.ndarray:
    """Return numbers as the eight-byte scalars of the ABI (floats as bits, the rest as int64)."""
    table = np.zeros(max(len(values), 1), np.int64)
    for k, value in enumerate(values):
        if isinstance(value, (float, np.floating)):
            table[k : k + 1].view(np.float64)[0] = value
        else:
            table[k] = int(value)
    return table


def identities(tree: Tree) -> np.ndarray:
    """Return the identities of the aggregators, as eight-byte scalars."""
    values: list[Any] = []
    for a in tree.aggregators:
        parts = a.combiner.parts if isinstance(a.combiner, RecordCombiner) else ()
        values += [identity(p.combiner, wide=True) for p in parts for _ in range(p.slots)]
        values += [] if parts else [identity(a.combiner, wide=True)]
    return scalars(values)
