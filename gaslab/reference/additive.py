"""Additive fields in the reference engine: scatter's ``nbr.x += d`` is noted, and counts after scatter."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from typing import Any

from gaslab import program as words
from gaslab.errors import ExecutionError
from gaslab.reference.arithmetic import Fault, Float, Int, narrow
from gaslab.reference.declared import Combiner, Field

_WIDE = {"float32": "float64", "float64": "float64", "bool": "bool", "id": "id"}


class _Sum:
    """A number that remembers what ``+=`` added to it; in any other use it is that number."""

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


class Contributions:
    """What one program's scatter adds to the additive fields of vertices, or of edges."""

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
        self._lines: dict[str, tuple[str, int]] = {}  # where a field is added to first

    def begin(self, everybody: Iterable[Any]) -> None:
        """Make the sums among the fields remember."""
        for name, combiner in self.combiners.items():
            kind = _FloatSum if combiner.storage == "float64" else _IntSum
            for v in everybody if combiner.op == "sum" else ():
                vars(v)[name] = kind(vars(v)[name])

    def note(self, v: Any, name: str, value: Any) -> None:
        """Take ``v.name = value`` as a contribution."""
        user = sys._getframe(2)
        self._lines.setdefault(name, (user.f_code.co_filename, user.f_lineno))
        combiner = self.combiners[name]
        more = value.added if combiner.op == "sum" else value
        self._totals[v, name] = combiner.add(self._totals.get((v, name), combiner.identity), more)

    def end(self, everybody: Iterable[Any]) -> None:
        """Let all contributions count; raises ExecutionError for a sum that does not fit its field."""
        for (v, name), total in self._totals.items():
            both = self.combiners[name].add(vars(v)[name], total)
            try:
                vars(v)[name] = narrow(self._fields[name].storage, both)
            except Fault as fault:
                file, line = self._lines[name]
                raise ExecutionError(
                    f"{file}:{line}: {self._owner} failed at vertex {v._named.id} in superstep "
                    f"{v._run.superstep_number}: {fault}\n    {linecache.getline(file, line).strip()}"
                ) from fault
        for name in self.combiners:
            for v in everybody:
                vars(v)[name] = narrow(self._fields[name].storage, vars(v)[name])
        self._totals.clear()
