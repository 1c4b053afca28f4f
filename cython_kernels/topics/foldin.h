/* Documents by the topics of a model, which stay as they are. A row of a matrix is whole lanes, with zeros behind
 * its topics; which lane is added to which does not depend on the machine's vectors, so neither do the bits. */
#ifndef GASLAB_FOLDIN_H
#define GASLAB_FOLDIN_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "philox.h"

enum { GL_LANES = 8 };
typedef double gl_lanes __attribute__((vector_size(8 * GL_LANES), aligned(8)));

typedef struct {
    int64_t words;                /* distinct ones of the document */
    const int64_t *row, *count;   /* of each: its row of probability, how often it is there */
    const double *probability;    /* (words of the model, width) */
    int64_t topics, width;
} gl_document;

static inline const double *gl_row(const gl_document *d, int64_t i)
{
    return d->probability + d->row[i] * d->width;
}

static inline double gl_dot(const double *a, const double *b, int64_t width)
{
    gl_lanes sum = {0};
    for (int64_t k = 0; k < width; k += GL_LANES)
        sum += *(const gl_lanes *)(a + k) * *(const gl_lanes *)(b + k);
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* Expectation maximisation under the prior, whose sum is total, from all topics alike. */
static void gl_mixture(const gl_document *d, const double *prior, double total, int iterations, double *mix,
                       double *sums)
{
    double length = total;
    for (int64_t i = 0; i < d->words; i++) length += (double)d->count[i];
    for (int64_t k = 0; k < d->width; k++) mix[k] = k < d->topics ? 1.0 / (double)d->topics : 0.0;
    for (int step = 0; step < iterations; step++) {
        memset(sums, 0, (size_t)d->width * sizeof *sums);
        for (int64_t i = 0; i < d->words; i++) {
            const double *const row = gl_row(d, i);
            const double by = (double)d->count[i] / gl_dot(mix, row, d->width);
            for (int64_t k = 0; k < d->width; k += GL_LANES)
                *(gl_lanes *)(sums + k) += by * *(const gl_lanes *)(row + k);
        }
        for (int64_t k = 0; k < d->width; k++) mix[k] = (prior[k] + mix[k] * sums[k]) / length;
    }
}

/* The log-likelihood of the document's tokens. */
static double gl_likelihood(const gl_document *d, const double *mix)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d->words; i++) sum += (double)d->count[i] * log(gl_dot(mix, gl_row(d, i), d->width));
    return sum;
}

/* Draw a topic for each token, in the order of the words: by the document's mixture and the topics' words. */
static void gl_draw(const gl_document *d, const double *mix, uint64_t seed, uint32_t moment, int64_t number,
                    const int64_t *name, double *upto, int32_t *topic)
{
    for (int64_t i = 0; i < d->words; i++) {
        const double *const row = gl_row(d, i);
        double sum = 0.0;
        for (int64_t k = 0; k < d->topics; k++) upto[k] = sum += mix[k] * row[k];
        for (int64_t n = 0; n < d->count[i]; n++) {
            const uint64_t unit = gl_edge_key(number, name[i], n);
            const double at = sum * gl_as_uniform(gl_philox(seed, 0, moment, unit).first);
            int64_t low = 0, high = d->topics - 1;
            while (low < high) {
                const int64_t middle = (low + high) / 2;
                if (upto[middle] > at) high = middle; else low = middle + 1;
            }
            *topic++ = (int32_t)low;
        }
    }
}
#endif
