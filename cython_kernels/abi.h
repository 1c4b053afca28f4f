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
 * apply writes vertex_next, which every view has; for a field that no gather reads across an edge this is the
 * same array as vertex. Every field that apply may write is stored for each vertex it runs on.
 */
#ifndef GASLAB_ABI_H
#define GASLAB_ABI_H
#include <stdint.h>

#define GL_ABI_VERSION 8
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
#define GL_SIGNAL_BLOCK 6                      /* log2 of the vertices behind one signal_blocks byte */

typedef union { double f; int64_t i; } gl_scalar;   /* bool and id are carried in i */

/* A list field, or materialised lists: row k begins at value place[2k] and has place[2k + 1] of them. */
typedef struct gl_rows { int64_t *place; void *data; } gl_rows;

/* One thread's signals to vertices without a replica on this rank: records of `size` bytes that begin with
 * the global id. `grow` makes room for more; it returns 1 where there is no memory for it. */
typedef struct gl_outbox {
    char *records;
    int64_t count, room, size;
    int32_t (*grow)(struct gl_outbox *box);
    char own_line[24];                               /* of the cache: no other thread writes here */
} gl_outbox;

/* One thread's own: room for a list that is being gathered, for words on lists, a bit per vertex id; and for each
 * list field that grows the bytes of lists for which their rows have no room, each behind a head of three int64:
 * its vertex (-1: not kept), its length, the bytes from this head to the next. */
typedef struct gl_scratch { void *list, *work; uint64_t *marks; gl_outbox *grown; } gl_scratch;

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
    const void *const *shared;                       /* the program's arrays from outside, row by row; only read */
} gl_view;

/* Local id; index of tree.sites, -1 where `stop` was seen between two blocks. */
typedef struct gl_fault { int64_t code, vertex, site; } gl_fault;

typedef int32_t (*gl_range_fn)(const gl_view *view, const int32_t *list, int64_t lo, int64_t hi,
                               gl_scalar *out, gl_fault *fault);
#endif
