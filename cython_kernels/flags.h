/* Flags of vertices (0 or 1), with a mark for each block of them that may have one set. */
#ifndef GASLAB_FLAGS_H
#define GASLAB_FLAGS_H
#include <string.h>
#include "abi.h"

/* List the vertices below `n` whose flag is set, ascending; clear the flags and the marks. */
static inline int64_t gl_take_flags(uint8_t *flags, uint8_t *blocks, int64_t n, int32_t *out)
{
    int64_t found = 0;
    const int64_t last = (n + (1 << GL_SIGNAL_BLOCK) - 1) >> GL_SIGNAL_BLOCK;
    for (int64_t block = 0; block < last; block++) {
        if (!blocks[block]) continue;
        blocks[block] = 0;
        int64_t i = block << GL_SIGNAL_BLOCK;
        const int64_t end = n - i < 1 << GL_SIGNAL_BLOCK ? n : i + (1 << GL_SIGNAL_BLOCK);
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
