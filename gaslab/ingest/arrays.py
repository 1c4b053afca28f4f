"""`edges_from_arrays`: arrays of user ids to edges in global ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError
from gaslab.ingest.columns import edge_column, one_type_each
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.integers import LARGEST, LEAST
from gaslab.ingest.missing import WAY_OUT, plain
from gaslab.ingest.names import Names, NameTable
from gaslab.ingest.number_ids import number_integers, number_names
from gaslab.ingest.object_ids import check_objects, number_objects
from gaslab.ingest.rows import Arrays, object_array, share
from gaslab.ingest.sides import SidedIds
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm

ENDS = ("source", "target", "vertices", "right_vertices")
FURTHER = ENDS[2:]


def edges_from_arrays(
    src: Any,
    dst: Any,
    comm: Comm | None = None,
    *,
    columns: Mapping[str, Any] | None = None,
    vertices: Any = None,
    rows: str = "same",
    directed: bool = True,
    bipartite: bool = False,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
    source: str = "arrays",
) -> EdgeList:
    """Make edges of arrays of user ids (collective).

    Parameters
    ----------
    src, dst : sequences of equal length
        User ids of the ends. All ids are 64-bit integers, or all are strings (neither empty nor with a NUL),
        or they are hashable objects of any kinds that equal their pickled copies. Every rank keeps objects.
        They are numbered by value if their values have an order, such as tuples of integers; else in the
        order of *vertices*, then of the edges.
    comm : Comm, optional
        The ranks; all of them by default.
    columns : dict of str to sequence, optional
        Edge fields, as long as *src*: bools, integers (kept as int64) or reals (as float64, no NaN), or
        rows of them, of one shape, or lists of any length.
    vertices : sequence of ids, optional
        Further vertices, with or without edges; for a bipartite graph a pair, left and right.
    rows : {"same", "parts", "root"}
        Every rank passes the same rows and takes its slice (checked by samples); or each its own part; or
        rank 0 all and the others anything.
    directed : bool
    bipartite : bool
        The ids of *src* and of *dst* are of two kinds: 7 on the left and 7 on the right are different
        vertices.
    drop_duplicates, drop_self_loops : bool
        Keep only the first of the edges with the same ends (in any order if edges have no direction); drop
        edges from a vertex to itself. Their vertices stay.
    threads : int, optional
    source : str
        The input's name in messages.

    Raises
    ------
    InputError
        An id or value cannot be used; the error names its position.
    UsageError
        Arrays do not fit each other, or, with ``rows="same"``, differ between ranks.
    """
    comm = as_comm(comm)
    arguments.mapping("columns", columns, "a mapping from name to values", optional=True)
    directed, bipartite, drop_duplicates, drop_self_loops = arguments.flags(
        directed=directed, bipartite=bipartite, drop_duplicates=drop_duplicates,
        drop_self_loops=drop_self_loops,
    )  # fmt: skip
    rows = arguments.choice("rows", rows, arguments.ROWS)
    threads, source = arguments.threads(threads), arguments.text("source", source)
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    mine = share(comm, lambda: _checked(src, dst, columns or {}, vertices, bipartite), rows)
    ends = [mine.pop(name) for name in ENDS if name in mine]
    numbered, known = (_number_sides if bipartite else _number)(ends, comm, threads)
    return assemble(
        comm, numbered[0], numbered[1], one_type_each(mine, comm), known,
        directed=directed, counts={"edges_read": int(comm.allreduce(numbered[0].size))}, source=source,
        threads=threads, drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
    )  # fmt: skip


def _checked(src: Any, dst: Any, columns: Mapping[str, Any], vertices: Any, bipartite: bool) -> Arrays:
    """Return the user's data as arrays: ids as int64 or object, columns as bool, int64 or float64."""
    more = {"vertices": () if vertices is None else vertices}
    if bipartite:
        pair = ((), ()) if vertices is None else tuple(vertices)
        if len(pair) != 2:
            raise UsageError("for a bipartite graph, vertices= must be a pair: the left and the right ids")
        more = dict(zip(FURTHER, pair, strict=True))
    arrays = {name: _ids(name, ids) for name, ids in {"source": src, "target": dst, **more}.items()}
    for name, values in columns.items():
        if name in ENDS:
            raise UsageError(f"a column cannot be named {name!r}")
        arrays[name] = edge_column(name, values)
    for name, array in arrays.items():
        if name not in FURTHER and len(array) != len(arrays["source"]):
            raise UsageError(f"{name} has {len(array)} values, source {len(arrays['source'])}")
    return arrays


def _ids(name: str, values: Any) -> np.ndarray:
    """Return ids as an int64 array, or as an object array of str or of any hashable objects."""
    values = plain(values, lambda at: f"{name}[{at}]")
    if not isinstance(values, np.ndarray):
        listed = list(values) if isinstance(values, Iterable) else [values]
        integers = listed and set(map(type, listed)) == {int}
        if integers and not LEAST <= min(listed) <= max(listed) <= LARGEST:
            raise _no_id(
                name, *next((at, one) for at, one in enumerate(listed) if not LEAST <= one <= LARGEST)
            )
        # Not np.asarray: it would turn the 1 in ["a", 1] into text.
        values = np.array(listed, np.int64) if integers else object_array(listed)
    if values.ndim != 1:
        raise UsageError(f"{name} has {values.ndim} dimensions; one is needed")
    if values.dtype.kind in "iu":
        if values.dtype.kind == "u" and values.size and values.max() > LARGEST:
            at = int(np.argmax(values > LARGEST))
            raise _no_id(name, at, values[at])
        return np.asarray(values, dtype=np.int64)
    if values.size == 0:
        return np.empty(0, dtype=np.int64)
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name} has bytes that are not UTF-8: {error.object!r}; decode them") from None
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InputError(f"{name}[{int(np.argmax(np.isnan(values)))}] is missing (nan){WAY_OUT}")
    if values.dtype.kind in "UT":
        values = values.astype(object)
    if values.dtype != object:
        raise UsageError(
            f"{name} is {values.dtype}: ids are integers or strings; convert it, "
            "for instance with .astype('int64')"
        )
    return _objects(name, values)


def _no_id(name: str, at: int, value: int) -> InputError:
    return InputError(
        f"{name}[{at}] is {value}: integer ids are -2**63 to 2**63 - 1; pass such ids as strings"
    )


def _objects(name: str, values: np.ndarray) -> np.ndarray:
    """Check an object array; return it as int64 if all its values are integers that fit."""
    objects = values.tolist()
    types = set(map(type, objects))
    if types == {str}:
        if "" in objects:
            raise InputError(f"{name}[{objects.index('')}] is the empty string{WAY_OUT}")
        return values
    check_objects(name, objects)
    if (
        all(issubclass(t, (int, np.integer)) and t is not bool for t in types)
        and LEAST <= min(objects) <= max(objects) <= LARGEST
    ):
        return values.astype(np.int64)
    return values


def _number_sides(ends: list[np.ndarray], comm: Comm, threads: int) -> tuple[list[np.ndarray], VertexIds]:
    """As `_number`, with sources and targets each joined by the further vertices of their side."""
    src, dst, *further = ends
    nothing = np.empty(0, np.int64)
    (left, *_), left_ids = _number([src, nothing, further[0]], comm, threads)
    (right, *_), right_ids = _number([dst, nothing, further[1]], comm, threads)
    return [left, right + left_ids.num_vertices], SidedIds(comm, left_ids, right_ids)


def _number(ends: list[np.ndarray], comm: Comm, threads: int) -> tuple[list[np.ndarray], VertexIds]:
    """Return (the ends as global ids, the directory); all ranks agree on the kind of ids (collective)."""
    found = set().union(*comm.allgather({_kind(part) for part in ends if part.size}))
    if found <= {"int"}:
        numbered = [np.array(part, dtype=np.int64) for part in ends]
        largest = max((int(part.max()) for part in numbered if part.size), default=-1)
        least = min((int(part.min()) for part in numbered if part.size), default=0)
        return numbered, number_integers(numbered, largest, comm, threads, least)
    return _number_strings(ends, comm) if found == {"str"} else number_objects(ends, comm)


def _kind(ids: np.ndarray) -> str:
    if ids.dtype != object:
        return "int"
    return "str" if set(map(type, ids.tolist())) == {str} else "object"


def _number_strings(ends: list[np.ndarray], comm: Comm) -> tuple[list[np.ndarray], VertexIds]:
    table = NameTable()
    index = comm.attempt(lambda: [_intern(table, part) for part in ends])
    gids, known = number_names(table.names(), comm)
    return [gids[part] for part in index], known


def _intern(table: NameTable, strings: np.ndarray) -> np.ndarray:
    try:
        names = Names.of(strings.tolist())
    except ValueError as error:
        raise InputError(f"an id cannot be written as UTF-8 without NUL: {error}") from error
    return table.intern(names)
