"""The statements of the typed tree; every one has `site`, an index into ``Tree.sites``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gaslab.compiler.tree.expressions import (
    Aggregate,
    EdgeField,
    Element,
    Expr,
    Local,
    PartOf,
    VertexField,
    nodes,
)


@dataclass(frozen=True)
class Assign:
    """target: Local, VertexField (role ``v``), EdgeField, PartOf or Element; value has the target's type."""

    target: Local | VertexField | EdgeField | PartOf | Element
    value: Expr
    site: int


@dataclass(frozen=True)
class Append:
    """``v.field.append(value)``: appends to a list field of ``v``, in init and apply."""

    target: VertexField
    value: Expr
    site: int


@dataclass(frozen=True)
class If:
    test: Expr
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class While:
    test: Expr
    body: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class ForRange:
    """Python's `for target in range(...)`: bounds are evaluated once; target keeps its last value."""

    target: Local
    start: Expr
    stop: Expr
    step: Expr
    body: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class KeyedLoop(ForRange):
    """`for key, value in total.items()`: *target* is the position of the key and its sum in the total.

    Unless `ascending`, keys come in any order, with the result of the ascending order.
    """

    ascending: bool = True


@dataclass(frozen=True)
class Each:
    """The frontend's own loop over elements: *counter* = 0 .. count - 1; *body* has no Break or Return."""

    counter: str
    count: Expr
    body: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class AddPart:
    """target := target combined with *value*, by the part's own combiner; the record is ``"into"``."""

    target: PartOf | Element
    value: Expr
    site: int


@dataclass(frozen=True)
class AddOuter:
    """The lower half of *target*, a matrix of sums of floats, += the outer product of a vector with itself.

    *value* is the vector's element at *counter*.
    """

    target: PartOf
    counter: str
    value: Expr
    site: int


@dataclass(frozen=True)
class AddPair:
    """*key* and *payload* replace a pair's if they come first: by key, on ties by payload."""

    target: PartOf
    key: Expr
    payload: Expr
    site: int


@dataclass(frozen=True)
class AddByKey:
    """The sum of *key* += *value*, in the total by key that gather contributes to."""

    key: Expr
    value: Expr
    site: int


@dataclass(frozen=True)
class Merge:
    """The record *into* becomes the program's merge of it and of ``"made"``, which *body* fills."""

    into: str
    body: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class Solve:
    """*right* := the solution of ``matrix @ x = right``, in place; *matrix* is overwritten.

    method: ``"lu"`` (partial pivoting) or ``"spd"`` (Cholesky, of the lower half); a matrix that is
    singular, or not positive definite, is a fault.
    """

    method: str
    matrix: Local
    right: Local
    site: int


@dataclass(frozen=True)
class ConjugateGradient:
    """*answer* := itself after *steps* of the conjugate gradient method for ``matrix @ x = right``.

    The matrix is symmetric; one seen not to be positive definite is a fault.
    """

    matrix: Local
    right: Local
    answer: Local
    steps: Expr
    site: int


@dataclass(frozen=True)
class Sort:
    """*array* := its elements in ascending order, nan last; equal ones keep their order."""

    array: Local
    site: int


@dataclass(frozen=True)
class Dirichlet:
    """*array*, of parameters := a point drawn from their Dirichlet distribution; see ``distributions.h``.

    Parameters that are negative or not finite, or all 0, are a fault.
    """

    array: Local
    site: int


@dataclass(frozen=True)
class Break:
    site: int


@dataclass(frozen=True)
class Continue:
    site: int


@dataclass(frozen=True)
class Return:
    value: Expr | None
    site: int


@dataclass(frozen=True)
class Signal:
    """``nbr.signal(message, priority=...)``; target: ``"nbr"`` in scatter, ``"v"`` and ``"id"`` in apply too.

    ``"id"`` is ``self.signal(to, ...)``, with the global id *to*. A priority is an int. A message with parts
    is the statements that add them to the record ``"sent"``; a tuple is its *members*.
    """

    message: Expr | None
    site: int
    target: str = "nbr"
    priority: Expr | None = None
    to: Expr | None = None
    parts: tuple[Stmt, ...] | None = None
    members: tuple[Expr, ...] = ()

    @property
    def sends(self) -> bool:
        """Whether it carries a message."""
        return self.message is not None or self.parts is not None or bool(self.members)


ENDS = {"nbr": "x", "v": "v"}  # the name of a `Signal`'s vertex in the methods of both backends


@dataclass(frozen=True)
class Stop:
    """``gl.stop()`` in gather: the vertex's remaining edges may be skipped."""

    site: int


@dataclass(frozen=True)
class Contribute:
    """``nbr.x += value`` (or min, max) of an additive field of ``v``, ``nbr`` or ``e``, in scatter only.

    A vector or matrix has one statement per element, then one for the whole without a value, to note it.
    """

    target: VertexField | EdgeField | Element
    value: Expr | None
    site: int

    @property
    def place(self) -> VertexField | EdgeField:
        """The field; the target may be one of its elements."""
        place = self.target.array if isinstance(self.target, Element) else self.target
        assert isinstance(place, VertexField | EdgeField)
        return place


@dataclass(frozen=True)
class AddLive:
    """``self.total += value`` in visit, of a live aggregator, a part of it or an element of a part."""

    target: Aggregate | PartOf | Element
    value: Expr
    site: int


@dataclass(frozen=True)
class Post:
    """``nbr.post_delta(value)`` or, without a value, ``nbr.clear_cache()``; in scatter only."""

    value: Expr | None
    site: int


Stmt = (
    Assign | Append | If | While | ForRange | Each | AddPart | AddOuter | AddPair | AddByKey | Merge | Solve
    | ConjugateGradient | Sort | Dirichlet | Break | Continue | Return | Signal | Stop | Contribute | AddLive
    | Post
)  # fmt: skip


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield all statements of a body, including its branches and loops."""
    for statement in body:
        yield statement
        for part in vars(statement).values():
            if isinstance(part, tuple):
                yield from statements(part)


def is_elementwise(s: Each) -> bool:
    """Return whether no round reads an element that another writes: rows are equal or disjoint."""
    at = Local(s.counter, "int")
    if len(s.body) != 1 or not isinstance(s.body[0], Assign):
        return False
    elements = [x for x in nodes(s.body) if isinstance(x, Element)]
    return s.body[0].target in elements and all(x.index == at for x in elements)
