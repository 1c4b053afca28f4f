"""The entries of SciPy's sparse matrices: checked, in coordinate form, with duplicates added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError

HALF = 32  # bits: the upper and lower halves of integers are added separately, so neither overflows


@dataclass
class Entries:
    """Entry (row[k], column[k]) of a matrix is value[k]."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    shape: tuple[int, int]

    def at(self, which: Any) -> Entries:
        """Return some of the entries."""
        return Entries(self.row[which], self.column[which], self.value[which], self.shape)

    def place(self, k: int) -> str:
        """Return entry *k*'s name in messages."""
        return f"({self.row[k]}, {self.column[k]})"


def edge_entries(matrix: Any, weighted: bool, directed: bool, bipartite: bool) -> Entries:
    """Return the entries that are edges: without direction, one of (i, j) and (j, i), the same edge.

    Raises InputError for an inconsistent matrix, for NaN if entries are *weighted*, and for an asymmetric
    matrix that should be symmetric.
    """
    if isinstance(matrix, type) or not hasattr(matrix, "tocoo"):
        needed = f"a scipy.sparse matrix is needed, not {type(matrix).__name__}"
        raise arguments.wrong("matrix", matrix, needed)
    if len(matrix.shape) != 2 or (matrix.shape[0] != matrix.shape[1] and not bipartite):
        raise UsageError(
            f"a square matrix is needed, not one of shape {matrix.shape}; or pass bipartite=True, and rows "
            "and columns are vertices of two kinds"
        )
    entries = entries_of(matrix)
    if weighted and entries.value.dtype.kind == "f" and np.isnan(entries.value).any():
        at = int(np.argmax(np.isnan(entries.value)))
        raise InputError(
            f"the entry {entries.place(at)} of the matrix is nan; weight=None leaves the values out"
        )
    if directed or bipartite:
        return entries
    return _one_way(entries)


def entries_of(matrix: Any) -> Entries:
    """Return all entries of a sparse matrix; duplicates become their sum."""
    _check_compressed(matrix)
    try:
        stored = matrix.tocoo()
    except (ValueError, IndexError) as error:
        raise InputError(f"the matrix is inconsistent: {error}") from error
    entries = Entries(stored.row, stored.col, stored.data, (int(matrix.shape[0]), int(matrix.shape[1])))
    sizes = {name: len(getattr(entries, name)) for name in ("row", "column", "value")}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{count} {name}s" for name, count in sizes.items())
        raise InputError(f"the matrix is inconsistent: it has {said}")
    for name, ends, size in zip(("row", "column"), (stored.row, stored.col), entries.shape, strict=True):
        wrong = np.flatnonzero((ends < 0) | (ends >= size))
        if wrong.size:
            raise InputError(
                f"the matrix is inconsistent: its entry {wrong[0]} is in {name} {ends[wrong[0]]}, but it "
                f"has {size} {name}s"
            )
    return entries if getattr(matrix, "has_canonical_format", False) else _added(entries)


def _check_compressed(matrix: Any) -> None:
    """Raise InputError if the arrays of a CSR, CSC or BSR matrix do not fit each other.

    SciPy's own loops trust them, and would read and write beyond their ends.
    """
    if getattr(matrix, "format", None) not in ("csr", "csc", "bsr"):
        return
    starts, indices, data = matrix.indptr, matrix.indices, matrix.data
    block = data.shape[1:] if matrix.format == "bsr" else (1, 1)
    lines, across = (size // width for size, width in zip(matrix.shape, block, strict=True))
    if matrix.format == "csc":
        lines, across = across, lines
    fault = None
    falls = np.flatnonzero(np.diff(starts) < 0)
    if len(starts) != lines + 1:
        fault = f"indptr has {len(starts)} values, but {lines + 1} are needed"
    elif len(indices) != len(data):
        fault = f"it has {len(indices)} indices and {len(data)} values"
    elif starts[0] != 0:
        fault = f"indptr[0] is {starts[0]}, not 0"
    elif falls.size:
        fault = f"indptr falls from {starts[falls[0]]} to {starts[falls[0] + 1]} at position {falls[0] + 1}"
    elif starts[-1] > len(indices):
        fault = f"indptr ends with {starts[-1]}, but it has {len(indices)} indices"
    else:
        wrong = np.flatnonzero((indices[: starts[-1]] < 0) | (indices[: starts[-1]] >= across))
        if wrong.size:
            fault = f"indices[{wrong[0]}] is {indices[wrong[0]]}, not 0 to {across - 1}"
    if fault is not None:
        raise InputError(f"the matrix in {matrix.format.upper()} form is inconsistent: {fault}")


def _added(entries: Entries) -> Entries:
    """Return each place once, with the 64-bit sum of its entries.

    Raises InputError for a sum that does not fit.
    """
    if not _twice(entries):
        return entries
    order = np.lexsort((entries.column, entries.row))
    row, column = entries.row[order], entries.column[order]
    new = np.ones(order.size, bool)
    new[1:] = (np.diff(row) != 0) | (np.diff(column) != 0)
    first = np.flatnonzero(new)
    kept = Entries(row[first], column[first], entries.value[order[first]], entries.shape)
    values, kind = entries.value[order], entries.value.dtype.kind
    if kind in "iu":
        kept.value, beyond = _whole_sums(values, first)
    else:
        if kind == "f" and values.dtype.itemsize < 8:
            values = values.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            add: np.ufunc = np.logical_or if kind == "b" else np.add  # as SciPy adds bools
            kept.value = add.reduceat(values, first)
        beyond = np.zeros(first.size, bool)
        if kind == "f":
            beyond = np.isinf(kept.value) & ~np.maximum.reduceat(np.isinf(values), first)
    if beyond.any():
        at = int(np.argmax(beyond))
        raise InputError(
            f"the entry {kept.place(at)} of the matrix is stored more than once, and the sum does not fit "
            f"{'int64' if kind in 'iu' else kept.value.dtype}; add the entries up as float64, or scale them"
        )
    return kept


def _twice(entries: Entries) -> bool:
    """Return whether any place has more than one entry."""
    if entries.shape[0] * entries.shape[1] < 1 << 63:
        key = np.sort(entries.row.astype(np.int64) * entries.shape[1] + entries.column)
        return bool((key[1:] == key[:-1]).any())
    order = np.lexsort((entries.column, entries.row))
    return bool(((np.diff(entries.row[order]) == 0) & (np.diff(entries.column[order]) == 0)).any())


def _whole_sums(values: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of runs of integers as int64, and which do not fit."""
    values = values if values.dtype == np.uint64 else values.astype(np.int64)
    low = np.add.reduceat((values & np.array((1 << HALF) - 1, values.dtype)).astype(np.int64), first)
    high = np.add.reduceat((values >> HALF).astype(np.int64), first) + (low >> HALF)
    beyond = (high < -(1 << (HALF - 1))) | (high >= 1 << (HALF - 1))
    return (high << HALF) | (low & ((1 << HALF) - 1)), beyond


def _one_way(entries: Entries) -> Entries:
    """Return the entries of a symmetric matrix, one of (i, j) and (j, i).

    Raises InputError for a matrix that is not symmetric. A zero may be stored in only one of the places.
    """
    low, high = np.minimum(entries.row, entries.column), np.maximum(entries.row, entries.column)
    order = np.lexsort((entries.row > entries.column, high, low))
    pair = np.zeros(order.size, bool)  # whether the next one has the same ends
    pair[:-1] = (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)
    second = np.zeros(order.size, bool)
    second[1:] = pair[:-1]
    value, following = entries.value[order], np.roll(entries.value[order], -1)
    alone = ~pair & ~second & (entries.row != entries.column)[order] & (value != 0)
    differ = pair & (value != following) & ~((value != value) & (following != following))
    wrong = np.flatnonzero(alone | differ)
    if wrong.size:
        k = int(order[wrong[0]])
        other = following[wrong[0]] if pair[wrong[0]] else 0
        raise InputError(
            f"directed=False needs a symmetric matrix: the entry {entries.place(k)} is {entries.value[k]}, "
            f"and ({entries.column[k]}, {entries.row[k]}) is {other}"
        )
    keep = np.ones(order.size, bool)
    keep[order[second]] = False
    return entries.at(keep)
