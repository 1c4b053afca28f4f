/* A half of an iteration of alternating least squares: every user, or every item, gathers its normal
 * equations and solves them. Ratings lie by user and once more by item. They are added four at a time to the
 * lower half of the products, rounded up to whole lanes. */
#include <math.h>
#include <string.h>
#include "twin.h"

#define BATCH 4
#define LANES 8

typedef struct { double products[K][K], vectors[K], right[K], rest; } equations;

static void gather(equations *t, int64_t p, int64_t end, const int32_t *neighbor, const double *rating,
                   const float *factors, const double *bias, double mean)
{
    memset(t, 0, sizeof *t);
    for (; p < end; p += BATCH) {
        double x[BATCH][K] = {{0}}, rest[BATCH] = {0};
        for (int b = 0; b < BATCH && p + b < end; b++) {
            const float *row = factors + (int64_t)neighbor[p + b] * K;
            rest[b] = rating[p + b] - mean - bias[neighbor[p + b]];
            for (int k = 0; k < K; k++) x[b][k] = row[k];
        }
        for (int i = 0; i < K; i++) {
            const int width = (i / LANES + 1) * LANES < K ? (i / LANES + 1) * LANES : K;
            for (int j = 0; j < width; j++)
                t->products[i][j] += x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j]
                                     + x[3][i] * x[3][j];
        }
        for (int k = 0; k < K; k++) {
            t->vectors[k] += x[0][k] + x[1][k] + x[2][k] + x[3][k];
            t->right[k] += rest[0] * x[0][k] + rest[1] * x[1][k] + rest[2] * x[2][k] + rest[3] * x[3][k];
        }
        t->rest += rest[0] + rest[1] + rest[2] + rest[3];
    }
}

/* Solve a x = b in place by Cholesky's method; a is symmetric, and read and written as columns of its lower
 * half, which are kept as rows. */
static void solve(double a[K][K], double *b)
{
    for (int k = 0; k < K; k++) {
        const double by = 1.0 / sqrt(a[k][k]);
        for (int j = k; j < K; j++) a[k][j] *= by;
        for (int i = k + 1; i < K; i++) {
            const double factor = a[k][i];
            for (int j = i; j < K; j++) a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = 0; k < K; k++) {
        b[k] /= a[k][k];
        for (int j = k + 1; j < K; j++) b[j] -= b[k] * a[k][j];
    }
    for (int k = K - 1; k >= 0; k--) {
        double sum = b[k];
        for (int j = k + 1; j < K; j++) sum -= a[k][j] * b[j];
        b[k] = sum / a[k][k];
    }
}

static void apply(equations *t, double count, double regularization, float *factors, double *bias)
{
    double trace = 0.0, dot = 0.0;
    for (int k = 0; k < K; k++) trace += t->products[k][k];
    const double ridge = fmax(fmax(regularization * count, 1e-9 * trace), 1e-30);
    const double whole = count + regularization * count;
    double matrix[K][K];
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) matrix[j][i] = t->products[i][j] - t->vectors[i] * t->vectors[j] / whole;
    for (int k = 0; k < K; k++) {
        matrix[k][k] += ridge;
        t->right[k] -= t->rest / whole * t->vectors[k];
    }
    solve(matrix, t->right);
    for (int k = 0; k < K; k++) {
        factors[k] = (float)t->right[k];
        dot += t->vectors[k] * t->right[k];
    }
    *bias = (t->rest - dot) / whole;
}

void step(const int64_t *out_begin, const int32_t *out_neighbor, const double *out_rating,
          const int64_t *in_begin, const int32_t *in_neighbor, const double *in_rating, float *factors,
          double *bias, int64_t n, double mean, double regularization, int64_t superstep)
{
    const int64_t *begin = superstep % 2 ? in_begin : out_begin;
    const int32_t *neighbor = superstep % 2 ? in_neighbor : out_neighbor;
    const double *rating = superstep % 2 ? in_rating : out_rating;
    equations t;
    for (int64_t v = 0; v < n; v++) {
        if (begin[v] == begin[v + 1]) continue;
        gather(&t, begin[v], begin[v + 1], neighbor, rating, factors, bias, mean);
        apply(&t, (double)(begin[v + 1] - begin[v]), regularization, factors + v * K, bias + v);
    }
}
