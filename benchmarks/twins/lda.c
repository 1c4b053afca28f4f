/* A half of a sweep of delayed-count LDA: each word, or each document, counts the topics of its tokens; then
 * every token accepts or refuses the topic proposed to it, and is given a new proposal: the topic of another
 * of its vertex's tokens, or any.
 *
 * Topic and proposal are one record, by word: the word half walks along them, the document half asks for them
 * ahead. Both parts of a half follow each other vertex by vertex, with the counts on the stack and the topics
 * as they were in `old`, in the order of the tokens. The tokens of each topic are counted as they change, for
 * the next half. */
#include <string.h>
#include "twin.h"

typedef struct { int32_t topic, proposal; } token;

static inline __attribute__((always_inline)) void half(
    const int64_t *begin, const int32_t *slot, token *tokens, int32_t *old, float *share,
    const int64_t *before, const int64_t *now, int64_t *next, int64_t n, double prior, double rest,
    uint64_t *state)
{
    const int64_t last = begin[n] - AHEAD;
    double by[K];
    uint64_t random = *state;   /* in a register */
    for (int k = 0; k < K; k++) by[k] = 1.0 / ((double)now[k] + rest);
    memset(next, 0, K * sizeof *next);
    for (int64_t v = 0; v < n; v++) {
        const int64_t first = begin[v], length = begin[v + 1] - first;
        if (!length) continue;
        int32_t row[K];
        memset(row, 0, sizeof row);
        for (int64_t i = 0; i < length; i++) {
            const int64_t p = first + i;
            if (slot && p < last) __builtin_prefetch(tokens + slot[p + AHEAD], 1);
            row[old[i] = tokens[slot ? slot[p] : p].topic]++;
        }
        for (int k = 0; k < K; k++)
            share[v * K + k] = slot ? (float)((row[k] + prior) / (length + K * prior) / ((double)before[k] + rest))
                                    : (float)(row[k] + prior);
        for (int64_t i = 0; i < length; i++) {
            token *t = tokens + (slot ? slot[first + i] : first + i);
            const int32_t here = t->topic, there = t->proposal;
            if (there != here) {
                const double was = (row[here] - 1 + prior) * by[here], new = (row[there] + prior) * by[there];
                if (uniform(&random) * was < new) t->topic = there;
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
    *state = random;
}

void step(const int64_t *in_begin, const int64_t *out_begin, const int32_t *out_slot, token *tokens,
          int32_t *old, float *share, int64_t *totals, uint64_t *state, int64_t n, int64_t words,
          double alpha, double beta, int64_t superstep)
{
    int64_t *before = totals + (superstep + 2) % 3 * K, *now = totals + superstep % 3 * K;
    int64_t *next = totals + (superstep + 1) % 3 * K;
    if (superstep % 2) half(out_begin, out_slot, tokens, old, share, before, now, next, n, alpha,
                            words * beta, state);
    else half(in_begin, NULL, tokens, old, share, before, now, next, n, beta, words * beta, state);
}
