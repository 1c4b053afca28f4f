"""The C text before a program's own: Python's numerics and signals in C.

Only the helpers that a program uses are emitted, to keep cold compiles short.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from gaslab.compiler.c import arrays, distributions, outer_products, solvers, sorting, stop_checks

HEAD = """\
#define GL_INLINE static inline __attribute__((always_inline))
__attribute__((visibility("default"))) const int64_t gl_abi = GL_ABI_VERSION;
"""

# The type of floats in expressions, and an integer as wide. A double holds a sum, product or quotient of
# floats exactly, or its nearest double: rounding it once gives the bits of the float operation.
REAL = {
    "float64": "typedef double gl_real;\ntypedef uint64_t gl_bits;\n",
    "float32": "typedef float gl_real;\ntypedef uint32_t gl_bits;\n"
    "#ifdef __AVX__\nenum { GL_REALS = 8 };\n#else\nenum { GL_REALS = 4 };\n#endif\n"
    "typedef float gl_reals __attribute__((vector_size(4 * GL_REALS), aligned(4), may_alias));\n",
}

_NAME = re.compile(r"\b[Gg][Ll]_\w+\b")

# name -> text; a helper follows the helpers it uses
HELPERS = {
    "gl_check_stop": stop_checks.HELPER,
    "gl_within": """\
GL_INLINE int64_t gl_within(gl_context *c, int64_t x, int64_t lo, int64_t hi, int64_t site) {
    if (__builtin_expect(x < lo || x > hi, 0)) gl_raise(c, GL_FAULT_RANGE, site);
    return x;
}
""",
    "gl_to_int": """\
GL_INLINE int64_t gl_to_int(gl_context *c, double x, int64_t site) {
    if (__builtin_expect(!(x >= -0x1p63 && x < 0x1p63), 0)) gl_raise(c, GL_FAULT_RANGE, site);
    int64_t whole = (int64_t)x;
    __asm__("" : "+r"(whole));   /* no instruction: gcc makes (double)whole trunc(x), which can be -0.0 */
    return whole;
}
""",
    "gl_true_divide": """\
GL_INLINE gl_real gl_true_divide(gl_context *c, gl_real x, gl_real y, int64_t site) {
    if (__builtin_expect(y == 0, 0)) gl_raise(c, GL_FAULT_DIVISION, site);
    return x / y;
}
""",
    "gl_floor_divide_i": """\
GL_INLINE int64_t gl_floor_divide_i(gl_context *c, int64_t x, int64_t y, int64_t site) {
    if (__builtin_expect(y == 0, 0)) gl_raise(c, GL_FAULT_DIVISION, site);
    if (y == -1) return -x;                      /* INT64_MIN / -1 traps on x86; here it wraps */
    int64_t q = x / y;
    return q - ((x % y != 0) & ((x < 0) != (y < 0)));
}
""",
    "gl_modulo_i": """\
GL_INLINE int64_t gl_modulo_i(gl_context *c, int64_t x, int64_t y, int64_t site) {
    if (__builtin_expect(y == 0, 0)) gl_raise(c, GL_FAULT_DIVISION, site);
    if (y == -1) return 0;
    int64_t r = x % y;
    return r + (((r != 0) & ((r < 0) != (y < 0))) ? y : 0);
}
""",
    "gl_modulo_f": """\
GL_INLINE double gl_modulo_f(double x, double y) {   /* CPython's float_rem; nan for a zero divisor */
    double r = __builtin_fmod(x, y);
    if (y == 0) return r;
    if (r == 0) return __builtin_copysign(0.0, y);
    return (y < 0) != (r < 0) ? r + y : r;
}
""",
    "gl_floor_divide_f": """\
GL_INLINE double gl_floor_divide_f(double x, double y) {   /* CPython's; x / y for a zero divisor */
    if (y == 0) return x / y;
    double r = __builtin_fmod(x, y), q = (x - r) / y;
    if (r != 0 && (y < 0) != (r < 0)) q -= 1.0;
    if (q == 0) return __builtin_copysign(0.0, x / y);
    double whole = __builtin_floor(q);
    return q - whole > 0.5 ? whole + 1.0 : whole;
}
""",
    "gl_shift_left": """\
GL_INLINE int64_t gl_shift_left(gl_context *c, int64_t x, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)n > 63, 0)) gl_raise(c, GL_FAULT_SHIFT, site);
    return (int64_t)((uint64_t)x << n);
}
""",
    "gl_shift_right": """\
GL_INLINE int64_t gl_shift_right(gl_context *c, int64_t x, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)n > 63, 0)) gl_raise(c, GL_FAULT_SHIFT, site);
    return x >> n;
}
""",
    "gl_ldexp": """\
GL_INLINE double gl_ldexp(double x, int64_t n) {
    return __builtin_ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n);
}
""",
    "gl_abs_i": "GL_INLINE int64_t gl_abs_i(int64_t x) { return x < 0 ? -x : x; }\n",
    "gl_bit_count": """\
GL_INLINE int64_t gl_bit_count(int64_t x) {
    return __builtin_popcountll(x < 0 ? -(uint64_t)x : (uint64_t)x);
}
""",
    # Without a branch, into which compilers turn `?:` on doubles.
    "gl_choose_f": """GL_INLINE gl_real gl_choose_f(_Bool first, gl_real a, gl_real b) {
    union { gl_real f; gl_bits i; } x = {a}, y = {b};
    const gl_bits mask = -(gl_bits)first;
    x.i = (x.i & mask) | (y.i & ~mask);
    return x.f;
}
""",
    "gl_choose_i": (
        "GL_INLINE int64_t gl_choose_i(_Bool first, int64_t a, int64_t b) { return first ? a : b; }\n"
    ),
    # The values of far vertices are prefetched if they cannot fit a core's own cache: from half a million
    # vertices (benchmarks/gather.py). Below that, prefetching costs more than it saves.
    "GL_FAR_VERTICES": "enum { GL_FAR_VERTICES = 1 << 19 };\n",
    # How far ahead: with little work per edge, and with much (benchmarks/out_rows.py).
    "GL_PREFETCH_EDGES": "enum { GL_PREFETCH_EDGES = 64 };\n",
    "GL_PREFETCH_EDGES_BY_ONE": "enum { GL_PREFETCH_EDGES_BY_ONE = 16 };\n",
    "gl_prefetch_end": """\
GL_INLINE int64_t gl_prefetch_end(const gl_context *c, int64_t edges) {   /* none from here on */
    return c->num_local < GL_FAR_VERTICES ? 0 : edges - GL_PREFETCH_EDGES - 4;
}
""",
    # The fields of edges are ordered by target; a walk by source jumps among them (benchmarks/twins).
    "gl_prefetch_slots_end": """enum { GL_MANY_SLOTS = 1 << 14 };
GL_INLINE int64_t gl_prefetch_slots_end(const gl_context *c) {   /* of the positions in out-rows */
    return c->out_edges < GL_MANY_SLOTS ? 0 : c->out_edges - GL_PREFETCH_EDGES - 4;
}
""",
    "gl_prefetch_rows_end": """\
/* The same where so many bytes are read of a far vertex, one edge at a time. */
GL_INLINE int64_t gl_prefetch_rows_end(const gl_context *c, int64_t edges, int64_t bytes) {
    return c->num_local * bytes < 8 * GL_FAR_VERTICES ? 0 : edges - GL_PREFETCH_EDGES_BY_ONE - 1;
}
""",
    # Lists of far vertices are prefetched in two steps: the list's place, then its first lines. Grids and
    # chains, with few edges per vertex, have their neighbours in the cache.
    "gl_prefetch_lists_end": """\
GL_INLINE int64_t gl_prefetch_lists_end(const gl_context *c, int64_t edges) {
    const _Bool near = edges < GL_FAR_VERTICES / 4 || edges < 4 * c->num_local;
    return near ? 0 : edges - GL_PREFETCH_EDGES - 4;
}
""",
    # Collected values are prefetched from a million vertices: on R-MAT graphs half that size it costs a
    # tenth.
    "gl_prefetch_collected_end": """\
GL_INLINE int64_t gl_prefetch_collected_end(const gl_context *c, int64_t edges) {
    return c->num_local < 2 * GL_FAR_VERTICES ? 0 : gl_prefetch_lists_end(c, edges);
}
""",
    # Sums by key wait for every key, which is stored with the far vertex: keys are prefetched from a quarter
    # as many vertices (the pair `labels` of benchmarks/twins).
    "gl_prefetch_keyed_end": """\
GL_INLINE int64_t gl_prefetch_keyed_end(const gl_context *c, int64_t edges) {
    return c->num_local < GL_FAR_VERTICES / 4 ? 0 : gl_prefetch_lists_end(c, edges);
}
""",
    "gl_prefetch_list": """\
GL_INLINE void gl_prefetch_list(gl_rows rows, int64_t v, int64_t size) {
    const char *at = (const char *)rows.data + rows.place[2 * v] * size;
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
}
""",
    "gl_min_f": "GL_INLINE gl_real gl_min_f(gl_real a, gl_real b) { return b < a ? b : a; }\n",
    "gl_max_f": "GL_INLINE gl_real gl_max_f(gl_real a, gl_real b) { return b > a ? b : a; }\n",
    # numpy's: anything with nan gives nan, and equal values give the first
    "gl_minimum": "GL_INLINE gl_real gl_minimum(gl_real a, gl_real b) { return a <= b || a != a ? a : b; }\n",
    "gl_maximum": "GL_INLINE gl_real gl_maximum(gl_real a, gl_real b) { return a >= b || a != a ? a : b; }\n",
    "gl_min_d": "GL_INLINE double gl_min_d(double a, double b) { return b < a ? b : a; }\n",
    "gl_max_d": "GL_INLINE double gl_max_d(double a, double b) { return b > a ? b : a; }\n",
    "gl_min_i": "GL_INLINE int64_t gl_min_i(int64_t a, int64_t b) { return b < a ? b : a; }\n",
    "gl_max_i": "GL_INLINE int64_t gl_max_i(int64_t a, int64_t b) { return b > a ? b : a; }\n",
    "gl_range_length": """\
GL_INLINE uint64_t gl_range_length(gl_context *c, int64_t start, int64_t stop, int64_t step, int64_t site) {
    if (step > 0) return start < stop ? ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1 : 0;
    if (step == 0) gl_raise(c, GL_FAULT_STEP, site);
    return start > stop ? ((uint64_t)start - (uint64_t)stop - 1) / -(uint64_t)step + 1 : 0;
}
""",
    "gl_is_active": """\
GL_INLINE _Bool gl_is_active(const gl_context *c, int64_t vertex) {
    return c->active_bits[vertex >> 6] >> (vertex & 63) & 1;
}
""",
    "gl_prioritise": """\
GL_INLINE void gl_prioritise(const gl_view *w, int64_t vertex, int64_t priority) {   /* keeps the smallest */
    int64_t *place = &w->priority[vertex], old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (priority < old && !__atomic_compare_exchange_n(place, &old, priority, 1, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED)) {}
}
""",
    "gl_locate": """\
/* Where a global id is: a local id, below 0 for one elsewhere. */
GL_INLINE int64_t gl_locate(gl_context *c, const gl_view *w, int64_t id, int64_t site) {
    if (__builtin_expect(id < 0 || id >= w->num_vertices, 0)) gl_raise(c, GL_FAULT_NOBODY, site);
    return w->locate[id];
}
""",
    "gl_somebody": """\
GL_INLINE void gl_somebody(gl_context *c, const gl_view *w, int64_t id, int64_t site) {
    if (__builtin_expect(id < 0 || id >= w->num_vertices, 0)) gl_raise(c, GL_FAULT_NOBODY, site);
}
""",
    "gl_touch": """\
/* As gl_signal, for the vertices that were added to. */
GL_INLINE void gl_touch(const gl_view *w, int64_t vertex) {
    if (!__atomic_load_n(&w->touched[vertex], __ATOMIC_RELAXED)) {
        __atomic_store_n(&w->touched[vertex], 1, __ATOMIC_RELAXED);
        __atomic_store_n(&w->touched_blocks[vertex >> GL_SIGNAL_BLOCK], 1, __ATOMIC_RELAXED);
    }
}
""",
    "gl_signal": """\
/* Other threads may set the same bytes, always to 1; the test keeps their cache lines shared. */
GL_INLINE void gl_signal(const gl_view *w, int64_t vertex) {
    if (!__atomic_load_n(&w->signalled[vertex], __ATOMIC_RELAXED)) {
        __atomic_store_n(&w->signalled[vertex], 1, __ATOMIC_RELAXED);
        __atomic_store_n(&w->signal_blocks[vertex >> GL_SIGNAL_BLOCK], 1, __ATOMIC_RELAXED);
    }
}
""",
}


@functools.cache
def header(name: str) -> str:
    """Return the text of a kernel header: from the source tree, else from the installation."""
    here = Path(__file__).resolve().parent
    source = here.parents[2] / "cython_kernels" / name
    return (source if source.is_file() else here.parent / source.name).read_text(encoding="utf-8")


def helpers_for(text: str) -> str:
    """Return the helpers that *text* names, with the helpers that these name, in order."""
    used = set(_NAME.findall(text))
    known = HELPERS | arrays.HELPERS | outer_products.HELPERS | solvers.HELPERS
    known = known | sorting.HELPERS | distributions.HELPERS
    for name in reversed(known):
        if name in used:
            used.update(_NAME.findall(known[name]))
    return "".join(helper for name, helper in known.items() if name in used)
