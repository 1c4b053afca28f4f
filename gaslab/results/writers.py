"""Writes tables: one text file, or a directory with a part per rank and a manifest.

Both are written by `atomic_writes`, whole or not at all. Numbers are the shortest decimals that read back as
the same value.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gaslab.errors import UsageError
from gaslab.ingest.format import format_table
from gaslab.parallel.comm import Comm
from gaslab.parallel.folders import put, write_folder
from gaslab.parallel.tags import Tag
from gaslab.results.tables import Table, objects
from gaslab.system.atomic_writes import AtomicFile
from gaslab.system.outputs import Output

MANIFEST = "manifest.json"
FORMATS = {".tsv": "\t", ".txt": "\t", ".csv": ","}


class Target:
    """Where a table goes: ``NAME.tsv``, ``NAME.csv`` (``.gz`` or not), ``DIR/``, or a device or pipe."""

    formats: tuple[str, ...] = tuple(FORMATS)
    format = ""  # of bytes: the ending of the name; else it is text
    per, hint = "rank", ""  # what a directory has a part for; what else a name may end in

    def __init__(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Understand *path*; raises UsageError for a name that says neither file nor directory."""
        text = os.fspath(path)
        self.directory = text.endswith(("/", os.sep)) or os.path.isdir(text)
        self.output = Output(text, force, self.directory, way="--force (force=True)")
        self.path = self.output.path
        name = self.path.name
        self.compressed = name.endswith(".gz")
        suffix = Path(name.removesuffix(".gz")).suffix
        if not self.directory and not self.output.stream and suffix not in self.formats:
            raise UsageError(
                f"cannot tell what to write to {text!r}: end it in .tsv, .csv, .tsv.gz or .csv.gz for one "
                f"file, {self.hint}or in / for a directory with a part per {self.per}"
            )
        self.delimiter = "\t" if self.directory else FORMATS.get(suffix, "\t")
        self.header = self.delimiter == ","
        self._checked = False

    def check(self) -> None:
        """Raise UsageError if nothing can or may be written there (not collective)."""
        self.output.check()
        self._guard()
        self._checked = True

    def ready(self) -> Target:
        """Return the target for all ranks, checked unless it was before the work (rank 0 calls it).

        What another job put there meanwhile is no reason to throw the answer away; see `outputs`.
        """
        if self._checked:
            self._guard()
        else:
            self.check()
        return self

    def _guard(self) -> None:
        """Raise UsageError where force would delete what no run of gaslab wrote."""
        if self.directory and self.output.force and self.path.exists() and not _is_answer(self.path):
            raise UsageError(f"{self.path} holds other files, no answer of gaslab; it is not replaced")


def _is_answer(folder: Path) -> bool:
    """Return whether a folder holds a manifest and the parts that it names, or nothing."""
    names = set(os.listdir(folder))
    if not names:
        return True
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        tables = [manifest["vertices"]] if "vertices" in manifest else []  # beside the parts of a cut
        known = {MANIFEST, *(part["file"] for part in [*manifest["parts"], *tables])}
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return names <= known


def write_table(comm: Comm, target: Target, table: Table, rows: int) -> None:
    """Write a table of which each rank holds its part, sorted by id (collective).

    *rows* is the number of global ids: each rank formats the rows of an equal range of them.
    """
    if not target.directory:
        table = spread(comm, table, rows)
    write_rows(comm, target, {name: table[name] for name in table.keys} | table.flat())


def write_rows(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    """Write rows of which each rank holds some, those of rank 0 first (collective)."""
    target = comm.on_root(target.ready)
    if target.directory:
        _write_directory(comm, target, columns)
    else:
        _write_file(comm, target, columns)


def _write_file(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    text = comm.attempt(lambda: _text(columns, target, header=target.header and comm.rank == 0))
    if comm.rank > 0:
        comm.begin({0: np.frombuffer(text, np.uint8)}, [], tag=Tag.TABLE_TEXT).end()
        comm.on_root(lambda: None)
        return
    with AtomicFile(target.output) as draft:
        for peer in range(comm.size):
            draft.write(text if peer == 0 else comm.begin({}, [peer], tag=Tag.TABLE_TEXT).end()[peer].data)
        comm.on_root(draft.keep)


def _write_directory(comm: Comm, target: Target, columns: Mapping[str, np.ndarray]) -> None:
    def write(folder: Path) -> dict[str, str | int]:
        name = f"part-{comm.rank:05d}.tsv"
        put(folder / name, _text(columns, target, header=False))
        return {"file": name, "rows": int(next(iter(columns.values())).size)}

    def describe(parts: list[dict[str, str | int]]) -> bytes:
        rows = sum(int(part["rows"]) for part in parts)
        manifest = {"schema_version": 1, "columns": list(columns), "rows": rows, "parts": parts}
        return (json.dumps(manifest, indent=2) + "\n").encode()

    write_folder(comm, target.output, write, MANIFEST, describe)


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
    row = values.shape[1:]
    if not comm.allreduce(values.dtype == object, "or"):
        return np.concatenate(comm.alltoall([values[span].reshape(-1) for span in spans])).reshape(-1, *row)
    import pickle

    flat = [values[span].reshape(-1).tolist() for span in spans]
    packed = [np.frombuffer(pickle.dumps(part, protocol=5), np.uint8) for part in flat]
    moved = objects([value for part in comm.alltoall(packed) for value in pickle.loads(part.tobytes())])
    return moved.reshape(-1, *row)


# ---- text ------------------------------------------------------------------------------------------


def _text(columns: Mapping[str, np.ndarray], target: Target, header: bool) -> bytes:
    text = text_of(columns, target, header)
    return compressed(text) if target.compressed else text


def text_of(columns: Mapping[str, np.ndarray], target: Target, header: bool) -> bytes:
    """Return rows as text, with the names of the columns before them if *header*."""
    text = format_table(list(columns.values()), target.delimiter)
    if header:
        names = target.delimiter.join(_quoted(name, target.delimiter) for name in columns)
        text = names.encode() + b"\n" + text
    return text


def compressed(text: bytes) -> bytes:
    """Return text in gzip's format, the same bytes for the same text."""
    return gzip.compress(text, compresslevel=6, mtime=0)


def _quoted(cell: str, delimiter: str) -> str:
    """Quote as CSV does where a reader would otherwise split the cell."""
    if delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell
