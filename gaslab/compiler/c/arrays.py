"""Arrays as C text: declarations, parameters, rows of fields."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE


def declaration(kind: t.Type, name: str) -> str:
    """Return the declaration of a local; an array has no value before it is filled."""
    if isinstance(kind, t.Array):
        return f"{C_TYPE[kind.element]} {name}[{kind.size}];"
    return f"{C_TYPE[kind]} {name} = 0;"


def shared_name(method: str, local: str) -> str:
    """Return the member of ``gl_vertex`` for a vector that all edges of a vertex share."""
    return f"{method}_{local}"


def shared_vector(method: str, local: str, kind: t.Array, constant: bool = True) -> str:
    """Return the statement that gives a method such a vector under its local's name."""
    return f"{'const ' * constant}{C_TYPE[kind.element]} *l_{local} = n->{shared_name(method, local)};"


def parameter(local: t.Local) -> str:
    """Return a parameter of a function; arrays are taken by reference."""
    if isinstance(local.type, t.Array):
        c_type = t.STORAGE[local.storage][1] if local.storage else C_TYPE[local.type.element]
        return f"const {c_type} *l_{local.name}"
    if local.type in (t.RECORD, t.PAIR, t.SUM_BY):
        return f"const gl_{'message' if local.name == 'message' else 'total'} *l_{local.name}"
    return f"{C_TYPE[local.type]} l_{local.name}"


def in_double(precision: str, named: list[tuple[str, int]], call: str) -> str:
    """Return the statement *call* on arrays (with their lengths) as doubles, whatever the precision."""
    names = [name for name, _ in named]
    if precision == "float64":
        return call.format(*names)
    rooms = [f"wide{k}" for k in range(len(named))]
    before = after = ""
    for room, (name, n) in zip(rooms, named, strict=True):
        before += f"double {room}[{n}]; for (int64_t i = 0; i < {n}; i++) {room}[i] = {name}[i]; "
        after += f" for (int64_t i = 0; i < {n}; i++) {name}[i] = (gl_real){room}[i];"
    return f"{{ {before}{call.format(*rooms)}{after} }}"


def head(function: t.Function, name: str, first: str = "gl_context *c") -> str:
    """Return the head of a function with the tree's parameters; an array is returned in ``result``."""
    parameters = "".join(f", {parameter(p)}" for p in function.parameters)
    if isinstance(function.returns, t.Array):
        return f"GL_INLINE void {name}({first}{parameters}, {C_TYPE[function.returns.element]} *result)"
    kind = C_TYPE[function.returns] if function.returns else "void"
    return f"GL_INLINE {kind} {name}({first}{parameters})"


def member(field: t.Variable, name: str) -> str:
    """Return the member of ``gl_vertex`` for a field: its value, or where its elements are."""
    c_type = t.STORAGE[field.storage][1]
    return f"{c_type} *{name};" if field.shape else f"{c_type} {name};"


def row(field: t.Variable, place: str, index: str) -> str:
    """Return where the value of a field of vertex or edge *index* lies in its array."""
    kind = field.type
    return f"{place}[({index}) * {kind.size}]" if isinstance(kind, t.Array) else f"{place}[{index}]"


HELPERS = {
    # In pieces of a register: for a few lines, gcc's `rep stos` takes longer to start than to store.
    "gl_zero": """\
GL_INLINE void gl_zero(void *at, const int64_t size) {
    if (size > 1024) { __builtin_memset(at, 0, (uint64_t)size); return; }
    for (int64_t i = 0; i + 64 <= size; i += 64) __builtin_memset((char *)at + i, 0, 64);
    __builtin_memset((char *)at + size / 64 * 64, 0, (uint64_t)size % 64);
}
""",
    "gl_index": """\
GL_INLINE int64_t gl_index(gl_context *c, int64_t i, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)n, 0)) {
        if (i < 0 && i >= -n) return i + n;
        gl_raise(c, GL_FAULT_INDEX, site);
    }
    return i;
}
""",
    "gl_counted": """\
GL_INLINE int64_t gl_counted(gl_context *c, int64_t i, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)n, 0)) gl_raise(c, GL_FAULT_COUNTED, site);
    return i;
}
""",
}
