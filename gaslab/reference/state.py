"""The state of a run for the views, signals and initial values of the reference engine."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from gaslab import program as words
from gaslab.reference import declared, records
from gaslab.reference.additive import Contributions
from gaslab.reference.arithmetic import narrow
from gaslab.reference.arrays import field_row
from gaslab.reference.combiners import Combiner, Field, Listed
from gaslab.reference.phases import bound_phases
from gaslab.reference.rng import PlainRandom


class State:
    """One program with its fields and aggregates, and what is pending between supersteps."""

    def __init__(self, program: words.VertexProgram, seed: int) -> None:
        cls = type(program)
        self.rows: list[dict[str, Any]] = []  # of a traced run
        self.random = PlainRandom(seed, getattr(cls, "rng", "counter"))
        self.program, self.cls = program, cls
        self.vertex_fields = declared.fields_of(getattr(cls, "Vertex", words.Vertex), words.Vertex, program)
        self.edge_fields = declared.fields_of(getattr(cls, "Edge", words.Edge), words.Edge, program)
        self.contributions = Contributions(cls, "Vertex", self.vertex_fields)
        self.edge_contributions = Contributions(cls, "Edge", self.edge_fields)
        self.computing = declared.translated(cls)
        self.phases, self.done = bound_phases(program, cls, self.computing)
        self.current_phase = self.phases[0]
        self.aggregators, self.marks = declared.aggregators_of(self.computing), words.aggregators_of(cls)
        self.combiners = {
            name: records.widened(declared.combiner_of(function, "return", cls, program))
            for name, function in declared.aggregators_of(cls).items()
        }
        self.start: Sequence[Any] | Mapping[Any, Any] | None = None
        self.phase = "init"
        self.writable: Any = None  # the vertex that the current call may write
        self.initial_fields: set[str] = set()  # with the caller's values, which init keeps
        self.written = set(self.edge_contributions.combiners)
        self.pending: dict[Any, int] = {}  # the signalled vertices, with the least priority of each
        self.messages: dict[Any, Any] = {}
        self.aggregates = {name: combiner.identity for name, combiner in self.combiners.items()}
        self.history: list[dict[str, Any]] = []
        self.superstep_number = self.entered = 0  # and the phase's first
        self.names: Mapping[Any, str] | None = None  # a vertex's name in errors, if not its id
        self.me: Any = None  # the `self` of methods

    @property
    def message(self) -> Combiner | None:
        """The combiner of the current phase's messages."""
        return self.current_phase.message

    def put(self, owner: Any, name: str, field: Field, value: Any) -> None:
        """Store a value in a field of a vertex or an edge, in its storage type."""
        if field.shape:
            may_write = functools.partial(owner.may_write, name)
            vars(owner)[name] = field_row(field.storage, field.shape, value, may_write)
        elif field.storage.startswith("list:"):
            may_write = functools.partial(owner.may_write, name)
            vars(owner)[name] = Listed(field.storage, narrow(field.storage, value), may_write)
        else:
            vars(owner)[name] = narrow(field.storage, value)

    def name(self, v: Any) -> str:
        """Return a vertex's name in errors."""
        return str(v.id) if self.names is None else self.names[v.id]

    def sent(self, target: Any, message: Any) -> None:
        """Note a signal; for a traced run."""
