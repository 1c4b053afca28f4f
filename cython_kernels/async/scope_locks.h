/* Locks of scopes: which of the neighbouring replicas on one rank may run.
 *
 * In which order a master asks other ranks for its mirrors' scopes, and what these answer, is in
 * serialisable.pxi; max_bypass is set in gaslab/engine/asynchronous/make_machine.py.
 *
 * Two masters of one rank are no rivals: when all mirrors of a master hold their scopes, the master gathers,
 * applies and scatters without a break. Any other two neighbours are rivals: a mirror is at work from its gather
 * until its scatter, and a neighbour must not run in between.
 *
 * A replica *holds* its scope, or *waits* until no rival holds one. A waiting replica may be passed by rivals
 * that ask later, but not for ever: passed max_bypass times it *insists*, and then blocks its rivals as if it
 * held, except those that insisted before.
 * `blocked` counts, edge by edge, the rivals that hold or insist for which a replica waits:
 *
 *   waits:    all rivals that hold or insist
 *   insists:  those that held or insisted when it began to insist and still do
 *
 * so that each release of a scope takes one from the count of every waiting or insisting rival, and a replica
 * whose count is zero may hold. A replica that is in no count is not `counted`.
 */
#ifndef GASLAB_SCOPES_H
#define GASLAB_SCOPES_H
#include <stdint.h>
#include <stdlib.h>

enum { GL_FREE = 0, GL_WAITS = 1, GL_INSISTS = 2, GL_HOLDS = 4, GL_BLOCKS = 6 };

typedef struct gl_scopes {
    int64_t masters;
    const int64_t *in_begin, *out_begin;
    const int32_t *in_neighbor, *out_neighbor;      /* ascending in each row */
    uint8_t max_bypass;                 /* how often a replica that waits may be passed */
    uint8_t *state, *passed, *counted;  /* [replicas] */
    int32_t *blocked;                   /* [replicas] */
    int32_t *granted;                   /* [replicas] a stack: replicas that hold, to be gone on with */
    int64_t granted_count;
    int64_t asked, waited;              /* recent requests, and how many had to wait */
    int64_t requests, waits;            /* the same since the begin */
    int64_t *locked_at;                 /* [replicas] times, if locks are recorded; else NULL */
    int64_t clock, began;               /* when the master at work began */
    int64_t *events;                    /* (replica, time of the lock, of the release, when its work began) */
    size_t events_length, events_capacity;
} gl_scopes;

/* The rivals of a master are its mirror neighbours, at the end of each row; of a mirror all its neighbours. */
#define GL_RIVALS(s, v, u, action) do { \
    const int32_t first = (v) < (s)->masters ? (int32_t)(s)->masters : 0; \
    for (int64_t e = (s)->in_begin[(v) + 1]; e-- > (s)->in_begin[v];) { \
        const int32_t u = (s)->in_neighbor[e]; if (u < first) break; action; } \
    for (int64_t e = (s)->out_begin[(v) + 1]; e-- > (s)->out_begin[v];) { \
        const int32_t u = (s)->out_neighbor[e]; if (u < first) break; action; } \
} while (0)

static inline void gl_locked(gl_scopes *s, int32_t v) {
    s->state[v] = GL_HOLDS;
    if (s->locked_at) s->locked_at[v] = s->clock++;
}

/* From now on u, which waits, blocks its rivals that wait. */
static inline void gl_insist(gl_scopes *s, int32_t u) {
    s->state[u] = GL_INSISTS;
    GL_RIVALS(s, u, w,
        if (s->state[w] == GL_WAITS) {
            s->blocked[w]++;
            s->counted[u] = 1;
        });
}

/* Give v, which no rival blocks, its scope: it passes those that wait. */
static inline void gl_hold(gl_scopes *s, int32_t v) {
    int tired = 0;
    gl_locked(s, v);
    GL_RIVALS(s, v, u,
        if (s->state[u] == GL_WAITS) {
            s->blocked[u]++;
            s->counted[v] = 1;
            s->passed[u] += s->passed[u] < s->max_bypass;
            tired |= s->passed[u] == s->max_bypass;
        });
    /* Only now: before, a parallel edge of u's that is not yet counted would be lost. */
    if (tired)
        GL_RIVALS(s, v, u, if (s->state[u] == GL_WAITS && s->passed[u] == s->max_bypass) gl_insist(s, u));
}

/* Ask for v's scope; return whether it is granted at once. */
static inline int gl_request(gl_scopes *s, int32_t v) {
    uint8_t near = GL_FREE;
    GL_RIVALS(s, v, u, near |= s->state[u]);
    s->asked++;
    s->requests++;
    if (!near) {
        gl_locked(s, v);
        return 1;
    }
    if (!(near & GL_BLOCKS)) {
        gl_hold(s, v);
        return 1;
    }
    s->waited++;
    s->waits++;
    s->blocked[v] = 0;
    GL_RIVALS(s, v, u,
        if (s->state[u] & GL_BLOCKS) {
            s->blocked[v]++;
            s->counted[u] = 1;
        });
    s->passed[v] = 0;
    s->state[v] = GL_WAITS;
    return 0;
}

/* Ask for v's scope without waiting; return whether it is granted. */
static inline int gl_try(gl_scopes *s, int32_t v) {
    uint8_t near = GL_FREE;
    GL_RIVALS(s, v, u, near |= s->state[u]);
    return !(near & GL_BLOCKS) && gl_request(s, v);
}

/* A master that holds its scope on all ranks begins its work. */
static inline void gl_begin(gl_scopes *s) {
    if (s->locked_at) s->began = s->clock++;
}

static inline void gl_note(gl_scopes *s, int32_t v, int64_t from) {
    if (s->events_length + 4 > s->events_capacity) {
        s->events_capacity = 2 * s->events_capacity + 4096;
        s->events = (int64_t *)realloc(s->events, s->events_capacity * sizeof(int64_t));
        if (!s->events) abort();        /* there is no memory for an error */
    }
    s->events[s->events_length++] = v;
    s->events[s->events_length++] = from;
    s->events[s->events_length++] = s->clock++;
    s->events[s->events_length++] = v < s->masters ? s->began : from;
}

/* Whether v needs no lock here: no rival holds a scope or waits for one. */
static inline int gl_alone(gl_scopes *s, int32_t v) {
    uint8_t near = GL_FREE;
    GL_RIVALS(s, v, u, near |= s->state[u]);
    if (near) return 0;
    s->asked++;
    s->requests++;
    return 1;
}

static inline void gl_unblock(gl_scopes *s, int32_t u) {
    if (s->state[u] != GL_WAITS && s->state[u] != GL_INSISTS) return;
    if (--s->blocked[u]) return;
    if (s->state[u] == GL_WAITS) gl_hold(s, u);
    else gl_locked(s, u);               /* it blocks its rivals already */
    s->granted[s->granted_count++] = u;
}

/* Release v's scope, unused; replicas that now hold theirs are put on the stack `granted`. */
static inline void gl_give_back(gl_scopes *s, int32_t v) {
    s->state[v] = GL_FREE;
    if (!s->counted[v]) return;
    s->counted[v] = 0;
    GL_RIVALS(s, v, u, gl_unblock(s, u));
}

/* Release v's scope after its work. */
static inline void gl_release(gl_scopes *s, int32_t v) {
    if (s->locked_at) gl_note(s, v, s->locked_at[v]);
    gl_give_back(s, v);
}
#endif
