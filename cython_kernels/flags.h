/* Flags of vertices (0 or 1), with a mark for each block of them that may have one set. */
#ifndef GASLAB_FLAGS_H
#define GASLAB_FLAGS_H
#include <string.h>
#include "abi.h"

/* List the vertices of [lo, hi) whose flag is set, ascending; clear the flags, and the marks of blocks within. */
static inline int64_t gl_take_flags(uint8_t *flags, uint8_t *blocks, int64_t lo, int64_t hi, int32_t *out)
{
    int64_t found = 0;
    const int64_t size = 1 << GL_SIGNAL_BLOCK;
    const int64_t last = (hi + size - 1) >> GL_SIGNAL_BLOCK;
    for (int64_t block = lo >> GL_SIGNAL_BLOCK; block < last; block++) {
        uint64_t eight;
        if (block + 8 <= last && (memcpy(&eight, blocks + block, 8), !eight)) { block += 7; continue; }
        if (!blocks[block]) continue;
        const int64_t begin = block << GL_SIGNAL_BLOCK;
        int64_t i = begin < lo ? lo : begin;
        const int64_t end = hi - begin < size ? hi : begin + size;
        if (end - i == size) blocks[block] = 0;
        for (; i + 8 <= end; i += 8) {
            uint64_t word;
            memcpy(&word, flags + i, 8);
            if (!word) continue;
            memset(flags + i, 0, 8);
            for (; word; word &= word - 1) out[found++] = (int32_t)(i + (__builtin_ctzll(word) >> 3));
        }
        for (; i < end; i++)
            if (flags[i]) { flags[i] = 0; out[found++] = (int32_t)i; }
    }
    return found;
}
#endif
