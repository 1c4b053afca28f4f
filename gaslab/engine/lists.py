"""Lists in a run: how much room their rows have, the threads' scratch space, given values, the answer.

A list field is assigned totals, other fields and what the caller gives; a total is no longer than its
vertex has edges. So the room of every row is known before the run, and nothing needs to grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gaslab._kernels import ragged
from gaslab.compiler import tree as t
from gaslab.compiler.tree import Tree, Variable, element_storage, is_list, nodes
from gaslab.compiler.tree.uses import marked_field, words
from gaslab.engine.bind import converted
from gaslab.engine.storage import dtype_of
from gaslab.errors import UsageError
from gaslab.program import ALL, IN, NOBODY, OUT
from gaslab.ragged import RaggedColumn, Rows
from gaslab.replication.exchange import Exchange, Section
from gaslab.results.result import Result, marked_ids, vertex_names
from gaslab.results.tables import objects

if TYPE_CHECKING:
    from gaslab._kernels import sweep
    from gaslab.graph.graph import Graph
    from gaslab.partition.local_graph import LocalGraph

MOST_MARKS = 1 << 33  # vertices of a graph for which each thread keeps a bit


class GivenLists(NamedTuple):
    """The lists given for this rank's masters: how long each is, and all values one behind the other."""

    lengths: np.ndarray  # int32
    values: np.ndarray


# ---- room ------------------------------------------------------------------------------------------


def rooms(
    trees: tuple[Tree, ...], graph: Graph, given: Mapping[str, np.ndarray | GivenLists]
) -> dict[str, np.ndarray]:
    """Return how many values each vertex here can need, by list field (collective)."""
    variables = [v for v in trees[0].vertex_fields if is_list(v.storage)]
    if not variables:
        return {}
    local, needed = graph.local, {}
    sources = _sources(trees)
    for variable in variables:
        room = np.zeros(local.num_local, np.int64)
        for source in sources[variable.name]:
            if isinstance(source, int):
                np.maximum(room, degrees(local, source if graph.directed else ALL), out=room)
            elif isinstance(lists := given.get(source), GivenLists):
                room[: local.num_masters] = np.maximum(room[: local.num_masters], lists.lengths)
        needed[variable.name] = room
    Exchange(local, graph.comm).spread([Section(ALL, tuple(needed.values()))], None).end()
    return needed


def _sources(trees: tuple[Tree, ...]) -> dict[str, set[str | int]]:
    """Return where each list field's values come from: fields that may be given, and masks of gathers."""
    fields = trees[0].vertex_fields
    found: dict[str, set[str | int]] = {v.name: {v.name} for v in fields}
    assigned = [
        (tree, x)
        for tree in trees
        for name in ("init", "apply")
        if name in tree.functions
        for x in nodes(tree.functions[name].body)
        if isinstance(x, t.Assign) and isinstance(x.target, t.VertexField) and is_list(x.target.type)
    ]
    for _ in fields:  # as often as a value can be handed on
        for tree, x in assigned:
            assert isinstance(x.target, t.VertexField)
            target = found[fields[x.target.index].name]
            for part in nodes(x.value):
                if isinstance(part, t.VertexField) and is_list(part.type):
                    target |= found[fields[part.index].name]
                elif isinstance(part, t.Local) and is_list(part.type):
                    target.add(tree.gather_edges)
    return found


def degrees(local: LocalGraph, mask: int) -> np.ndarray:
    """Return the whole graph's number of edges in the directions of *mask*, of every vertex here."""
    if not mask:
        return np.zeros(local.num_local, np.int64)
    return {IN: local.in_degree, OUT: local.out_degree, ALL: local.degree}[mask]


# ---- scratch ---------------------------------------------------------------------------------------


class Scratch:
    """Each thread's own room for a list on its way, for the words on lists, and for marks."""

    def __init__(self, tree: Tree, view: sweep.View, graph: Graph, threads: int) -> None:
        self.table: np.ndarray | None = None
        if not tree.has_lists:
            return
        gather = tree.gather if tree.gather is not None and tree.gather.collects else None
        longest = max(
            (field.most for field in (*view.vertex, *view.edge) if isinstance(field, Rows)), default=0
        )
        if "visit" in tree.functions:  # which may come to the edges of any rank
            longest = int(graph.comm.allreduce(longest, "max"))
        size = row = 0
        if gather is not None:
            size = dtype_of(gather.storage).itemsize
            every = np.zeros(graph.local.num_local, np.int64)
            if every.size:
                row = int(row_lengths(view, None, every).max())
                longest = max(longest, int(degrees(graph.local, view.gather_edges).max()))
        work = (48 if words(tree) & {"mode", "mex"} else size) * longest
        marks = graph.num_vertices if marked_field(tree) is not None else 0
        words_ = 0 if marks > MOST_MARKS else (marks >> 6) + 1
        self._room = [
            (np.empty(row * size + 8, np.uint8), np.empty(work + 64, np.uint8), np.zeros(words_, np.uint64))
            for _ in range(threads)
        ]
        table = [[a.ctypes.data if a.size else 0 for a in room] for room in self._room]
        self.table = np.array(table, np.uintp)


def row_lengths(view: sweep.View, ids: np.ndarray | None, lengths: np.ndarray) -> np.ndarray:
    """Add the number of gathered edges here of each vertex of *ids* (None: all) to *lengths*."""
    for bit, begin in ((IN, view.in_begin), (OUT, view.out_begin)):
        if view.gather_edges & bit:
            if ids is None:
                lengths += np.diff(begin)
            else:
                ragged.add_row_lengths(lengths, begin, ids)
    return lengths


def partial_rows(view: sweep.View, ids: np.ndarray, dtype: np.dtype) -> Rows:
    """Return empty rows with room for what vertices *ids* gather here."""
    return Rows(row_lengths(view, ids, np.zeros(ids.size, np.int64)), dtype)


# ---- what the caller gives and gets ----------------------------------------------------------------


def given_lists(variable: Variable, data: Any, graph: Graph) -> GivenLists:
    """Return the lists that a caller gives a field, for this rank's masters (collective).

    *data* is a mapping from vertex id to values (other vertices start empty), or a sequence of one
    list per vertex in the order of the sorted ids.
    """
    storage = element_storage(variable.storage)
    masters = graph.local.gid[: graph.local.num_masters].tolist()
    if isinstance(data, Result):
        table = data.vertices
        data = dict(zip(vertex_names(table, graph), table[variable.name], strict=True))
    if hasattr(data, "to_dict"):
        data = data.to_dict()
    if isinstance(data, Mapping):
        gids = graph.ids.find(list(data))
        by_gid = dict(zip(np.asarray(gids).tolist(), data.values(), strict=True))
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
    if storage == "id":
        values = gids_of(graph, variable, flat, rows="parts")
    else:
        element = Variable(variable.name, storage, 0, variable.site)
        values = converted(np.asarray(flat or np.zeros(0, dtype_of(storage))), element, variable.name)
    lengths = np.array([len(row) for row in rows], np.int32)
    if variable.storage.startswith("set:"):
        sets = RaggedColumn(lengths, values).as_sets()
        return GivenLists(sets.lengths.astype(np.int32), sets.values)
    return GivenLists(lengths, values)


def _row(variable: Variable, given: Any) -> list[Any]:
    if isinstance(given, (int, float, np.number)):
        raise _number_given(variable, given, "lists")
    return list(given)


def gids_of(graph: Graph, variable: Variable, names: list[Any], rows: str = "same") -> np.ndarray:
    """Return the global ids a field is given by name (collective); ``gl.NOBODY``, -1 and None are none."""
    kinds = {side.kind for side in getattr(graph.ids, "sides", (graph.ids,))}

    def check() -> None:
        number = next((x for x in names if isinstance(x, float)), None)
        if number is not None and "object" not in kinds:
            raise _number_given(variable, number, "vertex ids")

    graph.comm.attempt(check)
    gids = np.full(len(names), np.iinfo(np.int64).max)  # gl.NOBODY
    named = [k for k, x in enumerate(names) if not (x is None or x is NOBODY or (type(x) is int and x == -1))]
    gids[named] = graph.ids.find([names[k] for k in named], rows=rows)
    return gids


def _number_given(variable: Variable, number: Any, held: str) -> UsageError:
    return UsageError(
        f"init={{{variable.name!r}: ...}} (--init) gives the number {number}, and the field has {held}; give "
        f"{held}, or an earlier result: gl.run(..., init=result) in Python"
    )


def answers(graph: Graph, tree: Tree, fields: list[Any]) -> dict[str, np.ndarray]:
    """Return what each vertex field has at this rank's masters (collective); private lists are left out."""
    masters = graph.local.num_masters
    return {
        v.name: _column(graph, v, values) if isinstance(values, Rows) else values[:masters]
        for v, values in zip(tree.vertex_fields, fields, strict=True)
        if not (isinstance(values, Rows) and v.name.startswith("_"))
    }


def _column(graph: Graph, variable: Variable, rows: Rows) -> np.ndarray:
    """Return a list field of this rank's masters as an object array of Python lists (collective)."""
    lengths, values = rows.pack(np.arange(graph.local.num_masters, dtype=np.int32))
    of_ids = element_storage(variable.storage) == "id"
    plain = marked_ids(graph, values) if of_ids else values.tolist()
    ends = np.cumsum(lengths).tolist()
    return objects([plain[end - n : end] for n, end in zip(lengths.tolist(), ends, strict=True)])
