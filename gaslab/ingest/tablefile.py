"""Tables of vertices in files: text with a header, Parquet, or an ``.npz`` archive (rank 0 reads them)."""

from __future__ import annotations

import csv
import logging
import math
import re
import zipfile
from collections.abc import Collection
from typing import Any

import numpy as np

from gaslab.errors import InputError, UsageError, nearest
from gaslab.ingest.formats import foreign
from gaslab.ingest.sidefile import check_side_file, side_file
from gaslab.system.extras import need_pyarrow

Columns = dict[str, Any]
log = logging.getLogger("gaslab")
BINARY = (".parquet", ".npz")


def read_table(
    path: str, texts: bool = False, raw: Collection[str] = (), columns: Collection[str] | None = None
) -> Columns:
    """Return a table: ``"id"``, then every column by its name, or those of *columns*, and ``"side"``.

    With *texts* also non-numeric columns; those in *raw* stay text if the file is text, as ids do. Otherwise
    columns of text are left out with a warning, and an error if they are in *columns*.
    """
    table = _of_binary(path) if path.endswith(BINARY) else _of_text(path, raw)
    for name in columns or ():
        if name not in table:
            raise UsageError(f"columns={name!r}: {path} has no such column{nearest(name, table)}")
    if columns is not None:
        table = {name: x for name, x in table.items() if name in ("id", "side", *columns)}
    return table if texts else _of_numbers(path, table, needed=("side", *(columns or ())))


def _of_numbers(path: str, table: Columns, needed: Collection[str]) -> Columns:
    """Return the columns that hold numbers; text columns are left out unless *needed*."""
    left = []
    for name, values in table.items():
        if name == "id" or (isinstance(values, np.ndarray) and values.dtype.kind in "biuf"):
            continue
        if name in needed or not _is_text(values):
            raise InputError(f"{path}: column {name!r} is not all numbers, or all true and false")
        left.append(name)
    if left:
        what = f"column{'s' * (len(left) > 1)} {', '.join(map(repr, left))}"
        log.warning("%s: left out %s of text; read_vertices(columns=[...]) names those to keep", path, what)
    return {name: values for name, values in table.items() if name not in left}


def _is_text(values: Any) -> bool:
    """Whether some values of a column are words and none is a number."""
    words = [one for one in np.asarray(values, object).ravel().tolist() if one is not None]
    return bool(words) and all(isinstance(one, str) and not _is_number(one) for one in words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _of_binary(path: str) -> Columns:
    check_side_file(path)
    table = _of_parquet(path) if path.endswith(".parquet") else _of_archive(path)
    if "id" not in table:
        raise InputError(f"{path}: has no column 'id'; a table of vertices names them there")
    rows = len(table["id"])
    for name, values in table.items():
        if len(values) != rows:
            raise InputError(f"{path}: column {name!r} has {len(values)} rows, id {rows}")
    return {"id": table.pop("id"), **table}


def _of_archive(path: str) -> Columns:
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot read {path}: it is not an .npz archive of plain arrays ({error})") from None
    return {name: x.tolist() if x.dtype.kind == "U" else x for name, x in found.items() if x.ndim}


def _of_parquet(path: str) -> Columns:
    need_pyarrow(f"reading {path}")
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"cannot read {path}: it is not a Parquet file ({error})") from None
    return {name: _of_arrow(table.column(name).combine_chunks()) for name in table.column_names}


def _of_arrow(column: Any) -> Any:
    import pyarrow

    shape = [len(column)]
    while pyarrow.types.is_fixed_size_list(column.type) and not column.null_count:
        shape.append(column.type.list_size)
        column = column.flatten()
    is_number = (pyarrow.types.is_integer, pyarrow.types.is_floating, pyarrow.types.is_boolean)
    if column.null_count or not any(test(column.type) for test in is_number):
        return column.to_pylist()
    return column.to_numpy(zero_copy_only=False).reshape(shape)


def _of_text(path: str, raw: Collection[str]) -> Columns:
    with side_file(path) as (head, file):
        other = foreign(path, head)
        if other is not None:
            raise InputError(
                f"{path}: is {other.what}; a table of vertices is text, a header and a line per vertex, or "
                "ends in .parquet or .npz"
            )
        lines = [(k, line.rstrip("\r\n")) for k, line in enumerate(file, 1)]
    kept = [(k, line) for k, line in lines if line.strip() and line.strip()[0] not in "#%"]
    if not kept:
        raise InputError(f"{path} has no header; its first line names the columns: id, then the others")
    rows = [(k, _fields(path, line)) for k, line in kept]
    names = rows[0][1]
    twice = next((name for k, name in enumerate(names) if name in ("id", *names[1:k]) and k), None)
    if twice is not None:
        raise InputError(f"{path}, line {rows[0][0]}: two columns are called {twice!r}; rename one")
    for k, row in rows[1:]:
        if len(row) != len(names):
            raise InputError(f"{path}, line {k}: {len(row)} fields, the header has {len(names)}")
    columns = list(zip(*(row for _, row in rows[1:]), strict=True)) or [()] * len(names)
    table: Columns = {"id": list(columns[0])}
    for name, words in zip(names[1:], columns[1:], strict=True):
        table[name] = list(words) if name in raw else _numbers(words)
    return _with_rows(path, table)


def _fields(path: str, line: str) -> list[str]:
    comma = path.removesuffix(".gz").endswith(".csv")
    if comma or "\t" in line:
        return [field.strip() for field in next(csv.reader([line], delimiter="," if comma else "\t"))]
    return line.split()


def _numbers(words: tuple[str, ...]) -> Any:
    """Return an array of a column's numbers or bools, or its words if one is neither."""
    if words and {word.lower() for word in words} <= {"true", "false"}:
        return np.array([word.lower() == "true" for word in words])
    together = "".join(words)
    plain = "_" not in together and together.isascii()  # Python reads 1_0, and digits of other scripts
    for kind in (np.int64, np.float64) if plain else ():
        try:
            return np.array(words, dtype=str).astype(kind)
        except (ValueError, OverflowError):
            continue
    return list(words)


def _with_rows(path: str, table: Columns) -> Columns:
    """Return the table with columns ``x[0]``, ``x[1]``, ... as one, of rows of their shape."""
    found, elements = Columns(), dict[str, dict[tuple[int, ...], Any]]()
    for name, values in table.items():
        part = re.fullmatch(r"(.+)\[(\d+(?:,\d+)*)\]", name)
        if part is None:
            found[name] = values
            continue
        elements.setdefault(part[1], {})[tuple(map(int, part[2].split(",")))] = values
        found.setdefault(part[1], None)  # in its place
    for name, parts in elements.items():
        shape = tuple(np.array(list(parts)).max(axis=0) + 1) if len({*map(len, parts)}) == 1 else ()
        whole = math.prod(shape) == len(parts) and set(parts) == set(np.ndindex(*shape))
        if found[name] is not None or not whole:
            raise InputError(f"{path}: the columns {name}[...] are not the elements of one array")
        rows = np.stack([parts[index] for index in np.ndindex(*shape)], axis=-1)
        found[name] = rows.reshape(len(table["id"]), *shape)
    return found
