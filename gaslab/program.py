"""The words a vertex program is written in.

A program is a plain class; see ``docs/programs.md``. Nothing here runs it: the compiler reads the
class's source, the reference engine calls its methods. This module imports no numpy, no kernel and
no MPI, so that the build can compile the built-in programs before any of them exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar, overload

from gaslab.annotations import annotations_of, is_class_variable
from gaslab.errors import UsageError, nearest

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        """Tell type checkers that parameters are keyword arguments; nothing at run time."""
        return lambda cls: cls


T = TypeVar("T")

# ---- edge directions -------------------------------------------------------------------------------

IN, OUT, ALL, NONE = 1, 2, 3, 0

# ---- types -----------------------------------------------------------------------------------------


class Storage:
    """How a field or parameter is stored; arithmetic is always done in float64, int64 or bool."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Storage({self.name!r})"


float64 = Annotated[float, Storage("float64")]
float32 = Annotated[float, Storage("float32")]
int64 = Annotated[int, Storage("int64")]
int32 = Annotated[int, Storage("int32")]
int16 = Annotated[int, Storage("int16")]
int8 = Annotated[int, Storage("int8")]
uint32 = Annotated[int, Storage("uint32")]
uint16 = Annotated[int, Storage("uint16")]
uint8 = Annotated[int, Storage("uint8")]
# In the user's own ids; inside a program only compared, ordered, copied and combined. To a type
# checker it takes anything, and comparing two gives a bool (with plain Any it would give Any).
VertexId = Annotated[Any | int, Storage("id")]


class Combine:
    """The mark behind ``Sum[...]``, ``Min[...]``, ``Max[...]``; `op` is sum, min or max."""

    def __init__(self, op: str) -> None:
        self.op = op

    def __repr__(self) -> str:
        return f"Combine({self.op!r})"


# To a type checker each is its plain content: Sum[float] is float.
Sum = Annotated[T, Combine("sum")]
Min = Annotated[T, Combine("min")]
Max = Annotated[T, Combine("max")]


# ---- what a program is made of ---------------------------------------------------------------------


class Vertex:
    """Base of a program's nested ``Vertex``: annotated attributes are its fields.

    Every vertex also has ``id``, ``degree``, ``in_degree`` and ``out_degree``; in ``scatter`` the
    neighbour has ``signal()``.
    """

    if TYPE_CHECKING:
        id: ClassVar[VertexId]
        degree: ClassVar[int]
        in_degree: ClassVar[int]
        out_degree: ClassVar[int]

        def signal(self, message: Any = None) -> None: ...


class Edge:
    """Base of a program's nested ``Edge``: annotated attributes are its fields, bound to columns."""


RESERVED_FIELDS = frozenset({"id", "side", "degree", "in_degree", "out_degree", "signal"})
RESERVED_PARAMETERS = frozenset(
    {"num_vertices", "num_edges", "superstep", "gather_edges", "scatter_edges", "Vertex", "Edge",
     "init", "start", "active", "gather", "apply", "scatter", "done"}
)  # fmt: skip


class Aggregator(Generic[T]):
    """A method made by `aggregator`; read as ``self.name``, its value over all vertices."""

    def __init__(self, function: Callable[[Any, Any], T]) -> None:
        self.function: Any = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Aggregator[T]: ...
    @overload
    def __get__(self, instance: Any, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Aggregator[T] | T:
        if instance is None:
            return self
        raise UsageError(f"{owner.__name__}.{self.name} has a value only while the program runs")


def aggregator(function: Callable[[Any, Any], T]) -> Aggregator[T]:
    """Declare a value combined over all vertices, after init and after each apply phase.

    The combiner is the return annotation: ``-> gl.Sum[float]``. Inside the program ``self.name``
    is the value after init or after the previous apply phase; ``done`` sees the newest.
    """
    return Aggregator(function)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class VertexProgram:
    """Base of vertex programs; an instance is an immutable set of parameters.

    Parameters are annotated attributes of the class. Methods, all but one optional:
    ``init(v)``, ``start(v)``, ``active(v)``, ``gather(v, e, nbr)``, ``apply(v, total, message)``,
    ``scatter(v, e, nbr)``, ``done()``; aggregators by `aggregator`.

    >>> import gaslab as gl
    >>> class Degrees(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         count: int = 0
    ...     def init(self, v: Vertex) -> None:
    ...         v.count = v.degree
    >>> Degrees()
    Degrees()
    """

    gather_edges: ClassVar[int] = IN
    scatter_edges: ClassVar[int] = OUT

    if TYPE_CHECKING:
        Vertex: ClassVar[Any] = Vertex
        Edge: ClassVar[Any] = Edge
        num_vertices: ClassVar[int]
        num_edges: ClassVar[int]
        superstep: ClassVar[int]

    def __init__(self, **values: Any) -> None:
        declared = parameter_annotations(type(self))
        for name in values:
            if name not in declared:
                raise UsageError(f"{type(self).__name__} has no parameter {name!r}{nearest(name, declared)}")
        for name in declared:
            if name in values:
                object.__setattr__(self, name, values[name])
            elif not hasattr(type(self), name):
                raise UsageError(f"{type(self).__name__} needs {name}=...: the parameter has no default")

    def __setattr__(self, name: str, value: Any) -> None:
        raise UsageError(f"{type(self).__name__} is immutable; make a new one with {name}={value!r}")

    def __repr__(self) -> str:
        given = ", ".join(f"{n}={getattr(self, n)!r}" for n in parameter_annotations(type(self)))
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.parameters() == other.parameters()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.parameters().items())))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name, defaults included."""
        return {name: getattr(self, name) for name in parameter_annotations(type(self))}


def parameter_annotations(cls: type) -> dict[str, Any]:
    """Return the annotated parameters of a program class, ClassVars left out."""
    return {
        name: value
        for name, value in annotations_of(cls, VertexProgram).items()
        if name not in RESERVED_PARAMETERS and not is_class_variable(value)
    }
