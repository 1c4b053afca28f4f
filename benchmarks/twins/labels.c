/* Weighted label propagation: the label of most weight around a vertex, the smallest of several.
 *
 * A sum for each label of the graph and a list of those that are in use, as one would for positive weights.
 * JOINS: the other label with the greatest gain, its weight less a part of its size, if one gains.
 */
#include "twin.h"

void step(const int64_t *begin, const int32_t *neighbor, const double *weight, int32_t *label,
          int32_t *label_next, double *sum, int32_t *used,
#ifdef JOINS
          const double *size, double rate,
#endif
          int64_t n, int64_t superstep)
{
    const int32_t *now = superstep % 2 ? label_next : label;
    int32_t *next = superstep % 2 ? label : label_next;
    for (int64_t v = 0; v < n; v++) {
        int64_t count = 0;
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) {
            const int32_t l = now[neighbor[p]];
            used[count] = l;
            count += sum[l] == 0.0;
            sum[l] += weight[p];
        }
        int32_t best = now[v];
        double most = 0.0;
        for (int64_t k = 0; k < count; k++) {
            const int32_t l = used[k];
#ifdef JOINS
            const double gain = l == now[v] ? 0.0 : sum[l] - rate * size[l % JOINS];
            if (gain > most || (gain == most && most > 0.0 && l < best)) {
#else
            const double gain = sum[l];
            if (gain > most || (gain == most && l < best)) {
#endif
                best = l;
                most = gain;
            }
            sum[l] = 0.0;
        }
        next[v] = best;
    }
}
