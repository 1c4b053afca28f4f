"""C names and C types of what a program declares; shared by the files that write C."""

from __future__ import annotations

import functools
import math
import re

from gaslab.compiler.tree import INTEGER_RANGE, OPERATIONS, STORAGE, Combiner, Tree, is_list
from gaslab.errors import unknown

C_TYPE = {"float": "gl_real", "int": "int64_t", "bool": "_Bool", "id": "int64_t"}  # of expressions
C_TYPE |= {kind: "gl_list" for kind in STORAGE if is_list(kind)}
WIDE_TYPE = C_TYPE | {"float": "double"}  # of sums in float64, whatever the precision
MEMBER = {"float": "f", "int": "i", "bool": "i", "id": "i"}  # of gl_scalar
ATTRIBUTES = ("id", "degree", "in_degree", "out_degree")  # in gl_view `id` is called gid


@functools.cache  # looked up at every statement
def c_string(text: str) -> str:
    """Return a C string literal of one line, escaped as C requires."""
    return '"' + "".join(map(_c_character, text.encode("utf-8", "backslashreplace"))) + '"'


def _c_character(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'  # ??/ is a backslash to some compilers
    return chr(byte) if plain else f"\\{byte:03o}"


def mangled(prefix: str, index: int, name: str) -> str:
    """Return a C name, unique through its index and readable through its name."""
    return f"{prefix}{index}_" + re.sub(r"[^A-Za-z0-9_]", "_", name)


def field_name(tree: Tree, index: int) -> str:
    return mangled("f", index, tree.vertex_fields[index].name)


def edge_name(tree: Tree, index: int) -> str:
    return mangled("e", index, tree.edge_fields[index].name)


def param_name(tree: Tree, index: int) -> str:
    return mangled("p", index, tree.params[index].name)


def shared_name(tree: Tree, index: int) -> str:
    return mangled("s", index, tree.shared[index].name)


def aggregate_name(tree: Tree, index: int) -> str:
    return mangled("a", index, tree.aggregators[index].name)


def helper_name(tree: Tree, index: int) -> str:
    return mangled("h", index, tree.helpers[index].name)


def widened(storage: str, expression: str) -> str:
    """Return the C expression of the value read from *expression* of this storage type."""
    if storage in ("float64", "int64", "id") or is_list(storage):
        return expression  # float64 stays: aggregates are added up in it
    if storage == "bool":
        return f"({expression} != 0)"
    return f"(({C_TYPE[STORAGE[storage][0]]}){expression})"


def is_bounded(storage: str) -> bool:
    """Return whether storing an int in this storage type may fault."""
    return storage in INTEGER_RANGE and storage != "int64"


def narrowed(storage: str, expression: str, site: int) -> str:
    """Return the C expression that narrows *expression* (of the storage's expression type); it may fault."""
    if is_bounded(storage):
        lo, hi = INTEGER_RANGE[storage]
        return f"({STORAGE[storage][1]})gl_within(c, {expression}, {lo}, {hi}, {site})"
    if storage == "float32":
        return f"(float)({expression})"
    if storage == "id32":
        return f"gl_listed_id({expression})"
    if storage not in STORAGE:
        raise unknown("emit", storage)
    return expression


def is_zero(value: float | int | bool) -> bool:
    """Return whether all bits of a constant are 0."""
    return not value and math.copysign(1.0, value) > 0.0


def constant(value: float | int | bool, kind: str) -> str:
    """Return a C constant of an expression type."""
    if kind == "bool":
        return "1" if value else "0"
    if kind == "float":
        number = float(value)
        if math.isnan(number):
            return '((gl_real)__builtin_nan(""))'
        if math.isinf(number):
            return "((gl_real)__builtin_inf())" if number > 0 else "((gl_real)-__builtin_inf())"
        return f"((gl_real){number!r})"
    if int(value) == INTEGER_RANGE["int64"][0]:
        return "INT64_MIN"
    return f"INT64_C({int(value)})" if value >= 0 else f"(-INT64_C({-int(value)}))"


def read(tree: Tree, storage: str, expression: str) -> str:
    """Return a value as an operand in C: floats in the program's precision."""
    if STORAGE[storage][0] != "float":
        return widened(storage, expression)
    return expression if storage == tree.precision else f"((gl_real){expression})"


def before(op: str, payload: Combiner, new: tuple[str, str], kept: tuple[str, str]) -> str:
    """Return the C (and Python) test whether one pair comes before another: by key, then smaller payload."""
    sign, both = OPERATIONS[op].keeps, ("&&", "||")
    key, more = new
    smaller = f"{more} < {kept[1]}"
    if payload.type == "float":  # nan comes last
        smaller = f"({smaller} {both[1]} ({kept[1]} != {kept[1]} {both[0]} {more} == {more}))"
    return f"({key} {sign} {kept[0]} {both[1]} ({key} == {kept[0]} {both[0]} {smaller}))"
