"""Additive fields in the reference engine: scatter's ``nbr.x += d`` is noted, and applied after scatter."""

from __future__ import annotations

import functools
import linecache
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from gaslab import program as words
from gaslab.errors import ExecutionError
from gaslab.reference.arithmetic import Fault, Float, Int, narrow
from gaslab.reference.arrays import OUTSIDE, Row
from gaslab.reference.combiners import Combiner, Field
from gaslab.reference.records import combined

_WIDE = {"float32": "float64", "float64": "float64", "bool": "bool", "id": "id"}


class _Sum:
    """A number that remembers what ``+=`` added to it; in any other use, just the number."""

    added: Any = None

    def __iadd__(self, more: Any) -> Any:
        made: Any = type(self)(self + more)  # type: ignore[call-arg, operator]
        made.added = more
        return made

    def __isub__(self, less: Any) -> Any:
        made: Any = type(self)(self - less)  # type: ignore[call-arg, operator]
        made.added = -less
        return made


class _FloatSum(_Sum, Float):
    pass


class _IntSum(_Sum, Int):
    pass


class _RowSum(Row):
    """An array that remembers what ``+=`` added to it or to one of its elements."""

    added: Any = None
    give: Any = None  # called with (index, element) of an assigned element

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if isinstance(found, np.ndarray) or self.give is None:
            return found
        return _FloatSum(found) if isinstance(found, float) else _IntSum(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            np.asarray(self)[index]
        except IndexError:
            raise Fault(OUTSIDE) from None
        self.give(index, value)

    def __iadd__(self, more: Any) -> Any:  # type: ignore[misc]
        made = np.asarray(self).view(_RowSum)
        made.added = more
        return made

    def __isub__(self, less: Any) -> Any:  # type: ignore[misc]
        made = np.asarray(self).view(_RowSum)
        made.added = -less
        return made


class Contributions:
    """The additions of one program's scatter to the additive fields of vertices, or of edges."""

    def __init__(self, cls: type, kind: str, fields: dict[str, Field]) -> None:
        owner, self._owner = getattr(cls, kind, getattr(words, kind)), cls.__name__
        marks = {name: getattr(owner, name, None) for name in fields}
        self.combiners = {
            name: Combiner(mark.sync, _WIDE.get(fields[name].storage, "int64"))
            for name, mark in marks.items()
            if isinstance(mark, words.Field) and mark.sync is not None
        }
        self._fields = fields
        self._totals: dict[tuple[Any, str], Any] = {}
        self._lines: dict[str, tuple[str, int]] = {}  # the first addition to a field

    def begin(self, owners: Iterable[Any]) -> None:
        """Make the sum fields remember additions."""
        for name, combiner in self.combiners.items():
            kind: Any = _FloatSum if combiner.storage == "float64" else _IntSum
            for v in owners if combiner.op == "sum" or self._fields[name].shape else ():
                if self._fields[name].shape:
                    vars(v)[name] = vars(v)[name].view(_RowSum)
                    vars(v)[name].give = functools.partial(self._note_element, v, name)
                    continue
                vars(v)[name] = kind(vars(v)[name])

    def note(self, v: Any, name: str, value: Any) -> None:
        """Record ``v.name = value`` as a contribution."""
        self._note_line(name, sys._getframe(2))
        combiner = self.combiners[name]
        more = value.added if combiner.op == "sum" else value
        if self._fields[name].shape:
            total = self._total(v, name)
            total[...] = combined(combiner.op, total, np.asarray(more))
            return
        self._totals[v, name] = combiner.add(self._totals.get((v, name), combiner.identity), more)

    def _note_line(self, name: str, user: types.FrameType) -> None:
        self._lines.setdefault(name, (user.f_code.co_filename, user.f_lineno))

    def _note_element(self, v: Any, name: str, index: Any, value: Any) -> None:
        """Record ``v.name[index] = value`` as a contribution."""
        self._note_line(name, sys._getframe(2))
        combiner, total = self.combiners[name], self._total(v, name)
        total[index] = combined(combiner.op, total[index], value.added if combiner.op == "sum" else value)

    def _total(self, v: Any, name: str) -> Any:
        """Return the array of additions to an array."""
        combiner = self.combiners[name]
        dtype = np.dtype(combiner.storage)
        return self._totals.setdefault((v, name), np.full(self._fields[name].shape, combiner.identity, dtype))

    def end(self, owners: Iterable[Any]) -> None:
        """Apply all contributions; raises ExecutionError for a sum that does not fit its field."""
        for (v, name), total in self._totals.items():
            field = self._fields[name]
            try:
                if field.shape:
                    with np.errstate(all="ignore"):
                        both = combined(self.combiners[name].op, np.asarray(vars(v)[name]), total)
                    v._run.put(v, name, field, both)
                else:
                    vars(v)[name] = narrow(field.storage, self.combiners[name].add(vars(v)[name], total))
            except Fault as fault:
                file, line = self._lines[name]
                raise ExecutionError(
                    f"{file}:{line}: {self._owner} failed at vertex {v._run.name(v._named)} in superstep "
                    f"{v._run.superstep_number}: {fault}\n    {linecache.getline(file, line).strip()}"
                ) from fault
        for name in self.combiners:
            field = self._fields[name]
            for v in owners:
                if field.shape:
                    v._run.put(v, name, field, np.asarray(vars(v)[name]))
                else:
                    vars(v)[name] = narrow(field.storage, vars(v)[name])
        self._totals.clear()
