"""The declarations of a program class: parameters, fields, methods, aggregators, combiners, directions.

Errors of a single parameter or field are raised in `field_declarations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from gaslab import program
from gaslab.arguments import one_of, shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.combiner import combiner, is_count
from gaslab.compiler.frontend.field_declarations import Sizes, array_parameters, fields, parameters
from gaslab.compiler.frontend.precision import in_precision, precision_of, totals_in
from gaslab.compiler.frontend.source import FunctionSource, class_source, declaring_source, function_source
from gaslab.errors import ProgramError
from gaslab.language.rng import RNGS

PHASES = (
    "init", "init_message", "start", "active", "visit", "gather_edges", "gather", "apply", "scatter_edges",
    "scatter", "done",
)  # fmt: skip
MAX_VERTEX_FIELDS = 64  # bits of the view's `initial_fields`


@dataclass(frozen=True)
class Declared:
    """The declarations of a program class; `functions` has every method, inherited ones too, by name."""

    cls: type
    params: tuple[t.Variable, ...]  # numbers and ids
    array_params: tuple[t.Variable, ...]
    vertex_fields: tuple[t.Variable, ...]
    edge_fields: tuple[t.Variable, ...]
    functions: dict[str, FunctionType]
    static: frozenset[str]
    aggregators: dict[str, t.Combiner]
    marks: dict[str, program.Aggregator[Any]]
    gather: t.Combiner | None
    message: t.Combiner | None
    gather_edges: int
    scatter_edges: int
    rng: str
    precision: str
    counts: frozenset[str]  # methods that return bools, whose True values are counted
    baked: dict[str, int]  # parameters that shapes name: constants of this tree
    supersteps: int | str | None = None  # of a phase, at most; or the parameter that sets it
    endless: ProgramError | None = None  # the error for a phase that only a lack of signals ends

    @property
    def own(self) -> t.RecordCombiner | None:
        """The accumulator of the program's merge."""
        combiners = (self.gather, self.message, *self.aggregators.values())
        return next((c for c in combiners if isinstance(c, t.RecordCombiner) and c.own), None)

    @property
    def of_self(self) -> set[str]:
        """The names that methods read of ``self``: parameters and aggregators."""
        return {*(p.name for p in (*self.params, *self.array_params)), *self.aggregators}

    @property
    def whole(self) -> list[str]:
        """The names of the int parameters."""
        return [p.name for p in self.params if p.type == "int" and p.storage != "id"]

    def source(self, name: str) -> FunctionSource:
        """Return the source of method or aggregator *name*."""
        return function_source(self.functions[name])

    def error(self, name: str, message: str) -> ProgramError:
        """Return the error *message* at method or aggregator *name*."""
        source = self.source(name)
        return source.error(source.node, message)


Directions = tuple[int, int]


def declare(
    cls: type,
    functions: dict[str, FunctionType] | None = None,
    directions: Directions | None = None,
    shapes: Mapping[str, int] | None = None,
) -> Declared:
    """Return the declarations of program class *cls* and its bases; raises ProgramError.

    *functions* and *directions* (of gather and scatter) are those of one phase of several; by default the
    class's own. *shapes* has the values of int parameters.
    """
    if not isinstance(cls, type) or not issubclass(cls, program.VertexProgram):
        raise ProgramError(f"{shown(cls)} is not a vertex program; write class Name(gl.VertexProgram):")
    own, static, names = methods_of(cls)
    functions = own if functions is None else functions
    params = parameters(cls)
    sizes, precision = Sizes(params, shapes or {}), precision_of(cls)
    array_params = tuple(in_precision(param, precision) for param in array_parameters(cls, sizes))
    vertex_fields = fields(cls, "Vertex", sizes)
    if len(vertex_fields) > MAX_VERTEX_FIELDS:
        raise class_source(cls).error(
            None, f"Vertex has {len(vertex_fields)} fields; a program can have {MAX_VERTEX_FIELDS} at most"
        )
    _refuse_shadows(cls, {param.name for param in (*params, *array_params)}, names)
    if "init" in functions and "message" in parameters_of(functions["init"]):
        functions = {"init_message" if name == "init" else name: f for name, f in functions.items()}
    sources = {
        name: function_source(functions[name])
        for name in (*names, "gather", "apply", "init_message")
        if name in functions
    }
    apply = sources.get("init_message", sources.get("apply"))
    takes_message = apply is not None and "message" in parameters_of(apply.function)
    gather_edges, scatter_edges = directions or (
        class_direction(cls, "gather_edges") if "gather" in functions else 0,
        class_direction(cls, "scatter_edges") if "scatter" in functions else 0,
    )
    aggregators = {name: combiner(cls, sources[name], "return", sizes) for name in names}
    gather = combiner(cls, sources["gather"], "return", sizes, True) if "gather" in sources else None
    message = combiner(cls, apply, "message", sizes, True) if apply and takes_message else None
    return Declared(
        cls=cls,
        params=params,
        array_params=array_params,
        vertex_fields=tuple(in_precision(field, precision) for field in vertex_fields),
        edge_fields=tuple(in_precision(field, precision) for field in fields(cls, "Edge", sizes)),
        functions=functions,
        static=static,
        # Over all vertices, sums are in float64. An accumulator is merged the same way everywhere.
        aggregators={k: totals_in(a, precision) if a.op == t.OWN else a for k, a in aggregators.items()},
        marks=program.aggregators_of(cls),
        gather=totals_in(gather, precision),
        message=totals_in(message, precision),
        counts=frozenset(n for n, s in sources.items() if n != "apply" and is_count(cls, s)),
        gather_edges=gather_edges if "gather" in functions else 0,
        scatter_edges=scatter_edges if "scatter" in functions else 0,
        rng=_rng(cls),
        precision=precision,
        baked=sizes.used,
    )


def parameters_of(function: FunctionType) -> tuple[str, ...]:
    """Return the names of the positional parameters of *function*."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def methods_of(cls: type) -> tuple[dict[str, FunctionType], frozenset[str], list[str]]:
    """Return the functions of all methods, the names of the static ones, and those of the aggregators."""
    functions: dict[str, FunctionType] = {}
    static: set[str] = set()
    aggregators: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        if base is object or base is program.VertexProgram:
            continue
        for name, value in vars(base).items():
            functions.pop(name, None)  # this class's names hide the bases'
            aggregators.pop(name, None)
            static.discard(name)
            function = value
            if isinstance(value, program.Aggregator):
                aggregators[name] = None
                function = value.function
            elif isinstance(value, staticmethod):
                static.add(name)
                function = value.__func__
            if not isinstance(function, FunctionType):
                if name in aggregators:
                    text = f"aggregator {name!r} is not a plain method; write def {name}(self, v)"
                    raise class_source(base).error_at(name, text)
                continue
            if (name in PHASES or name in aggregators) and hasattr(function, "__wrapped__"):
                text = f"{name} has a decorator, which is not in the language; remove it"
                raise class_source(base).error_at(name, text)
            functions[name] = function
    return functions, frozenset(static), list(aggregators)


def _refuse_shadows(cls: type, params: set[str], aggregators: list[str]) -> None:
    for name in aggregators:
        if name in params or name in program.RESERVED_PARAMETERS:
            why = "is also a parameter" if name in params else "has a reserved name"
            text = f"aggregator {name!r} {why}; choose another name"
            raise declaring_source(cls, name).error_at(name, text)


def _rng(cls: type) -> str:
    value = getattr(cls, "rng", "counter")
    if value in RNGS:
        return str(value)
    quoted = one_of(f'"{name}"' for name in RNGS)
    text = f"rng is {shown(value)}; write rng = {quoted}"
    raise declaring_source(cls, "rng").error_at_value("rng", text)


def class_direction(cls: type, name: str) -> int:
    """Return all directions in which a class may gather or scatter; raises ProgramError."""
    value = getattr(cls, name)
    if type(value) is int and program.NONE <= value <= program.ALL:
        return value
    if isinstance(value, FunctionType):
        return program.ALL  # each vertex chooses among them
    text = f"{name} is {shown(value)}; write gl.IN, gl.OUT, gl.ALL or gl.NONE"
    raise declaring_source(cls, name).error_at_value(name, text)
