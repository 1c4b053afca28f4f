"""Totals by key: the type of a gather that sums by key, and its total in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByKey:
    """The mark behind ``SumBy[...]``."""

    def __repr__(self) -> str:
        return "ByKey()"


class Totals(dict[K, V]):
    """The sum of each key, as apply sees it in the reference engine; any other key has the sum *nothing*.

    >>> total = Totals(0.0)
    >>> total.update({7: 1.5, 2: 0.5, 5: 1.5})
    >>> total.items(), total[3], 7 in total, total.argmax()
    ([(2, 0.5), (5, 1.5), (7, 1.5)], 0.0, True, 5)
    """

    def __init__(self, nothing: V) -> None:
        super().__init__()
        self.nothing = nothing

    def __missing__(self, key: K) -> V:
        return self.nothing

    def items(self) -> Any:
        """Return the keys with their sums, in ascending order of the keys."""
        return sorted(super().items())

    def argmax(self) -> K:
        """Return the key with the largest sum, the smallest key on a tie; a nan sum comes last.

        An empty total has no such key, and ends the run.
        """
        if not self:
            raise IndexError("argmax of an empty total")
        best, *others = self.items()
        for one in others:
            if one[1] > best[1] or (best[1] != best[1] and one[1] == one[1]):
                best = one
        return best[0]  # type: ignore[no-any-return]


# On gather's result a key and a value, or None; on apply's total the sum of each key. For type checkers it is
# both.
if TYPE_CHECKING:
    SumBy = Annotated[Any | Totals[K, V], ByKey()]
else:
    SumBy = Annotated[tuple[K, V], ByKey()]
