"""Arrays as C text: declarations, parameters, rows of fields, and the helpers that solve small systems."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE


def declaration(kind: t.Type, name: str) -> str:
    """Return the declaration of a local; an array has no value before it is filled."""
    if isinstance(kind, t.Array):
        return f"{C_TYPE[kind.element]} {name}[{kind.size}];"
    return f"{C_TYPE[kind]} {name} = 0;"


def parameter(kind: t.Type, name: str) -> str:
    """Return a parameter of a function."""
    if isinstance(kind, t.Array):
        return f"const {C_TYPE[kind.element]} *{name}"
    if kind in (t.RECORD, t.PAIR):
        return f"const gl_{'message' if name == 'l_message' else 'total'} *{name}"
    return f"{C_TYPE[kind]} {name}"


def head(function: t.Function, name: str, first: str = "gl_context *c") -> str:
    """Return the head of a function whose parameters are the tree's; an array is returned in ``result``."""
    parameters = "".join(f", {parameter(k, f'l_{p}')}" for p, k in function.parameters)
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
    "gl_index": """\
GL_INLINE int64_t gl_index(gl_context *c, int64_t i, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)n, 0)) {
        if (i < 0 && i >= -n) return i + n;
        gl_raise(c, GL_FAULT_INDEX, site);
        return 0;
    }
    return i;
}
""",
    # Gauss with partial pivoting: the first of the largest. Every element is formed in one fixed order.
    "gl_solve_lu": """\
static __attribute__((noinline)) void gl_solve_lu(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[best * n + k])) best = i;
        if (a[best * n + k] == 0) { gl_raise(c, GL_FAULT_SINGULAR, site); return; }
        if (best != k) {
            for (int64_t j = k; j < n; j++) {
                const double x = a[k * n + j]; a[k * n + j] = a[best * n + j]; a[best * n + j] = x;
            }
            for (int64_t j = 0; j < m; j++) {
                const double x = b[k * m + j]; b[k * m + j] = b[best * m + j]; b[best * m + j] = x;
            }
        }
        for (int64_t i = k + 1; i < n; i++) {
            const double f = a[i * n + k] / a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            for (int64_t j = 0; j < m; j++) b[i * m + j] -= f * b[k * m + j];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < m; j++) {
            double x = b[i * m + j];
            for (int64_t k = i + 1; k < n; k++) x -= a[i * n + k] * b[k * m + j];
            b[i * m + j] = x / a[i * n + i];
        }
}
""",
    # Cholesky, column by column (right-looking), so that the inner loops have no chain of additions.
    "gl_solve_spd": """\
static __attribute__((noinline)) void gl_solve_spd(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {
    for (int64_t j = 0; j < n; j++)          /* the upper half becomes the factor's rows */
        for (int64_t i = 0; i < j; i++) a[i * n + j] = a[j * n + i];
    for (int64_t k = 0; k < n; k++) {
        if (!(a[k * n + k] > 0)) { gl_raise(c, GL_FAULT_SINGULAR, site); return; }
        const double d = __builtin_sqrt(a[k * n + k]);
        for (int64_t j = k; j < n; j++) a[k * n + j] /= d;
        for (int64_t i = k + 1; i < n; i++) {
            const double f = a[k * n + i];
            for (int64_t j = i; j < n; j++) a[i * n + j] -= f * a[k * n + j];
        }
        for (int64_t j = 0; j < m; j++) {
            b[k * m + j] /= a[k * n + k];
            for (int64_t i = k + 1; i < n; i++) b[i * m + j] -= a[k * n + i] * b[k * m + j];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < m; j++) {
            double x = b[i * m + j];
            for (int64_t k = i + 1; k < n; k++) x -= a[i * n + k] * b[k * m + j];
            b[i * m + j] = x / a[i * n + i];
        }
}
""",
}
