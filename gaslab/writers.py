"""Writes tables: one text file, or a directory with a part per rank and a manifest.

Both are written beside their final name and renamed when complete, so that a job that is killed
leaves no half answer under it. Numbers are the shortest decimals that read back as the same value.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.comm import Comm
from gaslab.errors import GaslabError, UsageError
from gaslab.ingest.format import format_table
from gaslab.tables import Table, objects

MANIFEST = "manifest.json"
FORMATS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
TAG = 9


class Target:
    """Where a table goes: ``NAME.tsv``, ``NAME.csv`` (``.gz`` or not), or ``DIR/``."""

    def __init__(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Understand *path*; raises UsageError for a name that says neither file nor directory."""
        text = os.fspath(path)
        self.path, self.force = Path(text), force
        self.directory = text.endswith(("/", os.sep)) or self.path.is_dir()
        name = self.path.name
        self.compressed = name.endswith(".gz")
        suffix = Path(name.removesuffix(".gz")).suffix
        if not self.directory and suffix not in FORMATS:
            raise UsageError(
                f"cannot tell what to write to {text!r}: end it in .tsv, .csv, .tsv.gz or .csv.gz for one "
                "file, or in / for a directory with a part per rank"
            )
        self.delimiter = "\t" if self.directory else FORMATS[suffix]
        self.header = self.delimiter == ","

    def check(self) -> None:
        """Raise UsageError if nothing can or may be written there (not collective)."""
        parent = self.path.parent
        if not parent.is_dir():
            raise UsageError(f"cannot write {self.path}: there is no directory {parent}")
        if not os.access(parent, os.W_OK):
            raise UsageError(f"cannot write {self.path}: no permission to write in {parent}")
        if not self.path.exists():
            return
        if not self.force:
            raise UsageError(f"{self.path} exists; --force (force=True) replaces it")
        if self.directory and any(self.path.iterdir()) and not (self.path / MANIFEST).is_file():
            raise UsageError(f"{self.path} holds other files, no answer of gaslab; it is not replaced")

    @property
    def beside(self) -> Path:
        """The name under which it is written until it is complete."""
        return self.path.with_name(f".{self.path.name}.incomplete")


def write_table(comm: Comm, target: Target, table: Table, rows: int) -> None:
    """Write a table of which each rank holds its part, sorted by id (collective).

    *rows* is the number of global ids: each rank formats the rows of an equal range of them.
    """
    if not target.directory:
        table = spread(comm, table, rows)
    write_rows(comm, target, {name: table[name] for name in table.keys} | table.flat())


def write_rows(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    """Write rows of which each rank holds some, those of rank 0 first (collective)."""
    comm.on_root(target.check)
    if target.directory:
        _write_directory(comm, target, columns)
    else:
        _write_file(comm, target, columns)


def _write_file(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    text = comm.attempt(lambda: _text(columns, target, header=target.header and comm.rank == 0))
    if comm.rank > 0:
        comm.begin({0: np.frombuffer(text, np.uint8)}, [], tag=TAG).end()
        comm.on_root(lambda: None)
        return
    file = _Sink(target.beside)
    for peer in range(comm.size):
        file.write(text if peer == 0 else comm.begin({}, [peer], tag=TAG).end()[peer])
    file.close()
    comm.on_root(lambda: _finish(target, file.failed))


class _Sink:
    """A file that remembers its first error instead of raising it: the other ranks are still sending."""

    def __init__(self, path: Path) -> None:
        self._file: Any = None
        self.failed: OSError | None = None
        self._try(lambda: setattr(self, "_file", open(path, "wb")))  # noqa: SIM115 - close() closes it

    def write(self, part: Any) -> None:
        if self.failed is None:
            self._try(lambda: self._file.write(part))

    def close(self) -> None:
        if self._file is not None:
            self._try(self._file.close)

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except OSError as error:
            self.failed = self.failed or error


def _write_directory(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    comm.on_root(lambda: _fresh_directory(target.beside))
    name = f"part-{comm.rank:05d}.tsv"
    comm.attempt(lambda: (target.beside / name).write_bytes(_text(columns, target, header=False)))
    rows = comm.allgather(int(next(iter(columns.values())).size))
    manifest = {
        "schema_version": 1,
        "columns": list(columns),
        "rows": sum(rows),
        "parts": [{"file": f"part-{rank:05d}.tsv", "rows": count} for rank, count in enumerate(rows)],
    }

    def complete() -> None:
        (target.beside / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
        _finish(target, None)

    comm.on_root(complete)


def write_text(path: str | os.PathLike[str], text: str, force: bool) -> None:
    """Write a small text file beside *path* and rename it (not collective)."""
    final = Path(path)
    check_text(path, force)
    beside = final.with_name(f".{final.name}.incomplete")
    beside.write_text(text)
    os.replace(beside, final)


def check_text(path: str | os.PathLike[str], force: bool) -> None:
    """Raise if a small text file may not be written there (not collective)."""
    final = Path(path)
    if not final.parent.is_dir():
        raise UsageError(f"cannot write {final}: there is no directory {final.parent}")
    if final.is_dir():
        raise UsageError(f"cannot write {final}: it is a directory")
    if final.exists() and not force:
        raise UsageError(f"{final} exists; --force replaces it")


def _fresh_directory(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)  # left by a job that was killed
    path.mkdir()


def _finish(target: Target, failed: OSError | None) -> None:
    if failed is not None:
        with contextlib.suppress(OSError):
            target.beside.unlink()
        raise GaslabError(f"cannot write {target.path}: {failed.strerror or failed}")
    if target.directory and target.path.exists():
        old = target.path.with_name(f".{target.path.name}.replaced")
        os.replace(target.path, old)
        os.replace(target.beside, target.path)
        shutil.rmtree(old)
    else:
        os.replace(target.beside, target.path)


def spread(comm: Comm, table: Table, rows: int) -> Table:
    """Return the table with rank r holding the rows of the r-th range of global ids (collective)."""
    if comm.size == 1:
        return table
    first = table.global_ids[table.keys[0]]  # sorted, and so are its owners
    cuts = np.searchsorted(first * comm.size // max(rows, 1), np.arange(comm.size + 1))
    spans = [slice(cuts[p], cuts[p + 1]) for p in range(comm.size)]
    parts = [
        {name: _move(comm, values, spans) for name, values in part.items()}
        for part in (
            {name: table[name] for name in table.keys},
            {name: table[name] for name in table.columns},
            table.global_ids,
        )
    ]
    keys = [name for name in table.keys if name in table.global_ids]
    order = np.lexsort(tuple(parts[2][name] for name in reversed(keys)))  # stable, as collected
    return Table(*parts).take(order)


def _move(comm: Comm, values: np.ndarray, spans: list[slice]) -> np.ndarray:
    if not comm.allreduce(values.dtype == object, "or"):
        row = values.shape[1:]
        return np.concatenate(comm.alltoall([values[span].reshape(-1) for span in spans])).reshape(-1, *row)
    import pickle

    packed = [np.frombuffer(pickle.dumps(values[span].tolist(), protocol=5), np.uint8) for span in spans]
    return objects([value for part in comm.alltoall(packed) for value in pickle.loads(part.tobytes())])


# ---- text ------------------------------------------------------------------------------------------


def _text(columns: Mapping[str, np.ndarray], target: Target, header: bool) -> bytes:
    text = format_table(list(columns.values()), target.delimiter)
    if header:
        names = target.delimiter.join(_quoted(name, target.delimiter) for name in columns)
        text = names.encode() + b"\n" + text
    return gzip.compress(text, compresslevel=6, mtime=0) if target.compressed else text


def _quoted(cell: str, delimiter: str) -> str:
    """Quote as CSV does where a reader would otherwise take the cell apart."""
    if delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell
