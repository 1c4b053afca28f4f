"""A program as a tree: its functions and their properties."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from gaslab.compiler.tree import declared
from gaslab.compiler.tree.expressions import (
    STEPS,
    EdgeField,
    Global,
    Local,
    PartOf,
    Shared,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.near_vectors import NearVectors, divided
from gaslab.compiler.tree.statements import Post, Signal, Stmt, Stop, statements


@dataclass(frozen=True)
class Function:
    """One method or helper. `locals` maps each local to its type, parameters included.

    A `Return` without a value skips its edge in a gather that collects.

    `parameters` are a helper's in order; for apply, ``total`` and ``message`` if it takes them, under these
    names, not the user's; for other methods, none. `reads` and `writes` hold names: ``v.score``,
    ``nbr.share``, ``e.weight``, ``v.out_degree``; a function that draws reads ``self.draws`` too, and over
    edges ``v.#`` and ``nbr.#``, the ends' local ids.
    """

    name: str
    parameters: tuple[Local, ...]
    returns: declared.Type | None  # expression type, None for procedures
    locals: dict[str, declared.Type]
    body: tuple[Stmt, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    site: int


@dataclass(frozen=True)
class Aggregator:
    """It is computed in every superstep or, if not `in_every`, in some; with `over_edges` for each edge, with
    ``v`` its source; after apply or `after_scatter`. With `by_phase` it is computed when a phase is over
    instead. If `live`, it is computed after init, and then visit adds to it.
    """

    name: str
    combiner: declared.Combiner
    function: Function
    in_every: bool = True
    over_edges: bool = False
    live: bool = False
    by_phase: bool = False
    after_scatter: bool = False

    @property
    def seldom(self) -> bool:
        """Whether it is not due in some supersteps."""
        return self.live or not self.in_every

    @property
    def own_sweep(self) -> bool:
        """Whether it has its own sweep, separate from apply."""
        late = self.seldom or self.after_scatter
        return self.over_edges or late or isinstance(self.combiner, declared.RecordCombiner)


NO_NAMES: frozenset[str] = frozenset()


@lru_cache(maxsize=1024)  # an engine asks in every superstep
def _of(role: str, names: frozenset[str]) -> frozenset[str]:
    return frozenset(n[len(role) + 1 :] for n in names if n.startswith(role + "."))


@dataclass(frozen=True)
class Tree:
    """A whole program. `functions` has the methods that it defines, from init to scatter.

    A helper follows the helpers it calls. `shared` has the arrays from outside that the program reads:
    parameters, and arrays of the user's modules, functions and classes. `outside` has the latter arrays
    themselves, by index; they are not part of the emitted text.
    """

    name: str
    params: tuple[declared.Variable, ...]
    vertex_fields: tuple[declared.Variable, ...]
    edge_fields: tuple[declared.Variable, ...]
    aggregators: tuple[Aggregator, ...]
    functions: dict[str, Function]
    helpers: tuple[Function, ...]
    gather: declared.Combiner | None
    message: declared.Combiner | None
    gather_edges: int  # GL_IN | GL_OUT; 0 when there is no gather
    scatter_edges: int
    has_done: bool
    sites: tuple[declared.Site, ...] = field(default=())
    phase: int = 0  # this phase's place in a program of several
    in_phases: bool = False  # whether the program names its phases, even a single one
    supersteps: int | str | None = None  # of this phase at most, each time; or the parameter that sets it
    merge: Function | None = None  # of the records "a" and "b", into "made"
    rng: str = "counter"  # see `gaslab.language.rng.RNGS`
    precision: str = "float64"  # the storage type of the floats it computes with
    lengths: tuple[str, ...] = ()  # int parameters that shapes name, whose values are constants of this tree
    shared: tuple[declared.Variable, ...] = ()
    outside: dict[int, Any] = field(default_factory=dict, compare=False, repr=False)
    growing: frozenset[str] = frozenset()  # list fields that a phase may lengthen without a known bound

    @property
    def own(self) -> declared.RecordCombiner | None:
        """The accumulator of the program's merge."""
        combiners = (self.gather, self.message, *(a.combiner for a in self.aggregators))
        return next((c for c in combiners if isinstance(c, declared.RecordCombiner) and c.own), None)

    def slot(self, k: int) -> int:
        """Return the place of aggregator *k* among the eight-byte scalars of all."""
        return sum(a.combiner.slots for a in self.aggregators[:k])

    def record(self, place: PartOf) -> tuple[declared.RecordCombiner, int | None]:
        """Return a part's accumulator, and where the part begins among the aggregates."""
        name, _, k = place.record.partition(" ")
        combiner = self.aggregators[int(k)].combiner if k else self.gather
        if name in ("message", "sent"):
            combiner = self.message
        if name in ("a", "b", "made"):
            combiner = self.own
        assert isinstance(combiner, declared.RecordCombiner)
        return combiner, sum(p.slots for p in combiner.parts[: place.index]) + self.slot(
            int(k)
        ) if k else None

    def part(self, place: PartOf) -> declared.Part:
        """Return a part as declared; among the aggregates it is kept wide."""
        combiner, slot = self.record(place)
        part = combiner.parts[place.index]
        if slot is None:
            return part
        return replace(part, combiner=replace(part.combiner, storage=declared.WIDE[part.combiner.type]))

    def storage_of(self, place: VertexField | EdgeField | Local | PartOf | Shared) -> str:
        """Return the storage type of a place; of its elements, if it is an array."""
        if isinstance(place, Shared):
            return self.shared[place.index].storage
        if isinstance(place, PartOf):
            return self.part(place).combiner.storage
        if isinstance(place, Local):
            kind = declared.element_of(place.type)
            return place.storage or (self.precision if kind == "float" else declared.WIDE[kind])
        fields = self.vertex_fields if isinstance(place, VertexField) else self.edge_fields
        return fields[place.index].storage

    def payload(self, key: PartOf) -> PartOf:
        """Return the payload of the pair whose key is *key*."""
        return PartOf(key.record, key.index + 1, self.record(key)[0].parts[key.index + 1].type)

    def near_vectors(self, name: str) -> NearVectors | None:
        """Return the work of gather or scatter once per vertex and for each edge; None for other methods."""
        return self._near_vectors.get(name)

    @cached_property
    def _near_vectors(self) -> dict[str, NearVectors | None]:
        found = {name: self.functions[name] for name in ("gather", "scatter") if name in self.functions}
        return {name: divided(f.body, f.locals, self.contributed()) for name, f in found.items()}

    def edge_body(self, function: Function) -> tuple[Stmt, ...]:
        """Return a method's work for each edge."""
        own = function is self.functions.get(function.name)
        found = self.near_vectors(function.name) if own else None
        return function.body if found is None else found.rest

    @cached_property
    def posts(self) -> bool:
        """Whether scatter posts to its neighbours' cached totals: then gathers are cached."""
        function = self.functions.get("scatter")
        return function is not None and any(isinstance(s, Post) for s in nodes(function.body))

    @cached_property
    def draws(self) -> bool:
        """Whether any method draws random numbers."""
        return any("self.draws" in f.reads for f in (*self.functions.values(), *self.helpers))

    @property
    def live(self) -> tuple[int, ...]:
        """The indices of the aggregators that visit adds to."""
        return tuple(k for k, a in enumerate(self.aggregators) if a.live)

    @property
    def aggregates_in_supersteps(self) -> bool:
        """Whether supersteps have aggregates to combine, not only ends of phases."""
        return any(not a.by_phase for a in self.aggregators)

    @property
    def aggregates_after_scatter(self) -> bool:
        """Whether an aggregator is computed after scatter."""
        return any(a.after_scatter for a in self.aggregators)

    @property
    def in_apply(self) -> tuple[tuple[int, Aggregator], ...]:
        """The aggregators computed in apply's sweep, with their indices."""
        return tuple((k, a) for k, a in enumerate(self.aggregators) if not a.own_sweep)

    def reads(self, phase: str, role: str) -> frozenset[str]:
        """Names that *phase* reads on *role* (``v``, ``nbr``, ``e``), without the role."""
        return _of(role, self.functions[phase].reads if phase in self.functions else NO_NAMES)

    def writes(self, phase: str, role: str = "v") -> frozenset[str]:
        """Names that *phase* writes on *role*, without the role."""
        return _of(role, self.functions[phase].writes if phase in self.functions else NO_NAMES)

    def signals(self, *phases: str) -> tuple[Signal, ...]:
        """Return the signals that these phases (apply and scatter by default) send."""
        names = phases or ("apply", "scatter")
        return tuple(
            statement
            for name in names
            if name in self.functions
            for statement in statements(self.functions[name].body)
            if isinstance(statement, Signal)
        )

    @cached_property
    def stops(self) -> bool:
        """Whether a gather may skip edges."""
        gather = self.functions.get("gather")
        return gather is not None and any(isinstance(s, Stop) for s in statements(gather.body))

    @property
    def decided_by(self) -> tuple[bool, ...]:
        """The values of each part that further edges cannot change; none if every edge counts.

        These are True for an ``Any`` and False for an ``All``.
        """
        parts = self.gather.parts if isinstance(self.gather, declared.RecordCombiner) else ()
        combiners = [part.combiner for part in parts] or ([self.gather] if self.gather is not None else [])
        found = [c.operation.decides if c.type == "bool" else None for c in combiners]
        if any(p.shape for p in parts):
            return ()
        return () if None in found else tuple(value is True for value in found)

    @cached_property
    def by_signal(self) -> bool:
        """Whether signals decide which vertices run."""
        return "active" not in self.functions and ("scatter" in self.functions or bool(self.signals()))

    @cached_property
    def lookups(self) -> tuple[declared.Variable, ...]:
        """The vertex fields that are looked up for apply."""
        return tuple(v for v in self.vertex_fields if v.lookup and v.name in self.reads("apply", "v"))

    def signals_by_id(self, *phases: str) -> bool:
        """Return whether these phases (apply and scatter by default) signal vertices by id."""
        return any(signal.target == "id" for signal in self.signals(*phases))

    @cached_property
    def sends_to_itself(self) -> bool:
        """Whether apply sends messages that combine, to its own vertex or by id."""
        return not self.collects_messages and any(signal.sends for signal in self.signals("apply"))

    @property
    def collects_messages(self) -> bool:
        """Whether a vertex's messages are a list, not combined on the way."""
        return self.message is not None and self.message.collects

    @cached_property
    def by_priority(self) -> bool:
        """Whether signals have priorities."""
        return any(signal.priority is not None for signal in self.signals())

    @cached_property
    def can_pull(self) -> bool:
        """Whether targets may run scatter: not if it writes others' values, sees each edge once, has vectors
        computed once per vertex, or sends collected messages.
        """
        itself = any(signal.target != "nbr" for signal in self.signals("scatter"))
        mine = itself or "scatter_edges" in self.functions or bool(self.contributed("v"))
        mine = mine or self.near_vectors("scatter") is not None
        mine = mine or self.collects_messages
        return not (self.writes("scatter", "e") or mine or self.by_priority or self.posts)

    def reads_global(self, name: str, *functions: Function) -> bool:
        """Whether functions (by default those of supersteps), or a helper, read this number of the run."""
        found = functions or [f for phase, f in self.functions.items() if phase not in ("init", "start")]
        return any(
            isinstance(node, Global) and node.name == name
            for f in (*found, *self.helpers)
            for node in nodes(f.body)
        )

    @cached_property
    def uses_phase_step(self) -> bool:
        """Whether any method reads ``self.phase_step``."""
        more = [a.function for a in self.aggregators] + ([] if self.merge is None else [self.merge])
        return self.reads_global("phase_step", *self.functions.values(), *more)

    def reads_steps(self, *functions: Function) -> bool:
        """Return whether functions, as of `reads_global`, read the number of the superstep."""
        return any(self.reads_global(name, *functions) for name in STEPS)

    @cached_property
    def renewed_by_phase(self) -> tuple[bool, ...]:
        """For each aggregator, whether it is due when a phase is over and this phase writes what it reads."""
        written = {name.partition(".")[2] for function in self.functions.values() for name in function.writes}
        found = []
        for a in self.aggregators:
            read = a.function.reads
            renewed = not written.isdisjoint(name.partition(".")[2] for name in read)
            if a.by_phase and not renewed:
                renewed = "self.draws" in read or self.reads_steps(a.function)
            found.append(a.by_phase and renewed)
        return tuple(found)

    @property
    def has_lists(self) -> bool:
        """Whether a field, a gather's total or a message is a list."""
        found = any(declared.is_list(v.storage) for v in (*self.vertex_fields, *self.edge_fields))
        return found or any(c is not None and c.collects for c in (self.gather, self.message))

    def written_edges(self) -> frozenset[str]:
        """The names of the edge fields that the program writes."""
        return self.writes("scatter", "e") | self.writes("visit", "e")

    def contributed(self, role: str = "") -> tuple[int, ...]:
        """Return the indices of the vertex fields to which scatter adds, on one role or on both."""
        names = frozenset().union(*(self.writes("scatter", r) for r in ([role] if role else ["v", "nbr"])))
        return tuple(k for k, v in enumerate(self.vertex_fields) if v.name in names)

    def contributed_edges(self) -> tuple[int, ...]:
        """Return the indices of the edge fields to which scatter adds."""
        names = self.writes("scatter", "e")
        return tuple(k for k, e in enumerate(self.edge_fields) if e.name in names and e.sync is not None)

    def double_buffered(self, name: str) -> bool:
        """Whether a gather reads this vertex field across an edge while apply writes it."""
        return name in self.reads("gather", "nbr") and name in self.writes("apply")
