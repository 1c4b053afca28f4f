"""Runs a vertex program and its twin in turn, superstep by superstep, from the same state.

The engine is built as `gaslab.run` builds it. Its observer times every superstep and then lets the twin take
the same one: both see the machine at the same moments, and neither's set-up counts. Seconds are those of
the processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.compiler import toolchain
from gaslab.engine.bound_program import bind
from gaslab.engine.build import build_synchronous
from gaslab.engine.execute import compile_program
from gaslab.engine.observe.observer import Observer
from gaslab.engine.options import Options, check
from gaslab.engine.state import RunState
from gaslab.engine.sync.driver import SyncDriver
from gaslab.engine.visit.sweep import Visits
from gaslab.replication.exchange import Exchange

HERE = Path(__file__).parent
RANDOM = f"-I{HERE.parent.parent / 'cython_kernels' / 'random'}"
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=gnu11", "-fPIC", "-shared")

Values = Mapping[str, Any]  # the parameters of a twin in their order: arrays, ints and floats


class Run:
    """The state of a vertex program's run on one rank, by the names of its fields.

    Attributes
    ----------
    kept : ndarray
        What a pair's `bind` keeps of the start for its `agree`.
    """

    kept: np.ndarray

    def __init__(
        self, graph: gl.Graph, program: gl.VertexProgram, driver: SyncDriver, visits: Visits | None
    ) -> None:
        self.graph, self.local, self.program = graph, graph.local, program
        self._driver, self._visits = driver, visits

    @property
    def state(self) -> RunState:
        return self._driver.state

    def vertex(self, name: str) -> np.ndarray:
        """Return a field of the vertices, by local id."""
        names = [variable.name for variable in self.state.tree.vertex_fields]
        return self.state.fields[names.index(name)]

    def edge(self, name: str) -> np.ndarray:
        """Return a field of the edges, by slot."""
        names = [variable.name for variable in self.state.tree.edge_fields]
        return self.state.edge_fields[names.index(name)]

    def visited(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return edges in the order of visits: their ends, as int32, and a field; and who the ends are.

        An end is a position in the last array, which has the local ids of all vertices with edges, block by
        block of those that are visited together.
        """
        assert self._visits is not None
        edges, gid = self._visits.edges, self._visits.view.gid
        local_id = np.empty(self.graph.num_vertices, np.int32)
        local_id[self.local.gid] = np.arange(self.local.num_local)
        places, ends = np.unique([edges.source, edges.target], return_inverse=True)
        source, target = ends.reshape(2, -1).astype(np.int32)
        return source, target, edges.bring(self.edge(name)), local_id[gid[places]]


@dataclass(frozen=True)
class Pair:
    """A vertex program and its twin.

    Attributes
    ----------
    source : str
        The C file, and after it what is defined for it.
    graphs : tuple of str
        Names of `Inputs`.
    bind : callable
        Makes the parameters of the C function ``step``, in their order, but for the last, the superstep's
        number, from the run at its start. What the twin writes is its own.
    agree : callable
        Raises AssertionError unless the run and these parameters, after as many supersteps, have one answer.
    parts : tuple of str
        What each superstep of a cycle does; those of one name are timed together.
    supersteps : int
        Of a run.
    apart : tuple of str
        Stages of the engine that are not counted: figures of the run that the twin has none of.
    init : callable, optional
        Makes vertex fields to start from.
    """

    name: str
    program: gl.VertexProgram
    source: str
    graphs: tuple[str, ...]
    bind: Callable[[Run], Values]
    agree: Callable[[Run, Values], None]
    parts: tuple[str, ...] = ("",)
    supersteps: int = 8
    apart: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    init: Callable[[gl.Graph], Any] | None = None


Step = Callable[[Values, int], None]
Times = list[tuple[float, float]]  # of the vertex program and of its twin, by superstep


def build(pair: Pair, folder: Path) -> Step:
    """Compile the twin, and return what takes one of its steps."""
    name, *defines = pair.source.split()
    library = folder / f"{pair.name}.so"
    command = [*(toolchain.compiler() or ("cc",)), *FLAGS, *(f"-D{define}" for define in defines), RANDOM]
    subprocess.run([*command, str(HERE / name), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).step
    function.restype = None

    def step(values: Values, superstep: int) -> None:
        function(*map(_argument, values.values()), ctypes.c_int64(superstep))

    return step


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


def in_turn(pair: Pair, graph: gl.Graph, step: Step) -> Times:
    """Run both sides; return their CPU-seconds once their answers agree."""
    given = None if pair.init is None else pair.init(graph)
    asked = Options(
        max_iterations=pair.supersteps, threads=1, init=given, columns=pair.columns, compile="require"
    )
    options = check(pair.program, graph, asked)
    compiled, _ = compile_program(pair.program, graph, options)
    bound = bind(compiled, pair.program, graph, options)
    observe = _InTurn(graph.comm, options, pair, step)
    engines = build_synchronous(bound, options, observe, Exchange(graph.local, graph.comm))
    driver = SyncDriver(engines, bound, options, observe)
    observe.run = Run(graph, pair.program, driver, engines[0].visits)
    with options.cancellation, observe:
        driver.run()
    assert observe.left_out == set(pair.apart), f"{pair.name}: of {pair.apart} ran {observe.left_out}"
    pair.agree(observe.run, observe.values)
    return observe.times


class _InTurn(Observer):
    """Times every superstep, and lets the twin take the same one when it is over."""

    run: Run

    def __init__(self, comm: Any, options: Options, pair: Pair, step: Step) -> None:
        super().__init__(comm, options)
        self._pair, self._step = pair, step
        self.values: Values = {}
        self.times: Times = []
        self.left_out: set[str] = set()
        self._began = self._uncounted = 0.0

    def begin(self, superstep: int) -> None:
        if superstep == 0:
            self.values = self._pair.bind(self.run)
        self._uncounted = 0.0
        self._began = time.process_time()

    def end(self, superstep: int, active: int) -> None:
        compiled = time.process_time() - self._began - self._uncounted
        if active == 0:
            return
        began = time.process_time()
        self._step(self.values, superstep)
        self.times.append((compiled, time.process_time() - began))

    def stage(self, name: str, *seen: Any) -> Any:
        return self._leave_out(name) if name in self._pair.apart else super().stage(name, *seen)

    @contextlib.contextmanager
    def _leave_out(self, name: str) -> Iterator[None]:
        self.left_out.add(name)
        began = time.process_time()
        yield
        self._uncounted += time.process_time() - began
