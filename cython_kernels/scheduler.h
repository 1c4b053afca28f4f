/* Which vertex runs next: a set of local ids in one of four orders. Every operation takes constant time.
 *
 * FIFO and PRIORITY are doubly linked lists through arrays, so that a vertex whose priority falls moves
 * and never waits twice. PRIORITY has a list for each of GL_BUCKETS priorities from `base` on and one for
 * all that are greater; when the former are empty, base rises to the least of the latter. A priority below
 * base (another rank may be behind) goes to the first list. SWEEP goes round by id; RANDOM draws.
 */
#ifndef GASLAB_SCHEDULER_H
#define GASLAB_SCHEDULER_H
#include <stdint.h>

enum { GL_FIFO = 0, GL_PRIORITY = 1, GL_SWEEP = 2, GL_RANDOM = 3 };
#define GL_BUCKETS 1024

typedef struct gl_scheduler {
    int64_t kind, size, waiting, base, cursor;
    int32_t *place;                   /* [size]: its list, its position if RANDOM; -1: does not wait */
    int32_t *next, *previous;         /* [size]: in its list; RANDOM: next is the set itself */
    int32_t *head, *tail;             /* [GL_BUCKETS + 1]; -1: empty */
    uint64_t *bits;                   /* [size / 64 + 1]: SWEEP */
    const int64_t *priority;          /* [size] */
    uint64_t random;
} gl_scheduler;

static inline void gl_append(gl_scheduler *s, int64_t list, int32_t v) {
    s->place[v] = (int32_t)list;
    s->next[v] = -1;
    s->previous[v] = s->tail[list];
    if (s->tail[list] >= 0) s->next[s->tail[list]] = v;
    else s->head[list] = v;
    s->tail[list] = v;
}

static inline void gl_unlink(gl_scheduler *s, int32_t v) {
    const int64_t list = s->place[v];
    const int32_t before = s->previous[v], after = s->next[v];
    if (before >= 0) s->next[before] = after;
    else s->head[list] = after;
    if (after >= 0) s->previous[after] = before;
    else s->tail[list] = before;
    s->place[v] = -1;
}

static inline int64_t gl_list_of(const gl_scheduler *s, int32_t v) {
    const int64_t p = s->kind == GL_PRIORITY ? s->priority[v] : s->base;
    return p <= s->base ? 0 : p - s->base < GL_BUCKETS ? p - s->base : GL_BUCKETS;
}

/* Let v wait; if it waits already, at its present priority. */
static inline void gl_schedule(gl_scheduler *s, int32_t v) {
    if (s->place[v] >= 0) {
        if (s->kind != GL_PRIORITY || s->place[v] == gl_list_of(s, v)) return;
        gl_unlink(s, v);
        s->waiting--;
    }
    if (s->kind == GL_SWEEP) {
        s->bits[v >> 6] |= (uint64_t)1 << (v & 63);
        s->place[v] = 0;
    } else if (s->kind == GL_RANDOM) {
        s->place[v] = (int32_t)s->waiting;
        s->next[s->waiting] = v;
    } else {
        const int64_t list = gl_list_of(s, v);
        gl_append(s, list, v);
        if (list < s->cursor) s->cursor = list;
    }
    s->waiting++;
}

/* Raise base to the least priority of those beyond the last list, and deal them out. */
static inline void gl_raise_base(gl_scheduler *s) {
    int32_t v = s->head[GL_BUCKETS];
    s->base = INT64_MAX;
    for (int32_t u = v; u >= 0; u = s->next[u])
        if (s->priority[u] < s->base) s->base = s->priority[u];
    s->head[GL_BUCKETS] = s->tail[GL_BUCKETS] = -1;
    s->cursor = 0;
    while (v >= 0) {
        const int32_t after = s->next[v];
        gl_append(s, gl_list_of(s, v), v);
        v = after;
    }
}

/* Take the vertex that is next, -1 if none waits. */
static inline int32_t gl_take(gl_scheduler *s) {
    int32_t v;
    if (!s->waiting) return -1;
    s->waiting--;
    if (s->kind == GL_SWEEP) {
        const int64_t words = (s->size >> 6) + 1;
        int64_t word = s->cursor >> 6;
        uint64_t left = s->bits[word] & (~(uint64_t)0 << (s->cursor & 63));
        while (!left) {
            word = word + 1 == words ? 0 : word + 1;
            left = s->bits[word];
        }
        v = (int32_t)((word << 6) + __builtin_ctzll(left));
        s->bits[word] &= ~((uint64_t)1 << (v & 63));
        s->cursor = v + 1;
    } else if (s->kind == GL_RANDOM) {
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        const int64_t at = (int64_t)(((__uint128_t)s->random * (uint64_t)(s->waiting + 1)) >> 64);
        const int32_t last = s->next[s->waiting];
        v = s->next[at];
        s->next[at] = last;
        s->place[last] = (int32_t)at;
    } else {
        while (s->head[s->cursor] < 0) {
            s->cursor++;
            if (s->cursor == GL_BUCKETS) gl_raise_base(s);
        }
        v = s->head[s->cursor];
        gl_unlink(s, v);
    }
    s->place[v] = -1;
    return v;
}
#endif
