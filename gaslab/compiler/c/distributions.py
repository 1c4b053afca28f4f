"""Draws by weights and from non-uniform distributions, as C text."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import arrays

# kind -> its draw; each {k} is an argument, checked by gl_parameter against the number in MOST
TEXTS = {
    "normal": "((gl_real)({0} * gl_as_normal(gl_next_words(c))))",
    "exponential": "((gl_real)({0} * gl_exponential(c)))",
    "gamma": "((gl_real)({1} * gl_gamma(c, {0})))",
    "poisson": "gl_poisson(c, {0})",
}
MOST = {"poisson": "0x1p52"}  # of a parameter; else any finite number

HELPERS = {
    "gl_parameter": """\
GL_INLINE double gl_parameter(gl_context *c, double x, double most, int64_t site) {
    if (__builtin_expect(!(x >= 0 && x <= most), 0)) gl_raise(c, GL_FAULT_PARAMETER, site);
    return x;
}
""",
    # `x` holds the parameters, then the point; in logarithms, since small parameters may give only draws near
    # 0.
    "gl_dirichlet": """\
static __attribute__((noinline)) void gl_dirichlet(gl_context *c, double *x, const int64_t n, int64_t site) {
    double most = -__builtin_inf(), sum = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = gl_log_gamma(c, gl_parameter(c, x[k], __DBL_MAX__, site));
        if (x[k] > most) most = x[k];
    }
    if (most == -__builtin_inf()) gl_raise(c, GL_FAULT_PARAMETER, site);
    for (int64_t k = 0; k < n; k++) sum += x[k] = __builtin_exp(x[k] - most);
    for (int64_t k = 0; k < n; k++) x[k] /= sum;
}
""",
    "gl_weights": f"""\
enum {{ GL_SUMS = {t.SUMS}, GL_SUM_LANES = 32 / sizeof(gl_real), GL_SUM_PARTS = GL_SUMS / GL_SUM_LANES }};
typedef gl_real gl_sums __attribute__((vector_size(32), aligned(sizeof(gl_real)), may_alias));
typedef gl_bits gl_truths __attribute__((vector_size(32)));
#define GL_ROW __attribute__((aligned(32)))
/* Running sums, and whether no weight is below 0 or nan. */
typedef struct {{ gl_sums part[GL_SUM_PARTS]; gl_truths right; }} gl_weights;
GL_INLINE void gl_add_weights(gl_weights *sums, gl_real *row, const gl_real *weights) {{
    #pragma GCC unroll 2
    for (int p = 0; p < GL_SUM_PARTS; p++) {{
        const gl_sums some = ((const gl_sums *)weights)[p];
        sums->right &= (gl_truths)(some >= 0);
        ((gl_sums *)row)[p] = sums->part[p] += some;
    }}
}}
/* Load the last row, whose weights are few: a wide load would wait for the narrow stores before it. */
GL_INLINE void gl_load_last(gl_real *last, const gl_real *weights) {{
    typedef gl_real narrow __attribute__((vector_size(16), aligned(sizeof(gl_real)), may_alias));
    enum {{ HALF = GL_SUM_LANES / 2 }};
    #pragma GCC unroll 2
    for (int p = 0; p < GL_SUMS; p += GL_SUM_LANES) {{
        const narrow low = *(const volatile narrow *)(weights + p);
        const narrow high = *(const volatile narrow *)(weights + p + HALF);
        #pragma GCC unroll 4
        for (int k = 0; k < HALF; k++) {{ last[p + k] = low[k]; last[p + HALF + k] = high[k]; }}
    }}
}}
#define GL_MORE(k) more[(k) / GL_SUM_LANES][(k) % GL_SUM_LANES]
GL_INLINE void gl_add_more(gl_real *last, const gl_sums *more) {{
    #pragma GCC unroll 2
    for (int p = 0; p < GL_SUM_PARTS; p++) ((gl_sums *)last)[p] += more[p];
}}
""",
    # Row k of `rows` has the running sums after its weights.
    "gl_categorical": """\
/* `x`, or the largest number below `most`. */
GL_INLINE gl_real gl_below(gl_real x, gl_real most) {
    union { gl_real f; gl_bits i; } less = {most};
    less.i--;
    return x < most ? x : less.f;
}
static int64_t gl_categorical(
    gl_context *c, const gl_weights *sums, const gl_real *rows, const int64_t n, int64_t site) {
    enum { HALF = GL_SUMS / 2 };
    gl_real end[GL_SUMS + 1] = {0}, more = 0;   /* without branches from here on: they would be guesses */
    gl_bits right = ~(gl_bits)0;
    #pragma GCC unroll 8
    for (int k = 0; k < HALF; k++) end[k + 1] = end[k] + sums->part[k / GL_SUM_LANES][k % GL_SUM_LANES];
    #pragma GCC unroll 8
    for (int k = HALF; k < GL_SUMS; k++) {
        more += sums->part[k / GL_SUM_LANES][k % GL_SUM_LANES];
        end[k + 1] = end[HALF] + more;
    }
    #pragma GCC unroll 8
    for (int k = 0; k < GL_SUM_LANES; k++) right &= sums->right[k];
    const gl_real whole = end[GL_SUMS];
    if (__builtin_expect(!(right && whole > 0 && whole < (gl_real)__builtin_inf()), 0))
        gl_raise(c, GL_FAULT_WEIGHTS, site);
    const gl_real point = whole * gl_as_real(gl_next_word(c)), along = gl_below(point, whole);
    int64_t sum = 0, at = 0, left = n - 1, passed = 0;
    #pragma GCC unroll 8
    for (int k = 1; k < GL_SUMS; k++) sum += end[k] <= along;
    const volatile gl_real *const steps = rows + sum;   /* one at a time, as gl_load_last says */
    const gl_real rest = gl_below(point - end[sum], steps[(n - 1) * GL_SUMS]);
    while (left > 8) {
        const int64_t half = (left + 1) / 2;
        at += half & -(int64_t)(steps[(at + half - 1) * GL_SUMS] <= rest);
        left -= half;
    }
    for (int64_t k = at; k < at + left; k++) passed += steps[k * GL_SUMS] <= rest;
    return sum + (at + passed) * GL_SUMS;
}
""",
}


def in_header(methods: str) -> bool:
    """Return whether these methods need ``distributions.h``."""
    return any(f"gl_{word}(" in methods for word in ("exponential", "gamma", "poisson", "dirichlet"))


def draw(x: t.Draw, arguments: list[str]) -> str:
    """Return a draw as a C expression."""
    most = MOST.get(x.kind, "__DBL_MAX__")
    return TEXTS[x.kind].format(*(f"gl_parameter(c, {a}, {most}, {x.site})" for a in arguments))


def dirichlet(s: t.Dirichlet, precision: str) -> str:
    """Return the statement that makes a point of the parameters in a local."""
    assert isinstance(s.array.type, t.Array)
    n = s.array.type.size
    return arrays.in_double(precision, [(f"l_{s.array.name}", n)], f"gl_dirichlet(c, {{0}}, {n}, {s.site});")


def categorical(x: t.Categorical, weight: str, fetch: str) -> str:
    """Return the draw as a statement expression; *weight* is the weight of element ``l_<counter>``.

    *fetch* holds statements for each `row` of weights.
    """
    rows, tail = divmod(x.count, t.SUMS)
    room = rows + (tail > 0)
    each = f"{{ const int64_t l_{x.counter} = GL_SUMS * row + k; some[k] = {weight}; }}"
    text = (
        f"({{ GL_ROW gl_real rows[{room * t.SUMS}]; gl_weights sums = {{.right = ~(gl_truths){{0}}}}; "
        f"for (int64_t row = 0; row < {rows}; row++) {{ {fetch}GL_ROW gl_real some[GL_SUMS]; "
        f"for (int64_t k = 0; k < GL_SUMS; k++) {each} "
        "gl_add_weights(&sums, rows + GL_SUMS * row, some); } "
    )
    if tail:
        text += f"{{ const int64_t row = {rows}; gl_real last[GL_SUMS] = {{0}}; "
        if stored := tail // 4 * 4:
            text += "GL_ROW gl_real some[GL_SUMS] = {0}; "
            text += f"for (int64_t k = 0; k < {stored}; k++) {each} gl_load_last(last, some); "
        if stored < tail:  # too few for stores as wide as the loads: they stay in registers
            text += "gl_sums more[GL_SUM_PARTS] = {0}; "
            for k in range(stored, tail):
                text += f"{{ const int64_t l_{x.counter} = GL_SUMS * row + {k}; GL_MORE({k}) = {weight}; }} "
            text += "gl_add_more(last, more); "
        text += "gl_add_weights(&sums, rows + GL_SUMS * row, last); } "
    return text + f"gl_categorical(c, &sums, rows, {room}, {x.site}); }})"
