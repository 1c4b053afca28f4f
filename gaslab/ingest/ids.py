"""User ids and global ids: a directory spread over the ranks.

A vertex's global id is its position in the sorted order of the distinct user ids: numeric, or
bytewise (which for UTF-8 is the order of code points, and of Python's strings). Rank r keeps the
user ids of the global ids g with g % size == r, at position g // size; since positions ascend with
ids, each rank's table is itself sorted. Ids that are exactly 0 .. n-1 need no table. Ids that are neither
integers nor strings (nodes of a NetworkX graph) are kept by every rank, in the order of `object_ids`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from gaslab import arguments
from gaslab._kernels import ids as kernels
from gaslab.errors import VertexNotFound
from gaslab.ingest.capacity import check_room
from gaslab.ingest.names import Names, concatenate
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm

Kind = Literal["int", "str", "object"]
SAMPLE = 2000  # names that a rank compares with a missing one


class VertexIds:
    """The ids of a graph's vertices.

    Attributes
    ----------
    kind : {"int", "str", "object"}
    num_vertices : int
    num_left : int or None
        Number of left vertices of a bipartite graph; their global ids come first.
    comm : Comm
        The ranks that share the directory.
    negative : bool
        Whether integer ids may be negative. If not, results show "no vertex" as -1.
    """

    num_left: int | None = None
    negative: bool = False

    def __init__(
        self,
        comm: Comm,
        kind: Kind,
        num_vertices: int,
        table: np.ndarray | Names | None = None,
        objects: Sequence[Any] = (),
    ) -> None:
        self.kind: Kind = kind
        self.num_vertices = num_vertices
        self.comm = comm
        self._table = table  # this rank's part of the directory; None if ids are 0 .. n-1 or objects
        self._objects = objects
        self._places: dict[Any, int] | None = None

    def __repr__(self) -> str:
        return f"<VertexIds: {self.num_vertices} of kind {self.kind!r}>"

    @collective(exempt=("gids",))
    def lookup(self, gids: Any) -> np.ndarray:
        """Return the user ids of *gids*, any global ids on any rank (collective).

        The result is an int64 array for integer ids, otherwise an object array of str or of the user's
        objects.
        """
        gids = self.comm.attempt(lambda: global_ids(gids, self.num_vertices))
        return self.begin_lookup(gids)()

    def begin_lookup(self, gids: np.ndarray) -> Callable[[], np.ndarray]:
        """Exchange the data for `lookup` of these int64 *gids* (collective); return a function for the rest.

        The function is not collective; it decodes names, and may be called later.
        """
        comm, table = self.comm, self._table
        if self.kind == "object":
            known = self._objects
            return lambda: np.fromiter((known[gid] for gid in gids.tolist()), object, gids.size)
        if table is None:
            return lambda: np.asarray(gids)
        if comm.size == 1:
            return lambda: _at(table, gids)
        owner = gids % comm.size
        order = np.argsort(owner, kind="stable")
        bounds = np.searchsorted(owner[order], np.arange(comm.size + 1))
        position = gids[order] // comm.size
        asked = comm.alltoall([position[bounds[p] : bounds[p + 1]] for p in range(comm.size)])
        if isinstance(table, Names):
            ends = np.cumsum([0, *(part.size for part in asked)])
            answers = table.take(np.concatenate(asked)).exchange(comm, ends)
            return lambda: placed(order, concatenate(answers).decode())
        found = np.concatenate(comm.alltoall([table[part] for part in asked]))
        return lambda: placed(order, found)

    def begin_whole(self, everywhere: bool) -> Callable[[], np.ndarray]:
        """As `begin_lookup` of all global ids, on every rank or on rank 0; elsewhere of none."""
        comm, table = self.comm, self._table
        count = self.num_vertices if everywhere or comm.rank == 0 else 0
        if table is None or comm.size == 1:
            return lambda: self.begin_lookup(np.arange(count, dtype=np.int64))()
        columns = [np.diff(table.start), table.arena] if isinstance(table, Names) else [table]
        gather = comm.allgather_array if everywhere else comm.gather_array
        parts = [gather(column) or [] for column in columns]

        def make() -> np.ndarray:
            whole = np.empty(count, np.int64 if self.kind == "int" else object)
            for rank, part in enumerate(zip(*parts, strict=True)):
                names = part[0] if len(part) == 1 else Names.joined([part[1]], [part[0]]).decode()
                whole[rank :: comm.size] = names
            return whole

        return make

    def directories(self) -> list[VertexIds]:
        """Return the directories of plain ids behind these: one for each side (collective)."""
        return [self]

    def table_here(self) -> np.ndarray | Names | None:
        """Return this rank's part of the directory: int64, or names; None where ids are 0 to n - 1."""
        return self._table

    @collective(data=("user_ids",))
    def find(self, user_ids: Any, *, rows: str = "same") -> np.ndarray:
        """Return the global ids (int64) of *user_ids* (collective).

        Parameters
        ----------
        user_ids : an id or a sequence of ids
        rows : {"same", "parts"}
            Whether every rank passes the same ids, or each rank its own.

        Raises
        ------
        VertexNotFound
            An id is not in the graph; the error names the first one and the nearest known ids, on every rank.
        """
        wanted = listed(user_ids)
        return self._of_rows(wanted, arguments.choice("rows", rows, arguments.ROWS[:2]), self._find)

    @collective(data=("user_ids",))
    def locate(self, user_ids: list[Any], rows: str = "same") -> np.ndarray:
        """As `find`, with -1 for ids that are not in the graph (collective)."""
        return self._of_rows(user_ids, rows, self._located)

    def _of_rows(self, wanted: list[Any], rows: str, find: Callable[[list[Any]], np.ndarray]) -> np.ndarray:
        """Return the result of *find* for all ranks' ids, or with ``rows="parts"`` for this rank's."""
        if rows == "same":
            return find(wanted)
        parts = self.comm.allgather(wanted)
        first = sum(len(part) for part in parts[: self.comm.rank])
        return find([one for part in parts for one in part])[first : first + len(wanted)]

    def named(self, gids: Any) -> list[str]:
        """Return the names of *gids* in messages (collective)."""
        return [str(one) for one in self.lookup(gids).tolist()]

    def named_alone(self, gid: int) -> str:
        """Return a vertex's name in messages, or its place if another rank has its id (not collective)."""
        ranks = self.comm.size
        if ranks == 1:
            return self.named(np.array([gid], np.int64))[0]
        if self.num_left is None and self.kind == "object":
            return str(self._objects[gid])
        if self.num_left is None and self._table is None:
            return str(gid)
        if self._table is None or gid % ranks != self.comm.rank:
            return f"number {gid} in the order of the ids"
        position = np.array([gid // ranks], np.int64)
        here = self._table.take(position)
        return str((here.decode() if isinstance(here, Names) else here)[0])

    def marked(self, gids: Any) -> list[Any]:
        """Return *gids* as their owner would name them (collective)."""
        return list(self.lookup(gids).tolist())

    def hash_here(self) -> int:
        """Return the sum of a hash of each user id in this rank's directory (not collective)."""
        if isinstance(self._table, Names):
            return self._table.hash_sum()
        if self._table is not None:
            return int(kernels.hash_edges(self._table, self._table, (), 1))
        return 0

    def from_text(self, text: str) -> Any:
        """Return the user id that *text*, as typed at a command line, means in this graph."""
        text = arguments.text("text", text)
        if self.kind != "int":
            return text
        if not re.fullmatch("-?[0-9]{1,4000}", text):  # int() also reads 1_0, and digits of other scripts
            raise VertexNotFound(f"vertex {text!r} is not in the graph, whose ids are integers")
        return int(text)

    def _located(self, wanted: list[Any]) -> np.ndarray:
        if self.kind == "object":
            return self._find_objects(wanted)
        return self._find_names(wanted) if self.kind == "str" else self._find_integers(wanted)

    def _find(self, wanted: list[Any]) -> np.ndarray:
        found = self._located(wanted)
        absent = np.flatnonzero(found < 0)
        if absent.size:
            one = wanted[int(absent[0])]
            one = one.item() if isinstance(one, np.generic) else one  # numpy's repr includes the type
            raise VertexNotFound(f"vertex {one!r} is not in the graph{self._near(one)}")
        return found

    def _find_objects(self, wanted: list[Any]) -> np.ndarray:
        if self._places is None:
            self._places = {one: gid for gid, one in enumerate(self._objects)}
        places = self._places
        found = np.array(
            [places.get(one, -1) if isinstance(one, Hashable) else -1 for one in wanted], dtype=np.int64
        )
        if not found.size:
            return found
        # Ranks search for themselves, and their objects may differ.
        least, largest = self.comm.allreduce(np.stack([found, ~found]), "min")
        return np.where(least == ~largest, least, -1)

    def _find_integers(self, wanted: list[Any]) -> np.ndarray:
        least = -(1 << 63) if self.negative else 0
        fits = [
            isinstance(v, (int, np.integer)) and not isinstance(v, bool) and least <= v < 1 << 63
            for v in wanted
        ]
        values = np.array([v if fit else -1 for v, fit in zip(wanted, fits, strict=True)], dtype=np.int64)
        if self._table is None:
            return np.where(values < self.num_vertices, values, -1)
        assert isinstance(self._table, np.ndarray)
        at = np.searchsorted(self._table, values)
        here = (at < self._table.size) & np.array(fits, bool)
        here[here] = self._table[at[here]] == values[here]
        return self._first_known(np.where(here, at, -1))

    def _find_names(self, wanted: list[Any]) -> np.ndarray:
        assert isinstance(self._table, Names)
        # No name contains a NUL: it stands for non-strings.
        texts = [one if isinstance(one, str) and "\0" not in one else "\0" for one in wanted]
        return self._first_known(self._table.find([text.encode("utf-8", "surrogatepass") for text in texts]))

    def _first_known(self, position: np.ndarray) -> np.ndarray:
        """Return the global ids from each rank's positions in its table, -1 if no rank has one."""
        comm = self.comm
        gids = np.where(position >= 0, position * comm.size + comm.rank, -1)
        return np.asarray(comm.allreduce(gids, "max")) if gids.size else gids

    def _near(self, wanted: Any) -> str:
        """Name the ids nearest to a missing one (collective)."""
        if self.num_vertices == 0:
            return "; it has no vertices"
        if self.kind == "object":
            return f"; its ids are the {self.num_vertices} given nodes"
        if isinstance(self._table, Names):
            return ", whose ids are strings" * (not isinstance(wanted, str)) + self._near_names(str(wanted))
        if not isinstance(wanted, (int, np.integer)) or isinstance(wanted, bool):
            return ", whose ids are integers"
        if self._table is None:
            return f", whose ids are 0 to {self.num_vertices - 1}"
        at = int(np.searchsorted(self._table, min(max(wanted, -(1 << 63)), (1 << 63) - 1)))
        near = {
            v for part in self.comm.allgather(self._table[max(at - 2, 0) : at + 2].tolist()) for v in part
        }
        closest = sorted(near, key=lambda v: (abs(v - wanted), v))[:2]
        return _nearest_ids(sorted(closest))

    def _near_names(self, wanted: str) -> str:
        assert isinstance(self._table, Names)
        at = self._table.search(wanted.encode("utf-8", "surrogatepass"))
        spread = np.linspace(0, len(self._table) - 1, min(len(self._table), SAMPLE)).astype(np.int64)
        around = np.arange(max(at - 2, 0), min(at + 2, len(self._table)))
        known = self._table.take(np.unique(np.concatenate([spread, around]))).decode().tolist()
        close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
        offers = self.comm.allgather((close, self._table.take(around).decode().tolist()))
        similar = difflib.get_close_matches(
            wanted, [name for part, _ in offers for name in part], n=3, cutoff=0.6
        )
        if similar:
            return "; did you mean " + " or ".join(map(repr, similar)) + "?"
        beside = sorted({name for _, part in offers for name in part})
        place = sum(name < wanted for name in beside)
        return _nearest_ids(beside[max(place - 1, 0) : place + 1])


def listed(user_ids: Any) -> list[Any]:
    """Return ids, or a single one, as a list."""
    if isinstance(user_ids, (str, bytes, type)) or not isinstance(user_ids, Iterable):
        user_ids = [user_ids]
    return user_ids.tolist() if isinstance(user_ids, np.ndarray) else list(user_ids)


def _at(table: np.ndarray | Names, positions: np.ndarray) -> np.ndarray:
    """Return the ids at these positions of a directory."""
    return table.take(positions).decode() if isinstance(table, Names) else table[positions]


def placed(positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values, each moved to its position."""
    found = np.empty_like(values)
    found[positions] = values
    return found


def global_ids(gids: Any, num_vertices: int) -> np.ndarray:
    """Return global ids as an int64 array; raises UsageError for anything else."""
    try:
        found = np.atleast_1d(np.asarray(gids))
    except ValueError:  # rows of different lengths
        found = np.empty((0, 0))
    found = found.astype(np.int64) if found.shape == (0,) else found
    outside = found.dtype.kind not in "iu" or found.ndim != 1
    if outside or (found.size and not (found.min() >= 0 and found.max() < num_vertices)):
        needed = f"global ids are needed, whole numbers from 0 to {num_vertices - 1}"
        raise arguments.wrong("gids", gids, needed)
    return np.asarray(found, np.int64)


def from_one(comm: Comm, num_vertices: int, where: str = "") -> VertexIds:
    """Return the directory of vertices whose ids are 1 to *num_vertices* (collective).

    Raises InputError for more than the ranks can hold; *where* begins its message.
    """
    check_room(comm, num_vertices, where)
    return VertexIds(
        comm, "int", num_vertices, np.arange(comm.rank, num_vertices, comm.size, dtype=np.int64) + 1
    )


def _nearest_ids(ids: Sequence[int | str]) -> str:
    return f"; the nearest {'id is' if len(ids) == 1 else 'ids are'} {' and '.join(map(repr, ids))}"
