"""Columns of a table: arrays, or arrays that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np


class LazyArray:
    """An array that is made when it is first asked for, and then kept in place of what it is made of.

    Parameters
    ----------
    rows : int
        Its length.
    make : function
        Returns the array. It raises where that is impossible now, and is called again the next time.

    Examples
    --------
    >>> import numpy as np
    >>> lazy = LazyArray(3, lambda: np.arange(3))
    >>> len(lazy), lazy.array
    (3, array([0, 1, 2]))
    """

    __slots__ = ("_made", "_make", "_rows")

    def __init__(self, rows: int, make: Callable[[], np.ndarray]) -> None:
        self._rows = rows
        self._make: Callable[[], np.ndarray] | None = make
        self._made: Any = None

    def __len__(self) -> int:
        return self._rows

    @property
    def array(self) -> np.ndarray:
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None  # last: another thread that finds no function finds the array
        return self._made  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return np.asarray, (self.array,)  # pickled and copied as what it stands for


Column = np.ndarray | LazyArray


def array_of(column: Column) -> np.ndarray:
    """Return the array of a column."""
    return column.array if isinstance(column, LazyArray) else column


class Columns(Mapping[str, np.ndarray]):
    """Columns of one length by name; looking one up makes it."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns: dict[str, Column] = (
            columns._columns if isinstance(columns, Columns) else dict(columns)  # they never change
        )

    def __getitem__(self, name: str) -> np.ndarray:
        return array_of(self._columns[name])

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return repr(dict(self))

    @property
    def rows(self) -> int:
        """The length of the columns; there is at least one."""
        return len(next(iter(self._columns.values())))

    def only(self, names: Iterable[str]) -> dict[str, Column]:
        """Return those of these names, in this order; none is made."""
        return {name: self._columns[name] for name in names}
