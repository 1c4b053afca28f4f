"""The types of fields: stored numbers, vertex ids, vectors and matrices.

Words of the language, which `gaslab.program` exports. No numpy here: the build compiles programs first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from gaslab.language.nobody import Nobody


class Storage:
    """The mark behind ``gl.float32`` and similar types: how a field or parameter is stored.

    Arithmetic is done in float64 (or in the class's ``precision``), int64 or bool: reading widens; writing
    narrows, and a value outside the range of an integer type ends the run.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Storage({self.name!r})"


# The smallest and largest value of each integer type; arithmetic is in int64, hence uint64's.
RANGES = {
    f"{sign}int{bits}": (0, (1 << min(bits, 63)) - 1) if sign else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}

float64 = Annotated[float, Storage("float64")]
float32 = Annotated[float, Storage("float32")]
int64 = Annotated[int, Storage("int64")]
int32 = Annotated[int, Storage("int32")]
int16 = Annotated[int, Storage("int16")]
int8 = Annotated[int, Storage("int8")]
uint64 = Annotated[int, Storage("uint64")]  # 0 to 2**63 - 1
uint32 = Annotated[int, Storage("uint32")]
uint16 = Annotated[int, Storage("uint16")]
uint8 = Annotated[int, Storage("uint8")]
# In the user's own ids; inside a program only compared, ordered, copied and combined. For type checkers it
# accepts anything, and comparing two gives a bool (with plain Any it would give Any).
VertexId = Annotated[Any | int, Storage("id")]
# The `VertexId` of no vertex, ordered after all others: the value of an empty ``Min[VertexId]``. A result
# shows it as None, or -1 if ids are integers.
NOBODY: VertexId = Nobody(last=True)


class Dimensions:
    """The mark behind `Vector` and `Matrix`: the number of an element's indices."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __repr__(self) -> str:
        return f"Dimensions({self.count})"


# For type checkers both are numpy arrays; `field` gives their shape.
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]
    Matrix = NDArray[Any]
else:
    Vector = Annotated[Any, Dimensions(1)]
    Matrix = Annotated[Any, Dimensions(2)]

SUM, MIN, MAX, PROD, BITOR = "sum", "min", "max", "prod", "bitor"


class Field:
    """The details from `field` for a field, a part of an accumulator, or an array parameter.

    `has_init` is whether a start was given.
    """

    def __init__(
        self,
        shape: tuple[int | str, ...] = (),
        dtype: Any = None,
        init: Any = 0,
        combine: str = SUM,
        sync: str | None = None,
        lookup: str | None = None,
        has_init: bool = False,
    ) -> None:
        self.shape, self.dtype, self.init, self.combine, self.sync = shape, dtype, init, combine, sync
        self.lookup, self.has_init = lookup, has_init


def field(
    *,
    shape: int | str | tuple[int | str, ...] = (),
    dtype: Any = None,
    init: Any = ...,
    combine: str = SUM,
    sync: str | None = None,
) -> Any:
    """Declare details of a field, or of a parameter that is an array, beyond its type.

    Parameters
    ----------
    shape : int, str, or tuple of them
        The length of a `Vector`, or the rows and columns of a `Matrix`; a str is the name of an int
        parameter.
    dtype : type
        Type of the elements: ``float`` (default), ``int``, ``bool`` or a width such as `float32`.
    init : number
        Initial value of every element, by default 0. A parameter has this value everywhere if no array is
        given; without *init* an array must be given.
    combine : {SUM, MIN, MAX, PROD, BITOR}
        How a part of an accumulator is combined.
    sync : {SUM, MIN, MAX}, optional
        Makes a field additive: ``scatter`` may write ``nbr.x += d``, ``v.x += d`` and of an edge ``e.x += d``
        (or ``nbr.x = min(nbr.x, d)``), and the updates take effect after scatter. For an edge it must be a
        number.

    Examples
    --------
    >>> from gaslab import program as gl
    >>> class Factors(gl.VertexProgram):
    ...     rank: int = 4
    ...     class Vertex(gl.Vertex):
    ...         x: gl.Vector = gl.field(shape="rank", dtype=gl.float32, init=1.0)
    ...         m: gl.Matrix = gl.field(shape=("rank", 2))
    ...     def init(self, v: Vertex) -> None:
    ...         v.x[0] = v.degree
    """
    lengths = shape if isinstance(shape, tuple) else (shape,)
    said = init is not ...
    return Field(lengths, dtype, init if said else 0, combine, sync, has_init=said)


def lookup(path: str) -> Any:
    """Declare a vertex field that reads a field of another vertex, given by its id.

    The engine looks it up for each vertex that runs, before `apply`, the only method that may read it: the
    value is that of the beginning of the superstep. If the id is `NOBODY`, it is the default of the other
    field (for an id field, `NOBODY`). Results do not contain it.

    Parameters
    ----------
    path : str
        ``"ID.FIELD"``: a field of type `VertexId`, and the field of the vertex with that id, which must have
        the same type as this one.

    Examples
    --------
    Every vertex finds the root of its tree, however deep, in a logarithmic number of supersteps:

    >>> import gaslab as gl
    >>> class Root(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         parent: gl.VertexId
    ...         grandparent: gl.VertexId = gl.lookup("parent.parent")
    ...         _climbs: bool = True
    ...     def active(self, v: Vertex) -> bool:
    ...         return v._climbs
    ...     def apply(self, v: Vertex) -> None:
    ...         v._climbs = v.parent != v.grandparent
    ...         v.parent = v.grandparent
    >>> graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> gl.run(Root(), graph, init={"parent": [0, 0, 1, 2, 3]}).vertices["parent"]
    array([0, 0, 0, 0, 0])

    References
    ----------
    Yan, Cheng, Lu, Ng: Effective Techniques for Message Reduction and Load Balancing in Distributed Graph
    Computation. WWW 2015 (requests and responses).
    """
    return Field(lookup=path)
