/* A superstep of the sampler whose proposals are uniform and whose acceptance reads the counts of both ends:
 * all vertices count the topics of their tokens, then the documents step through theirs.
 *
 * Topics lie by document, where they are drawn; words are counted along with the documents. */
#include <string.h>
#include "twin.h"

void step(const int64_t *begin, const int32_t *word, const int32_t *id, int32_t *topic, int32_t *counts,
          int64_t *totals, int64_t seed, int64_t n, int64_t words, double alpha, double beta,
          int64_t superstep)
{
    const int64_t last = begin[n] - AHEAD;
    const double rest = words * beta;
    double by[K];
    const uint64_t moment = moment_of(seed, superstep, SCATTER);
    for (int k = 0; k < K; k++) by[k] = 1.0 / ((double)totals[k] + rest);   /* of the superstep before */
    memset(counts, 0, n * K * sizeof *counts);
    memset(totals, 0, K * sizeof *totals);
    for (int64_t v = 0; v < n; v++)
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) {
            if (p < last) __builtin_prefetch(counts + (int64_t)word[p + AHEAD] * K + topic[p + AHEAD], 1);
            counts[v * K + topic[p]]++;
            counts[(int64_t)word[p] * K + topic[p]]++;
            totals[topic[p]]++;
        }
    for (int64_t v = 0; v < n; v++) {
        const int32_t *own = counts + v * K;
        const int64_t mine = id[v];
        uint64_t again = 0;
        int32_t far = -1;
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) {
            if (p < last) {   /* which of its lines the draw will name is not known: all are asked for */
                const int32_t *soon = counts + (int64_t)word[p + AHEAD / 8] * K;
                for (int k = 0; k < K; k += 16) __builtin_prefetch(soon + k);
            }
            again = (again + GL_HASH_STEP) & -(uint64_t)(word[p] == far);
            far = word[p];
            uint64_t random = moment ^ (gl_ends_hash(mine, id[far]) + again);
            const int32_t *other = counts + (int64_t)word[p] * K, here = topic[p], there = below(&random, K);
            const double old = (own[here] - 1 + alpha) * (other[here] - 1 + beta) * by[here];
            const double new = (own[there] + alpha) * (other[there] + beta) * by[there];
            if (uniform(&random) * old < new) topic[p] = there;
        }
    }
}
