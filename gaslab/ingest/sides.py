"""The sides of a bipartite graph: left ids first, then right ones, in separate id spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError, VertexNotFound
from gaslab.ingest.ids import VertexIds, global_ids, listed
from gaslab.parallel.comm import Comm

LEFT, RIGHT = 0, 1
SIDES = ("left", "right")


class Right:
    """A vertex on the right side of a bipartite graph; made by `right`.

    >>> from gaslab.ingest.sides import right
    >>> right(7)
    right(7)
    >>> right(7) == right(7), right(7) == 7
    (True, False)
    """

    __slots__ = ("id",)

    def __init__(self, user_id: Any) -> None:
        self.id = user_id

    def __repr__(self) -> str:
        return f"right({self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Right) and other.id == self.id

    def __hash__(self) -> int:
        return hash((Right, self.id))

    def __fingerprint__(self) -> Any:
        return self.id


def right(user_id: Any) -> Any:
    """Name the vertex *user_id* on the right side of a bipartite graph.

    Wherever a vertex is named, an id alone means the left side.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([3, 4], [3, 9], bipartite=True)  # 3 is on both sides
    >>> graph.ids.find([3, gl.right(3)])
    array([0, 2])
    """
    return Right(user_id)


def in_words(one: Any) -> Any:
    """Return a vertex of a bipartite graph as `SidedIds.from_text` reads it; a left number stays.

    >>> in_words(right(7)), in_words(7), in_words("ann"), in_words("right:ann")
    ('right:7', 7, 'ann', 'left:right:ann')
    """
    if isinstance(one, Right):
        return f"{SIDES[RIGHT]}:{one.id}"
    side, colon, _ = one.partition(":") if isinstance(one, str) else ("", "", "")
    return f"{SIDES[LEFT]}:{one}" if colon and side in SIDES else one


class SidedIds(VertexIds):
    """The ids of a bipartite graph: two directories, the right one's global ids after the left one's."""

    def __init__(self, comm: Comm, left: VertexIds, right: VertexIds) -> None:
        kind = left.kind if left.kind == right.kind else "object"
        super().__init__(comm, kind, left.num_vertices + right.num_vertices)
        self.num_left, self.negative = left.num_vertices, left.negative or right.negative
        self.sides = (left, right)

    def lookup(self, gids: Any) -> np.ndarray:
        """Return the user ids of *gids* on their own sides, without the sides (collective)."""
        return self.begin_lookup(self.comm.attempt(lambda: global_ids(gids, self.num_vertices)))()

    def begin_lookup(self, gids: np.ndarray) -> Callable[[], np.ndarray]:
        """Exchange the data for `lookup` (collective); return a function for the rest."""
        on_right = gids >= self.num_left
        masks, first = (~on_right, on_right), (0, self.num_left or 0)
        parts = [
            side.begin_lookup(gids[mask] - before)
            for side, mask, before in zip(self.sides, masks, first, strict=True)
        ]

        def make() -> np.ndarray:
            found = np.empty(gids.size, np.int64 if self.kind == "int" else object)
            for mask, part in zip(masks, parts, strict=True):
                found[mask] = part()
            return found

        return make

    def begin_whole(self, everywhere: bool) -> Callable[[], np.ndarray]:
        """As `begin_lookup` of all global ids, on every rank or on rank 0; elsewhere of none."""
        left, right = (side.begin_whole(everywhere) for side in self.sides)
        return lambda: np.concatenate([left(), right()])

    def named(self, gids: Any) -> list[str]:
        """Return the names of *gids* in messages (collective): ``7 (right)``."""
        return [f"{one!s} ({SIDES[side]})" for one, side in self._with_sides(gids)]

    def marked(self, gids: Any) -> list[Any]:
        """Return *gids* as their owner would name them (collective): an id, or ``right(id)``."""
        return [Right(one) if side else one for one, side in self._with_sides(gids)]

    def _with_sides(self, gids: Any) -> list[tuple[Any, int]]:
        sides = (np.array(gids, ndmin=1) >= self.num_left).astype(int)
        return list(zip(self.lookup(gids).tolist(), sides.tolist(), strict=True))

    def find(self, user_ids: Any, *, rows: str = "same") -> np.ndarray:
        """Return the global ids of *user_ids*, on the left unless made by `right` (collective)."""
        rows = arguments.choice("rows", rows, arguments.ROWS[:2])
        return self._on_sides(listed(user_ids), lambda number, part: self._find_on(number, part, rows))

    def locate(self, user_ids: list[Any], rows: str = "same") -> np.ndarray:
        """As `find`, with -1 for missing ids (collective)."""
        return self._on_sides(user_ids, lambda number, part: self.sides[number].locate(part, rows))

    def _on_sides(self, wanted: list[Any], find: Callable[[int, list[Any]], np.ndarray]) -> np.ndarray:
        on_right = np.array([isinstance(one, Right) for one in wanted], bool)
        found = np.empty(len(wanted), np.int64)
        for number, mask in enumerate((~on_right, on_right)):
            part = [one.id if number else one for one in wanted if isinstance(one, Right) == number]
            gids = find(number, part)
            found[mask] = np.where(gids < 0, -1, gids + (self.num_left if number else 0))
        return found

    def _find_on(self, number: int, wanted: list[Any], rows: str) -> np.ndarray:
        try:
            return self.sides[number].find(wanted, rows=rows)
        except VertexNotFound as error:
            text = str(error).replace("in the graph", f"on the {SIDES[number]} side of the graph", 1)
            hint = "" if number else "; gl.right(id) names one of the right side"
            raise VertexNotFound(text + hint) from None

    def directories(self) -> list[VertexIds]:
        """Return the directories of the left and the right side (collective)."""
        return [one for side in self.sides for one in side.directories()]

    def hash_here(self) -> int:
        """Return the sum of a hash of each user id in this rank's directories (not collective)."""
        left, right = (side.hash_here() for side in self.sides)
        return (left + 3 * right) % (1 << 64)

    def from_text(self, text: str) -> Any:
        """Return the vertex that *text* means: ``7`` and ``left:7`` are on the left, ``right:7`` is not."""
        side, colon, rest = text.partition(":")
        if colon and side in SIDES:
            one = self.sides[SIDES.index(side)].from_text(rest)
            return Right(one) if side == "right" else one
        return self.sides[LEFT].from_text(text)


def need_sides(ids: VertexIds, what: str) -> None:
    """Raise UsageError unless the graph is bipartite; *what* needs it."""
    if ids.num_left is None:
        raise UsageError(f"{what}, and the graph is not bipartite; make it with bipartite=True (--bipartite)")
