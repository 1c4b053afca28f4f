"""Makes tables of the values of all ranks: what crosses ranks does so at once, the rest when it is asked for.

A rank that is alone keeps its arrays until a column is asked for, and then puts that one into order. Of
several ranks those that get the answer keep the parts received, in the order of ranks. Under ``on="local"``
each sorts its own rows at once.
"""

from __future__ import annotations

import copy
import functools
import pickle
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.ingest.ids import VertexIds, placed
from gaslab.ingest.sides import right
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn
from gaslab.results.columns import Column, LazyArray, array_of
from gaslab.results.tables import Table, narrow, objects
from gaslab.system.memory import available_memory, human

OBJECT_BYTES = 64  # of a small Python object and the pointer to it
LISTS_OF_IDS = ("list:id32", "set:id32")  # storage types
SMALL = 1 << 16  # bytes of an answer for which nothing looks at the memory
OUTSIDE = -1  # shown for an id field that holds no vertex, where ids are integers from 0

Values = np.ndarray | RaggedColumn
Ends = tuple[np.ndarray, np.ndarray, np.ndarray]  # of `LocalGraph`: gid, in_begin, in_neighbor
Check = Callable[[], object]


class Collector:
    """Makes the tables of one result, on the ranks of ``on=``.

    Parameters
    ----------
    storage : mapping
        Field name to storage type; fields of type ``"id"`` hold global ids and become the user's.
    on : {"all", "root", "local"}
    """

    def __init__(self, graph: Graph, storage: Mapping[str, str], on: str) -> None:
        self.comm, self.on = graph.comm, on
        self._ids, self._storage = graph.ids, storage
        self._every: LazyArray | None = None  # the ids of all vertices, once they are here

    def of_edges(self, storage: Mapping[str, str]) -> Collector:
        """Return the same for edge fields of these storage types; other columns hold numbers."""
        made = copy.copy(self)
        made._storage = storage
        return made

    # ---- tables ------------------------------------------------------------------------------------

    def vertices(self, gids: np.ndarray, values: Mapping[str, Values]) -> Table:
        """Return the table of all vertices, by the values of this rank's masters *gids* (collective)."""
        check = self._check("the whole answer", {"id": gids}, values)
        if not self._is_local:
            everywhere = self.on == "all"
            count = self._ids.num_vertices if everywhere or self.comm.rank == 0 else 0
            begun = self._ids.begin_whole(everywhere)
            self._every = LazyArray(count, lambda: (check(), begun())[1])
        gids, here = self.gathered(gids), {name: self.gathered(x) for name, x in values.items()}
        if self._is_local:
            order = np.argsort(gids)
            return self._table({"id": gids}, here, check, lambda values: values[order])

        def arrange(values: Any) -> Any:  # each vertex has one master
            if isinstance(values, RaggedColumn):
                return values[placed(gids, np.arange(gids.size))]
            return placed(gids, values)

        return self._table({"id": gids}, here, check, arrange)

    def edges(self, ends: Ends, values: Mapping[str, Values]) -> Table:
        """Return the table of all edges, by this rank's ends and values in slot order (collective)."""
        gid, begin, neighbor = ends
        source: Column = LazyArray(neighbor.size, lambda: gid[neighbor])
        target: Column = LazyArray(neighbor.size, lambda: gid.repeat(np.diff(begin)))
        check = self._check("the table of edges", {"source": source, "target": target}, values)
        here = {name: self.gathered(x) for name, x in values.items()}
        if self.comm.size > 1:
            source, target = self.gathered(array_of(source)), self.gathered(array_of(target))

        # Stable: parallel edges keep their order.
        order = LazyArray(len(source), lambda: np.lexsort((array_of(target), array_of(source))))
        return self._table(
            {"source": source, "target": target}, here, check, lambda values: values[order.array]
        )

    def names(self, columns: Mapping[str, Values]) -> list[str]:
        """Return the names of the columns of a table with these fields, those of sides included."""
        sided = self._ids.num_left is not None
        return [
            one
            for name in columns
            for one in ([name, f"{name}_side"] if sided and self._storage.get(name) == "id" else [name])
        ]

    # ---- columns -----------------------------------------------------------------------------------

    @property
    def _is_local(self) -> bool:
        return self.on == "local" and self.comm.size > 1

    def _table(
        self, keys: Mapping[str, Column], values: Mapping[str, Values], check: Check,
        arrange: Callable[[Any], Any],
    ) -> Table:  # fmt: skip
        """Return the table of what is here by now.

        *check* goes before any copy is made; *arrange* returns rows in the order of the table.
        """
        rows = len(next(iter(keys.values())))

        def column(make: Callable[[], np.ndarray], at_once: bool = self._is_local) -> Column:
            lazy = LazyArray(rows, lambda: (check(), make())[1])
            return lazy.array if at_once else lazy

        def ordered(raw: Column, dtype: Any = None) -> Column:
            return column(lambda: np.ascontiguousarray(arrange(array_of(raw)), dtype))

        def sides(gids: Column) -> Column:
            left, count = self._ids.num_left, self._ids.num_vertices
            return column(lambda: _sides(array_of(gids), left or 0, count))

        def of_ids(gids: Column) -> Column:
            return column(self._begin_names(gids), at_once=False)

        sided, id_lists, columns = self._ids.num_left is not None, [], {}
        gids = {name: ordered(raw) for name, raw in keys.items()}
        if "id" in keys and not self._is_local:
            gids["id"] = column(lambda: np.arange(rows))
        named = {name: of_ids(raw) for name, raw in gids.items()}
        if "id" in keys and self._every is not None:
            named["id"] = self._every
        if sided and "id" in keys:
            named["side"] = sides(gids["id"])
        for name, raw in values.items():
            storage = self._storage.get(name)
            if storage in LISTS_OF_IDS:
                id_lists.append(name)
            if isinstance(raw, RaggedColumn):
                columns[name] = column(self._begin_lists(name, raw, arrange), at_once=False)
            elif storage == "id":
                gids[name] = ordered(raw)
                columns[name] = of_ids(gids[name])
                if sided:
                    columns[f"{name}_side"] = sides(gids[name])
            else:
                columns[name] = ordered(raw, np.bool_ if storage == "bool" else None)
        return Table(named, columns, gids, id_lists)

    def _begin_names(self, gids: Column) -> Callable[[], np.ndarray]:
        """Return what makes the user's ids of global ids; exchange now what that takes (collective)."""
        every, negative = self._every, self._ids.negative
        if every is not None:
            return lambda: _within(array_of(gids), every, negative)
        return begin_user_ids(self._ids, array_of(gids))

    def _begin_lists(
        self, name: str, raw: RaggedColumn, arrange: Callable[[Any], Any]
    ) -> Callable[[], np.ndarray]:
        """Return what makes the Python lists of a column; exchange now what that takes (collective)."""
        if self._storage.get(name) not in LISTS_OF_IDS:
            return lambda: objects(arrange(raw).tolist())
        left, count = self._ids.num_left, self._ids.num_vertices
        begun = self._begin_names(raw.values)

        def make() -> np.ndarray:
            ids = begun().astype(object)
            if left is not None:
                on_right = _sides(raw.values, left, count) == 1
                ids[on_right] = objects([right(one) for one in ids[on_right].tolist()])
            return objects(arrange(RaggedColumn(raw.lengths, ids)).tolist())

        return make

    # ---- between ranks -----------------------------------------------------------------------------

    def gathered(self, values: Any) -> Any:
        """Return the values of all ranks, in rank order, where the answer goes; elsewhere none."""
        comm = self.comm
        if comm.size == 1 or self.on == "local":
            return values
        if isinstance(values, RaggedColumn):
            return RaggedColumn(self.gathered(values.lengths), self.gathered(values.values))
        if values.dtype == object:
            return self._gathered_objects(values)
        row, values = values.shape[1:], values.reshape(-1)
        parts = comm.allgather_array(values) if self.on == "all" else comm.gather_array(values)
        return (np.zeros(0, values.dtype) if parts is None else np.concatenate(parts)).reshape(-1, *row)

    def _gathered_objects(self, values: np.ndarray) -> np.ndarray:
        """As `_gathered`, for Python objects: pickled, so that their bytes move like any array."""
        data = np.frombuffer(pickle.dumps(values.tolist(), protocol=5), np.uint8)
        parts = self.comm.allgather_array(data) if self.on == "all" else self.comm.gather_array(data)
        return objects([value for part in parts or () for value in pickle.loads(part.tobytes())])

    def _check(self, what: str, keys: Mapping[str, Column], values: Mapping[str, Values]) -> Check:
        """Check that a table would fit (collective); on a rank that is alone, return what does so later."""
        if self._is_local:
            return lambda: None
        mine = sum(8 * len(key) for key in keys.values()) + sum(int(x.nbytes) for x in values.values())
        if self._ids.kind != "int":
            ids = len(keys) + sum(self._storage.get(name) == "id" for name in values)
            mine += OBJECT_BYTES * ids * len(next(iter(keys.values())))
        check = functools.cache(functools.partial(_check_room, self.comm, what, mine, self.on == "all"))
        if self.comm.size > 1:
            check()
        return check


Parts = tuple[Collector, Ends, Mapping[str, Values]]


class UnreadEdges:
    """The edges of a result before they are read: each rank has its own, in slot order.

    Where a program has written none there is nothing to keep but the graph's own, and the graph has these: a
    result alone does not keep it in memory.

    Attributes
    ----------
    columns : list of str
        The names of the columns of *values*, the edge fields that the program wrote.
    spread : bool
        Whether they are on several ranks, so that reading them is collective.
    """

    def __init__(
        self, collector: Collector, graph: Graph, values: Mapping[str, Values], given: Graph | None = None
    ) -> None:
        self.comm, self.columns, self.spread = graph.comm, collector.names(values), graph.comm.size > 1
        graph_now, on = weakref.ref(given or graph), collector.on

        def from_graph() -> Parts:
            graph = graph_now()
            if graph is None:
                raise UsageError(
                    "the program wrote no edge field, and its graph is no longer in memory; keep the graph "
                    "for as long as its edges are read, or write run(..., edges=True)"
                )
            return Collector(graph, {}, on), _ends(graph), graph.edge_columns

        self._parts: Callable[[], Parts] | None = from_graph
        if values:
            kept = collector, _ends(graph), {**graph.edge_columns, **values}
            self._parts = lambda: kept

    @collective(name="collect_edges")
    def collect(self) -> Table:
        """Return their table (collective)."""
        make = self._parts
        if make is None:
            raise UsageError(
                "the result was pickled before its edges were collected, and has none; pickle one of "
                "run(edges=True), or call result.collect_edges() on every rank before"
            )
        collector, ends, values = self.comm.attempt(make)
        return collector.edges(ends, values)

    def __fingerprint__(self) -> Any:
        return self.columns

    def __getstate__(self) -> dict[str, Any]:  # ranks are of this process
        return {"comm": None, "columns": self.columns, "spread": self.spread, "_parts": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> UnreadEdges:
        return self  # nothing in it changes


def _ends(graph: Graph) -> Ends:
    return graph.local.gid, graph.local.in_begin, graph.local.in_neighbor


def rows_by_id(graph: Graph, gids: np.ndarray, values: Mapping[str, np.ndarray], on: str) -> Table:
    """Return the table of some vertices of one side, on the ranks of ``on=`` (collective).

    *gids* ascend on a rank, and from each rank to the next; *values* are their rows here.
    """
    comm = graph.comm
    collector = Collector(graph, {}, on)
    if comm.size > 1 and on != "local":
        mine = 8 * gids.size + sum(int(one.nbytes) for one in values.values()) + OBJECT_BYTES * gids.size
        _check_room(comm, "the whole answer", mine, on == "all")
    gids, columns = collector.gathered(gids), {name: collector.gathered(one) for name, one in values.items()}
    return Table({"id": narrow(graph.ids.lookup(gids))}, columns, {"id": gids})


# ---- ids --------------------------------------------------------------------------------------------


def user_ids(graph: Graph, gids: np.ndarray) -> np.ndarray:
    """Return the user's ids of global ids, as an int64 or object array (collective).

    A value outside 0..num_vertices-1 (the identity of Min or Max) becomes -1 where ids are integers from 0,
    else None.
    """
    return begin_user_ids(graph.ids, gids)()


def begin_user_ids(ids: VertexIds, gids: np.ndarray) -> Callable[[], np.ndarray]:
    """Exchange what `user_ids` takes (collective); return the rest of it, which may be called later."""
    inside = (gids >= 0) & (gids < ids.num_vertices)
    begun = ids.begin_lookup(np.ascontiguousarray(gids[inside], np.int64))
    return lambda: _spaced(begun(), inside, ids.negative)


def _within(gids: np.ndarray, every: LazyArray, negative: bool) -> np.ndarray:
    """Return the user's ids of global ids, given those of all vertices."""
    inside = (gids >= 0) & (gids < len(every))
    return _spaced(every.array[gids[inside]], inside, negative)


def _spaced(known: np.ndarray, inside: np.ndarray, negative: bool) -> np.ndarray:
    """Return ids with no vertex in between, where none is *inside*; *negative* is as in `VertexIds`."""
    if inside.all():
        return known.reshape(inside.shape)
    integers = known.dtype.kind == "i" and not negative
    ids = np.full(inside.shape, OUTSIDE if integers else None, known.dtype if integers else object)
    ids[inside] = known
    return ids


def _sides(gids: np.ndarray, left: int, count: int) -> np.ndarray:
    """Return the sides of vertices of a bipartite graph, with *left* of *count* on the left."""
    return np.where((gids >= 0) & (gids < count), (gids >= left).astype(np.int64), OUTSIDE)


def _check_room(comm: Comm, what: str, mine: int, everywhere: bool) -> None:
    """Raise UsageError on every rank if all ranks' bytes would not fit on some machine (collective)."""
    whole = int(comm.allreduce(mine))
    if whole < SMALL:
        return
    copies = comm.local_ranks if everywhere else 1
    # What is gathered is also sorted and translated: twice the answer, at the worst moment.
    room = comm.allreduce(available_memory(), "min")
    if 2 * whole * copies > room:
        raise UsageError(
            f"{what} takes {human(whole)}, times {copies} rank{'s' * (copies > 1)} of one machine, "
            f"twice while it is sorted, and {human(room)} of memory are free; ask for on='root' (one copy), "
            "for on='local' (each rank its own part), or write it with --output"
        )
