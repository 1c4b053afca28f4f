"""Supersteps in plain Python, one vertex and one edge at a time: the meaning of the language."""

from __future__ import annotations

import itertools
import linecache
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gaslab import program as words
from gaslab.errors import ExecutionError, Interrupted, OutOfTime, UsageError
from gaslab.language import rng, sum_by
from gaslab.language.arrays import is_array
from gaslab.language.counts import count_of
from gaslab.language.nobody import Nobody
from gaslab.language.rng import EDGE_PHASES, drawing
from gaslab.language.visit_ways import field_bytes, ways_of
from gaslab.reference import declared, records
from gaslab.reference.arithmetic import PRECISION, Fault, number
from gaslab.reference.arrays import SINGULAR
from gaslab.reference.graph import PlainGraph
from gaslab.reference.live import LiveTotals
from gaslab.reference.own_merges import OwnCombiner, same_kind
from gaslab.reference.phases import BoundPhase
from gaslab.reference.records import shown
from gaslab.reference.signals import SignalById
from gaslab.reference.start import bound_parameters, fill_edges, fill_vertices
from gaslab.reference.state import State
from gaslab.reference.views import Vertex

# Code that the user's methods may call; its faults are shown at the user's own line.
_NOT_THE_USERS = (
    *(os.path.dirname(__file__), os.path.dirname(np.__file__)),
    *(rng.__file__, words.__file__, words.mode.__code__.co_filename, words.solve_spd.__code__.co_filename),
    sum_by.__file__,
)
_FAULTS = (Fault, ZeroDivisionError, IndexError, np.linalg.LinAlgError)


class Run(State):
    """One program on one graph, between supersteps."""

    def __init__(
        self,
        program: words.VertexProgram,
        vertices: Sequence[Any],
        edges: Sequence[tuple[Any, Any]],
        columns: Mapping[str, Sequence[Any]],
        directed: bool,
        seed: int,
    ) -> None:
        super().__init__(program, seed)
        for combiner in (*self.combiners.values(), *(c for t in self.phases for c in (t.gather, t.message))):
            if isinstance(combiner, OwnCombiner):
                combiner.merge = self.merged
        self.repeats = count_of(program, program.repeat_phases)
        self.graph = PlainGraph(self, vertices, edges, directed)
        self.vertices, self.edges = self.graph.vertices, self.graph.edges
        self.random.learn(list(self.graph.by_id), edges)
        vertex_bytes = sum(field_bytes(field.storage, field.shape) for field in self.vertex_fields.values())
        self.visit_order = self.graph.visit_order(ways_of(program), vertex_bytes)
        fill_edges(self, self.edges, columns)
        self.parameters = bound_parameters(self, self.graph.by_id)
        self.me = self.instance(self.computing, number)

    def direction(self, name: str, v: Vertex) -> int:
        """Return the edges over which *v* gathers or scatters now."""
        if name not in self.current_phase.methods:
            return int(getattr(self.current_phase, name))
        way: int = self.call(name, v)
        if not 0 <= way <= words.ALL:
            where = f"at vertex {self.name(v)}"
            raise ExecutionError(f"{name} is {way} {where}; return gl.IN, gl.OUT, gl.ALL or gl.NONE")
        return way

    # ---- supersteps --------------------------------------------------------------------------------

    def initialise(
        self, initial: Mapping[str, Mapping[Any, Any]], columns: Mapping[str, Mapping[Any, Any]]
    ) -> None:
        """Give fields their defaults, then the caller's values, then run init."""
        self.initial_fields = set(initial)
        fill_vertices(self, self.vertices, initial, columns)
        if self.init_takes_message:
            self.initial_fields = set()
        elif "init" in self.current_phase.methods:
            for v in self.vertices:
                self.call("init", v)
        self.aggregates = self.aggregated(lambda mark: True)
        self.me = self.instance(self.computing, number)

    def supersteps(self, limit: int | None) -> bool:
        """Run supersteps up to the limit; return whether the program reached its own end, if it has one."""
        if limit is None and not all(phase.ends_itself for phase in self.phases):
            raise UsageError(f"{self.cls.__name__} would never end; give max_iterations")
        repeats, cycles = self.repeats, 0
        last = 1 if repeats is None and self.done is None else repeats
        while cycles != last:
            before, cycles = self.superstep_number, cycles + 1
            for phase in self.phases:
                self.begin_phase(phase)
                ended = self.run_phase(limit)
                self.aggregates = self.aggregated(lambda mark: mark.by_phase)
                self.me = self.instance(self.computing, number)
                if not ended:
                    return not phase.ends_itself
            if self.superstep_number == before or cycles == last:
                break
            if self.done is not None and self.done(self.instance(self.cls, shown, self.superstep_number - 1)):
                break
        return True

    @property
    def init_takes_message(self) -> bool:
        init = self.current_phase.methods.get("init")
        return init is not None and init.__code__.co_argcount == 3  # then it runs in every superstep

    @property
    def begins_as_told(self) -> bool:
        """Whether the first phase begins, whose running vertices the caller may have chosen."""
        return not self.superstep_number and self.current_phase is self.phases[0]

    def begin_phase(self, phase: BoundPhase) -> None:
        """Begin a phase; messages of the previous one wait for it, if it takes the same kind."""
        if not same_kind(self.message, phase.message):
            self.messages = {}
        self.pending, self.current_phase, self.entered = {}, phase, self.superstep_number
        if self.begins_as_told and isinstance(self.start, Mapping) and self.message:
            from_caller = self.message.from_caller
            self.messages = {self.graph.by_id[x]: from_caller(m) for x, m in self.start.items()}
        self.me = self.instance(self.computing, number)

    def run_phase(self, limit: int | None) -> bool:
        """Run the supersteps of one phase; return False if the limit came before its end."""
        if not self.current_phase.methods.keys() & {"visit", "gather", "apply", "scatter"}:
            return True
        count, most = 0, self.current_phase.supersteps
        active = [] if most == 0 else self.first_active()
        while active:
            if self.superstep_number == limit:
                return False
            finished = self.superstep(active)
            count += 1
            if finished or count == most:
                return True
            active = self.next_active()
        return True

    def superstep(self, active: list[Vertex]) -> bool:
        """Gather at every active vertex, then apply, then scatter; return whether the program is done."""
        if "visit" in self.current_phase.methods:
            self.visit()
        for v in active if self.init_takes_message else ():
            assert self.message is not None
            self.call("init", v, self.messages.pop(v, self.message.identity))
        totals = {v: self.gathered(v) for v in active} if self.current_phase.gather else {}
        for v in active:
            self.pending.pop(v, None)
        self.look_up(active)
        if "apply" in self.current_phase.methods:
            takes = self.current_phase.apply_takes
            messages = {v: self.messages.pop(v, self.message.identity) for v in active if self.message}
            for v in active:
                message, total = messages.get(v), totals.get(v)
                self.call("apply", v, *(message if name == "message" else total for name in takes))
        applied = self.aggregated(lambda mark: self._is_due(mark) and mark.after == "apply")
        if "scatter" in self.current_phase.methods:
            self.scatter(active)
        scattered = self.aggregated(lambda mark: self._is_due(mark) and mark.after == "scatter")
        late = {name for name, mark in self.marks.items() if mark.after == "scatter"}
        self.aggregates = {name: (scattered if name in late else applied)[name] for name in applied}
        aggregates = {name: shown(value) for name, value in self.aggregates.items()}
        self.history.append({"superstep": self.superstep_number, "active": len(active), **aggregates})
        if len(self.phases) > 1:
            self.history[-1]["phase"] = self.phases.index(self.current_phase)
        done = self.current_phase.done
        finished = bool(done and done(self.instance(self.cls, shown)))
        self.superstep_number += 1
        self.me = self.instance(self.computing, number)  # from here on `self` has the new aggregates
        return finished

    def look_up(self, active: list[Vertex]) -> None:
        """Give active vertices the fields of the vertices that they name, before any applies."""
        for name, field in self.vertex_fields.items():
            for v in active if field.lookup else ():
                named = getattr(v, field.lookup[0])
                value = field.nobody
                if not isinstance(named, Nobody):
                    value = getattr(self.graph.by_id[named], field.lookup[1])
                self.put(v, name, field, value)

    def visit(self) -> None:
        """Visit every edge; live totals are those at the round's start plus its table's additions."""
        for _, edges in itertools.groupby(self.visit_order, key=lambda one: one[0]):
            totals = LiveTotals(self, lambda: self.instance(self.computing, number))
            for _, table, k in edges:
                totals.sit_at(table)
                vars(self.edges[k])["forward"] = True  # from the source, u
                self.call("visit", self.graph.ends[k][0], self.edges[k], self.graph.ends[k][1])
            totals.agree()

    def scatter(self, active: list[Vertex]) -> None:
        """Scatter over the edges of every active vertex."""
        self.contributions.begin(self.vertices)
        self.edge_contributions.begin(self.edges)
        for v in active:
            for e, nbr in self.graph.beside(v, self.direction("scatter_edges", v)):
                self.call("scatter", v, e, nbr)
        self.contributions.end(self.vertices)
        self.edge_contributions.end(self.edges)

    def gathered(self, v: Vertex) -> Any:
        gather = self.current_phase.gather
        assert gather is not None
        total = gather.identity
        for e, nbr in self.graph.beside(v, self.direction("gather_edges", v)):
            value = self.call("gather", v, e, nbr)
            total = self.added(gather, total, value, v, self.current_phase.methods["gather"])
        return total

    def added(self, combiner: Any, total: Any, value: Any, v: Vertex, function: Any) -> Any:
        """Combine the result of *function* at *v* into a total; a fault names its line, or merge's."""
        if value is None:  # it contributes nothing
            return total
        try:
            return combiner.add(total, value)
        except _FAULTS as fault:
            code = function.__code__
            place = _user_place(fault) or (code.co_filename, code.co_firstlineno)
            raise self.failed(place, v, fault) from fault

    def failed(self, place: tuple[str, int], v: Vertex, fault: Exception) -> Exception:
        """Return the error that names the vertex and the user's file and line."""
        (file, line), name = place, self.cls.__name__
        fault = Fault(SINGULAR) if isinstance(fault, np.linalg.LinAlgError) else fault
        text = linecache.getline(file, line).strip()
        return ExecutionError(f"{file}:{line}: {name} failed {self._where(v)}: {fault}\n    {text}")

    def _where(self, v: Vertex) -> str:
        return f"at vertex {self.name(v)} in superstep {self.superstep_number}"

    def first_active(self) -> list[Vertex]:
        if self.begins_as_told and self.start is not None:
            return [v for v in self.vertices if v.id in self.start]
        methods = self.current_phase.methods
        if "active" in methods or "start" not in methods:
            return self.next_active() if "active" in methods else self.vertices
        return [v for v in self.vertices if self.call("start", v)]

    def next_active(self) -> list[Vertex]:
        if "active" in self.current_phase.methods:
            return [v for v in self.vertices if self.call("active", v)]
        if self.current_phase.by_signal:
            lowest = min(self.pending.values(), default=0)
            return [v for v in self.vertices if self.pending.get(v) == lowest]
        return self.vertices

    def _is_due(self, mark: words.Aggregator[Any]) -> bool:
        """Return whether an aggregator is computed in this superstep."""
        interval = mark.interval(self.program)
        return bool(interval) and not (self.superstep_number + 1) % interval

    def aggregated(self, due: Callable[[words.Aggregator[Any]], bool]) -> dict[str, Any]:
        """Return every aggregator's value: over all vertices or edges if it is *due*, else unchanged."""
        values = {}
        for name, function in self.aggregators.items():
            mark, combiner = self.marks[name], self.combiners[name]
            if not due(mark):
                values[name] = self.aggregates[name]
                continue
            total = combiner.identity
            if function.__code__.co_argcount == 4:
                for e, (source, target) in zip(self.edges, self.graph.ends, strict=True):
                    value = self.call(name, source, e, target, function=function)
                    total = self.added(combiner, total, value, source, function)
            else:
                for v in self.vertices:
                    value = self.call(name, v, function=function)
                    total = self.added(combiner, total, value, v, function)
            if mark.finalizer is not None:
                returned = mark.finalizer(self.instance(self.cls, shown), shown(total))
                if combiner.op in ("record", "argmin", "argmax"):
                    own = isinstance(combiner, OwnCombiner)
                    values[name] = combiner.from_caller(returned) if own else records.kept(combiner, returned)
                    continue
                total = declared.finalised(returned, type(shown(total)), f"{self.cls.__name__}.{name}")
            values[name] = total
        return values

    # ---- calling the program -----------------------------------------------------------------------

    def instance(self, cls: type, kind: Callable[[Any], Any], superstep: int | None = None) -> Any:
        """Return a method's `self`: the program with the values of the run, as numbers of *kind*."""
        superstep = self.superstep_number if superstep is None else superstep
        known: dict[str, Any] = {
            "superstep": superstep,
            "phase_step": max(superstep - self.entered, 0),
            "num_vertices": len(self.vertices),
            "num_edges": len(self.edges),
        }
        made: Any = object.__new__(cls)
        if kind is not number:  # plain Python uses the arrays themselves
            known |= {k: x for k, x in self.program.parameters().items() if is_array(x)}
        values = self.parameters | self.aggregates | known
        vars(made).update({k: x if is_array(x) else kind(x) for k, x in values.items()})
        if kind is number and PRECISION.get() == "float32":
            vars(made).update({k: records.read(x) for k, x in self.aggregates.items()})
        vars(made)["signal"] = SignalById(self, self.graph.by_id)
        return made

    def merged(self, a: Any, b: Any) -> Any:
        """Return two accumulators combined by the program's own merge."""
        return self.computing.merge(self.me, a, b)  # type: ignore[attr-defined]

    def call(self, phase: str, v: Vertex, *arguments: Any, function: Any = None) -> Any:
        """Call a method on *v*; a fault in it becomes an error at the user's line."""
        self.phase, self.writable = phase, v if phase in ("init", "apply") else None
        edge = self.graph.edge_numbers[arguments[0]] if phase in EDGE_PHASES else None
        self.random.begin(phase, self.superstep_number, v.id, edge)
        before = drawing.set(self.random.draw)
        try:
            return (function or self.current_phase.methods[phase])(self.me, v, *arguments)  # type: ignore[misc]
        except OutOfTime as late:
            user = _innermost_frame(late)
            late.where, late.place = self._where(v), (*_place(user), user.line or "")
            raise
        except KeyboardInterrupt as stopped:
            user = _innermost_frame(stopped)
            place, text = f"{user.filename}:{user.lineno}: {self.cls.__name__}", f"\n    {user.line}"
            raise Interrupted(f"{place} was interrupted {self._where(v)}{text}") from None
        except _FAULTS as fault:
            raise self.failed(_user_place(fault) or _place(_innermost_frame(fault)), v, fault) from fault
        finally:
            drawing.reset(before)


def _user_frame(error: BaseException) -> traceback.FrameSummary | None:
    """Return the innermost place in the user's code that an error passed."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next((f for f in frames if not f.filename.startswith(_NOT_THE_USERS)), None)


def _user_place(fault: Exception) -> tuple[str, int] | None:
    """Return the user's file and line for a fault: of the combined value, or of the frame."""
    if (place := getattr(fault, "written_at", None)) is not None:
        return place  # type: ignore[no-any-return]
    user = _user_frame(fault)
    return None if user is None else _place(user)


def _place(frame: traceback.FrameSummary) -> tuple[str, int]:
    return frame.filename, frame.lineno or 0


def _innermost_frame(error: BaseException) -> traceback.FrameSummary:
    """Return the innermost place in the user's code, or of all."""
    return _user_frame(error) or traceback.extract_tb(error.__traceback__)[-1]
