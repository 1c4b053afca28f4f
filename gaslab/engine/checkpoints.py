"""Checkpoints of a run: what it has in common with the run that it resumes, and when its driver saves."""

from __future__ import annotations

import contextlib
import logging
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gaslab.arguments import shown
from gaslab.checkpoint.loader import Loaded, load
from gaslab.checkpoint.places import Order, Places
from gaslab.checkpoint.requests import NOTHING, STOP
from gaslab.checkpoint.saver import Saver
from gaslab.checkpoint.settings import Recovery, Spent
from gaslab.engine.asynchronous.driver import AsynchronousDriver
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.engines import Async
from gaslab.engine.options import Options
from gaslab.engine.stale.driver import StaleDriver
from gaslab.engine.sync.driver import SyncDriver
from gaslab.parallel.fingerprint import fingerprint
from gaslab.partitioning.local_graph import LocalGraph

log = logging.getLogger("gaslab")


Saved = SyncDriver | AsynchronousDriver | StaleDriver  # drivers whose runs can be saved


class Checkpoints:
    """The checkpoints that one run writes, and the one that it resumes."""

    def __init__(self, bound: BoundProgram, options: Options, settings: Recovery) -> None:
        self._bound, self._options, self._settings = bound, options, settings
        graph, comm = bound.graph, bound.graph.comm
        local = graph.local
        edges = Places.of_edges(comm, local) if bound.columns.written else None
        self._order = Order(Places.of_vertices(comm, local, graph.num_vertices), edges)
        self._identity = identity(bound, options)
        caches = any(one.tree.posts for one in bound.compiled)
        self._cut = "".join(comm.allgather(_digest(local))) if caches else ""
        self.spent = Spent()  # by this rank, before it resumed
        self._resumed: Loaded | None = None
        self._saver: Saver | None = None

    @contextlib.contextmanager
    def of(self, driver: Saved, spent: Callable[[], Spent]) -> Iterator[None]:
        """Let the driver resume, and save its run in the block (collective).

        *spent* returns what the run has cost by itself. The folder is locked before anything is read.
        """
        with contextlib.ExitStack() as ends:
            saver = None if self._settings.folder is None else ends.enter_context(self._new_saver(spent))
            self._resume(driver)
            if saver is not None:
                self._attach(driver, saver)
            yield
            if saver is not None:
                saver.finish()

    def _new_saver(self, spent: Callable[[], Spent]) -> Saver:
        comm = self._bound.graph.comm

        def of_all() -> dict[str, float]:
            own = self.spent + spent()
            table = comm.allgather_row(np.array([own.seconds, own.bytes_sent, own.cpu_seconds]))
            return asdict(Spent(table[:, 0].max().item(), *table[:, 1:].sum(axis=0).tolist()))

        self._saver = Saver(comm, self._settings, self._identity, self._order, self._cut, of_all)
        return self._saver

    def _resume(self, driver: Saved) -> None:
        if self._settings.resume is None:
            return
        comm = self._bound.graph.comm
        self._resumed = load(comm, self._settings, self._identity, self._order, self._cut, driver.layout)
        if self._resumed is None:
            return
        self.spent = Spent(**self._resumed.manifest.spent).on(comm.rank)
        self._options.cancellation.began_earlier(self.spent.seconds)
        driver.resume(self._resumed.snapshot)
        if comm.rank == 0:
            log.info("resumed %s", self._resumed.path)

    def _attach(self, driver: Saved, saver: Saver) -> None:
        if isinstance(driver, AsynchronousDriver):
            saver.begin(driver.updates)
            driver.saver = _Drained(driver, saver)
        elif isinstance(driver, StaleDriver):
            saver.begin(driver.state.superstep)
            driver.saver = _Paused(driver, saver)
        else:
            saver.begin(self._superstep(driver))
            driver.between.append(lambda: self._between(driver, saver))

    def _between(self, driver: Saved, saver: Saver) -> None:
        superstep = self._superstep(driver)
        wanted = saver.wanted(superstep)
        if wanted != NOTHING:
            saver.save(f"superstep-{superstep:08d}", superstep, driver.snapshot, wanted == STOP)

    def _superstep(self, driver: Saved) -> int:
        return self._settings.before + driver.state.superstep

    def figures(self) -> dict[str, Any]:
        """Return which checkpoint was resumed, what had been spent until then, and how many were written."""
        resumed = self._resumed
        found: dict[str, Any] = {
            "resumed": None if resumed is None else resumed.path.name,
            "spent_before": asdict(Spent()) if resumed is None else resumed.manifest.spent,
        }
        return found if self._saver is None else {**found, **self._saver.figures}


class _Drained:
    """Saves a run without supersteps: see `gaslab.engine.asynchronous.driver.SavesDrained`."""

    def __init__(self, driver: AsynchronousDriver, saver: Saver) -> None:
        self._driver, self._saver = driver, saver
        self.here, self.agreed = saver.here, saver.agreed

    def save(self, updates: int, stop: bool) -> None:
        self._saver.save(f"updates-{updates:012d}", updates, self._driver.snapshot, stop)


class _Paused:
    """Saves a run under bounded staleness: see `gaslab.engine.stale.driver.SavesPaused`."""

    def __init__(self, driver: StaleDriver, saver: Saver) -> None:
        self._driver, self._saver = driver, saver

    def here(self, superstep: int) -> tuple[int, bool]:
        wanted, writing = self._saver.here(superstep)
        return wanted, self._saver.begun and not writing

    def paused(self, superstep: int, wanted: int) -> None:
        self._saver.finish()
        if wanted != NOTHING:
            name = f"superstep-{superstep:08d}"
            self._saver.save(name, superstep, self._driver.snapshot, wanted == STOP)


def identity(bound: BoundProgram, options: Options) -> dict[str, list[str]]:
    """Return what a run must have in common with one that it resumes: words, and a digest of each."""
    graph, program = bound.graph, bound.program
    trees = [replace(one.tree, outside={}, sites=()) for one in bound.compiled]
    size = f"{graph.num_vertices:,} vertices and {graph.num_edges:,} edges"
    found: dict[str, tuple[str, Any]] = {
        "program": (type(program).__name__, trees),
        "graph": (f"{graph.source} ({size})", graph.fingerprint),
        "engine": (repr(options.engine), options.engine),
        "seed": (str(options.seed), options.seed),
    }
    if isinstance(options.engine, Async):
        found["engine"] = (repr(options.engine), replace(options.engine, max_updates=None))
    for name, value in program.parameters().items():
        if name != program.visit_ways:  # which depends on the ranks
            found[f"parameter {name}"] = (shown(value), value)
    for one, arrays in zip(bound.compiled, bound.arrays, strict=True):
        for k in one.tree.outside:  # those that are no parameters
            found[f"array {one.tree.shared[k].name}"] = (shown(arrays[k]), arrays[k])
    columns = options.columns or {}
    for field in bound.tree.edge_fields:
        if field.name not in bound.columns.written:
            column = columns.get(field.name, field.name)
            found[f"column of the edge field {field.name}"] = (repr(column), column)
    return {name: [words, fingerprint(value).hex()] for name, (words, value) in found.items()}


def _digest(local: LocalGraph) -> str:
    """Return a digest of this rank's part of the graph."""
    arrays = (local.gid, local.in_begin, local.in_neighbor)
    return "".join(f"{zlib.crc32(np.ascontiguousarray(x).view(np.uint8).data):08x}" for x in arrays)
