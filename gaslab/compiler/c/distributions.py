"""Draws by weights and by other distributions than the uniform and the normal one, as C text."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import arrays

# kind -> its draw; each {k} is an argument, which gl_parameter has looked at, up to the number in MOST
TEXTS = {
    "exponential": "((gl_real)({0} * gl_exponential(c)))",
    "gamma": "((gl_real)({1} * gl_gamma(c, {0})))",
    "poisson": "gl_poisson(c, {0})",
}
MOST = {"poisson": "0x1p52"}  # of a parameter; else any finite number

HELPERS = {
    "gl_parameter": """\
GL_INLINE double gl_parameter(gl_context *c, double x, double most, int64_t site) {
    if (__builtin_expect(!(x >= 0 && x <= most), 0)) { gl_raise(c, GL_FAULT_PARAMETER, site); return 0; }
    return x;
}
""",
    # `x` has the parameters, and then a point; in logarithms, as all draws of small parameters may be near 0.
    "gl_dirichlet": """\
static __attribute__((noinline)) void gl_dirichlet(gl_context *c, double *x, const int64_t n, int64_t site) {
    double most = -__builtin_inf(), sum = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = gl_log_gamma(c, gl_parameter(c, x[k], __DBL_MAX__, site));
        if (x[k] > most) most = x[k];
    }
    if (most == -__builtin_inf()) { gl_raise(c, GL_FAULT_PARAMETER, site); return; }
    for (int64_t k = 0; k < n; k++) sum += x[k] = __builtin_exp(x[k] - most);
    for (int64_t k = 0; k < n; k++) x[k] /= sum;
}
""",
    # `x`, of a multiple of eight elements, has the weights, then each of eight running sums in every eighth.
    "gl_categorical": f"""\
static __attribute__((noinline)) int64_t gl_categorical(
    gl_context *c, gl_real *x, const int64_t n, int64_t site) {{
    typedef gl_real sums __attribute__((vector_size(32), aligned(sizeof(gl_real)), may_alias));
    typedef gl_bits truths __attribute__((vector_size(32)));
    enum {{ SUMS = {t.SUMS}, LANES = sizeof(sums) / sizeof(gl_real), PARTS = SUMS / LANES }};
    sums part[PARTS] = {{{{0}}}};
    truths right = ~(truths){{0}};
    for (int64_t k = 0; k < n; k += SUMS) {{
        sums *const row = (sums *)(x + k);
        #pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++) {{
            right &= (truths)(row[p] >= 0);
            row[p] = part[p] += row[p];
        }}
    }}
    gl_real end[SUMS + 1] = {{0}}, whole = 0;   /* without branches from here on: they would be guesses */
    _Bool weights = 1;
    #pragma GCC unroll 8
    for (int k = 0; k < SUMS; k++) end[k + 1] = whole += part[k / LANES][k % LANES];
    #pragma GCC unroll 8
    for (int k = 0; k < LANES; k++) weights &= right[k] != 0;
    if (__builtin_expect(!(weights && whole > 0 && whole < (gl_real)__builtin_inf()), 0)) {{
        gl_raise(c, GL_FAULT_WEIGHTS, site);
        return 0;
    }}
    gl_real rest = whole * gl_as_real(gl_next_word(c));
    int64_t sum = 0, at = 0;
    for (int64_t k = 1; k < SUMS; k++) sum += !((end[k] > rest) | (end[k] == whole));
    rest -= end[sum];
    const gl_real *const steps = x + sum, last = steps[n - SUMS];
    for (int64_t left = n / SUMS - 1; left > 0;) {{
        const int64_t half = (left + 1) / 2;
        const gl_real step = steps[(at + half - 1) * SUMS];
        at += half & -(int64_t)!((step > rest) | (step == last));
        left -= half;
    }}
    return sum + at * SUMS;
}}
""",
}


def in_header(methods: str) -> bool:
    """Return whether these methods need ``distributions.h``."""
    return "gl_parameter(" in methods or "gl_dirichlet(" in methods


def draw(x: t.Draw, arguments: list[str]) -> str:
    """Return a draw as a C expression."""
    most = MOST.get(x.kind, "__DBL_MAX__")
    return TEXTS[x.kind].format(*(f"gl_parameter(c, {a}, {most}, {x.site})" for a in arguments))


def dirichlet(s: t.Dirichlet, precision: str) -> str:
    """Return the statement that makes a point of the parameters in a local."""
    assert isinstance(s.array.type, t.Array)
    n = s.array.type.size
    return arrays.in_double(precision, [(f"l_{s.array.name}", n)], f"gl_dirichlet(c, {{0}}, {n}, {s.site});")


def categorical(x: t.Categorical, weight: str) -> str:
    """Return the draw as a statement expression; *weight* is that of element ``l_<counter>``."""
    room, i = -(-x.count // t.SUMS) * t.SUMS, f"l_{x.counter}"
    rest = f"for (int64_t i = {x.count}; i < {room}; i++) room[i] = 0; " if x.count < room else ""
    return (
        f"({{ gl_real room[{room}]; for (int64_t {i} = 0; {i} < {x.count}; {i}++) room[{i}] = {weight}; "
        f"{rest}gl_categorical(c, room, {room}, {x.site}); }})"
    )
