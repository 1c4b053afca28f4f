/* The border between emitted vertex programs and the kernels that drive them.
 *
 * A compiled program is a shared library that exports `gl_abi` (an int64 equal to GL_ABI_VERSION)
 * and one gl_range_fn per phase it has. A kernel calls a range function for one block of
 * vertices; the block is positions [lo, hi) of `list`, or the local ids lo..hi-1 when list is NULL.
 * A range function returns 0, or 1 after it has filled *fault. It never allocates. In its long loops it
 * reads `stop`, and ends with that fault where it is set.
 *
 *   gl_init          masters: the program's init()
 *   gl_start         masters: active[v] = start(v)
 *   gl_active        masters: active[v] = active(v)
 *   gl_gather_edges, gl_scatter_edges  masters: gather_way[v], scatter_way[v]
 *   gl_visit         for each edge position e in [lo, hi), in order: visit(in_neighbor[e], e, out_neighbor[e]);
 *                    a view of its own, with no two of its blocks on one vertex
 *   gl_gather        total[i] = gather over the edges of vertex i's, i = position in the list
 *   gl_combine       total[list[i]] = combine(total[list[i]], incoming[i])
 *   gl_apply         apply(v, total[i], message[v]); adds to the aggregates at `out` unless NULL
 *   gl_gather_apply  gather and apply at once for v not in `skip`; aggregates as gl_apply
 *   gl_aggregate     masters: adds every vertex aggregator into `out`
 *   gl_scatter_push  for each v of the list, over its scatter edges: scatter(v, e, neighbour)
 *   gl_join_ends     for each v of the list, over its out-edges: delta_back = delta_forth with delta_back
 *   gl_apply_deltas_in, gl_apply_deltas_out  over its in- or out-edges: adds delta_back to the edge's fields
 *   gl_scatter_pull  for each target t, over the edges that lead to it: scatter(source, e, t)
 *                    where the bit of source is set
 *   gl_combine_messages  message[list[i]] = combine(message[list[i]], incoming[i]), and signal
 *
 * `out` holds one gl_scalar per aggregator, which the caller has set to the identities.
 * apply writes vertex_next; for a field that no gather reads across an edge this is the same array
 * as vertex. Every field that apply may write is stored for each vertex it runs on.
 */
#ifndef GASLAB_ABI_H
#define GASLAB_ABI_H
#include <stdint.h>

#define GL_ABI_VERSION 6
enum { GL_IN = 1, GL_OUT = 2, GL_ALL = 3 };   /* masks of edge directions; 0 is none */
enum {                                         /* gl_fault.code */
    GL_FAULT_DIVISION = 1,                     /* integer division or modulo by zero */
    GL_FAULT_RANGE = 2,                        /* a value outside the field's or int's range */
    GL_FAULT_SHIFT = 3,                        /* a shift by less than 0 or more than 63 */
    GL_FAULT_STEP = 4,                         /* range() with step 0 */
    GL_FAULT_INDEX = 5,                        /* an index outside a vector, a matrix or a list */
    GL_FAULT_SINGULAR = 6,                     /* solve: a singular matrix, or one not positive definite */
    GL_FAULT_EMPTY = 7,                        /* the mode of an empty list */
    GL_FAULT_WEIGHTS = 8,                      /* gl.categorical: a weight below 0 or nan, a sum of 0 or inf */
    GL_FAULT_CHOICE = 9,                       /* gl.integers(n) with n < 1 */
    GL_FAULT_NOBODY = 10,                      /* a signal to nobody */
    GL_FAULT_MEMORY = 11,                      /* no memory for what is sent */
    GL_FAULT_TIMEOUT = 12,                     /* the run's time is up */
    GL_FAULT_INTERRUPT = 13,                   /* Ctrl-C */
    GL_FAULT_PARAMETER = 14,                   /* of a distribution: out of its range */
    GL_FAULT_COUNTED = 15                      /* np.bincount: a value below 0, or not below minlength */
};
#define GL_SIGNAL_BLOCK 10                     /* log2 of the vertices behind one signal_blocks byte */

typedef union { double f; int64_t i; } gl_scalar;   /* bool and id are carried in i */

/* A list field, or materialised lists: row k begins at value place[2k] and has place[2k + 1] of them. */
typedef struct gl_rows { int64_t *place; void *data; } gl_rows;

/* One thread's own: room for a list that is being gathered, for words on lists, a bit per vertex id. */
typedef struct gl_scratch { void *list, *work; uint64_t *marks; } gl_scratch;

/* One thread's signals to vertices without a replica on this rank: records of `size` bytes that begin with
 * the global id. `grow` makes room for more; it returns 1 where there is no memory for it. */
typedef struct gl_outbox {
    char *records;
    int64_t count, room, size;
    int32_t (*grow)(struct gl_outbox *box);
    char own_line[24];                               /* of the cache: no other thread writes here */
} gl_outbox;

typedef struct gl_view {
    int64_t num_vertices, num_edges, superstep;      /* of the whole graph */
    int64_t num_masters, num_local;                  /* of this rank */
    int64_t gather_edges, scatter_edges;             /* masks; GL_ALL for any use on undirected graphs */
    const int64_t *gid, *degree, *in_degree, *out_degree;            /* [num_local] */
    const int64_t *in_begin;  const int32_t *in_neighbor;            /* CSC: edge slot = position */
    const int64_t *out_begin; const int32_t *out_neighbor, *out_slot; /* CSR over the same slots */
    void *const *vertex; void *const *vertex_next; void *const *edge; /* one array per field */
    void *const *edge_by_source;                     /* what scatter only reads, in the order of out_slot */
    const gl_scalar *param, *aggregate;
    uint64_t initial_fields;                         /* bit k: the caller gave vertex field k values; init keeps them */
    void *total;                                     /* accumulators by position */
    const void *incoming;                            /* partial sums or messages from one peer */
    const uint8_t *skip;                             /* [num_local] or NULL */
    uint8_t *active;                                 /* [num_local] */
    const uint64_t *active_bits;                     /* the same for pull: bit v & 63 of word v >> 6 */
    uint8_t *signalled;                              /* [num_local] */
    uint8_t *signal_blocks;                          /* one byte per 2^GL_SIGNAL_BLOCK vertices */
    void *message;                                   /* [num_local], identities where not signalled */
    void *message_next;                              /* what apply sends to its own vertex; else as message */
    int64_t *priority;                               /* [num_local], INT64_MAX where not pending; or NULL */
    uint8_t *gather_way, *scatter_way;               /* [num_local], each vertex's directions; or NULL */
    void *delta;                                     /* [num_local] records of what scatter adds */
    uint8_t *touched, *touched_blocks;               /* as signalled, for the vertices added to */
    int64_t concurrent;                              /* 1: several threads push at once */
    int64_t all_active;                              /* 1: pull need not look at active */
    uint64_t seed;                                   /* of the draws */
    void *cache;                                     /* [num_local] totals of the edges here, or NULL */
    uint8_t *cached;                                 /* [num_local] 0: unknown, 1: sent to the master, 2: new */
    const uint8_t *changed;                          /* [num_local] a field that gathers read changed */
    int64_t num_left;                                /* global ids below are on side 0 */
    int32_t *stop;                                   /* [2]: the fault that is to end the run, 0: none yet;
                                                        1 while a kernel runs, which Ctrl-C ends by that fault */
    const gl_scratch *scratch;                       /* the running thread's; NULL without lists */
    void *delta_forth, *delta_back;                  /* [edges here] records of what scatter adds to each edge
                                                        from its source, from its target; or NULL */
    const int32_t *locate;                           /* [num_vertices] by global id: the local id of a replica
                                                        here, or -1 - the master's rank; NULL if not asked */
    gl_outbox *outbox;                               /* the running thread's; NULL on one rank */
} gl_view;

/* Local id; index of tree.sites, -1 where `stop` was seen between two blocks. */
typedef struct gl_fault { int64_t code, vertex, site; } gl_fault;

typedef int32_t (*gl_range_fn)(const gl_view *view, const int32_t *list, int64_t lo, int64_t hi,
                               gl_scalar *out, gl_fault *fault);
#endif
#define GL_INLINE static inline __attribute__((always_inline))
__attribute__((visibility("default"))) const int64_t gl_abi = GL_ABI_VERSION;
#include <setjmp.h>
typedef struct { jmp_buf place; gl_fault *fault; } gl_exit;
#define GL_RANGE(name) \
    static void name##_block(const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out, gl_exit *at_fault); \
    __attribute__((visibility("default"))) int32_t name(const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out, gl_fault *fault) \
    { \
        gl_exit at_fault; \
        at_fault.fault = fault; \
        if (_setjmp(at_fault.place)) return 1; \
        name##_block(w, list, lo, hi, out, &at_fault); \
        return 0; \
    } \
    static __attribute__((noinline)) void name##_block(const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out, gl_exit *at_fault)
typedef double gl_real;
typedef uint64_t gl_bits;

typedef struct {
    gl_exit *at_fault;
    int64_t vertex;
    const int64_t *id;
    const int64_t *degree;
    const int64_t *in_degree;
    const int64_t *out_degree;
    const int64_t *in_begin;
    const int64_t *out_begin;
    const int32_t *in_neighbor;
    const int32_t *out_neighbor;
    const int32_t *out_slot;
    const uint64_t *active_bits;
    const int32_t *stop;
    const double *f0_score;
    double *f0_score_next;
    const double *f1_share;
    double *f1_share_next;
    const double *f2_moved;
    double *f2_moved_next;
    int64_t num_local;
    int64_t num_vertices;
    int64_t num_edges;
    int64_t num_left;
    int64_t superstep;
    uint64_t initial_fields;
    int64_t all_active;
    int64_t in_edges;
    int64_t out_edges;
    gl_real p0_damping;
    gl_real p1_tolerance;
    gl_real a0_dangling;
    gl_real a1_change;
} gl_context;
typedef struct {
    int64_t here, id, degree, in_degree, out_degree;
    double f0_score;
    double f1_share;
    double f2_moved;
} gl_vertex;
GL_INLINE gl_context gl_bind(const gl_view *w, gl_exit *at_fault) {
    return (gl_context){
    .at_fault = at_fault,
    .id = w->gid,
    .degree = w->degree,
    .in_degree = w->in_degree,
    .out_degree = w->out_degree,
    .in_begin = w->in_begin,
    .out_begin = w->out_begin,
    .in_neighbor = w->in_neighbor,
    .out_neighbor = w->out_neighbor,
    .out_slot = w->out_slot,
    .active_bits = w->active_bits,
    .stop = w->stop,
    .f0_score = w->vertex[0],
    .f0_score_next = w->vertex_next[0],
    .f1_share = w->vertex[1],
    .f1_share_next = w->vertex_next[1],
    .f2_moved = w->vertex[2],
    .f2_moved_next = w->vertex_next[2],
    .num_local = w->num_local,
    .num_vertices = w->num_vertices,
    .num_edges = w->num_edges,
    .num_left = w->num_left,
    .superstep = w->superstep,
    .initial_fields = w->initial_fields,
    .all_active = w->all_active,
    .in_edges = w->in_begin ? w->in_begin[w->num_local] : 0,
    .out_edges = w->out_begin ? w->out_begin[w->num_local] : 0,
    .p0_damping = w->param[0].f,
    .p1_tolerance = w->param[1].f,
    .a0_dangling = w->aggregate[0].f,
    .a1_change = w->aggregate[1].f,
    };
}
static __attribute__((noinline, cold, noreturn)) void gl_leave(
    gl_exit *at_fault, int64_t code, int64_t vertex, int64_t site)
{
    *at_fault->fault = (gl_fault){.code = code, .vertex = vertex, .site = site};
    _longjmp(at_fault->place, 1);
}
GL_INLINE void gl_raise(const gl_context *c, int64_t code, int64_t site)
{
    gl_leave(c->at_fault, code, c->vertex, site);
}
enum { GL_FAR_VERTICES = 1 << 19 };
enum { GL_PREFETCH_EDGES = 64 };
GL_INLINE int64_t gl_prefetch_end(const gl_context *c, int64_t edges) {   /* none from here on */
    return c->num_local < GL_FAR_VERTICES ? 0 : edges - GL_PREFETCH_EDGES - 4;
}
GL_INLINE int64_t gl_max_i(int64_t a, int64_t b) { return b > a ? b : a; }

GL_INLINE void gl_do_init(gl_context *c, gl_vertex *n) {
    if (c->initial_fields >> 0 & 1) {
        (void)(((gl_real)1.0) / ((gl_real)c->num_vertices));
    } else {
        n->f0_score = (((gl_real)1.0) / ((gl_real)c->num_vertices));
    }
    if (c->initial_fields >> 1 & 1) {
        (void)(n->f0_score / ((gl_real)gl_max_i(n->out_degree, INT64_C(1))));
    } else {
        n->f1_share = (n->f0_score / ((gl_real)gl_max_i(n->out_degree, INT64_C(1))));
    }
}

GL_INLINE gl_real gl_do_gather(gl_context *c, const gl_vertex *n, const int64_t x, const int64_t e) {
    return c->f1_share[x];
    return 0;
}

GL_INLINE void gl_do_apply(gl_context *c, gl_vertex *n, gl_real l_total) {
    gl_real l_d = 0;
    gl_real l_score = 0;
    gl_real l__value = 0;
    gl_real l__value_1 = 0;
    l_d = c->p0_damping;
    l_score = ((((((gl_real)1.0) - l_d) + (l_d * c->a0_dangling)) / ((gl_real)c->num_vertices)) + (l_d * l_total));
    n->f2_moved = __builtin_fabs((l_score - n->f0_score));
    l__value = l_score;
    l__value_1 = (l_score / ((gl_real)gl_max_i(n->out_degree, INT64_C(1))));
    n->f0_score = l__value;
    n->f1_share = l__value_1;
}

GL_INLINE gl_real gl_do_a0_dangling(gl_context *c, const gl_vertex *n) {
    return ((n->out_degree == INT64_C(0)) ? n->f0_score : ((gl_real)0.0));
    return 0;
}

GL_INLINE gl_real gl_do_a1_change(gl_context *c, const gl_vertex *n) {
    return n->f2_moved;
    return 0;
}

GL_RANGE(gl_init) {
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
        n->f0_score = c->f0_score[v];
        n->f1_share = c->f1_share[v];
        n->out_degree = c->out_degree[v];
        gl_do_init(c, n);
        ((double *)c->f0_score)[v] = n->f0_score;
        ((double *)c->f1_share)[v] = n->f1_share;
    }
}

GL_INLINE double gl_gather_row(gl_context *c, const gl_view *w, const gl_vertex *n, int64_t v, const int edges) {
    gl_real a0 = ((gl_real)0.0), a1 = ((gl_real)0.0), a2 = ((gl_real)0.0), a3 = ((gl_real)0.0);

    if (edges & GL_IN) {
        int64_t p = c->in_begin[v];
        const int64_t end = c->in_begin[v + 1];
        const int64_t prefetch_end = gl_prefetch_end(c, c->in_edges);
        for (; p + 4 <= end; p += 4) {
            if (p < prefetch_end) {
                __builtin_prefetch(&c->f1_share[c->in_neighbor[(p + GL_PREFETCH_EDGES + 0)]]);
                __builtin_prefetch(&c->f1_share[c->in_neighbor[(p + GL_PREFETCH_EDGES + 1)]]);
                __builtin_prefetch(&c->f1_share[c->in_neighbor[(p + GL_PREFETCH_EDGES + 2)]]);
                __builtin_prefetch(&c->f1_share[c->in_neighbor[(p + GL_PREFETCH_EDGES + 3)]]);
            }
            a0 = (a0 + gl_do_gather(c, n, c->in_neighbor[(p + 0)], (p + 0)));
            a1 = (a1 + gl_do_gather(c, n, c->in_neighbor[(p + 1)], (p + 1)));
            a2 = (a2 + gl_do_gather(c, n, c->in_neighbor[(p + 2)], (p + 2)));
            a3 = (a3 + gl_do_gather(c, n, c->in_neighbor[(p + 3)], (p + 3)));
        }
        for (; p < end; p++) {
            a0 = (a0 + gl_do_gather(c, n, c->in_neighbor[p], p));
        }
    }
    if (edges & GL_OUT) {
        int64_t p = c->out_begin[v];
        const int64_t end = c->out_begin[v + 1];
        const int64_t prefetch_end = gl_prefetch_end(c, c->out_edges);
        for (; p + 4 <= end; p += 4) {
            if (p < prefetch_end) {
                __builtin_prefetch(&c->f1_share[c->out_neighbor[(p + GL_PREFETCH_EDGES + 0)]]);
                __builtin_prefetch(&c->f1_share[c->out_neighbor[(p + GL_PREFETCH_EDGES + 1)]]);
                __builtin_prefetch(&c->f1_share[c->out_neighbor[(p + GL_PREFETCH_EDGES + 2)]]);
                __builtin_prefetch(&c->f1_share[c->out_neighbor[(p + GL_PREFETCH_EDGES + 3)]]);
            }
            a0 = (a0 + gl_do_gather(c, n, c->out_neighbor[(p + 0)], c->out_slot[(p + 0)]));
            a1 = (a1 + gl_do_gather(c, n, c->out_neighbor[(p + 1)], c->out_slot[(p + 1)]));
            a2 = (a2 + gl_do_gather(c, n, c->out_neighbor[(p + 2)], c->out_slot[(p + 2)]));
            a3 = (a3 + gl_do_gather(c, n, c->out_neighbor[(p + 3)], c->out_slot[(p + 3)]));
        }
        for (; p < end; p++) {
            a0 = (a0 + gl_do_gather(c, n, c->out_neighbor[p], c->out_slot[p]));
        }
    }
    return ((a0 + a1) + (a2 + a3));
}

GL_RANGE(gl_gather) {
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
        ((double *)w->total)[i] = gl_gather_row(c, w, n, v, w->gather_edges);
    }
}

GL_RANGE(gl_combine) {
    gl_context context = {.at_fault = at_fault}, *c = &context;
    double *target = w->total;
    const double *part = w->incoming;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t at = c->vertex = list ? list[i] : i;
        target[at] = (target[at] + part[i]);
    }
}

typedef struct { double a0_dangling; double a1_change; } gl_totals;
GL_INLINE void gl_begin(gl_totals *t, const gl_scalar *out) {
    t->a0_dangling = out[0].f;
    t->a1_change = out[1].f;
}
GL_INLINE void gl_add(gl_totals *t, gl_context *c, const gl_vertex *n) {
    t->a0_dangling = (t->a0_dangling + gl_do_a0_dangling(c, n));
    t->a1_change = (t->a1_change + gl_do_a1_change(c, n));
}
GL_INLINE void gl_end(const gl_totals *t, gl_scalar *out) {
    out[0].f = t->a0_dangling;
    out[1].f = t->a1_change;
}

GL_RANGE(gl_apply) {
    gl_totals sums = {0}, *t = &sums;
    if (out) gl_begin(t, out);
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
        n->f0_score = c->f0_score[v];
        n->f1_share = c->f1_share[v];
        n->f2_moved = c->f2_moved[v];
        n->out_degree = c->out_degree[v];
        gl_do_apply(c, n, ((const double *)w->total)[i]);
        c->f0_score_next[v] = n->f0_score;
        c->f1_share_next[v] = n->f1_share;
        c->f2_moved_next[v] = n->f2_moved;
        if (out) gl_add(t, c, n);
    }
    if (out) gl_end(t, out);
}

GL_INLINE void gl_gather_apply_over(
    const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out, gl_exit *at_fault,
    const uint8_t *skip, const int edges) {
    gl_totals sums = {0}, *t = &sums;
    if (out) gl_begin(t, out);
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
        if (skip && skip[v]) continue;
        n->f0_score = c->f0_score[v];
        n->f1_share = c->f1_share[v];
        n->f2_moved = c->f2_moved[v];
        n->out_degree = c->out_degree[v];
        const double total = gl_gather_row(c, w, n, v, edges);
        gl_do_apply(c, n, total);
        c->f0_score_next[v] = n->f0_score;
        c->f1_share_next[v] = n->f1_share;
        c->f2_moved_next[v] = n->f2_moved;
        if (out) gl_add(t, c, n);
    }
    if (out) gl_end(t, out);
}

GL_RANGE(gl_gather_apply) {
    if (!list && !w->skip && w->gather_edges == 1)
        gl_gather_apply_over(w, 0, lo, hi, out, at_fault, 0, 1);
    else
        gl_gather_apply_over(w, list, lo, hi, out, at_fault, w->skip, w->gather_edges);
}

GL_RANGE(gl_aggregate) {
    gl_totals sums = {0}, *t = &sums;
    gl_begin(t, out);
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
        n->f0_score = c->f0_score[v];
        n->f2_moved = c->f2_moved[v];
        n->out_degree = c->out_degree[v];
        gl_add(t, c, n);
    }
    gl_end(t, out);
}

