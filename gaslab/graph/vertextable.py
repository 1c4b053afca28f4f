"""Tables of vertices: read from files, and joined to a graph by id."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError, nearest
from gaslab.graph.stored import StoredGraph
from gaslab.ingest.columns import column_of, no_numbers
from gaslab.ingest.convert import frame_columns, left_out
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.missing import WAY_OUT, first_missing, plain
from gaslab.ingest.rows import object_array, share
from gaslab.ingest.sides import SIDES, right
from gaslab.ingest.tablefile import Columns, read_table
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm, as_comm

log = logging.getLogger("gaslab")


@collective()
def read_vertices(
    path: str | os.PathLike[str], *, columns: Sequence[str] | None = None, comm: Any = None
) -> Columns:
    """Read a table of vertices from text with a header, ``.parquet`` or ``.npz`` (collective).

    Text has one line per vertex, with fields separated by tabs, or by commas in a ``.csv``, otherwise by
    blanks; the file may be gzipped. The first column holds ids. Columns of numbers become int64 or float64;
    ``true`` and ``false`` become bool. Columns ``x[0]``, ``x[1]``, ... become one column ``x``. The other
    formats are those of `Result.save`. Rank 0 reads the file, every rank gets the table.

    Parameters
    ----------
    path : path
    columns : sequence of str, optional
        The columns to keep, which must be numeric; by default all numeric columns, with a warning about text
        columns that are left out. ``"id"`` and ``"side"`` always stay.
    comm : Comm, optional

    Returns
    -------
    dict of str to list or array
        ``"id"`` with the ids, as text if the file is text, then every column by name; for
        `Graph.with_vertices`.

    Raises
    ------
    InputError
        The file cannot be read, has no header, a line with too few or too many fields, or a column that is
        numeric only in some rows.
    UsageError
        The file has no column of that name.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("id,age\\nann,31\\nbob,28\\n")
    >>> gl.read_vertices(path)
    {'id': ['ann', 'bob'], 'age': array([31, 28])}
    """
    shared, file = as_comm(comm), arguments.path("path", path)
    chosen = arguments.texts("columns", columns, optional=True)
    return shared.on_root(lambda: read_table(file, columns=chosen))


def joined(
    graph: StoredGraph,
    table: Any,
    chosen: Sequence[str] | None,
    default: Mapping[str, Any] | float | int | bool | None,
    rows: str,
) -> dict[str, np.ndarray]:
    """Return the columns of *table* for the masters here, joined by id (collective)."""
    comm, rows = graph.comm, arguments.choice("rows", rows, arguments.ROWS)
    _check_default(default)
    chosen = arguments.texts("columns", chosen, optional=True)
    from_file = isinstance(table, (str, os.PathLike))
    if from_file:
        table, rows = read_vertices(table, columns=chosen, comm=comm), "same"
    ids, columns = _numbers_of(comm, table, chosen, here=rows != "root" or comm.rank == 0)
    if chosen is not None and graph.ids.num_left is None:
        columns = {name: values for name, values in columns.items() if name in chosen}  # "side" is another
    if from_file or (graph.ids.num_left is not None and "side" in columns):
        ids = _named(graph.ids, ids, columns, from_file)
    if rows == "root":
        ids, columns = comm.bcast((ids, columns))
    elif rows == "parts":
        parts = comm.allgather((ids, columns))
        ids = [one for part, _ in parts for one in part]
        columns = {name: np.concatenate([part[name] for _, part in parts]) for name in columns}
    else:
        share(comm, lambda: {"id": object_array(ids), **columns}, "same")  # only to check that they exist
    gids = graph.ids.locate(list(ids))
    order = np.argsort(gids, kind="stable")
    twice = np.flatnonzero((np.diff(gids[order]) == 0) & (gids[order][1:] >= 0))
    if twice.size:
        raise InputError(f"the table has vertex {ids[order[twice[0]]]!r} twice")
    masters = graph.local.gid[: graph.local.num_masters]
    place = np.minimum(np.searchsorted(gids, masters, sorter=order), max(gids.size - 1, 0))
    row = order[place] if gids.size else np.zeros(masters.size, np.int64)
    found = gids[row] == masters if gids.size else np.zeros(masters.size, bool)
    if not _some_missing(graph, masters[~found], default):
        return {name: values[row] for name, values in columns.items()}
    return {name: _filled(name, values, row, found, default) for name, values in columns.items()}


def _numbers_of(
    comm: Comm, table: Any, chosen: Sequence[str] | None, here: bool
) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Return the ids, and the columns that hold numbers or were *chosen* (collective).

    Others are left out, with a line in the log.
    """
    ids, known = comm.attempt(lambda: _split(table, chosen) if here else ([], {}))
    needed = known if chosen is not None else ("side",)
    kinds = {name: None if name in needed else no_numbers(values) for name, values in known.items()}
    left = left_out(comm, kinds, counts=len(ids) > 0)
    if left and comm.rank == 0:
        listed = ", ".join(f"{name!r} ({what})" for name, what in left.items())
        log.info("vertex columns left out: %s; those of numbers and bools become columns", listed)
    kept = {name: values for name, values in known.items() if name not in left}
    return ids, comm.attempt(lambda: _columns(kept, len(ids)))


def _columns(known: Mapping[str, Any], rows: int) -> dict[str, np.ndarray]:
    columns = {name: column_of(name, values) for name, values in known.items()}
    for name, values in columns.items():
        if len(values) != rows:
            raise UsageError(f"column {name!r} has {len(values)} values, id {rows}")
    return columns


def _check_default(default: Any) -> None:
    each = default if isinstance(default, Mapping) else {"": default}
    for column, value in each.items():
        if value is None and not isinstance(default, Mapping):
            return
        if isinstance(value, (bool, np.bool_)):
            continue
        name = f"default[{column!r}]" if isinstance(default, Mapping) else "default"
        arguments.number(name, value, infinite=True, nan=True)


def _split(table: Any, chosen: Sequence[str] | None) -> tuple[list[Any], dict[str, Any]]:
    """Return the ids and the columns (*chosen* ones) of a mapping with "id", a DataFrame, or a `Table`."""
    if hasattr(table, "to_pandas") and hasattr(table, "global_ids"):
        known: Mapping[str, Any] = {name: table[name] for name in (*table.keys, *table.columns)}
    elif hasattr(table, "iloc"):
        known = frame_columns(table)
        if "id" not in known:
            known = {"id": table.index, **known}
    elif isinstance(table, Mapping):
        known = table
    else:
        needed = f"a table is needed, not {type(table).__name__}: a mapping with 'id', or a DataFrame"
        raise arguments.wrong("table", table, needed)
    if "id" not in known:
        raise UsageError("the table has no column 'id' to join by")
    keys = plain(known["id"], lambda at: f"id[{at}]")
    ids = list(keys.tolist() if hasattr(keys, "tolist") else keys)
    if (found := first_missing(ids)) is not None:
        raise InputError(f"id[{found[0]}] is missing ({found[1]}){WAY_OUT}")
    for name in chosen or ():
        if name not in known:
            raise UsageError(f"columns={name!r}: the table has no such column{nearest(name, known)}")
    kept = known if chosen is None else ("side", *chosen)
    return ids, {name: values for name, values in known.items() if name != "id" and name in kept}


def _named(ids: VertexIds, words: list[Any], columns: dict[str, np.ndarray], texts: bool) -> list[Any]:
    """Return ids from a file's text, on their sides if the table has a column of sides (which is removed)."""
    sides = columns.pop("side") if ids.num_left is not None and "side" in columns else None
    if texts:
        if sides is not None:
            words = [f"{SIDES[int(side)]}:{word}" for side, word in zip(sides, words, strict=True)]
        return [ids.from_text(str(word)) for word in words]
    assert sides is not None
    return [right(one) if side else one for one, side in zip(words, sides.tolist(), strict=True)]


def _some_missing(graph: StoredGraph, missing: np.ndarray, default: Any) -> bool:
    comm: Comm = graph.comm
    count = int(comm.allreduce(int(missing.size)))
    if not count or default is not None:
        return count > 0
    first = int(comm.allreduce(int(missing.min(initial=graph.num_vertices)), "min"))
    name = graph.ids.named([first])[0]
    raise InputError(
        f"the table has no row for {count} of {graph.num_vertices} vertices, such as {name}; add them, or "
        "pass default="
    )


def _filled(name: str, values: np.ndarray, row: np.ndarray, found: np.ndarray, default: Any) -> np.ndarray:
    if isinstance(default, Mapping) and name not in default:
        raise UsageError(f"default= has no value for column {name!r}")
    value = default[name] if isinstance(default, Mapping) else default
    kind = np.asarray(value).dtype  # alone without rows, which would have no type
    shape = (found.size, *values.shape[1:])
    answer = np.full(shape, value, np.result_type(values.dtype, kind) if values.size else kind)
    answer[found] = values[row[found]]
    return answer
