"""The words a vertex program is written in.

A program is a plain class; see ``docs/programs.md``. Nothing here runs it: the compiler reads the
class's source, the reference engine calls its methods. This module imports no numpy, no kernel and
no MPI, so that the build can compile the built-in programs before any of them exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar, get_origin
from typing import Any as Anything

from gaslab import arguments
from gaslab.errors import UsageError, nearest
from gaslab.language.aggregators import Aggregator as Aggregator
from gaslab.language.aggregators import aggregator as aggregator
from gaslab.language.aggregators import aggregators_of as aggregators_of
from gaslab.language.annotations import annotations_of, is_class_variable, mark_of
from gaslab.language.arrays import described, dimensions_of, given_arrays, is_array
from gaslab.language.combiners import Accumulator as Accumulator
from gaslab.language.combiners import All as All
from gaslab.language.combiners import Any as Any
from gaslab.language.combiners import ArgMax as ArgMax
from gaslab.language.combiners import ArgMin as ArgMin
from gaslab.language.combiners import At as At
from gaslab.language.combiners import BitOr as BitOr
from gaslab.language.combiners import Combine as Combine
from gaslab.language.combiners import Count as Count
from gaslab.language.combiners import Max as Max
from gaslab.language.combiners import Min as Min
from gaslab.language.combiners import Prod as Prod
from gaslab.language.combiners import Sum as Sum
from gaslab.language.combiners import at as at
from gaslab.language.fields import BITOR as BITOR
from gaslab.language.fields import MAX as MAX
from gaslab.language.fields import MIN as MIN
from gaslab.language.fields import NOBODY as NOBODY
from gaslab.language.fields import PROD as PROD
from gaslab.language.fields import RANGES
from gaslab.language.fields import SUM as SUM
from gaslab.language.fields import Dimensions as Dimensions
from gaslab.language.fields import Field as Field
from gaslab.language.fields import Matrix as Matrix
from gaslab.language.fields import Storage as Storage
from gaslab.language.fields import Vector as Vector
from gaslab.language.fields import VertexId as VertexId
from gaslab.language.fields import field as field
from gaslab.language.fields import float32 as float32
from gaslab.language.fields import float64 as float64
from gaslab.language.fields import int8 as int8
from gaslab.language.fields import int16 as int16
from gaslab.language.fields import int32 as int32
from gaslab.language.fields import int64 as int64
from gaslab.language.fields import lookup as lookup
from gaslab.language.fields import uint8 as uint8
from gaslab.language.fields import uint16 as uint16
from gaslab.language.fields import uint32 as uint32
from gaslab.language.fields import uint64 as uint64
from gaslab.language.lists import List as List
from gaslab.language.lists import Ragged as Ragged
from gaslab.language.lists import SortedSet as SortedSet
from gaslab.language.lists import common as common
from gaslab.language.lists import mex as mex
from gaslab.language.lists import mode as mode
from gaslab.language.phases import ALL as ALL
from gaslab.language.phases import IN as IN
from gaslab.language.phases import NONE as NONE
from gaslab.language.phases import OUT as OUT
from gaslab.language.phases import Phase as Phase
from gaslab.language.rng import categorical as categorical
from gaslab.language.rng import dirichlet as dirichlet
from gaslab.language.rng import exponential as exponential
from gaslab.language.rng import gamma as gamma
from gaslab.language.rng import integers as integers
from gaslab.language.rng import normal as normal
from gaslab.language.rng import poisson as poisson
from gaslab.language.rng import uniform as uniform
from gaslab.language.solvers import conjugate_gradient as conjugate_gradient
from gaslab.language.solvers import solve_spd as solve_spd
from gaslab.language.sum_by import ByKey as ByKey
from gaslab.language.sum_by import SumBy as SumBy

__all__ = [
    "ALL", "BITOR", "IN", "MAX", "MIN", "NOBODY", "NONE", "OUT", "PROD", "SUM", "Accumulator", "All", "Any",
    "ArgMax", "ArgMin", "BitOr", "Count", "Edge", "List", "Matrix", "Max", "Min", "Phase", "Prod",
    "SortedSet", "Sum", "SumBy", "Vector", "Vertex", "VertexId", "VertexProgram", "aggregator", "at",
    "categorical", "common", "conjugate_gradient", "dirichlet", "exponential", "field", "float32", "float64",
    "gamma", "int8", "int16", "int32", "int64", "integers", "lookup", "mex", "mode", "normal", "poisson",
    "solve_spd", "stop", "uint8", "uint16", "uint32", "uint64", "uniform",
]  # fmt: skip

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Anything) -> Callable[[Anything], Anything]:
        """Say to type checkers that parameters are keyword arguments; nothing at run time."""
        return lambda cls: cls


def stop() -> None:
    """End the gather of a vertex early: no further edge needs to be looked at.

    It may skip only edges that cannot change the total: other edges may have been looked at, or still be, on
    this rank and on others. A sum has no such edges, and cannot stop.

    >>> from gaslab import program as gl
    >>> class Seen(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         near: int = 0
    ...     def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
    ...         if nbr.near == 1:
    ...             gl.stop()
    ...         return nbr.near
    ...     def apply(self, v: Vertex, total: int) -> None:
    ...         v.near = total
    """


# ---- what a program is made of ---------------------------------------------------------------------


class Vertex:
    """Base of a program's nested ``Vertex``: annotated attributes are its fields.

    A field is ``float``, ``int``, ``bool``, `VertexId` or a width such as `float32`. A field with a default
    starts from it. A field without one starts from zero unless ``init`` writes it or the run is given values
    for it. A field whose name begins with ``_`` is private to the program and in no result. Every vertex also
    has ``id``, ``index`` (its position in the order of all ids, from 0), ``degree``, ``in_degree`` and
    ``out_degree``, which belong to the graph, and in a bipartite graph ``side``, 0 or 1; in ``scatter`` the
    neighbour has ``signal()`` and ``signal(message)``.

    >>> from gaslab import program as gl
    >>> class Distance(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         hops: gl.int32 = -1
    ...         nearest: gl.VertexId
    """

    if TYPE_CHECKING:
        id: ClassVar[VertexId]
        index: ClassVar[int]
        side: ClassVar[int]
        degree: ClassVar[int]
        in_degree: ClassVar[int]
        out_degree: ClassVar[int]

        def post_delta(self, value: Anything) -> None: ...
        def clear_cache(self) -> None: ...
        def signal(self, message: Anything = None, *, priority: float = 0) -> None: ...


class Edge:
    """Base of a program's nested ``Edge``: annotated attributes are its fields.

    A field is bound to the graph's column of the same name, or by ``columns={"weight": "cost"}``. A field
    without a default must have a column. ``scatter`` may write fields; otherwise they are read-only.

    >>> from gaslab import program as gl
    >>> class Roads(gl.VertexProgram):
    ...     class Edge(gl.Edge):
    ...         weight: float = 1.0

    In gather and scatter ``e.forward`` says whether ``v`` is the edge's source.
    """

    if TYPE_CHECKING:
        forward: ClassVar[bool]


RESERVED_FIELDS = frozenset(
    {"id", "index", "side", "degree", "in_degree", "out_degree", "signal", "post_delta", "clear_cache"}
)
RESERVED_PARAMETERS = frozenset(
    {"num_vertices", "num_edges", "superstep", "phase_step", "gather_edges", "scatter_edges", "visit_ways",
     "rng", "precision", "cache_rebuild", "Vertex", "Edge", "init", "start", "active", "visit", "gather",
     "apply", "scatter", "done", "parameters", "phases", "repeat_phases", "signal"}
)  # fmt: skip


@dataclass_transform(kw_only_default=True, frozen_default=True)
class VertexProgram:
    """Base of vertex programs; an instance is an immutable set of parameters.

    Parameters are annotated attributes of the class; those without a default must be given. A `Vector` or
    `Matrix` parameter takes any array of its shape, and binds the lengths that its shape names. The methods
    below define what a program does; all are optional:

    ``init(self, v)``
        Runs on every vertex before superstep 0; writes ``v``.
    ``start(self, v)``
        Whether ``v`` runs in superstep 0, a bool; without this method, all vertices run.
    ``active(self, v)``
        Whether ``v`` runs in a superstep, a bool, evaluated at its start.
    ``visit(self, u, e, w)``
        Runs per edge from u to w, first in each superstep; writes ``u``, ``e`` and ``w``; ``docs/visit.md``.
    ``gather(self, v, e, nbr)``
        A value per edge in the directions `gather_edges`; the return annotation says how the values combine,
        as in ``-> gl.Sum[float]``. Reads only.
    ``apply(self, v, total, message)``
        Writes ``v``. Takes `total` if there is a gather, and `message` if scatter sends messages; the
        annotation of `message` says how several messages combine: ``message: gl.Min[float]``.
    ``scatter(self, v, e, nbr)``
        Runs per edge in the directions `scatter_edges`, after apply; writes ``e``, signals ``nbr``.
        Like ``apply`` it may signal any vertex by its id: ``self.signal(id, message)``.
    ``merge(self, a, b)``
        Merges two accumulators into one, if parts do not combine one by one; see `Accumulator`.
    ``done(self)``
        Whether to stop, called after each superstep; plain Python, run once for all vertices.

    A program with several `Phase` in sequence names its methods in `phases` instead, and runs all of them
    `repeat_phases` times if that is set. With ``precision = gl.float32`` a class computes in float32, and
    ``float`` means float32 in its fields. Methods made by `aggregator` are values over all vertices.
    ``docs/programs.md`` describes the language.

    Raises
    ------
    UsageError
        A parameter is unknown, missing, of the wrong type or shape, or assigned after the instance is made.

    Examples
    --------
    >>> from gaslab import program as gl
    >>> class Decay(gl.VertexProgram):
    ...     rate: float = 0.5
    ...     class Vertex(gl.Vertex):
    ...         heat: float = 1.0
    ...     def apply(self, v: Vertex) -> None:
    ...         v.heat = v.heat * self.rate
    >>> Decay()
    Decay(rate=0.5)
    >>> Decay(rate=0.1).parameters()
    {'rate': 0.1}
    >>> Decay(speed=3)
    Traceback (most recent call last):
        ...
    gaslab.errors.UsageError: Decay has no parameter 'speed'; known: rate
    """

    gather_edges: ClassVar[Anything] = IN  # a direction, or a method of v that returns one
    scatter_edges: ClassVar[Anything] = OUT
    # Pairs of blocks that meet at once, or the int parameter that says so; None, 0: as the graph suggests.
    visit_ways: ClassVar[int | str | None] = None
    phases: ClassVar[tuple[Phase, ...]] = ()
    repeat_phases: ClassVar[int | str | None] = None  # how often all phases run at most, or the int parameter
    rng: ClassVar[str] = "counter"
    precision: ClassVar[Anything] = float64
    cache_rebuild: ClassVar[int] = 0

    if TYPE_CHECKING:
        Vertex: ClassVar[Anything] = Vertex
        Edge: ClassVar[Anything] = Edge
        num_vertices: ClassVar[int]
        num_edges: ClassVar[int]
        superstep: ClassVar[int]
        phase_step: ClassVar[int]

        def signal(self, vertex: VertexId, message: Anything = None, *, priority: float = 0) -> None: ...

    def __init__(self, **values: Anything) -> None:
        cls, declared = type(self), parameter_annotations(type(self))
        for name in values:
            if name not in declared:
                raise UsageError(f"{cls.__name__} has no parameter {name!r}{nearest(name, declared)}")
        given = dict(values)
        for name, annotation in declared.items():
            if name in values and not dimensions_of(annotation):
                values[name] = checked_parameter(f"{cls.__name__}.{name}", values[name], annotation)
        if any(map(dimensions_of, declared.values())):
            values |= given_arrays(cls, declared, values)
        known = {}
        for name in declared:
            if name in values:
                known[name] = values[name]
                object.__setattr__(self, name, known[name])
            elif not hasattr(cls, name):
                raise UsageError(f"{cls.__name__} needs {name}=...: the parameter has no default")
            else:
                known[name] = getattr(cls, name)
        object.__setattr__(self, "__parameters", known)
        object.__setattr__(self, "__given", {name: known[name] for name in given})

    def __setattr__(self, name: str, value: Anything) -> None:
        raise UsageError(f"{type(self).__name__} is immutable; make a new one with {name}={value!r}")

    def __delattr__(self, name: str) -> None:
        raise UsageError(f"{type(self).__name__} is immutable; make a new one without {name}=")

    def __repr__(self) -> str:
        values = {n: described(x) if is_array(x) else repr(x) for n, x in self.parameters().items()}
        return f"{type(self).__name__}({', '.join(f'{n}={x}' for n, x in values.items())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VertexProgram) or type(other) is not type(self):
            return NotImplemented
        theirs = other.parameters()
        return all(_equal(x, theirs[name]) for name, x in self.parameters().items())

    def __hash__(self) -> int:
        values = self.parameters().items()
        return hash((type(self), *((n, described(x) if is_array(x) else x) for n, x in values)))

    def __setstate__(self, state: dict[str, Anything]) -> None:
        for value in state.values():
            if is_array(value):
                value.setflags(write=False)  # which a pickle does not say
        self.__dict__.update(state)

    def __fingerprint__(self) -> Anything:
        return [type(self), self.parameters()]

    def __replace__(self, **changes: Anything) -> Self:
        """Return the program with other values of some parameters, as ``copy.replace`` does."""
        return type(self)(**{**self.__dict__["__given"], **changes})  # lengths follow from arrays again

    def parameters(self) -> dict[str, Anything]:
        """Return the parameters by name, defaults included; vectors and matrices as read-only arrays."""
        return dict(self.__dict__["__parameters"])


def _equal(mine: Anything, other: Anything) -> bool:
    """Return whether two values of a parameter are equal, arrays in all elements."""
    if mine is other or not is_array(mine):
        return bool(mine is other or mine == other)
    return mine.shape == other.shape and bool((mine == other).all())


def checked_parameter(what: str, value: Anything, annotation: Anything) -> Anything:
    """Return a parameter's value as its annotation says: a float, an int in the range of its type, a bool.

    A vertex id can be anything. An annotation outside the language is refused where the class is compiled; of
    arrays see `gaslab.language.arrays`.
    """
    kind, storage = annotation, "int64"
    if get_origin(annotation) is Annotated:
        kind = annotation.__origin__
        storage = mark.name if (mark := mark_of(annotation, Storage)) else storage
    if kind is bool:
        return arguments.flag(what, value)
    if kind is int:
        return arguments.whole(what, value, *RANGES[storage])
    return arguments.number(what, value, infinite=True, nan=True) if kind is float else value


def parameter_annotations(cls: type) -> dict[str, Anything]:
    """Return the annotated parameters of a program class, ClassVars left out."""
    return {
        name: value
        for name, value in annotations_of(cls, VertexProgram).items()
        if name not in RESERVED_PARAMETERS and not is_class_variable(value)
    }
