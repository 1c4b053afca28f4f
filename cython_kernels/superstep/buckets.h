/* Pending vertices by priority: one list for each bucket of a window, and one, the pile, for all beyond it.
 *
 * Dhulipala, Blelloch, Shun: Julienne, SPAA 2017. A vertex whose priority falls is listed again, and its old
 * entry is skipped. The lists are chains of chunks of one pool, which the caller has allocated: when the pool
 * is used up, the lists are rebuilt from the priorities, with each vertex once.
 */
#ifndef GASLAB_BUCKETS_H
#define GASLAB_BUCKETS_H
#include "abi.h"
#include "flags.h"

enum { GL_WINDOW = 64, GL_PILE = GL_WINDOW, GL_CHUNK = 256, GL_SPARE = GL_WINDOW + 4 };
#define GL_NEVER INT64_MAX   /* the priority of a vertex that is not pending */

typedef struct {
    int64_t *priority;                  /* [n], of each vertex its smallest */
    int32_t *entry;                     /* [chunks][GL_CHUNK] */
    int32_t *before;                    /* [chunks] the chunk filled before it, or the next free one; or -1 */
    uint8_t *flags, *blocks;            /* [n] and their blocks, all 0 */
    int64_t n, chunks, first, unused;   /* vertices; chunks; the window's first bucket; free chunks */
    int32_t free, low;                  /* a free chunk; lists below `low` are empty */
    int32_t top[GL_WINDOW + 1], fill[GL_WINDOW + 1];   /* the chunk being filled, or -1, and its entries */
} gl_buckets;

static inline void gl_buckets_clear(gl_buckets *b, int64_t first)
{
    for (int64_t k = 0; k < b->chunks; k++) b->before[k] = (int32_t)k - 1;
    b->free = (int32_t)b->chunks - 1;
    b->unused = b->chunks;
    b->first = first;
    b->low = GL_PILE;
    for (int k = 0; k <= GL_PILE; k++) { b->top[k] = -1; b->fill[k] = GL_CHUNK; }
}

static inline void gl_buckets_list(gl_buckets *b, int32_t id, int64_t priority)
{
    const int32_t k = priority - b->first < GL_WINDOW ? (int32_t)(priority - b->first) : GL_PILE;
    if (b->fill[k] == GL_CHUNK) {
        const int32_t chunk = b->free;
        b->free = b->before[chunk];
        b->unused--;
        b->before[chunk] = b->top[k];
        b->top[k] = chunk;
        b->fill[k] = 0;
    }
    b->entry[(int64_t)b->top[k] * GL_CHUNK + b->fill[k]++] = id;
    if (k < b->low) b->low = k;
}

/* Rebuild the lists from the priorities: each pending vertex is listed once. */
static inline void gl_buckets_rebuild(gl_buckets *b)
{
    int64_t smallest = GL_NEVER;
    for (int64_t v = 0; v < b->n; v++) if (b->priority[v] < smallest) smallest = b->priority[v];
    gl_buckets_clear(b, smallest == GL_NEVER ? 0 : smallest);
    for (int64_t v = 0; v < b->n; v++)
        if (b->priority[v] != GL_NEVER) gl_buckets_list(b, (int32_t)v, b->priority[v]);
}

/* Empty a list: return its last chunk, and how many entries that chunk has. */
static inline int32_t gl_buckets_detach(gl_buckets *b, int k, int32_t *fill)
{
    const int32_t chunk = b->top[k];
    *fill = b->fill[k];
    b->top[k] = -1;
    b->fill[k] = GL_CHUNK;
    return chunk;
}

static inline int32_t gl_buckets_free(gl_buckets *b, int32_t chunk)
{
    const int32_t before = b->before[chunk];
    b->before[chunk] = b->free;
    b->free = chunk;
    b->unused++;
    return before;
}

/* Move the window to the lowest bucket of the pile, which has all pending vertices. */
static inline void gl_buckets_refill(gl_buckets *b)
{
    int32_t fill, chunk;
    int64_t smallest = GL_NEVER;
    if ((b->chunks - b->unused) * GL_CHUNK > b->n / 4) { gl_buckets_rebuild(b); return; }
    chunk = gl_buckets_detach(b, GL_PILE, &fill);
    int32_t count = fill;
    for (int32_t c = chunk; c >= 0; c = b->before[c], count = GL_CHUNK)
        for (int32_t i = 0; i < count; i++) {
            const int64_t p = b->priority[b->entry[(int64_t)c * GL_CHUNK + i]];
            if (p < smallest) smallest = p;
        }
    b->first = smallest == GL_NEVER ? 0 : smallest;
    b->low = GL_PILE;
    for (count = fill; chunk >= 0; chunk = gl_buckets_free(b, chunk), count = GL_CHUNK)
        for (int32_t i = 0; i < count; i++) {
            const int32_t id = b->entry[(int64_t)chunk * GL_CHUNK + i];
            if (b->priority[id] != GL_NEVER) gl_buckets_list(b, id, b->priority[id]);
        }
}

/* List vertices whose priorities are in place. */
static inline void gl_buckets_add(gl_buckets *b, const int32_t *ids, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = b->priority[ids[i]];
        if (p == GL_NEVER) continue;
        if (p < b->first || b->unused < GL_SPARE) { gl_buckets_rebuild(b); return; }
        gl_buckets_list(b, ids[i], p);
    }
}

/* Return the lowest bucket, GL_NEVER if none is pending; unlist its vertices into `out`, ascending. */
static inline int64_t gl_buckets_lowest(gl_buckets *b, int32_t *out, int64_t *count)
{
    *count = 0;
    for (;;) {
        for (; b->low < GL_PILE; b->low++) {
            if (b->top[b->low] < 0) continue;
            const int64_t bucket = b->first + b->low;
            int32_t fill, chunk = gl_buckets_detach(b, b->low, &fill), found = 0;
            for (; chunk >= 0; chunk = gl_buckets_free(b, chunk), fill = GL_CHUNK)
                for (int32_t i = 0; i < fill; i++) {
                    const int32_t id = b->entry[(int64_t)chunk * GL_CHUNK + i];
                    if (b->priority[id] != bucket) continue;
                    b->flags[id] = 1;
                    b->blocks[id >> GL_SIGNAL_BLOCK] = 1;
                    found = 1;
                }
            if (found) {
                *count = gl_take_flags(b->flags, b->blocks, 0, b->n, out);
                return bucket;
            }
        }
        if (b->top[GL_PILE] < 0) return GL_NEVER;
        gl_buckets_refill(b);
    }
}

/* The same after `ids` (ascending) were signalled: often these are all of the lowest bucket. */
static inline int64_t gl_buckets_next(gl_buckets *b, int32_t *ids, int64_t *count)
{
    int64_t smallest = GL_NEVER, kept = 0;
    for (int64_t i = 0; i < *count; i++)
        if (b->priority[ids[i]] < smallest) smallest = b->priority[ids[i]];
    while (b->low < GL_PILE && b->top[b->low] < 0) b->low++;
    if (smallest < b->first || smallest >= b->first + b->low || b->unused * GL_CHUNK < *count + GL_SPARE * GL_CHUNK) {
        gl_buckets_add(b, ids, *count);
        return gl_buckets_lowest(b, ids, count);
    }
    for (int64_t i = 0; i < *count; i++) {
        const int64_t p = b->priority[ids[i]];
        if (p == smallest) ids[kept++] = ids[i];
        else if (p != GL_NEVER) gl_buckets_list(b, ids[i], p);
    }
    *count = kept;
    return smallest;
}
#endif
