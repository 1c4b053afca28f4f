/* A step of belief propagation: every vertex adds up the logs of the messages that came; then every edge
 * makes both of its new messages at once. An edge's messages are one record: to its target and to its source,
 * of this step and of the next. */
#include <math.h>
#include "twin.h"

typedef struct { double ahead[2][K], back[2][K]; } edge;

/* The log of what a vertex says of its neighbour's state; `rest` is what it believes without it. */
static inline void message(double agree, const double *log_belief, const double *came, const double *old,
                           double damping, double *said)
{
    double own[K], rest[K], most = -INFINITY, whole = 0.0;
    for (int k = 0; k < K; k++) {
        rest[k] = log_belief[k] - came[k];
        most = rest[k] > most ? rest[k] : most;
    }
    for (int k = 0; k < K; k++) whole += own[k] = exp(rest[k] - most);
    most = -INFINITY;
    for (int k = 0; k < K; k++) {
        own[k] = log((whole - own[k] + agree * own[k]) / whole);
        most = own[k] > most ? own[k] : most;
    }
    for (int k = 0; k < K; k++) said[k] = (1.0 - damping) * (own[k] - most) + damping * old[k];
}

void step(const int64_t *in_begin, const int32_t *in_neighbor, const int64_t *out_begin,
          const int32_t *out_slot, const double *weight, edge *edges, const double *log_prior, double *belief,
          double *logs, int64_t n, double smoothing, double damping, int64_t superstep)
{
    const int now = superstep % 2;
    for (int64_t v = 0; v < n; v++) {
        double *sum = logs + v * K, *mine = belief + v * K, most = -INFINITY, whole = 0.0;
        for (int k = 0; k < K; k++) sum[k] = log_prior[v * K + k];
        for (int64_t p = in_begin[v]; p < in_begin[v + 1]; p++)
            for (int k = 0; k < K; k++) sum[k] += edges[p].ahead[now][k];
        for (int64_t p = out_begin[v]; p < out_begin[v + 1]; p++)
            for (int k = 0; k < K; k++) sum[k] += edges[out_slot[p]].back[now][k];
        for (int k = 0; k < K; k++) most = sum[k] > most ? sum[k] : most;
        for (int k = 0; k < K; k++) whole += mine[k] = exp(sum[k] - most);
        for (int k = 0; k < K; k++) mine[k] /= whole;
    }
    for (int64_t v = 0; v < n; v++)
        for (int64_t p = in_begin[v]; p < in_begin[v + 1]; p++) {
            edge *e = edges + p;
            const double agree = exp(smoothing * weight[p]);
            message(agree, logs + (int64_t)in_neighbor[p] * K, e->back[now], e->ahead[now], damping,
                    e->ahead[1 - now]);
            message(agree, logs + v * K, e->ahead[now], e->back[now], damping, e->back[1 - now]);
        }
}
