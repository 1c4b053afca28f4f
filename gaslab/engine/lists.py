"""Lists in a run: the room of their rows, the threads' scratch space, initial values, the answer.

The values of a list field are gather totals, other list fields and initial values; a total has at most one
element per edge of its vertex. So the room of every row is known before the run. Fields that a program
appends to, or that take its messages, grow (`GrowingRows`): threads store separately what rows have no room
for, and it is moved into place after each phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gaslab._kernels import phase_runner, ragged
from gaslab._kernels.outbox import Outboxes
from gaslab.compiler import tree as t
from gaslab.compiler.tree.uses import marked_field, words
from gaslab.engine.bind import converted
from gaslab.engine.keyed import KeyedRoom, new_keyed_rows
from gaslab.engine.storage import dtype_of, new_rows, total_dtype
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.program import ALL, IN, NOBODY, OUT
from gaslab.ragged import NOBODY_32, GrowingRows, RaggedColumn, Rows
from gaslab.replication.exchange import Exchange, Section
from gaslab.results.result import Result, vertex_names

MOST_VERTICES = NOBODY_32  # of a graph for lists of vertex ids
MOST_MARKS = 1 << 33  # vertices of a graph for which each thread keeps a bit


class InitialLists(NamedTuple):
    """The caller's lists for this rank's masters: the length of each, and all values one after another."""

    lengths: np.ndarray  # int32
    values: np.ndarray


# ---- room ------------------------------------------------------------------------------------------


def rooms(
    trees: tuple[t.Tree, ...], graph: Graph, initial: Mapping[str, np.ndarray | InitialLists]
) -> dict[str, np.ndarray]:
    """Return the most values that each vertex here can have, by list field (collective)."""
    variables = [v for v in trees[0].vertex_fields if t.is_list(v.storage)]
    elements = {t.element_storage(v.storage) for v in variables}
    combiners = [c for tree in trees for c in (tree.gather, tree.message) if c is not None]
    elements |= {one.key if isinstance(one, t.KeyedCombiner) else one.storage for one in combiners}
    elements |= {member for one in elements for member in t.TUPLES.get(one, ())}
    if "id32" in elements and graph.num_vertices > MOST_VERTICES:
        raise UsageError(
            f"{trees[0].name} collects vertex ids in lists, which can hold the ids of at most "
            f"{MOST_VERTICES} vertices; the graph has {graph.num_vertices}"
        )
    if not variables:
        return {}
    local, needed = graph.local, {}
    sources = _sources(trees)
    for variable in variables:
        room = np.zeros(local.num_local, np.int64)
        for source in sources[variable.name]:
            if isinstance(source, int) and variable.name in trees[0].growing:
                continue
            if isinstance(source, int):
                np.maximum(room, degrees(local, source if graph.directed else ALL), out=room)
            elif isinstance(lists := initial.get(source), InitialLists):
                room[: local.num_masters] = np.maximum(room[: local.num_masters], lists.lengths)
        needed[variable.name] = room
    Exchange(local, graph.comm).spread([Section(ALL, tuple(needed.values()))], None).end()
    return needed


def _sources(trees: tuple[t.Tree, ...]) -> dict[str, set[str | int]]:
    """Return the sources of each list field's values: fields with initial values, and masks of gathers."""
    fields = trees[0].vertex_fields
    found: dict[str, set[str | int]] = {v.name: {v.name} for v in fields}
    assigned = [
        (tree, x)
        for tree in trees
        for name in ("init", "apply")
        if name in tree.functions
        for x in t.nodes(tree.functions[name].body)
        if isinstance(x, t.Assign) and isinstance(x.target, t.VertexField) and t.is_list(x.target.type)
    ]
    for _ in fields:  # as often as a value can be passed on
        for tree, x in assigned:
            assert isinstance(x.target, t.VertexField)
            target = found[fields[x.target.index].name]
            for part in t.nodes(x.value):
                if isinstance(part, t.VertexField) and t.is_list(part.type):
                    target |= found[fields[part.index].name]
                elif isinstance(part, t.Local) and t.is_list(part.type):
                    target.add(tree.gather_edges)
    return found


def degrees(local: LocalGraph, mask: int) -> np.ndarray:
    """Return the number of edges in the whole graph of every vertex here, in the directions of *mask*."""
    if not mask:
        return np.zeros(local.num_local, np.int64)
    return {IN: local.in_degree, OUT: local.out_degree, ALL: local.degree}[mask]


# ---- scratch ---------------------------------------------------------------------------------------


class Scratch:
    """Each thread's own memory: for a list being gathered, for operations on lists, and for marks."""

    def __init__(self, tree: t.Tree, view: phase_runner.View, graph: Graph, threads: int) -> None:
        self.table: np.ndarray | None = None
        self._growing: list[GrowingRows] = []
        if not tree.has_lists:
            return
        gather = tree.gather if tree.gather is not None and tree.gather.collects else None
        longest = max(
            (field.most for field in (*view.vertex, *view.edge) if isinstance(field, Rows)), default=0
        )
        if "visit" in tree.functions:  # which may reach the edges of any rank
            longest = int(graph.comm.allreduce(longest, "max"))
        size = row = 0
        by_key = gather if isinstance(gather, t.KeyedCombiner) else None
        sizes = [0]  # bytes of sorted elements; lists in fields need no other room
        if tree.collects_messages:
            assert tree.message is not None
            sizes.append(dtype_of(tree.message.storage).itemsize)
        if gather is not None:
            size = dtype_of(gather.storage if by_key is None else by_key.key).itemsize
            sizes += [size] if by_key is None else [size, 8]
            every = np.zeros(graph.local.num_local, np.int64)
            if every.size:
                row = int(row_lengths(view, None, every).max())
                longest = max(longest, int(degrees(graph.local, view.gather_edges).max()))
        marks = graph.num_vertices if marked_field(tree) is not None else 0
        words_ = 0 if marks > MOST_MARKS else (marks >> 6) + 1
        self._sizes, self._counts, self._longest = sizes, bool(words(tree) & {"mode", "mex"}), longest
        self._keyed = [] if by_key is None else [KeyedRoom(by_key, row, longest) for _ in range(threads)]
        self._room = [
            [np.empty(row * size + 8, np.uint8), self._work(), np.zeros(words_, np.uint64)]
            for _ in range(threads)
        ]
        self._threads, self._growing = threads, [x for x in view.vertex if isinstance(x, GrowingRows)]
        self._boxes = Outboxes(threads * len(self._growing), 1)
        self._show()

    def absorb(self) -> None:
        """Store in fields the lists that have outgrown their rows."""
        for k, rows in enumerate(self._growing):
            for box in self._boxes.take_bytes(k, len(self._growing)):
                rows.absorb(box)
            self.reserve(rows.most)

    def reserve(self, longest: int) -> None:
        """Make room for operations on lists of this many values."""
        if longest > self._longest:
            self._longest = max(longest, 2 * self._longest)
            for room in self._room:
                room[1] = self._work()
            self._show()

    def _work(self) -> np.ndarray:
        """Return a thread's room for operations on lists."""
        longest, work = self._longest, 0
        for size in self._sizes:
            work = max(work, (48 if self._counts else size) * longest)
            if 0 < size < 4:  # narrow values are sorted by counting them: `gl_sort_narrow`, `gl_sort_dense`
                work = max(work, 5 * min(64 * longest, 1 << 16))
                work = max(work, 8 * min(2 * longest, 1 << 16) + size * (longest + 16))
        return np.empty(work + 64, np.uint8)

    def _show(self) -> None:
        boxes, count = self._boxes.table, len(self._growing)
        step = boxes.size // (self._threads * count) * count if count else 0
        table = [
            [*(a.ctypes.data if a.size else 0 for a in room), boxes.ctypes.data + t * step if count else 0]
            for t, room in enumerate(self._room)
        ]
        if self.table is None:
            self.table = np.empty((len(table), 4), np.uintp)  # which does not move
        self.table[:] = table
        if self._keyed:
            self.table[:, 0] = [room.table.ctypes.data for room in self._keyed]


def row_lengths(view: phase_runner.View, ids: np.ndarray | None, lengths: np.ndarray) -> np.ndarray:
    """Add to *lengths* the number of gathered edges here of each vertex in *ids* (None: all)."""
    for bit, begin in ((IN, view.in_begin), (OUT, view.out_begin)):
        if view.gather_edges & bit:
            if ids is None:
                lengths += np.diff(begin)
            else:
                ragged.add_row_lengths(lengths, begin, ids)
    return lengths


def partial_totals(view: phase_runner.View, ids: np.ndarray, combiner: t.Combiner) -> Any:
    """Return room for the totals that vertices *ids* gather here: totals, or rows of lists or sums."""
    if isinstance(combiner, t.KeyedCombiner):
        return new_keyed_rows(row_lengths(view, ids, np.zeros(ids.size, np.int64)), combiner)
    if combiner.collects:
        return new_rows(row_lengths(view, ids, np.zeros(ids.size, np.int64)), combiner.storage)
    return np.empty(ids.size, total_dtype(combiner))


# ---- initial values and answers --------------------------------------------------------------------


def initial_lists(variable: t.Variable, data: Any, graph: Graph) -> InitialLists:
    """Return the initial values of a list field, for this rank's masters (collective).

    *data* is a mapping from vertex id to values (other vertices start empty), or a sequence of one
    list per vertex in the order of the sorted ids.
    """
    storage = t.element_storage(variable.storage)
    masters = graph.local.gid[: graph.local.num_masters].tolist()
    if hasattr(data, "to_dict"):
        data = data.to_dict()
    if isinstance(data, (Result, Mapping)):
        if isinstance(data, Result):
            gids, lists = gids_of_result(data, graph), data.vertices[variable.name].tolist()
        else:
            gids, lists = graph.ids.find(list(data)), list(data.values())
        by_gid = dict(zip(gids.tolist(), lists, strict=True))
        rows = graph.comm.attempt(lambda: [_row(variable, by_gid.get(g, ())) for g in masters])
    else:
        sized = hasattr(data, "__len__") and getattr(data, "shape", None) != ()
        if not sized or len(data) != graph.num_vertices:
            raise UsageError(
                f"init={{{variable.name!r}: ...}} needs one list per vertex, {graph.num_vertices}, in the "
                "order of the sorted ids (or a dict by id)"
            )
        rows = graph.comm.attempt(lambda: [_row(variable, data[g]) for g in masters])
    flat = [x for row in rows for x in row]
    if storage == "id32":
        values = gids_of(graph, variable, flat, rows="parts")
    else:
        element = t.Variable(variable.name, storage, 0, variable.site)
        values = converted(np.asarray(flat or np.zeros(0, dtype_of(storage))), element, variable.name)
    lengths = np.array([len(row) for row in rows], np.int32)
    if variable.storage.startswith("set:"):
        sets = RaggedColumn(lengths, values).as_sets()
        return InitialLists(sets.lengths.astype(np.int32), sets.values)
    return InitialLists(lengths, values)


def _row(variable: t.Variable, values: Any) -> list[Any]:
    if isinstance(values, (int, float, np.number)):
        raise _number_refused(variable, values, "lists")
    return list(values)


def gids_of_result(result: Result, graph: Graph) -> np.ndarray:
    """Return the global ids in *graph* of a result's vertices on this rank (collective).

    Raises UsageError for a bipartite graph's result if *graph* is not bipartite: its right side would be
    lost.
    """
    table = result.vertices
    if result.metrics.get("fingerprint") == graph.fingerprint:
        return table.global_ids["id"]
    if "side" in table.keys and graph.ids.num_left is None:
        raise UsageError(
            "init= is the result of a bipartite graph, but this graph is not bipartite; for one side pass "
            "init={field: result.vertices.side(0).to_dict(field)}"
        )
    return graph.ids.find(vertex_names(table, graph), rows="same" if result.on == "all" else "parts")


def gids_of(graph: Graph, variable: t.Variable, names: list[Any], rows: str = "same") -> np.ndarray:
    """Return global ids by the names of vertices (collective); ``gl.NOBODY`` and None name no vertex.

    Nor does -1 if no id is negative: results show it for no vertex.
    """
    kinds = {side.kind for side in getattr(graph.ids, "sides", (graph.ids,))}

    def check() -> None:
        number = next((x for x in names if isinstance(x, float)), None)
        if number is not None and "object" not in kinds:
            raise _number_refused(variable, number, "vertex ids")

    graph.comm.attempt(check)
    gids = np.full(len(names), np.iinfo(np.int64).max)  # gl.NOBODY
    outside = None if graph.ids.negative else -1
    named = [
        k
        for k, x in enumerate(names)
        if not (x is None or x is NOBODY or (type(x) is int and x == outside))
    ]
    gids[named] = graph.ids.find([names[k] for k in named], rows=rows)
    return gids


def _number_refused(variable: t.Variable, number: Any, kind: str) -> UsageError:
    return UsageError(
        f"init={{{variable.name!r}: ...}} (--init) gives the number {number}, and the field has {kind}; give "
        f"{kind}, or an earlier result: gl.run(..., init=result) in Python"
    )


def answers(graph: Graph, tree: t.Tree, fields: list[Any]) -> dict[str, np.ndarray | RaggedColumn]:
    """Return each vertex field's values at this rank's masters; without private and looked-up fields."""
    masters = graph.local.num_masters
    ids = np.arange(masters, dtype=np.int32)
    return {
        v.name: RaggedColumn(*values.pack(ids)) if isinstance(values, Rows) else values[:masters]
        for v, values in zip(tree.vertex_fields, fields, strict=True)
        if not v.name.startswith("_") and v.lookup is None
    }
