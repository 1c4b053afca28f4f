"""Small linear systems in C: elimination, Cholesky's method, conjugate gradient.

`gaslab.compiler.python.solvers` has the twins. Every element is computed in one fixed order, which neither
panels nor lanes change.
"""

from __future__ import annotations

PANEL = 8  # rows of Cholesky's factor between two updates of the rest

HELPERS = {
    # Gauss with partial pivoting: the first of the largest. Every element is computed in one fixed order.
    "gl_solve_lu": """\
static __attribute__((noinline)) void gl_solve_lu(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[best * n + k])) best = i;
        if (a[best * n + k] == 0) gl_raise(c, GL_FAULT_SINGULAR, site);
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
    "gl_subtract": """\
GL_INLINE void gl_subtract(double *restrict y, const double *restrict x, const double f, const int64_t n) {
    int64_t i = 0;   /* y -= f * x */
    for (; i + GL_LANES <= n; i += GL_LANES) *(gl_lanes *)(y + i) -= f * *(const gl_lanes *)(x + i);
    for (; i < n; i++) y[i] -= f * x[i];
}
""",
    "gl_unit": """\
GL_INLINE double gl_unit(double most) {   /* a power of two near a number above 0; 1 where there is none */
    if (!(most > 0 && most <= __DBL_MAX__)) return 1;
    const int exponent = __builtin_ilogb(most);
    return __builtin_ldexp(1.0, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}
""",
    "gl_four": "typedef double gl_four __attribute__((vector_size(32), aligned(8), may_alias));\n",
    # A symmetric matrix times a vector is a sum of rows; a product of vectors has four running sums.
    "gl_conjugate_gradient": """\
GL_INLINE double gl_dot(const double *x, const double *y, const int64_t n) {
    gl_four s = {0};
    const int64_t whole = n - n % 4;
    for (int64_t i = 0; i < whole; i += 4) s += *(const gl_four *)(x + i) * *(const gl_four *)(y + i);
    for (int64_t i = whole; i < n; i++) s[0] += x[i] * y[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}
static __attribute__((noinline)) void gl_times(
    double *restrict product, const double *restrict a, const double *restrict x, const int64_t n) {
    int64_t i = 0;
    for (; i + GL_LANES <= n; i += GL_LANES) {
        gl_lanes s = {0};
        for (int64_t j = 0; j < n; j++) s += x[j] * *(const gl_lanes *)(a + j * n + i);
        *(gl_lanes *)(product + i) = s;
    }
    for (; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < n; j++) s += x[j] * a[j * n + i];
        product[i] = s;
    }
}
static __attribute__((noinline)) void gl_conjugate_gradient(
    gl_context *c, const double *a, const double *b, double *x, double *room, const int64_t n, int64_t steps,
    int64_t site) {
    double *const r = room, *const p = r + n, *const q = p + n;   /* residual, direction, its product */
    double most = 0;
    _Bool zero = 1;
    gl_times(q, a, x, n);
    for (int64_t i = 0; i < n; i++) {
        r[i] = b[i] - q[i];
        zero &= b[i] == 0;
        most = gl_max_d(most, gl_max_d(__builtin_fabs(b[i]), __builtin_fabs(r[i])));
    }
    if (zero) {
        for (int64_t i = 0; i < n; i++) x[i] = 0;
        return;
    }
    /* In units of a power of two near the largest, so that no square is 0 or inf which need not be. */
    const double unit = gl_unit(most), units = 1 / unit;
    for (int64_t i = 0; i < n; i++) { p[i] = r[i] *= units; q[i] = b[i] * units; }
    double square = gl_dot(r, r, n);
    const double right = gl_dot(q, q, n), enough = (right > square ? right : square) * 0x1p-104;
    for (; steps > 0; steps--) {
        gl_check_stop(c, site);
        if (square < enough) return;
        gl_times(q, a, p, n);
        const double curvature = gl_dot(p, q, n);
        if (curvature <= 0) gl_raise(c, GL_FAULT_SINGULAR, site);
        const double step = square / curvature, before = square;
        gl_subtract(x, p, -step * unit, n);
        gl_subtract(r, q, step, n);
        square = gl_dot(r, r, n);
        const double turn = square / before;
        for (int64_t i = 0; i < n; i++) p[i] = r[i] + turn * p[i];
    }
}
""",
    # Cholesky: the factor's rows are stored above the diagonal, a panel at a time; their outer products are
    # then subtracted from the rest, whose lower half counts.
    "gl_solve_spd": f"""\
static __attribute__((noinline)) void gl_solve_spd(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {{
    for (int64_t first = 0; first < n; first += {PANEL}) {{
        const int64_t last = first + {PANEL} < n ? first + {PANEL} : n;
        for (int64_t k = first; k < last; k++)
            for (int64_t j = k + 1; j < n; j++) a[k * n + j] = a[j * n + k];
        for (int64_t k = first; k < last; k++) {{
            double *const row = a + k * n;
            if (row[k] <= 0) gl_raise(c, GL_FAULT_SINGULAR, site);   /* nan gives nan */
            const double d = __builtin_sqrt(row[k]);
            int64_t j = k;
            for (; j + GL_LANES <= n; j += GL_LANES) *(gl_lanes *)(row + j) /= d;
            for (; j < n; j++) row[j] /= d;
            for (int64_t i = k + 1; i < last; i++) gl_subtract(a + i * n + i, row + i, row[i], n - i);
        }}
        gl_outer(a + last * n + last, n, a + first * n + last, n, n - last, last - first, 1);
    }}
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < m; j++) {{
            b[k * m + j] /= a[k * n + k];
            for (int64_t i = k + 1; i < n; i++) b[i * m + j] -= a[k * n + i] * b[k * m + j];
        }}
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < m; j++) {{
            double x = b[i * m + j];
            for (int64_t k = i + 1; k < n; k++) x -= a[i * n + k] * b[k * m + j];
            b[i * m + j] = x / a[i * n + i];
        }}
}}
""",
}
