/* One superstep of PageRank. Each vertex keeps its score by its out-degree, in two arrays that change places:
 * a gather reads one of them, eight bytes an edge. */
#include <math.h>
#include "twin.h"

void step(const int64_t *begin, const int32_t *neighbor, const int32_t *out_degree, double *score,
          double *share, double *share_next, double *dangling, int64_t n, double damping, int64_t superstep)
{
    const double *from = superstep % 2 ? share_next : share;
    double *to = superstep % 2 ? share : share_next;
    const double base = (1.0 - damping + damping * *dangling) / (double)n;
    const int64_t last = begin[n] - AHEAD - 4;
    double lost = 0.0, change = 0.0;
    for (int64_t v = 0; v < n; v++) {
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        int64_t p = begin[v];
        const int64_t end = begin[v + 1];
        for (; p + 4 <= end; p += 4) {
            if (p < last)
                for (int k = 0; k < 4; k++) __builtin_prefetch(from + neighbor[p + AHEAD + k]);
            a += from[neighbor[p]];
            b += from[neighbor[p + 1]];
            c += from[neighbor[p + 2]];
            d += from[neighbor[p + 3]];
        }
        for (; p < end; p++) a += from[neighbor[p]];
        const double now = base + damping * ((a + b) + (c + d));
        change += fabs(now - score[v]);
        score[v] = now;
        to[v] = out_degree[v] ? now / out_degree[v] : now;
        if (!out_degree[v]) lost += now;
    }
    dangling[0] = lost;
    dangling[1] = change;
}
