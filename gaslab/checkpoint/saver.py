"""`Saver`: writes checkpoints while the run goes on.

Between two supersteps the ranks agree whether a checkpoint is due (`requests`). Then each copies its part of
the state, the parts travel into the order of a checkpoint (`places`), and a thread of each rank writes its
piece. The thread makes no call of MPI. Between later supersteps the ranks see that all pieces are written;
then rank 0 writes the manifest and gives the checkpoint its name. Until then the one before it is the newest.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.checkpoint.folder import CheckpointFolder
from gaslab.checkpoint.manifest import LENGTHS, VALUES, Manifest, PieceEntry, piece_name
from gaslab.checkpoint.pieces import Described, write_piece
from gaslab.checkpoint.places import Order
from gaslab.checkpoint.requests import Requests
from gaslab.checkpoint.settings import Recovery
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.errors import CheckpointWarning, GaslabError, Terminated, warn_user
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn
from gaslab.system import leftovers

log = logging.getLogger("gaslab")


class Writing(threading.Thread):
    """Writes one piece."""

    def __init__(self, path: Path, arrays: Mapping[str, np.ndarray]) -> None:
        super().__init__(name="gaslab checkpoint", daemon=True)
        self._path, self._arrays = path, arrays
        self.described: dict[str, Described] = {}
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.described = write_piece(self._path, self._arrays)
        except Exception as error:  # raised, or warned of, where the ranks agree on it
            self.error = error


@dataclass
class Begun:
    """A checkpoint that is being written."""

    name: str
    beside: Path
    manifest: Manifest
    writing: Writing


class Saver:
    """The checkpoints of one run, on one rank; a context, within which signals ask for checkpoints.

    Attributes
    ----------
    figures : dict
        How many checkpoints were written and how many could not be; the bytes of the last one; the seconds
        that the run stood still for all of them.
    """

    def __init__(
        self, comm: Comm, settings: Recovery, identity: Mapping[str, list[str]], order: Order, cut: str,
        spent: Callable[[], dict[str, float]],
    ) -> None:  # fmt: skip
        self._comm, self._settings, self._order, self._cut = comm, settings, order, cut
        self._identity = dict(identity)
        self._spent = spent
        assert settings.folder is not None
        self._path = settings.folder
        self._folder: CheckpointFolder | None = None  # on rank 0
        self._requests = Requests(settings.seconds, settings.supersteps)
        self._begun: Begun | None = None
        self._ends = contextlib.ExitStack()
        self.figures = {"written": 0, "failed": 0, "bytes": 0, "seconds": 0.0}

    def __enter__(self) -> Saver:
        """Make and lock the folder (collective)."""

        def open_folder() -> None:
            settings = self._settings
            self._folder = CheckpointFolder(self._path, settings.keep, settings.in_place)

        self._comm.on_root(open_folder)
        self._ends.callback(self._close)
        self._ends.enter_context(leftovers.undone(self._drop))
        self._ends.enter_context(self._requests)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._ends.__exit__(*raised)

    def _close(self) -> None:
        if self._folder is not None:
            self._folder.close()

    def _drop(self) -> None:
        """Remove the checkpoint that the end of the run has cut off."""
        begun, self._begun = self._begun, None
        if begun is not None and self._folder is not None:
            self._folder.drop(begun.beside)

    @property
    def begun(self) -> bool:
        """Whether a checkpoint is being written."""
        return self._begun is not None

    def begin(self, superstep: int) -> None:
        """Note how many supersteps the run had made when it began, or was resumed."""
        self._requests.met(superstep)

    # ---- between two supersteps --------------------------------------------------------------------

    def wanted(self, superstep: int) -> int:
        """Return what any rank wants now (collective); conclude a checkpoint whose pieces are written."""
        wanted, writing = self._comm.allreduce(np.array(self.here(superstep)), "max").tolist()
        return self.agreed(wanted, bool(writing))

    def here(self, superstep: int) -> tuple[int, bool]:
        """Return what this rank wants, and whether it still writes a piece."""
        writing = self._begun is not None and self._begun.writing.is_alive()
        return self._requests.wanted(superstep, writing), writing

    def agreed(self, wanted: int, writing: bool) -> int:
        """Conclude a checkpoint if no rank is *writing*; return what any rank has *wanted* (collective)."""
        if self._begun is not None and not writing:
            self._timed(self._conclude)
        return wanted

    def save(self, name: str, superstep: int, snapshot: Callable[[], Snapshot], stop: bool) -> None:
        """Begin a checkpoint of the state; with *stop* end it, and the run (collective)."""
        self.finish()
        written = self.figures["written"]
        self._requests.met(superstep)
        self._timed(lambda: self._begin(name, snapshot()))
        if stop:
            self.finish()
            saved = self.figures["written"] > written
            text = f"{self._path / name} was written" if saved else "no checkpoint could be written"
            if self._comm.rank == 0:
                log.warning("stopped by SIGTERM; %s", text)
            raise Terminated(f"stopped by SIGTERM; {text}")

    def finish(self) -> None:
        """Wait for the checkpoint that is being written, and conclude it (collective)."""
        if self._begun is not None:
            self._timed(self._conclude)

    def _timed(self, action: Callable[[], None]) -> None:
        began = time.perf_counter()
        action()
        self.figures["seconds"] += time.perf_counter() - began

    def _begin(self, name: str, snapshot: Snapshot) -> None:
        comm, order = self._comm, self._order
        arrays: dict[str, np.ndarray] = {}
        for kind, places in (("vertices", order.vertices), ("edges", order.edges)):
            for word, values in getattr(snapshot, kind).items():
                assert places is not None
                arrays |= _parts(f"{kind}/{word}", places.to_ranges(values))
        arrays |= {f"own/{word}": values for word, values in (snapshot.own or {}).items()}
        if comm.rank == 0:
            arrays |= {f"whole/{word}": values for word, values in snapshot.whole.items()}
            arrays |= {f"history/{word}": values for word, values in snapshot.history.items()}
        try:
            beside = comm.on_root(lambda: self._folder.begin(name))  # type: ignore[union-attr]
        except OSError as error:
            self._failed(error)
            return
        manifest = Manifest(
            self._identity, self._cut, comm.size, snapshot.numbers, self._spent(), self._settings.notes
        )
        writing = Writing(beside / piece_name(comm.rank), arrays)
        self._begun = Begun(name, beside, manifest, writing)
        writing.start()

    def _conclude(self) -> None:
        """Complete the checkpoint whose pieces are written, or say why it is not (collective)."""
        begun, comm = self._begun, self._comm
        assert begun is not None
        begun.writing.join()
        writing, order = begun.writing, self._order

        def entry() -> PieceEntry:
            if writing.error is not None:
                raise writing.error
            edges = order.edges
            ranges = [0, 0] if edges is None else [edges.low, edges.high]
            return PieceEntry([order.vertices.low, order.vertices.high], ranges, writing.described)

        try:
            begun.manifest.pieces = comm.allgather(comm.attempt(entry))
            packed = begun.manifest.packed() if comm.rank == 0 else b""
            comm.on_root(lambda: self._folder.finish(begun.beside, begun.name, packed))  # type: ignore[union-attr]
        except (OSError, GaslabError) as error:
            self._drop()
            self._failed(error)
            return
        self._begun = None
        self.figures["written"] += 1
        pieces = begun.manifest.pieces
        self.figures["bytes"] = sum(one.bytes for piece in pieces for one in piece.arrays.values())
        if comm.rank == 0:
            log.info("wrote the checkpoint %s", self._path / begun.name)

    def _failed(self, error: Exception) -> None:
        """Raise or warn that a checkpoint could not be written, on every rank."""
        self.figures["failed"] += 1
        text = f"cannot write a checkpoint to {self._path}: {getattr(error, 'strerror', None) or error}"
        if self._settings.raises:
            raise GaslabError(f"{text}; on_checkpoint_error='warn' would go on without") from None
        warn_user(f"{text}; the run goes on", CheckpointWarning, self._comm.rank)


def _parts(name: str, values: Any) -> dict[str, np.ndarray]:
    if isinstance(values, RaggedColumn):
        return {LENGTHS + name: values.lengths, VALUES + name: values.values}
    return {name: values}
