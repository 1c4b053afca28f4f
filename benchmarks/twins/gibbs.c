/* Sweeps of collapsed Gibbs sampling: token after token, document after document, each topic drawn from the
 * counts of all other tokens as they are; the first step counts the topics that tokens begin with. The counts of
 * a document stay in the cache for all of its tokens. Weights are floats. Nothing divides K times a token. */
#include "twin.h"

void step(const int64_t *begin, const int32_t *word, const int32_t *id, int32_t *topic, int32_t *counts,
          int64_t *totals, int64_t seed, int64_t n, int64_t words, double document, double one,
          int64_t superstep)
{
    const float alpha = (float)document, beta = (float)one, rest = words * beta;
    const int64_t last = begin[n] - 4;
    float by[K], weight[K];
    const uint64_t moment = moment_of(seed, superstep, VISIT);
    if (superstep == 0) {
        for (int64_t v = 0; v < n; v++)
            for (int64_t p = begin[v]; p < begin[v + 1]; p++)
                counts[v * K + topic[p]]++, counts[(int64_t)word[p] * K + topic[p]]++;
        return;
    }
    for (int k = 0; k < K; k++) by[k] = 1.0f / ((float)totals[k] + rest);
    for (int64_t v = 0; v < n; v++) {
        int32_t *own = counts + v * K, far = -1;
        const int64_t mine = id[v];
        uint64_t again = 0;
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) {
            int32_t *other = counts + (int64_t)word[p] * K, k;
            if (p < last)   /* the row of a word to come */
                for (k = 0; k < K; k += 16) __builtin_prefetch(counts + (int64_t)word[p + 4] * K + k, 1);
            again = (again + GL_HASH_STEP) & -(uint64_t)(word[p] == far);
            far = word[p];
            uint64_t random = moment ^ (gl_ends_hash(mine, id[far]) + again);
            k = topic[p];
            own[k]--, other[k]--, totals[k]--;
            by[k] = 1.0f / ((float)totals[k] + rest);
            float sums[8] = {0};
            for (k = 0; k < K; k++) weight[k] = (own[k] + alpha) * (other[k] + beta) * by[k];
            for (k = 0; k + 8 <= K; k += 8)
                for (int j = 0; j < 8; j++) sums[j] += weight[k + j];
            for (; k < K; k++) sums[0] += weight[k];
            float left = 0;
            for (int j = 0; j < 8; j++) left += sums[j];
            left *= (float)uniform(&random);
            for (k = 0; k < K - 1 && (left -= weight[k]) >= 0; k++);
            topic[p] = k;
            own[k]++, other[k]++, totals[k]++;
            by[k] = 1.0f / ((float)totals[k] + rest);
        }
    }
}
