"""`edges_from_arrays`: arrays of user ids to edges in global ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.integers import LARGEST, check_integers
from gaslab.ingest.lists import agree_on_lists, lists_of
from gaslab.ingest.missing import WAY_OUT, first_missing, is_missing, plain
from gaslab.ingest.names import Names, NameTable
from gaslab.ingest.number_ids import number_integers, number_names
from gaslab.ingest.rows import Arrays, object_array, share
from gaslab.ingest.sides import SidedIds
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm
from gaslab.ragged import RaggedColumn

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
    src, dst : sequences of one length
        User ids of the ends. All ids together are integers from 0 to 2**63 - 1, or strings (neither
        empty nor with a NUL), or else hashable objects of any kinds; objects are numbered in the order
        of *vertices*, then of the edges, and are kept by every rank.
    comm : Comm, optional
        The ranks; all of them by default.
    columns : dict of str to sequence, optional
        Edge fields, as long as *src*: bools, integers (kept as int64) or reals (as float64, no NaN), or
        rows of them, of one shape or lists of any length.
    vertices : sequence of ids, optional
        Further vertices, with or without edges; of a bipartite graph a pair of such, left and right.
    rows : {"same", "parts", "root"}
        Every rank passes the same rows, of which each takes its slice (checked by samples); or each
        its own part; or rank 0 all and the others anything.
    directed : bool
    bipartite : bool
        The ids of *src* and of *dst* are of two kinds: 7 on the left is another vertex than 7 on the right.
    drop_duplicates, drop_self_loops : bool
        Leave out all but the first of the edges with the same ends (in any order where edges have no
        direction); leave out edges from a vertex to itself. Their vertices stay.
    threads : int, optional
    source : str
        What to call the input in messages.

    Raises
    ------
    InputError
        An id or value that cannot be used, named with its position.
    UsageError
        Arrays that do not fit each other, or, with ``rows="same"``, differ between ranks.
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
        comm, numbered[0], numbered[1], _one_type_each(mine, comm), known,
        directed=directed, counts={"edges_read": int(comm.allreduce(numbered[0].size))}, source=source,
        threads=threads, drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
    )  # fmt: skip


def _checked(src: Any, dst: Any, columns: Mapping[str, Any], vertices: Any, bipartite: bool) -> Arrays:
    """Return the user's data as arrays: ids as int64 or object, columns as bool, int64 or float64."""
    more = {"vertices": () if vertices is None else vertices}
    if bipartite:
        pair = ((), ()) if vertices is None else tuple(vertices)
        if len(pair) != 2:
            raise UsageError("of a bipartite graph, vertices= is a pair: the left ids and the right ids")
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
    """Return ids as an int64 array, or as an object array of str or of anything hashable."""
    values = plain(values, lambda at: f"{name}[{at}]")
    if not isinstance(values, np.ndarray):
        listed = list(values) if isinstance(values, Iterable) else [values]
        integers = listed and set(map(type, listed)) == {int}
        if integers and not 0 <= min(listed) <= max(listed) <= LARGEST:
            raise _no_id(name, *next((at, one) for at, one in enumerate(listed) if not 0 <= one <= LARGEST))
        # Not np.asarray: it would turn the 1 in ["a", 1] into text.
        values = np.array(listed, np.int64) if integers else object_array(listed)
    if values.ndim != 1:
        raise UsageError(f"{name} has {values.ndim} dimensions; one is needed")
    if values.dtype.kind in "iu":
        wrong = np.flatnonzero(values < 0 if values.dtype.kind == "i" else values > LARGEST)
        if wrong.size:
            raise _no_id(name, wrong[0], values[wrong[0]])
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
    return InputError(f"{name}[{at}] is {value}: integer ids are 0 to 2**63 - 1; pass such ids as strings")


def _objects(name: str, values: np.ndarray) -> np.ndarray:
    """Check an object array; return it as int64 if all its values are integers that can be."""
    types = set(map(type, values.tolist()))
    if types == {str}:
        return values
    for at, one in enumerate(values.tolist()):
        if is_missing(one):
            raise InputError(f"{name}[{at}] is missing ({one}){WAY_OUT}")
        try:
            hash(one)
        except TypeError:
            raise InputError(f"{name}[{at}] is a {type(one).__name__}, which is not hashable") from None
    if (
        all(issubclass(t, (int, np.integer)) and t is not bool for t in types)
        and 0 <= values.min() <= values.max() <= LARGEST
    ):
        return values.astype(np.int64)
    return values


def edge_column(name: str, values: Any) -> Any:
    """Return a column as `column_of` does, or one of lists; lists of one length are vectors."""
    lists = lists_of(name, values)
    if lists is None:
        return column_of(name, values)
    lists = RaggedColumn(lists.lengths, column_of(name, lists.values))
    longest = int(lists.lengths.max(initial=0))
    if longest and (lists.lengths == longest).all():
        return lists.values.reshape(-1, longest)
    return lists


def column_of(name: str, values: Any) -> np.ndarray:
    """Return a column as bool, int64 or float64; its rows are numbers, vectors or matrices."""
    values = plain(values, lambda at: f"column {name!r} at position {at}")
    column = np.asarray(values)
    found = first_missing(column.tolist()) if column.dtype == object and column.ndim == 1 else None
    if found is not None:
        raise InputError(f"column {name!r} at position {found[0]} is missing ({found[1]}){WAY_OUT}")
    if not 1 <= column.ndim <= 3 or 0 in column.shape[1:]:
        raise UsageError(
            f"column {name!r} has shape {column.shape}; a number, a vector or a matrix for each row is needed"
        )
    check_integers(name, values, column)
    if not column.size and column.dtype.kind not in "biuf":
        column = column.astype(np.int64)  # of an empty part: another rank says what its values are
    if column.dtype.kind not in "biuf":
        raise UsageError(f"column {name!r} is {column.dtype}: fields are numbers or bools")
    if column.dtype.itemsize > 8 and not np.array_equal(column.astype(np.float64), column, equal_nan=True):
        raise UsageError(f"column {name!r} is {column.dtype}, with values that float64 does not hold")
    if column.dtype.kind == "f":
        missing = np.argwhere(np.isnan(column))
        if missing.size:
            raise InputError(f"column {name!r} is not a number (nan) at position {missing[0][0]}")
        return column.astype(np.float64)
    return column.astype(bool if column.dtype.kind == "b" else np.int64)


def _one_type_each(columns: Arrays, comm: Comm) -> Arrays:
    """Return columns with the same dtype on every rank: the widest (collective)."""
    columns = agree_on_lists(columns, comm)
    lists = {name: column for name, column in columns.items() if isinstance(column, RaggedColumn)}
    columns = {name: column for name, column in columns.items() if name not in lists}
    seen = comm.allgather({name: column.dtype for name, column in columns.items() if column.size})
    types = {name: [part[name] for part in seen if name in part] or [columns[name].dtype] for name in columns}
    rows = comm.allgather({name: column.shape[1:] for name, column in columns.items() if column.size})
    found = {}
    for name, column in columns.items():
        shapes = {part[name] for part in rows if name in part} or {column.shape[1:]}
        if len(shapes) > 1:
            raise UsageError(f"column {name!r} has rows of several shapes: {sorted(shapes)}")
        values = column if column.size else column.reshape(0, *shapes.pop())
        found[name] = np.ascontiguousarray(values, np.result_type(*types[name]))
    return found | lists


def _number_sides(ends: list[np.ndarray], comm: Comm, threads: int) -> tuple[list[np.ndarray], VertexIds]:
    """As `_number`, the sources and targets each with the further vertices of their own side."""
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
        return numbered, number_integers(numbered, largest, comm, threads)
    return _number_strings(ends, comm) if found == {"str"} else _number_objects(ends, comm)


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
    if not np.diff(names.start).all():
        raise InputError("an id is the empty string")
    return table.intern(names)


def _number_objects(ends: list[np.ndarray], comm: Comm) -> tuple[list[np.ndarray], VertexIds]:
    """Number objects in the order of the ranks' vertices, then of their edges."""
    src, dst, vertices = (part.tolist() for part in ends)
    pairs = [one for pair in zip(src, dst, strict=True) for one in pair] if dst else src
    listed = comm.allgather((list(dict.fromkeys(vertices)), list(dict.fromkeys(pairs))))
    order = [one for part in (0, 1) for ends in listed for one in ends[part]]
    objects = list(dict.fromkeys(order))
    place = {one: gid for gid, one in enumerate(objects)}
    numbered = [np.array([place[one] for one in part], dtype=np.int64) for part in (src, dst)]
    return numbered, VertexIds(comm, "object", len(objects), objects=objects)
