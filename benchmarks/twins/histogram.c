/* How often each of K topics is on a vertex's edges. Topics lie in the order of counting. */
#include <string.h>
#include "twin.h"

void step(const int64_t *begin, const int32_t *topic, int32_t *counts, int64_t n, int64_t superstep)
{
    for (int64_t v = 0; v < n; v++) {
        int32_t *row = counts + v * K;
        memset(row, 0, K * sizeof *row);
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) row[topic[p]]++;
    }
}
