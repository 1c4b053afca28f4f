/* A half of a sweep of delayed-count LDA: each word, or each document, counts the topics of its tokens; then
 * every token accepts or refuses the topic proposed to it, and is given a new proposal: the topic of another
 * of its vertex's tokens, or any. A token's draws are its own, by its ends.
 *
 * Topic and proposal are one record, by word: the word half walks along them, the document half asks for them
 * ahead. Both parts of a half follow each other vertex by vertex, with the counts on the stack and the topics
 * as they were in `old`, in the order of the tokens. The tokens of each topic are counted as they change, for
 * the half after the next. */
#include <string.h>
#include "twin.h"

typedef struct { int32_t topic, proposal; } token;

static inline __attribute__((always_inline)) void half(
    const int64_t *begin, const int32_t *neighbor, const int32_t *id, const int32_t *slot, token *tokens,
    int32_t *old, float *share, const int64_t *before, int64_t *next, int64_t n, double prior, double rest,
    uint64_t moment)
{
    const int64_t last = begin[n] - AHEAD;
    double by[K];
    for (int k = 0; k < K; k++) by[k] = 1.0 / ((double)before[k] + rest);
    memset(next, 0, K * sizeof *next);
    for (int64_t v = 0; v < n; v++) {
        const int64_t first = begin[v], length = begin[v + 1] - first;
        if (!length) continue;
        int32_t row[K];
        memset(row, 0, sizeof row);
        for (int64_t i = 0; i < length; i++) {
            const int64_t p = first + i;
            if (slot && p < last) {
                __builtin_prefetch(tokens + slot[p + AHEAD], 1);
                __builtin_prefetch(id + neighbor[p + AHEAD]);
            }
            row[old[i] = tokens[slot ? slot[p] : p].topic]++;
        }
        const double one = 1.0 / (length + K * prior);
        for (int k = 0; k < K; k++)
            share[v * K + k] = (float)(slot ? (row[k] + prior) * one * by[k] : row[k] + prior);
        const int64_t mine = id[v];
        uint64_t again = 0;
        int32_t far = -1;
        for (int64_t i = 0; i < length; i++) {
            token *t = tokens + (slot ? slot[first + i] : first + i);
            const int32_t here = t->topic, there = t->proposal, other_end = neighbor[first + i];
            again = (again + GL_HASH_STEP) & -(uint64_t)(other_end == far);
            far = other_end;
            const int64_t source = slot ? mine : id[far], target = slot ? id[far] : mine;
            uint64_t random = moment ^ (gl_ends_hash(source, target) + again);
            const double drawn = uniform(&random);
            if (there != here) {
                const double was = (row[here] - 1 + prior) * by[here], new = (row[there] + prior) * by[there];
                if (drawn * was < new) t->topic = there;
            }
            next[t->topic]++;
#ifndef UNIFORM
            const int64_t other = (int64_t)(uniform(&random) * (length - 1 + K * prior));
            if (other < length - 1) {
                t->proposal = old[other + (other >= i)];
                continue;
            }
#endif
            t->proposal = below(&random, K);
        }
    }
}

void step(const int64_t *in_begin, const int32_t *in_neighbor, const int64_t *out_begin,
          const int32_t *out_neighbor, const int32_t *out_slot, token *tokens, int32_t *old, float *share,
          const int32_t *id, int64_t *totals, int64_t seed, int64_t n, int64_t words, double alpha,
          double beta, int64_t superstep)
{
    const uint64_t moment = moment_of(seed, superstep, SCATTER);
    int64_t *before = totals + (superstep + 2) % 3 * K, *next = totals + (superstep + 1) % 3 * K;
    if (superstep % 2) half(out_begin, out_neighbor, id, out_slot, tokens, old, share, before, next, n, alpha,
                            words * beta, moment);
    else half(in_begin, in_neighbor, id, NULL, tokens, old, share, before, next, n, beta,
              words * beta, moment);
}
