"""Reads a checkpoint on any number of ranks: each its ranges of rows, the newest that is whole."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.checkpoint.folder import complete
from gaslab.checkpoint.layout import Layout, check_history, check_layout, check_own
from gaslab.checkpoint.manifest import LENGTHS, VALUES, Manifest, check_same, piece_name, read_manifest
from gaslab.checkpoint.pieces import Piece
from gaslab.checkpoint.places import Order, Places
from gaslab.checkpoint.settings import Recovery
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.errors import InputError
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

log = logging.getLogger("gaslab")

LOOKS = 5  # for a whole checkpoint in a folder where another job writes new ones and removes the old


@dataclass
class Loaded:
    """A checkpoint that was read: `snapshot` has the vertices and edges of this rank in its own order."""

    path: Path
    manifest: Manifest
    snapshot: Snapshot


def newest(comm: Comm, settings: Recovery) -> list[Path]:
    """Return the checkpoints of ``resume=``, the newest first (collective).

    Raises InputError where there is none and one is required.
    """
    folder = settings.resume
    assert folder is not None

    def look() -> list[Path]:
        try:
            found = complete(folder)
        except (FileNotFoundError, NotADirectoryError):
            found = []
        except OSError as error:
            raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
        if not found and settings.required:
            raise InputError(
                f"{folder}: holds no checkpoint; resume='auto' (--resume auto) starts a run that has none"
            )
        return found

    return comm.on_root(look)


def load(
    comm: Comm, settings: Recovery, identity: Mapping[str, list[str]], order: Order, cut: str, layout: Layout
) -> Loaded | None:
    """Read the newest checkpoint that is not damaged; None where there is none to resume (collective).

    *layout* returns what a snapshot of this run has. Raises UsageError where it is of another run, and
    InputError where all are damaged.
    """
    listed: list[Path] = []
    problems: list[str] = []
    for _ in range(LOOKS):
        before, listed = listed, newest(comm, settings)
        if listed == before:
            break
        problems = []
        for path in listed:
            try:
                found = _loaded(comm, path, settings.notes, identity, order, cut, layout)
            except InputError as error:
                problems.append(str(error))
                if comm.rank == 0:
                    log.warning("warning: %s; looking for an earlier checkpoint", error)
                continue
            if found is not None:
                return found
    if problems:
        raise InputError(f"{settings.resume}: no checkpoint can be resumed: {'; '.join(problems)}")
    return None


def _loaded(
    comm: Comm, path: Path, notes: Mapping[str, Any], identity: Mapping[str, list[str]], order: Order,
    cut: str, layout: Layout,
) -> Loaded | None:  # fmt: skip
    """Read one checkpoint; None if it is of another run of the same call (collective)."""
    manifest = comm.on_root(lambda: read_manifest(path))
    runs = [one.get("run") for one in (manifest.notes, notes)]
    if None not in runs and runs[0] != runs[1]:
        return None
    found = _read(comm, path, manifest, identity, order, cut, layout)
    found.vertices = {name: order.vertices.from_ranges(x) for name, x in found.vertices.items()}
    if order.edges is not None:
        found.edges = {name: order.edges.from_ranges(x) for name, x in found.edges.items()}
    return Loaded(path, manifest, found)


def notes_of(comm: Comm, settings: Recovery) -> dict[str, Any]:
    """Return the notes of the newest checkpoint to resume that is not damaged, {} of none (collective)."""

    def check(path: Path, manifest: Manifest) -> None:
        for rank in range(comm.rank, manifest.ranks, comm.size):
            piece = Piece(path / piece_name(rank), manifest.pieces[rank].arrays)
            for name in piece.arrays:
                piece.rows(name)

    for path in [] if settings.resume is None else newest(comm, settings):
        with contextlib.suppress(InputError):
            manifest = comm.on_root(lambda path=path: read_manifest(path))  # type: ignore[misc]
            comm.attempt(lambda path=path, manifest=manifest: check(path, manifest))  # type: ignore[misc]
            return manifest.notes
    return {}


def _read(
    comm: Comm, path: Path, manifest: Manifest, identity: Mapping[str, list[str]], order: Order, cut: str,
    layout: Layout,
) -> Snapshot:  # fmt: skip
    """Read one checkpoint, the rows those of this rank's ranges (collective)."""
    comm.on_root(lambda: check_same(path, manifest, identity))
    reader = _Reader(comm, path, manifest)

    def read() -> Snapshot:
        expected = check_layout(path, manifest, layout)
        found = reader.read(order, cut)
        check_history(path, found)
        check_own(reader.mine.path, found, expected)
        return found

    return comm.attempt(read)


class _Reader:
    """Reads one rank's part of a checkpoint."""

    def __init__(self, comm: Comm, folder: Path, manifest: Manifest) -> None:
        self._comm, self._manifest = comm, manifest
        self._pieces = [
            Piece(folder / piece_name(rank), entry.arrays) for rank, entry in enumerate(manifest.pieces)
        ]

    @property
    def mine(self) -> Piece:
        """The piece of the rank with this rank's number, the last one where there are fewer."""
        return self._pieces[min(self._comm.rank, len(self._pieces) - 1)]

    def read(self, order: Order, cut: str) -> Snapshot:
        """Return the state, the rows of vertices and edges those of this rank's ranges (not collective)."""
        manifest, first = self._manifest, self._pieces[0]
        found = Snapshot(manifest.numbers)
        bounds = {
            "vertices": [entry.vertices for entry in manifest.pieces],
            "edges": [entry.edges for entry in manifest.pieces],
        }
        for name in first.arrays:
            kind, _, word = name.removeprefix(LENGTHS).removeprefix(VALUES).partition("/")
            if kind in ("whole", "history"):
                getattr(found, kind)[word] = first.rows(name)
            elif kind in bounds and not name.startswith(VALUES):
                places = order.vertices if kind == "vertices" else order.edges
                if places is None or places.total != bounds[kind][-1][1]:
                    raise InputError(f"{first.path}: its {kind} are not those of the graph")
                getattr(found, kind)[word] = self._range(name, word, kind, bounds[kind], places)
        same = manifest.ranks == self._comm.size and manifest.cut == cut
        found.own = None
        if same:
            mine = self.mine
            found.own = {
                name.removeprefix("own/"): mine.rows(name) for name in mine.arrays if name.startswith("own/")
            }
        return found

    def _range(self, name: str, word: str, kind: str, bounds: list[list[int]], places: Places) -> Any:
        """Return the rows of this rank's range of an array, or of lists, of all pieces."""
        ragged = name.startswith(LENGTHS)
        parts, lists = [], []
        for piece, (low, high) in zip(self._pieces, bounds, strict=True):
            begin, end = (min(max(at, low), high) - low for at in (places.low, places.high))
            if not ragged:
                parts.append(piece.rows(name, begin, end))
                continue
            lengths = piece.rows(name, 0, end)
            most = piece.arrays[f"{VALUES}{kind}/{word}"].shape[0]
            ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
            if lengths.min(initial=0) < 0 or max(lengths.max(initial=0), ends[-1]) > most:
                raise InputError(f"{piece.path}: the lists of {word!r} have lengths that cannot be")
            parts.append(lengths[begin:])
            lists.append(piece.rows(f"{VALUES}{kind}/{word}", ends[begin], ends[end]))
        rows = np.concatenate(parts)
        return RaggedColumn(rows, np.concatenate(lists)) if ragged else rows
