"""`Result`: what a run answers, on every rank, in the user's own ids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.errors import UsageError
from gaslab.ingest.sides import right
from gaslab.results.tables import Table, objects
from gaslab.system.memory import available_memory, human

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.parallel.comm import Comm
    from gaslab.results.trace import Trace

OBJECT_BYTES = 64  # of a small Python object and the pointer to it
OUTSIDE = -1  # shown for an id field that holds no vertex, where ids are integers


class Result:
    """The answer of `gaslab.run`.

    Attributes
    ----------
    vertices : Table
        One row per vertex, sorted by id (in a bipartite graph by side, then id); a column per vertex
        field.
    edges : Table
        One row per edge, sorted by source and target; a column per edge field that scatter wrote
        (no rows if there is none).
    metrics : dict
        Figures of the run: iterations, updates, bytes_sent, seconds, ... Where a function of the toolkit
        answers something about the whole graph, ``"answer"`` has it by name.
    history : list of dict
        One entry per superstep; of `lda`, `als` and `sgd` one per sweep.
    aggregates : dict
        The last value of every aggregator, by name.
    tables : dict of str to Table
        Where a function of the toolkit answers tables of its own: these, by name.
    trace : Trace or None
        What the methods did at the vertices chosen by ``gl.run(trace=...)``, on every rank.
    converged : bool
        Whether the program came to its own end.
    iterations : int
        Supersteps run; of `lda`, `als` and `sgd` sweeps.
    on : str
        ``"all"``: every rank has the whole answer. ``"root"``: rank 0 has it, elsewhere the tables are
        empty. ``"local"``: each rank has the vertices it is master of, and its edges.

    Examples
    --------
    >>> import gaslab as gl
    >>> result = gl.components(gl.Graph.from_edges([1, 2, 7], [2, 3, 8]))
    >>> result
    <Result of Components: 5 vertices, 5 supersteps, converged; fields: component>
    >>> result.vertices["component"]
    array([1, 1, 1, 7, 7])
    """

    def __init__(
        self,
        vertices: Table,
        edges: Table,
        metrics: Mapping[str, Any],
        history: Sequence[Mapping[str, Any]],
        converged: bool,
        iterations: int,
        on: str,
        fingerprint: str,
    ) -> None:
        self.vertices, self.edges = vertices, edges
        self.metrics, self.history = dict(metrics), [dict(row) for row in history]
        self.converged, self.iterations = converged, iterations
        self.on, self.fingerprint = on, fingerprint
        self.aggregates: dict[str, Any] = {}
        self.tables: dict[str, Table] = {}
        self.trace: Trace | None = None

    @classmethod
    def collect(
        cls,
        graph: Graph,
        storage: Mapping[str, str],
        vertex_values: Mapping[str, np.ndarray],
        edge_values: Mapping[str, np.ndarray],
        metrics: Mapping[str, Any],
        history: Sequence[Mapping[str, Any]],
        converged: bool,
        iterations: int,
        on: str = "all",
    ) -> Result:
        """Bring together what the ranks computed (collective).

        Parameters
        ----------
        storage : mapping
            Field name to storage type; fields of type ``"id"`` hold global ids and become the user's.
        vertex_values : mapping
            Field name to the values of this rank's masters; fields whose name begins with ``_`` are the
            program's own affair and are left out, here and in *edge_values*.
        edge_values : mapping
            Field name to the values of this rank's edges, in slot order.
        on : {"all", "root", "local"}
            Where the answer goes.

        Raises
        ------
        UsageError
            The copies would not fit into memory; the message says their size.
        """
        vertex_values, edge_values = _public(vertex_values), _public(edge_values)
        masters = graph.local.gid[: graph.local.num_masters]
        vertices = _Part({"id": masters}, vertex_values, storage)
        if edge_values:
            source, target = graph.edges()
            edges = _Part({"source": source, "target": target}, edge_values, storage)
        else:
            nothing = np.zeros(0, np.int64)
            edges = _Part({"source": nothing, "target": nothing}, {}, storage)
        if on != "local":
            _check_room(graph, [vertices, edges], everywhere=on == "all")
        tables = [_table(graph, part, on) for part in (vertices, edges)]
        return cls(tables[0], tables[1], metrics, history, converged, iterations, on, graph.fingerprint)

    def __fingerprint__(self) -> Any:
        whole = [self.vertices, self.edges] if self.on == "all" else []  # else each rank has its own part
        return [self.on, self.fingerprint, self.metrics.get("program"), self.iterations, *whole]

    def replaced(self, **changes: Any) -> Result:
        """Return this result with some of its attributes changed."""
        names = ("vertices", "edges", "metrics", "history", "converged", "iterations", "on", "fingerprint")
        return Result(**{name: changes.get(name, getattr(self, name)) for name in names})

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        what, count = "sweep" if "figures" in self.metrics else "superstep", self.iterations
        if "asynchronous" in self.metrics:
            what, count = "update", self.metrics["updates"]
        return (
            f"<Result of {self.metrics.get('program', 'a program')}: {len(self.vertices):,} vertices, "
            f"{count:,} {what}{'s' * (count != 1)}, {end}; "
            f"fields: {', '.join([*self.vertices.columns, *self.edges.columns]) or 'none'}>"
        )


def _public(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array for name, array in values.items() if not name.startswith("_")}


class _Part:
    """This rank's rows of a table, in global ids, sorted; `keys` and id columns are still global ids."""

    def __init__(
        self, keys: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray], storage: Mapping[str, str]
    ) -> None:
        order = np.lexsort(tuple(reversed(list(keys.values()))))  # stable: parallel edges keep their order
        self.keys = {name: values[order] for name, values in keys.items()}
        self.columns = {
            name: np.ascontiguousarray(values[order], np.bool_ if storage[name] == "bool" else None)
            for name, values in columns.items()
        }
        self.id_columns = [name for name in columns if storage[name] == "id"]
        self.id_lists = [name for name in columns if storage[name] in ("list:id", "set:id")]

    def global_ids(self) -> dict[str, np.ndarray]:
        return {**self.keys, **{name: self.columns[name] for name in self.id_columns}}

    @property
    def rows(self) -> int:
        return int(next(iter(self.keys.values())).size)


def _table(graph: Graph, part: _Part, on: str) -> Table:
    if on == "local":
        keys = {name: user_ids(graph, gids) for name, gids in part.keys.items()}
        columns = {
            name: user_ids(graph, values) if name in part.id_columns else values
            for name, values in part.columns.items()
        }
        return _sided(graph, Table(keys, columns, part.global_ids()), part.id_lists)
    # The ids of all vertices, by global id, translate every key and id column where the answer goes.
    comm = graph.comm
    needed = "id" in part.keys or comm.allreduce(part.rows)
    whole_ids = _all_ids(graph, on) if needed else np.zeros(0, np.int64)
    gathered = [_gather(comm, values, on) for values in (*part.keys.values(), *part.columns.values())]
    order = np.lexsort(tuple(reversed(gathered[: len(part.keys)])))
    names = [*part.keys, *part.columns]
    whole = {name: values[order] for name, values in zip(names, gathered, strict=True)}
    global_ids = {name: whole[name] for name in (*part.keys, *part.id_columns)}
    whole.update({name: _translate(gids, whole_ids) for name, gids in global_ids.items()})
    keys = {name: whole[name] for name in part.keys}
    columns = {name: whole[name] for name in part.columns}
    return _sided(graph, Table(keys, columns, global_ids), part.id_lists)


def _sided(graph: Graph, table: Table, id_lists: list[str]) -> Table:
    """Return the table of a bipartite graph with the sides of its vertices beside their ids.

    Sources are always left and targets right; a column of vertices, say ``root``, gets ``root_side``.
    """
    if graph.ids.num_left is None:
        return table
    sides = {
        name: np.where(
            (gids >= 0) & (gids < graph.num_vertices), (gids >= graph.ids.num_left).astype(np.int64), OUTSIDE
        )
        for name, gids in table.global_ids.items()
    }
    keys = {name: table[name] for name in table.keys}
    if "id" in keys:
        keys["side"] = sides["id"]
    columns = {}
    for name in table.columns:
        columns[name] = table[name]
        if name in sides:
            columns[f"{name}_side"] = sides[name]
    return Table(keys, columns, table.global_ids, id_lists)


def user_ids(graph: Graph, gids: np.ndarray) -> np.ndarray:
    """Return the user's ids of global ids, as an int64 or object array (collective).

    A value outside 0..num_vertices-1 (the identity of Min or Max) becomes -1, or None.
    """
    inside = (gids >= 0) & (gids < graph.num_vertices)
    found = graph.ids.lookup(np.ascontiguousarray(gids[inside], np.int64))
    known = found if isinstance(found, np.ndarray) else objects(found)
    if inside.all():
        return np.asarray(known)
    ids = np.full(gids.size, OUTSIDE if known.dtype.kind == "i" else None, known.dtype)
    ids[inside] = known
    return ids


def marked_ids(graph: Graph, gids: np.ndarray) -> list[Any]:
    """As `user_ids`, for ids that stand in lists (collective): those on the right are ``right(id)``."""
    ids, left = user_ids(graph, gids).tolist(), graph.ids.num_left
    if left is None:
        return ids  # type: ignore[no-any-return]
    on_right = ((gids >= left) & (gids < graph.num_vertices)).tolist()
    return [right(one) if there else one for one, there in zip(ids, on_right, strict=True)]


def vertex_names(table: Table, graph: Graph, column: str = "id") -> list[Any]:
    """Return the vertices of a result's table, or those in a column of ids, as *graph* names them."""
    ids = table[column].tolist()
    if "side" not in table.keys or graph.ids.num_left is None:
        return list(ids)
    sides = table["side" if column == "id" else f"{column}_side"].tolist()
    return [right(one) if side == 1 else one for one, side in zip(ids, sides, strict=True)]


def _translate(gids: np.ndarray, whole_ids: np.ndarray) -> np.ndarray:
    inside = (gids >= 0) & (gids < whole_ids.size)
    if inside.all():
        return np.asarray(whole_ids[gids])
    ids = np.full(gids.size, OUTSIDE if whole_ids.dtype.kind == "i" else None, whole_ids.dtype)
    ids[inside] = whole_ids[gids[inside]]
    return ids


def _all_ids(graph: Graph, on: str) -> np.ndarray:
    """Return the user's ids of all vertices, by global id, where the answer goes (collective)."""
    comm, n = graph.comm, graph.num_vertices
    lo, hi = n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size
    return _gather(comm, user_ids(graph, np.arange(lo, hi, dtype=np.int64)), on)


def _gather(comm: Comm, values: np.ndarray, on: str) -> np.ndarray:
    """Return the values of all ranks, in rank order, where the answer goes; elsewhere an empty array."""
    if comm.size == 1:
        return values
    if values.dtype == object or comm.bcast(values.dtype == object):
        return _gather_objects(comm, values, on)
    row, values = values.shape[1:], values.reshape(-1)
    parts = comm.allgather_array(values) if on == "all" else comm.gather_array(values)
    return (np.zeros(0, values.dtype) if parts is None else np.concatenate(parts)).reshape(-1, *row)


def _gather_objects(comm: Comm, values: np.ndarray, on: str) -> np.ndarray:
    """As `_gather`, for Python objects: pickled, so that their bytes move like any array."""
    import pickle

    data = np.frombuffer(pickle.dumps(values.tolist(), protocol=5), np.uint8)
    parts = comm.allgather_array(data) if on == "all" else comm.gather_array(data)
    if parts is None:
        return np.zeros(0, object)
    return objects([value for part in parts for value in pickle.loads(part.tobytes())])


def _check_room(graph: Graph, parts: Sequence[_Part], everywhere: bool) -> None:
    """Raise UsageError on every rank if the whole answer would not fit on some machine (collective)."""
    comm = graph.comm
    row = [
        sum(x.itemsize * math.prod(x.shape[1:]) for x in (*part.keys.values(), *part.columns.values()))
        + (0 if graph.ids.kind == "int" else OBJECT_BYTES * (len(part.keys) + len(part.id_columns)))
        for part in parts
    ]
    rows = comm.allreduce(np.array([part.rows for part in parts], np.int64))
    whole = int(sum(int(count) * size for count, size in zip(rows, row, strict=True)))
    copies = comm.local_ranks if everywhere else 1
    # What is gathered is also sorted and translated: twice the answer, at the worst moment.
    room = comm.allreduce(available_memory(), "min")
    if 2 * whole * copies > room:
        raise UsageError(
            f"the whole answer takes {human(whole)}, times {copies} rank{'s' * (copies > 1)} of one machine, "
            f"twice while it is sorted, and {human(room)} of memory are free; ask for on='root' (one copy), "
            "for on='local' (each rank its own part), or write it with --output"
        )
