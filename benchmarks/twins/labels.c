/* Weighted label propagation: the label of most weight around a vertex, the smallest of several.
 *
 * A sum for each label of the graph and a list of those that are in use, as one would for positive weights.
 */
#include "twin.h"

void step(const int64_t *begin, const int32_t *neighbor, const double *weight, int32_t *label,
          int32_t *label_next, double *sum, int32_t *used, int64_t n, int64_t superstep)
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
            if (sum[l] > most || (sum[l] == most && l < best)) {
                best = l;
                most = sum[l];
            }
            sum[l] = 0.0;
        }
        next[v] = best;
    }
}
