/* Triangles of an undirected graph, in two steps: the sorted lists of every vertex's higher neighbours, one
 * behind the other; and for every vertex, its list marked, how much of the lists of those in it is marked. A
 * triangle is counted at its middle vertex. */
#include "twin.h"

static inline int is_higher(const int32_t *degree, const int32_t *id, int32_t a, int32_t b)
{
    return degree[a] > degree[b] || (degree[a] == degree[b] && id[a] > id[b]);
}

void step(const int64_t *in_begin, const int32_t *in_neighbor, const int64_t *out_begin,
          const int32_t *out_neighbor, const int32_t *degree, const int32_t *id, int64_t *begin,
          int32_t *higher, uint8_t *marked, int64_t *middle, int64_t n, int64_t superstep)
{
    for (int64_t v = 0; superstep == 0 && v < n; v++) {   /* two sorted rows become one */
        int64_t p = in_begin[v], q = out_begin[v];
        int32_t *to = higher + begin[v];
        while (p < in_begin[v + 1] || q < out_begin[v + 1]) {
            const int first = q == out_begin[v + 1]
                              || (p < in_begin[v + 1] && in_neighbor[p] < out_neighbor[q]);
            const int32_t other = first ? in_neighbor[p++] : out_neighbor[q++];
            if (is_higher(degree, id, other, v)) *to++ = other;
        }
        begin[v + 1] = to - higher;
    }
    for (int64_t v = 0; superstep == 1 && v < n; v++) {
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) marked[higher[p]] = 1;
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) {
            const int32_t other = higher[p];
            int64_t common = 0;
            for (int64_t q = begin[other]; q < begin[other + 1]; q++) common += marked[higher[q]];
            middle[other] += common;
        }
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) marked[higher[p]] = 0;
    }
}
