/* Which vertices run next: masters whose signal flag is set, in one of four orders, in rounds but for PRIORITY.
 *
 * SWEEP goes through the flags by id, round after round. FIFO takes all flagged vertices into `line`, and again
 * when these have run: a vertex signalled in an earlier round runs earlier, and a round is in the order of
 * memory. RANDOM does the same and shuffles. PRIORITY has buckets (buckets.h), into which `gl_collect` puts the
 * flagged vertices: the lowest bucket is taken into `line`, put back if a lower priority comes, and kept there
 * while it is above `ceiling`. The buckets may list a vertex again whenever it has a priority, so a vertex that
 * neither waits nor is flagged must have none; above all a vertex in flight.
 */
#ifndef GASLAB_SCHEDULER_H
#define GASLAB_SCHEDULER_H
#include <stdint.h>
#include "buckets.h"

enum { GL_FIFO = 0, GL_PRIORITY = 1, GL_SWEEP = 2, GL_RANDOM = 3 };

typedef struct gl_scheduler {
    int64_t kind, size;               /* masters */
    uint8_t *flags, *blocks;          /* the view's signalled and signal_blocks */
    int32_t *line, *found;            /* [size] the next vertices; room for those found */
    int64_t at, filled;               /* `line` has `filled` vertices from `at` on; SWEEP goes on at id `at` */
    int64_t round, found_now;         /* vertices of this round (SWEEP: of the last); SWEEP: found in this one */
    uint8_t *waits;                   /* [size] PRIORITY: the vertex is in a bucket or in line */
    int64_t waiting;                  /* PRIORITY: how many vertices wait */
    gl_buckets *buckets;              /* PRIORITY */
    int64_t bucket, least;            /* the bucket in `line`; the least one since */
    int64_t ceiling;                  /* vertices of a greater priority do not begin */
    uint64_t random;
} gl_scheduler;

/* Find at most `most` set flags in [*at, hi), ascending, and clear them; *at is moved to where the search ended.
 * The mark of a block is cleared when all of it has been searched. */
static inline int64_t gl_take_flagged(uint8_t *flags, uint8_t *blocks, int64_t *at, int64_t hi, int64_t most, int32_t *out)
{
    int64_t found = 0, i = *at;
    while (i < hi) {
        const int64_t block = i >> GL_SIGNAL_BLOCK, begin = block << GL_SIGNAL_BLOCK;
        const int64_t next = begin + (1 << GL_SIGNAL_BLOCK), end = next < hi ? next : hi;
        const int whole = i == begin && end == next;
        for (; blocks[block] && i < end; i += 8) {
            uint64_t word = 0;
            if (end - i >= 8) memcpy(&word, flags + i, 8);
            else memcpy(&word, flags + i, (size_t)(end - i));
            for (; word; word &= word - 1) {
                const int64_t id = i + (__builtin_ctzll(word) >> 3);
                if (found == most) { *at = id; return found; }
                flags[id] = 0;
                out[found++] = (int32_t)id;
            }
        }
        if (whole) blocks[block] = 0;
        i = end;
    }
    *at = hi;
    return found;
}

static inline void gl_collect(gl_scheduler *s)
{
    int64_t from = 0;
    if (s->kind != GL_PRIORITY) return;
    const int64_t count = gl_take_flagged(s->flags, s->blocks, &from, s->size, s->size, s->found);
    for (int64_t i = 0; i < count; i++) {
        const int32_t v = s->found[i];
        if (s->buckets->priority[v] < s->least) s->least = s->buckets->priority[v];
        s->waiting += !s->waits[v];
        s->waits[v] = 1;
    }
    gl_buckets_add(s->buckets, s->found, count);
}

/* Bring the lowest bucket into `line`, a waiting vertex at its head; return its priority, GL_NEVER if none waits. */
static inline int64_t gl_front(gl_scheduler *s)
{
    gl_collect(s);
    while (1) {
        while (s->filled && !s->waits[s->line[s->at]]) {    /* it has run at a lower one */
            s->at++;
            s->filled--;
        }
        if (s->filled && s->least >= s->bucket) return s->bucket;
        gl_buckets_add(s->buckets, s->line + s->at, s->filled);
        s->at = 0;
        s->least = GL_NEVER;
        s->bucket = gl_buckets_lowest(s->buckets, s->line, &s->filled);
        if (s->bucket == GL_NEVER) return GL_NEVER;
    }
}

static inline void gl_next_line(gl_scheduler *s)
{
    s->at = 0;
    s->filled = gl_take_flagged(s->flags, s->blocks, &s->at, s->size, s->size, s->line);
    s->at = 0;
    s->round = s->filled;
    for (int64_t i = s->filled; s->kind == GL_RANDOM && i > 1; i--) {
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        int32_t *drawn = s->line + (int64_t)(((__uint128_t)s->random * (uint64_t)i) >> 64);
        const int32_t last = s->line[i - 1];
        s->line[i - 1] = *drawn;
        *drawn = last;
    }
}

/* Whether the next vertex taken begins a round. */
static inline int gl_between_rounds(const gl_scheduler *s)
{
    return s->kind == GL_SWEEP ? !s->at : s->kind != GL_PRIORITY && !s->filled;
}

/* Whether at least three quarters of this round have been taken. */
static inline int gl_mostly_taken(const gl_scheduler *s)
{
    if (s->kind == GL_SWEEP) return !s->at || 4 * s->at >= 3 * s->size;
    return 4 * s->filled <= s->round;
}

/* Take at most `most` of the next vertices of this round, or of a new one; return how many. */
static inline int64_t gl_take(gl_scheduler *s, int64_t most, int32_t *out)
{
    int64_t count = 0;
    if (s->kind == GL_SWEEP) {
        if (!s->at) {
            s->round = s->found_now;
            s->found_now = 0;
        }
        count = gl_take_flagged(s->flags, s->blocks, &s->at, s->size, most, out);
        s->found_now += count;
        if (s->at == s->size) s->at = 0;
    } else if (s->kind == GL_PRIORITY) {
        if (gl_front(s) > s->ceiling) return 0;
        while (count < most && s->filled) {     /* one bucket: its vertices may signal a lower one */
            const int32_t v = s->line[s->at++];
            s->filled--;
            if (!s->waits[v]) continue;     /* it has run at a lower one */
            s->waits[v] = 0;
            s->waiting--;
            out[count++] = v;
        }
    } else {
        if (!s->filled) gl_next_line(s);
        count = most < s->filled ? most : s->filled;
        memcpy(out, s->line + s->at, (size_t)count * sizeof(int32_t));
        s->at += count;
        s->filled -= count;
    }
    return count;
}

/* How many wait; a vertex in line that is signalled again counts twice. PRIORITY: exactly, after gl_front. */
static inline int64_t gl_waiting(const gl_scheduler *s)
{
    if (s->kind == GL_PRIORITY) return s->waiting;
    int64_t count = s->kind == GL_SWEEP ? 0 : s->filled;
    for (int64_t i = 0, end; i < s->size; i = end) {
        const int64_t block = i >> GL_SIGNAL_BLOCK, next = (block + 1) << GL_SIGNAL_BLOCK;
        end = next < s->size ? next : s->size;
        if (s->blocks[block])
            for (int64_t k = i; k < end; k++) count += s->flags[k];
    }
    return count;
}

/* Mark in out[size] which vertices wait. */
static inline void gl_mark_waiting(const gl_scheduler *s, uint8_t *out)
{
    for (int64_t i = 0; i < s->size; i++) out[i] = s->flags[i] || (s->kind == GL_PRIORITY && s->waits[i]);
    if (s->kind == GL_FIFO || s->kind == GL_RANDOM)
        for (int64_t i = s->at; i < s->at + s->filled; i++) out[s->line[i]] = 1;
}
#endif
