/* A half of a sweep of delayed-count LDA: each word, or each document, counts the topics of its tokens; then
 * every token accepts or refuses the topic proposed to it, and is given a new proposal.
 *
 * Topic and proposal are one record, by word: the word half walks along them, the document half asks for them
 * ahead. Both parts of a half follow each other vertex by vertex, with the running sums on the stack. The
 * tokens of each topic are counted as they change, for the next half. */
#include <string.h>
#include "twin.h"

typedef struct { int32_t topic, proposal; } token;

/* A topic by the counts of the other tokens plus the prior; `here` is the topic of the token itself. */
static inline int32_t propose(const int32_t *upto, int32_t others, int32_t here, double prior,
                              uint64_t *state)
{
#ifndef UNIFORM
    int32_t number = (int32_t)(uniform(state) * (others + K * prior));
    if (number < others) {
        number += number >= upto[here] - 1;
        const int32_t *low = upto;
        for (int32_t left = K; left > 1; left -= left / 2) low += low[left / 2 - 1] <= number ? left / 2 : 0;
        return (int32_t)(low - upto);
    }
#endif
    return below(state, K);
}

static inline __attribute__((always_inline)) void half(
    const int64_t *begin, const int32_t *slot, token *tokens, int32_t *counts, float *share,
    const int64_t *before, const int64_t *now, int64_t *next, int64_t n, double prior, double rest,
    uint64_t *state)
{
    const int64_t last = begin[n] - AHEAD;
    double by[K];
    uint64_t random = *state;   /* in a register */
    for (int k = 0; k < K; k++) by[k] = 1.0 / ((double)now[k] + rest);
    memset(next, 0, K * sizeof *next);
    for (int64_t v = 0; v < n; v++) {
        const int64_t first = begin[v], end = begin[v + 1];
        if (first == end) continue;
        int32_t *row = counts + v * K, upto[K], sum = 0;
        memset(row, 0, K * sizeof *row);
        for (int64_t p = first; p < end; p++) {
            if (slot && p < last) __builtin_prefetch(tokens + slot[p + AHEAD], 1);
            row[tokens[slot ? slot[p] : p].topic]++;
        }
        for (int k = 0; k < K; k++) upto[k] = sum += row[k];
        for (int k = 0; slot && k < K; k++)
            share[v * K + k] = (float)((row[k] + prior) / (sum + K * prior) / ((double)before[k] + rest));
        for (int64_t p = first; p < end; p++) {
            token *t = tokens + (slot ? slot[p] : p);
            const int32_t here = t->topic, there = t->proposal;
            if (there != here) {
                const double old = (row[here] - 1 + prior) * by[here], new = (row[there] + prior) * by[there];
                if (uniform(&random) * old < new) t->topic = there;
            }
            next[t->topic]++;
            t->proposal = propose(upto, sum - 1, here, prior, &random);
        }
    }
    *state = random;
}

void step(const int64_t *in_begin, const int64_t *out_begin, const int32_t *out_slot, token *tokens,
          int32_t *counts, float *share, int64_t *totals, uint64_t *state, int64_t n, int64_t words,
          double alpha, double beta, int64_t superstep)
{
    int64_t *before = totals + (superstep + 2) % 3 * K, *now = totals + superstep % 3 * K;
    int64_t *next = totals + (superstep + 1) % 3 * K;
    if (superstep % 2) half(out_begin, out_slot, tokens, counts, share, before, now, next, n, alpha,
                            words * beta, state);
    else half(in_begin, NULL, tokens, counts, share, before, now, next, n, beta, words * beta, state);
}
