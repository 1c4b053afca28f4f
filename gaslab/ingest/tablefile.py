"""Tables of vertices in files: text with a header, Parquet, or an ``.npz`` archive (rank 0 reads them)."""

from __future__ import annotations

import csv
import math
import re
import zipfile
from collections.abc import Collection
from typing import Any

import numpy as np

from gaslab.errors import InputError
from gaslab.ingest.formats import foreign
from gaslab.ingest.sidefile import check_side_file, side_file
from gaslab.system.extras import need_pyarrow

Columns = dict[str, Any]
BINARY = (".parquet", ".npz")


def read_table(path: str, texts: bool = False, raw: Collection[str] = ()) -> Columns:
    """Return a table: ``"id"``, then every column by its name.

    With *texts* also columns that are no numbers; those in *raw* stay text where the file is text, as ids do.
    """
    if not path.endswith(BINARY):
        return _of_text(path, texts, raw)
    check_side_file(path)
    table = _of_parquet(path) if path.endswith(".parquet") else _of_archive(path)
    if "id" not in table:
        raise InputError(f"{path}: has no column 'id'; a table of vertices names them there")
    rows = len(table["id"])
    for name, values in table.items():
        if len(values) != rows:
            raise InputError(f"{path}: column {name!r} has {len(values)} rows, id {rows}")
        numbers = isinstance(values, np.ndarray) and values.dtype.kind in "biuf"
        if not texts and not numbers and name != "id":
            raise InputError(f"{path}: column {name!r} is not all numbers, or all true and false")
    return {"id": table.pop("id"), **table}


def _of_archive(path: str) -> Columns:
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot read {path}: it is no .npz archive of plain arrays ({error})") from None
    return {name: x.tolist() if x.dtype.kind == "U" else x for name, x in found.items() if x.ndim}


def _of_parquet(path: str) -> Columns:
    need_pyarrow(f"reading {path}")
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"cannot read {path}: it is no Parquet file ({error})") from None
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


def _of_text(path: str, texts: bool, raw: Collection[str]) -> Columns:
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
        table[name] = list(words) if name in raw else _numbers(path, name, words, texts)
    return _with_rows(path, table)


def _fields(path: str, line: str) -> list[str]:
    comma = path.removesuffix(".gz").endswith(".csv")
    if comma or "\t" in line:
        return [field.strip() for field in next(csv.reader([line], delimiter="," if comma else "\t"))]
    return line.split()


def _numbers(path: str, name: str, words: tuple[str, ...], texts: bool) -> Any:
    if words and {word.lower() for word in words} <= {"true", "false"}:
        return np.array([word.lower() == "true" for word in words])
    together = "".join(words)
    plain = "_" not in together and together.isascii()  # Python reads 1_0, and digits of other scripts
    for kind in (np.int64, np.float64) if plain else ():
        try:
            return np.array(words, dtype=str).astype(kind)
        except (ValueError, OverflowError):
            continue
    if texts:
        return list(words)
    raise InputError(f"{path}: column {name!r} is not all numbers, or all true and false")


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
