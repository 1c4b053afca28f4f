/* A sweep of stochastic gradient descent over ratings, in the order in which they are given. Factors and bias
 * of a user or an item are one record. Factors are float32, and all else REAL, as in the vertex program; eight
 * sums at once. */
#include "twin.h"

#ifndef REAL
#define REAL double
#endif
#define LANES 8
#define ROOM ((K + LANES - 1) / LANES * LANES)   /* of a vector: whole lanes, the last filled with zeros */

typedef struct { float factors[ROOM]; REAL bias; } row;

static inline void ask_for(const row *r)
{
    for (size_t at = 0; at < sizeof *r; at += 64) __builtin_prefetch((const char *)r + at, 1);
    __builtin_prefetch(&r->bias, 1);
}

void step(const int32_t *user, const int32_t *item, const REAL *rating, row *rows, int64_t ratings,
          double mean, double rate, double decay, double regularization, int64_t superstep)
{
    const REAL pace = (REAL)(rate / (1.0 + decay * (double)superstep)), middle = (REAL)mean;
    const REAL kept = 1 - pace * (REAL)regularization;
    for (int64_t r = 0; r < ratings; r++) {
        if (r + 8 < ratings) {
            ask_for(rows + user[r + 8]);
            ask_for(rows + item[r + 8]);
        }
        row *restrict x = rows + user[r], *restrict y = rows + item[r];
        REAL a[ROOM], b[ROOM], sums[LANES] = {0}, dot = 0;
        for (int k = 0; k < ROOM; k++) a[k] = x->factors[k], b[k] = y->factors[k];
        for (int k = 0; k < ROOM; k += LANES)
            for (int j = 0; j < LANES; j++) sums[j] += a[k + j] * b[k + j];
        for (int j = 0; j < LANES; j++) dot += sums[j];
        const REAL move = pace * (rating[r] - middle - x->bias - y->bias - dot);
        for (int k = 0; k < ROOM; k++) {
            x->factors[k] = (float)(kept * a[k] + move * b[k]);
            y->factors[k] = (float)(kept * b[k] + move * a[k]);
        }
        x->bias = kept * x->bias + move;
        y->bias = kept * y->bias + move;
    }
}
