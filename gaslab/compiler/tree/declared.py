"""Types, and a program's declarations: fields, parameters, combiners; a part of the tree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeGuard

from gaslab.compiler.tree.combiner_table import OPERATIONS, Operation, text_of
from gaslab.errors import unknown

# storage type -> (expression type, C type, bytes)
STORAGE: dict[str, tuple[str, str, int]] = {
    "float64": ("float", "double", 8),
    "float32": ("float", "float", 4),
    "int64": ("int", "int64_t", 8),
    "int32": ("int", "int32_t", 4),
    "int16": ("int", "int16_t", 2),
    "int8": ("int", "int8_t", 1),
    "uint64": ("int", "uint64_t", 8),  # of values to 2**63 - 1: arithmetic is in int64
    "uint32": ("int", "uint32_t", 4),
    "uint16": ("int", "uint16_t", 2),
    "uint8": ("int", "uint8_t", 1),
    "bool": ("bool", "uint8_t", 1),
    "id": ("id", "int64_t", 8),
    "id32": ("id", "uint32_t", 4),  # only in lists; the largest is gl.NOBODY, as are all below 0
}
INTEGER_RANGE = {  # of the integer storage types
    name: (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "i" else (0, (1 << min(bits, 63)) - 1)
    for name, (kind, _, size) in STORAGE.items()
    if kind == "int" and (bits := 8 * size)
}
# Tuples of two to four numbers or ids: storage type -> its members'. Only in lists of messages.
TUPLES = {
    "_".join(members): members
    for count in (2, 3, 4)
    for members in itertools.product(("id32", "int64", "float64", "float32"), repeat=count)
}


def tuple_bytes(members: tuple[str, ...]) -> int:
    """Return the bytes of a C struct of these members."""
    at, sizes = 0, [STORAGE[member][2] for member in members]
    for size in sizes:
        at = -(-at // size) * size + size
    return -(-at // max(sizes)) * max(sizes)


STORAGE |= {name: ("tuple", f"gl_{name}", tuple_bytes(members)) for name, members in TUPLES.items()}
# A list (or sorted set) of a storage type is a separate type, for fields, totals and expressions.
LIST_KINDS = ("list", "set")
_LISTS = [f"{kind}:{name}" for name in STORAGE if name not in ("id", *TUPLES) for kind in LIST_KINDS]
_LISTS += [f"list:{name}" for name in TUPLES]
STORAGE |= {kind: (kind, "gl_list", 16) for kind in _LISTS}
WIDE = {"float": "float64", "int": "int64", "bool": "bool", "id": "id"}  # expression -> storage type


@dataclass(frozen=True)
class Array:
    """The type of a vector or a matrix (row by row) of numbers or vertex ids; all lengths are known."""

    element: str  # float, int, bool or id
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Type = str | Array


def element_of(kind: Type) -> str:
    """Return the type of the elements of an array type, a scalar type itself."""
    return kind.element if isinstance(kind, Array) else kind


def is_list(kind: Type) -> TypeGuard[str]:
    """Return whether a type is a list or a sorted set: ``"list:int64"``, ``"set:id32"``."""
    return isinstance(kind, str) and ":" in kind


def element_storage(kind: Type) -> str:
    """Return the storage type of a list type's elements; nothing for other types."""
    return kind.partition(":")[2] if isinstance(kind, str) else ""


class Required(Enum):
    """The default of a field or parameter that has none."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED


@dataclass(frozen=True)
class Site:
    """A place in the user's source, for faults and `#line`."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Lookup:
    """A field of another vertex, which the field *link* names; *nobody* is its value for gl.NOBODY."""

    link: str
    field: str
    nobody: float | int | bool = 0


@dataclass(frozen=True)
class Variable:
    """A declared parameter, vertex field or edge field; *default* applies to every element."""

    name: str
    storage: str
    default: object
    site: Site
    shape: tuple[int, ...] = ()
    sync: str | None = None  # of a field to which scatter adds from either end: ``sum``, ``min`` or ``max``
    lookup: Lookup | None = None  # of a vertex field that is another vertex's

    @property
    def type(self) -> Type:
        element = STORAGE[self.storage][0]
        return Array(element, self.shape) if self.shape else element

    @property
    def added(self) -> Combiner:
        """How the contributions to an additive field combine, element by element."""
        assert self.sync is not None
        return Combiner(self.sync, WIDE[element_of(self.type)])

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(frozen=True)
class Combiner:
    """A commutative, associative operation, a row of `combiners`, on one storage type.

    ``list`` and ``set`` collect values of that type, in gathers and messages. Of a pair's two parts, the key
    has ``argmin`` or ``argmax``, the next part ``payload``. ``own`` is the program's merge, for a part that
    starts from `start`.
    """

    op: str
    storage: str
    start: float | int | bool = 0

    @property
    def type(self) -> str:
        return STORAGE[self.storage][0]

    @property
    def operation(self) -> Operation:
        """The row of its operation."""
        row = OPERATIONS.get(self.op)
        if row is None:
            raise unknown("the table of combiners", self)
        return row

    @property
    def identity(self) -> float | int | bool:
        """The value that changes nothing: an empty gather and an unsent message.

        >>> Combiner("min", "float64").identity, Combiner("max", "uint8").identity
        (inf, 0)
        """
        if self.op == OWN:
            return self.start
        low, high = INTEGER_RANGE.get(self.storage, INTEGER_RANGE["int64"])
        return self.operation.identity(self.type, low, high)

    @property
    def is_key(self) -> bool:
        """Whether it chooses a pair, by this part, the key; the next part's operation is ``payload``."""
        return self.operation.is_key

    def c(self, left: str, right: str) -> str:
        """Return the C expression that combines two values of its expression type."""
        return self._text(self.operation.c, self.type, left, right)

    def wide_c(self, left: str, right: str) -> str:
        """Return the same, with floats in float64 whatever the program's precision."""
        return self._text(self.operation.c, "double" if self.type == "float" else self.type, left, right)

    def python(self, left: str, right: str) -> str:
        """Return the same as Python text, for the interpreter's `numerics`."""
        return self._text(self.operation.python, self.type, left, right)

    def _text(self, texts: Mapping[str, str], kind: str, left: str, right: str) -> str:
        text = text_of(texts, kind, left, right)
        if text is None:
            raise unknown("the table of combiners", self)
        return text

    @property
    def collects(self) -> bool:
        """Whether its totals are rows of any number of values."""
        return self.op in (*LIST_KINDS, SUM_BY)

    @property
    def total(self) -> str:
        """The type of the combined value."""
        return f"{self.op}:{self.storage}" if self.collects else self.type

    @property
    def slots(self) -> int:
        """The number of eight-byte scalars of its aggregate."""
        return 1


@dataclass(frozen=True)
class Part:
    """A named part of an accumulator.

    *symmetric* if its upper half is copied from the lower at the end, *fits* if no sum overflows its storage.
    """

    name: str
    combiner: Combiner
    shape: tuple[int, ...]
    site: Site
    symmetric: bool = False
    fits: bool = False

    @property
    def type(self) -> Type:
        return Array(self.combiner.type, self.shape) if self.shape else self.combiner.type

    @property
    def slots(self) -> int:
        return math.prod(self.shape)


def same_kind(a: Combiner | None, b: Combiner | None) -> bool:
    """Return whether two combiners take the same values and combine them the same way, wherever declared."""
    return a is not None and b is not None and _kind(a) == _kind(b)


def _kind(combiner: Combiner) -> tuple[object, ...]:
    parts = combiner.parts if isinstance(combiner, RecordCombiner) else ()
    return combiner.op, combiner.storage, combiner.start, [(p.name, p.combiner, p.shape) for p in parts]


RECORD = "record"  # the type of an accumulator with parts
PAIR = "pair"  # of a key with its payload
PAYLOAD = "payload"
OWN = "own"


@dataclass(frozen=True)
class RecordCombiner(Combiner):
    """An accumulator with parts, combined one by one or by the program's merge: then its `op` is ``own``.

    Or a pair, whose `op` is ``argmin`` or ``argmax``. A pair in an accumulator is two parts; the first, the
    key, has the pair's name.
    """

    name: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def own(self) -> bool:
        """Whether the program's merge combines it."""
        return self.op == OWN

    @property
    def is_pair(self) -> bool:
        return self.is_key

    @property
    def type(self) -> str:
        return PAIR if self.is_pair else RECORD

    @property
    def slots(self) -> int:
        return sum(part.slots for part in self.parts)


SUM_BY = "sum_by"  # the type of a total by key, and the operation


@dataclass(frozen=True)
class KeyedCombiner(Combiner):
    """The sum, of type `storage`, of each key, of type `key`; only a gather has it."""

    key: str = ""

    @property
    def type(self) -> str:
        return SUM_BY

    @property
    def total(self) -> str:
        return SUM_BY

    @property
    def value_type(self) -> str:
        """The expression type of a sum."""
        return STORAGE[self.storage][0]

    @property
    def key_type(self) -> str:
        """The expression type of a key."""
        return STORAGE[self.key][0]


def named(kind: Type | None) -> str:
    """Return a type's name in errors."""
    if kind == SUM_BY:
        return "a total by key"
    if isinstance(kind, Array):
        what = "vector" if len(kind.shape) == 1 else "matrix"
        elements = "vertex ids" if kind.element == "id" else f"{kind.element}s"
        return f"a {what} of {' x '.join(map(str, kind.shape))} {elements}"
    if kind in (RECORD, PAIR):
        return "an accumulator" if kind == RECORD else "a pair"
    if kind is not None and is_list(kind):
        of = {"int": "ints", "float": "floats", "bool": "bools", "id": "vertex ids", "tuple": "tuples"}
        what = "a list" if kind.startswith("list") else "a sorted set"
        return f"{what} of {of[STORAGE[element_storage(kind)][0]]}" if element_storage(kind) else what
    return {"id": "a vertex id", "tuple": "a tuple"}.get(str(kind), str(kind))
