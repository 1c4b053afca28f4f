/* A table of distinct byte strings in memory its caller provides: name i is
 * arena[start[i] .. start[i + 1]); slots hold (high half of the hash) << 32 | (i + 1), 0 when free.
 * The caller keeps room: mask + 1 slots (a power of two) at most half full, and 8 bytes of padding
 * behind every string, because the hash reads whole words.
 */
#ifndef GASLAB_NAMES_H
#define GASLAB_NAMES_H
#include <stdint.h>
#include <string.h>
#include "text.h"

typedef struct {
    uint8_t *arena;
    int64_t *start;      /* start[count] is where the next name goes */
    uint64_t *slot;
    int64_t mask;
    int64_t count;
} gl_names;

static inline uint64_t gl_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Multiply and fold, eight bytes at a time (after wyhash, Wang Yi). */
static inline uint64_t gl_hash_bytes(const uint8_t *p, int64_t length)
{
    uint64_t hash = gl_fold((uint64_t)length ^ 0xa0761d6478bd642full, 0xe7037ed1a0b428dbull);
    for (; length >= 8; p += 8, length -= 8)
        hash = gl_fold(hash ^ gl_load8(p), 0x8ebc6af09c88c6e3ull);
    if (length)
        hash = gl_fold(hash ^ (gl_load8(p) & (~0ull >> (64 - 8 * length))), 0x589965cc75374cc3ull);
    return gl_fold(hash, 0x1d8e4e27c47d124full);
}

static inline void gl_place(gl_names *names, uint64_t hash, int64_t index)
{
    int64_t at = (int64_t)(hash & (uint64_t)names->mask);
    while (names->slot[at]) at = (at + 1) & names->mask;
    names->slot[at] = (hash >> 32 << 32) | (uint64_t)(index + 1);
}

/* The index of a string, added when new. */
static inline int64_t gl_intern(gl_names *names, const uint8_t *text, int64_t length)
{
    uint64_t hash = gl_hash_bytes(text, length);
    int64_t at = (int64_t)(hash & (uint64_t)names->mask), index;
    for (; names->slot[at]; at = (at + 1) & names->mask) {
        if ((names->slot[at] ^ hash) >> 32) continue;
        index = (int64_t)(names->slot[at] & 0xffffffffu) - 1;
        if (names->start[index + 1] - names->start[index] == length &&
            memcmp(names->arena + names->start[index], text, (size_t)length) == 0)
            return index;
    }
    index = names->count++;
    names->slot[at] = (hash >> 32 << 32) | (uint64_t)(index + 1);
    memmove(names->arena + names->start[index], text, (size_t)length);
    names->start[index + 1] = names->start[index] + length;
    return index;
}
#endif
