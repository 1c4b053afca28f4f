"""The typed tree: what `parse` makes of a program class, and all that `emit` sees.

Expressions have one of four types: ``float`` (float64), ``int`` (int64), ``bool`` and ``id`` (a
global vertex id: ordered and comparable, no arithmetic). Only places in memory (fields, locals) and
calls of helpers may also be an `Array` of them: `parse` turns whole-array expressions into loops over
elements. Fields and parameters also have a storage type, a numpy dtype name or ``"id"``; reading
widens to the expression type, writing narrows and checks the range.
Conversions are explicit `Cast` nodes, so emit never infers a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from gaslab.compiler.declared import REQUIRED as REQUIRED
from gaslab.compiler.declared import STORAGE as STORAGE
from gaslab.compiler.declared import WIDE as WIDE
from gaslab.compiler.declared import Array as Array
from gaslab.compiler.declared import Combiner as Combiner
from gaslab.compiler.declared import Required as Required
from gaslab.compiler.declared import Site as Site
from gaslab.compiler.declared import Type as Type
from gaslab.compiler.declared import Variable as Variable
from gaslab.compiler.declared import element_of as element_of

# ---- expressions; every one has .type -------------------------------------------------------------


@dataclass(frozen=True)
class Const:
    value: float | int | bool
    type: str


@dataclass(frozen=True)
class Param:
    index: int
    name: str
    type: str


@dataclass(frozen=True)
class Aggregate:
    """``self.<aggregator>``: the value after init or after the previous apply phase."""

    index: int
    name: str
    type: str


@dataclass(frozen=True)
class Global:
    """``num_vertices``, ``num_edges``, ``superstep``, or ``num_left``: the first global id of side 1."""

    name: str
    type: str = "int"


@dataclass(frozen=True)
class VertexField:
    """A field of ``v`` or of the neighbour. role: ``"v"`` or ``"nbr"``."""

    role: str
    index: int
    type: Type


@dataclass(frozen=True)
class VertexAttribute:
    """``id``, ``degree``, ``in_degree`` or ``out_degree`` of ``v`` or of the neighbour."""

    role: str
    name: str
    type: str


@dataclass(frozen=True)
class EdgeField:
    index: int
    type: Type


@dataclass(frozen=True)
class Forward:
    """``e.forward``: whether ``v`` is the edge's source; known for every loop over edges."""

    type: str = "bool"


@dataclass(frozen=True)
class Local:
    """A local, or a parameter of apply or a helper; always an ASCII identifier (maybe a word of C)."""

    name: str
    type: Type


@dataclass(frozen=True)
class Element:
    """One number of an array in memory; *index* counts row by row and is within its size."""

    array: VertexField | EdgeField | Local
    index: Expr
    type: str


@dataclass(frozen=True)
class Index:
    """An index into a dimension of *size*, from its end if negative; out of range is a fault."""

    value: Expr
    size: int
    site: int
    type: str = "int"


@dataclass(frozen=True)
class Reduce:
    """*value* at ``counter = 0 .. count - 1``, combined; op: ``sum prod min max argmin argmax``.

    A sum of floats over 8 or more goes to four sums in turn, as in a gather: element k to sum k % 4,
    those left over to the first; then (0 + 1) + (2 + 3). ``argmin`` is the first position (an int).
    """

    op: str
    counter: str
    count: int
    value: Expr
    type: str


@dataclass(frozen=True)
class Unary:
    """op: ``-`` ``+`` ``~`` ``not``."""

    op: str
    operand: Expr
    type: str


@dataclass(frozen=True)
class Binary:
    """op: ``+ - * / // % ** & | ^ << >>``; both sides have the same type (bool for ``& | ^`` too).

    ``/`` always yields float (its operands are cast to float; `int_divisor` says that the right one
    was an int before, and then zero is a fault). ``**`` is float ** float, or int ** a constant
    int >= 0. What may fault (``/`` with `int_divisor`, ``// %`` of ints, shifts) has its site.
    """

    op: str
    left: Expr
    right: Expr
    type: str
    site: int = -1
    int_divisor: bool = False


@dataclass(frozen=True)
class Compare:
    """op: ``== != < <= > >=``; a chain is lowered to `Logical` over `Let`-free repeated operands."""

    op: str
    left: Expr
    right: Expr
    type: str = "bool"


@dataclass(frozen=True)
class Logical:
    """op: ``and`` or ``or``; short-circuit."""

    op: str
    operands: tuple[Expr, ...]
    type: str = "bool"


@dataclass(frozen=True)
class Conditional:
    test: Expr
    then: Expr
    otherwise: Expr
    type: str


@dataclass(frozen=True)
class Cast:
    """int/bool -> float, bool -> int, float -> int (truncates; fault when out of range), any -> bool."""

    operand: Expr
    type: str
    site: int = -1


@dataclass(frozen=True)
class Call:
    """A built-in: ``abs``, ``min`` or ``max`` of two (type of the operands), or ``math.<name>``.

    math functions take and give float but for ``math.isnan isinf isfinite`` (bool) and ``math.ldexp``
    (float, int); ``math.floor ceil trunc`` give float here and stand under a `Cast` to int.
    """

    function: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


@dataclass(frozen=True)
class CallHelper:
    """A helper function of the user's module, already specialised: an index into Tree.helpers.

    Arguments that are arrays are Locals. One that returns an array is the value of an `Assign` to a Local.
    """

    index: int
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Draw:
    """``gl.uniform(low, high)``, ``gl.normal(scale)`` or ``gl.integers(n)``: the next draw of this call.

    Draws are numbered in the order in which Python evaluates them, from 0 in every call of a method;
    see ``chance.h`` for what a draw is a function of. `integers` with n < 1 is a fault.
    """

    kind: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


Expr = (
    Const | Param | Aggregate | Global | VertexField | VertexAttribute | EdgeField | Forward | Local | Unary
    | Binary | Compare | Logical | Conditional | Cast | Call | CallHelper | Draw | Element | Index
    | Reduce
)  # fmt: skip


def nodes(x: Any) -> Iterator[Any]:
    """Yield the nodes of an expression, or of a tuple of them, from the top down."""
    if isinstance(x, tuple):
        for item in x:
            yield from nodes(item)
    elif is_dataclass(x):
        yield x
        for member in fields(x):
            yield from nodes(getattr(x, member.name))


# ---- statements; every one has .site, an index into Tree.sites -------------------------------------


@dataclass(frozen=True)
class Assign:
    """target: Local, VertexField (role ``v``), EdgeField or an Element; value has the target's type."""

    target: Local | VertexField | EdgeField | Element
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
class Each:
    """The parser's own loop over elements: *counter* = 0 .. count - 1; *body* has no Break or Return."""

    counter: str
    count: Expr
    body: tuple[Stmt, ...]
    site: int


@dataclass(frozen=True)
class Solve:
    """*right* := the solution of ``matrix @ x = right``, in place; *matrix* is spoilt.

    method: ``"lu"`` (partial pivoting) or ``"spd"`` (Cholesky, of the lower half); a matrix that is
    singular, or not positive definite, is a fault.
    """

    method: str
    matrix: Local
    right: Local
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
    """``nbr.signal(message, priority=...)``; target: ``"nbr"`` in scatter, ``"v"`` also in apply.

    A priority is an int.
    """

    message: Expr | None
    site: int
    target: str = "nbr"
    priority: Expr | None = None


@dataclass(frozen=True)
class Stop:
    """``gl.stop()`` in gather: the vertex's further edges need not be looked at."""

    site: int


@dataclass(frozen=True)
class Contribute:
    """``nbr.x += value`` (or min, max) of an additive field, in scatter only; role ``v`` or ``nbr``."""

    target: VertexField
    value: Expr
    site: int


Stmt = Assign | If | While | ForRange | Each | Solve | Break | Continue | Return | Signal | Stop | Contribute


@dataclass(frozen=True)
class Function:
    """One method or helper. `locals` maps each local to its type, parameters included.

    `parameters` are (name, type): a helper's scalars in order; of apply those it takes of ``total``
    and ``message``, by these names whatever the user calls them; of other methods none.
    `reads` and `writes` hold names: ``v.score``, ``nbr.share``, ``e.weight``, ``v.out_degree``; a function
    that draws reads ``self.draws`` too, and over edges ``v.#`` and ``nbr.#``, the ends' local ids.
    """

    name: str
    parameters: tuple[tuple[str, Type], ...]
    returns: Type | None  # expression type, None for procedures
    locals: dict[str, Type]
    body: tuple[Stmt, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    site: int


@dataclass(frozen=True)
class Aggregator:
    """`every` supersteps it is computed; with `over_edges` for each edge, ``v`` its source."""

    name: str
    combiner: Combiner
    function: Function
    every: int = 1
    over_edges: bool = False

    @property
    def apart(self) -> bool:
        """Whether it has a sweep of its own, not one with apply."""
        return self.over_edges or self.every > 1


def _statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield all statements of a body, those of its branches and loops too."""
    for statement in body:
        yield statement
        for part in vars(statement).values():
            if isinstance(part, tuple):
                yield from _statements(part)


def _of(role: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(n[len(role) + 1 :] for n in names if n.startswith(role + "."))


@dataclass(frozen=True)
class Tree:
    """A whole program. `functions` has those of init, start, active, gather, apply, scatter it defines.

    A helper stands after the helpers it calls.
    """

    name: str
    params: tuple[Variable, ...]
    vertex_fields: tuple[Variable, ...]
    edge_fields: tuple[Variable, ...]
    aggregators: tuple[Aggregator, ...]
    functions: dict[str, Function]
    helpers: tuple[Function, ...]
    gather: Combiner | None
    message: Combiner | None
    gather_edges: int  # GL_IN | GL_OUT; 0 when there is no gather
    scatter_edges: int
    has_done: bool
    sites: tuple[Site, ...] = field(default=())
    phase: int = 0  # the place of this phase in a program of several
    supersteps: int | None = None  # of this phase, at most, each time it is its turn
    rng: str = "counter"  # or "stream": one Philox block seeds a small generator per call

    @property
    def draws(self) -> bool:
        """Whether any method draws random numbers."""
        return any("self.draws" in f.reads for f in (*self.functions.values(), *self.helpers))

    @property
    def in_apply(self) -> tuple[tuple[int, Aggregator], ...]:
        """The aggregators that a sweep of apply adds up, with their indices."""
        return tuple((k, a) for k, a in enumerate(self.aggregators) if not a.apart)

    def reads(self, phase: str, role: str) -> frozenset[str]:
        """Names that *phase* reads on *role* (``v``, ``nbr``, ``e``), without the role."""
        return _of(role, self.functions[phase].reads if phase in self.functions else ())

    def writes(self, phase: str, role: str = "v") -> frozenset[str]:
        """Names that *phase* writes on *role*, without the role."""
        return _of(role, self.functions[phase].writes if phase in self.functions else ())

    def signals(self, *phases: str) -> tuple[Signal, ...]:
        """Return the signals that these phases (apply and scatter by default) send."""
        names = phases or ("apply", "scatter")
        return tuple(
            statement
            for name in names
            if name in self.functions
            for statement in _statements(self.functions[name].body)
            if isinstance(statement, Signal)
        )

    @property
    def stops(self) -> bool:
        """Whether a gather may leave out edges."""
        gather = self.functions.get("gather")
        return gather is not None and any(isinstance(s, Stop) for s in _statements(gather.body))

    @property
    def by_signal(self) -> bool:
        """Whether signals decide who runs."""
        return "active" not in self.functions and ("scatter" in self.functions or bool(self.signals()))

    @property
    def by_priority(self) -> bool:
        """Whether signals have priorities."""
        return any(signal.priority is not None for signal in self.signals())

    @property
    def can_pull(self) -> bool:
        """Whether targets may run scatter: not where it writes what is others', or sees an edge once."""
        itself = any(signal.target == "v" for signal in self.signals("scatter"))
        return not (self.writes("scatter", "e") or itself or self.contributed("v") or self.by_priority)

    def written_edges(self) -> frozenset[str]:
        """Names of the edge fields that the program writes."""
        return self.writes("scatter", "e") | self.writes("visit", "e")

    def contributed(self, role: str = "") -> tuple[int, ...]:
        """Return the indices of the vertex fields that scatter adds to, on one role or on both."""
        names = frozenset().union(*(self.writes("scatter", r) for r in ([role] if role else ["v", "nbr"])))
        return tuple(k for k, v in enumerate(self.vertex_fields) if v.name in names)

    def double_buffered(self, name: str) -> bool:
        """Whether a gather reads this vertex field across an edge while apply writes it."""
        return name in self.reads("gather", "nbr") and name in self.writes("apply")
