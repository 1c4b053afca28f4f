"""A table in one file: text with a header, Parquet, or an ``.npz`` archive; `ingest.tablefile` reads them."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.parallel.tags import Tag
from gaslab.results.tables import Table, objects
from gaslab.results.writers import FORMATS, Target, compressed, spread, text_of, write_rows
from gaslab.system.atomic_writes import write_bytes
from gaslab.system.extras import need_pyarrow

if TYPE_CHECKING:
    import pyarrow


class TableTarget(Target):
    """Where a table with a header goes: ``NAME.tsv``, ``.csv`` (``.gz`` or not), ``.parquet``, ``.npz``."""

    binary: tuple[str, ...] = (".parquet", ".npz")
    hint = "in .parquet, in .npz, "

    def __init__(self, path: str | os.PathLike[str], force: bool = False) -> None:
        self.formats = (*FORMATS, *self.binary)
        super().__init__(path, force)
        self.header = True
        suffix = self.path.suffix
        self.format = suffix if suffix in self.binary and not self.directory else ""
        if self.format == ".parquet":
            need_pyarrow(f"writing {self.path}")


def single_file(path: str, force: bool) -> TableTarget:
    """Return the file for a result (rank 0 calls it); UsageError where it may not be written."""
    target = TableTarget(path, force)
    if target.directory:
        endings = ", ".join(target.formats)
        raise UsageError(f"a result is saved in one file, and {path} is a directory; end it in {endings}")
    target.check()
    return target


def write_result(comm: Comm, target: Target, table: Table, on: str) -> None:
    """Write a table of a result, which is where *on* says, sorted by its ids (collective)."""
    if on == "local":
        largest = max(int(table.global_ids[name].max(initial=-1)) for name in table.keys[:1])
        table = spread(comm, table, int(comm.allreduce(largest, "max")) + 1)
    elif comm.rank > 0:
        table = table.take(np.zeros(0, np.int64))
    write_whole(comm, target, table)


def cells_of(table: Table) -> dict[str, np.ndarray]:
    """Return the columns of a table as they stand in a text, keys first; nothing where there is no vertex."""
    return {name: table[name] for name in table.keys} | {n: _filled(x) for n, x in table.flat().items()}


def _filled(values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return values
    return objects(["" if one is None else one for one in values.tolist()])


def write_whole(comm: Comm, target: Target, rows: Table) -> None:
    """Write rows of which each rank holds some, those of rank 0 first (collective).

    What is compressed is so as a whole, by rank 0, which has all rows meanwhile: else the bytes would depend
    on the number of ranks.
    """
    if not target.format and not target.compressed:
        write_rows(comm, target, cells_of(rows))
        return
    output = comm.on_root(target.ready).output

    def as_text(rows: Table) -> bytes:
        return text_of(cells_of(rows), target, header=comm.rank == 0)

    pack, join = {
        ".parquet": (_packed, _parquet),
        ".npz": (_archive, _joined),
        "": (as_text, lambda parts: compressed(b"".join(parts))),
    }[target.format]
    parts = gathered(comm, comm.attempt(lambda: pack(rows)))
    comm.on_root(lambda: write_bytes(output, join(parts)))


def _parquet(parts: list[bytes]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    tables = [pyarrow.ipc.open_stream(part).read_all() for part in parts]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.concat_tables(_with_rows(tables)).combine_chunks(), content)
    return content.getvalue()


def _with_rows(tables: list[pyarrow.Table]) -> Iterator[pyarrow.Table]:
    """Yield the tables that have rows, which know the types of all columns; the first if none has."""
    full = [table for table in tables if table.num_rows]
    yield from full or tables[:1]


def _packed(rows: Table) -> bytes:
    import pyarrow

    table = rows.to_arrow()
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def gathered(comm: Comm, content: bytes) -> list[bytes]:
    """Return the bytes of all ranks, in their order, on rank 0 (collective)."""
    if comm.rank > 0:
        comm.begin({0: np.frombuffer(content, np.uint8)}, [], tag=Tag.TABLE_FILE).end()
        return []
    others = comm.begin({}, list(range(1, comm.size)), tag=Tag.TABLE_FILE).end()
    return [content, *(others[p].tobytes() for p in sorted(others))]


def _archive(rows: Table) -> bytes:
    return _zipped({name: _array(name, rows[name]) for name in (*rows.keys, *rows.columns)})


def _zipped(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return an ``.npz`` archive, as np.savez makes it of names that are all allowed."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return content.getvalue()


def _array(name: str, values: np.ndarray) -> np.ndarray:
    """Return a column without objects: text where these are names, ``""`` for none."""
    if values.dtype != object:
        return values
    cells = values.reshape(-1).tolist()
    for one in cells:
        if not isinstance(one, (str, int, type(None))):
            raise UsageError(
                f"column {name!r} has a {type(one).__name__}, which no plain array can hold; save it as "
                ".parquet"
            )
    return np.array(["" if one is None else str(one) for one in cells], dtype=str).reshape(values.shape)


def _joined(parts: list[bytes]) -> bytes:
    """Return the archive of the rows of several, one behind the other."""
    archives = [np.load(io.BytesIO(part), allow_pickle=False) for part in parts]
    filled = [one for one in archives if len(one[one.files[0]])] or archives[:1]
    return _zipped({name: np.concatenate([one[name] for one in filled]) for name in filled[0].files})
