/* Every vertex takes the shortest way over its in-edges (or the widest); the old distances stay until all are
 * done. Weights lie as the in-edges do. */
#include "twin.h"

#ifdef WIDEST
#define OVER(x, weight) ((weight) < (x) ? (weight) : (x))
#define BEST(x, y) ((y) > (x) ? (y) : (x))
#else
#define OVER(x, weight) ((x) + (weight))
#define BEST(x, y) ((y) < (x) ? (y) : (x))
#endif

void step(const int64_t *begin, const int32_t *neighbor, const double *weight, double *distance,
          double *distance_next, int64_t n, int64_t superstep)
{
    const double *from = superstep % 2 ? distance_next : distance;
    double *to = superstep % 2 ? distance : distance_next;
    const int64_t last = begin[n] - AHEAD;
    for (int64_t v = 0; v < n; v++) {
        double a = from[v], b = a;   /* two chains of comparisons */
        int64_t p = begin[v];
        const int64_t end = begin[v + 1];
        for (; p + 2 <= end; p += 2) {
            if (p + 1 < last) {
                __builtin_prefetch(from + neighbor[p + AHEAD]);
                __builtin_prefetch(from + neighbor[p + AHEAD + 1]);
            }
            a = BEST(a, OVER(from[neighbor[p]], weight[p]));
            b = BEST(b, OVER(from[neighbor[p + 1]], weight[p + 1]));
        }
        if (p < end) a = BEST(a, OVER(from[neighbor[p]], weight[p]));
        to[v] = BEST(a, b);
    }
}
