/* Flags of vertices (0 or 1), with a mark for each block of them that may have one set. */
#ifndef GASLAB_FLAGS_H
#define GASLAB_FLAGS_H
#include <string.h>
#include "abi.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The bits of eight flags, of which the first is the lowest. */
static inline uint64_t gl_eight_flags(const uint8_t *flags)
{
    uint64_t word;
    memcpy(&word, flags, 8);
    return word * UINT64_C(0x0102040810204080) >> 56;
}

/* The bits of the flags [i, end), at most 64. */
static inline uint64_t gl_flag_bits(const uint8_t *flags, int64_t i, int64_t end)
{
    uint64_t bits = 0;
    int at = 0;
#ifdef __SSE2__
    for (; i + 16 <= end; i += 16, at += 16) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(flags + i));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(some, 7)) << at;
    }
#endif
    for (; i + 8 <= end; i += 8, at += 8) bits |= gl_eight_flags(flags + i) << at;
    for (; i < end; i++, at++) bits |= (uint64_t)flags[i] << at;
    return bits;
}

/* List the vertices of [lo, hi) whose flag is set, ascending; clear the flags, and the marks of blocks within. */
static inline int64_t gl_take_flags(uint8_t *flags, uint8_t *blocks, int64_t lo, int64_t hi, int32_t *out)
{
    enum { SIZE = 1 << GL_SIGNAL_BLOCK };
    _Static_assert(SIZE == 64, "a block has as many flags as a word has bits");
    int64_t found = 0;
    const int64_t last = (hi + SIZE - 1) >> GL_SIGNAL_BLOCK;
    for (int64_t some = lo >> GL_SIGNAL_BLOCK; some < last; some += SIZE) {
        uint64_t marks = gl_flag_bits(blocks, some, some + SIZE < last ? some + SIZE : last);
        for (; marks; marks &= marks - 1) {
            const int64_t block = some + __builtin_ctzll(marks), first = block << GL_SIGNAL_BLOCK;
            const int64_t begin = first < lo ? lo : first, end = hi - first < SIZE ? hi : first + SIZE;
            uint64_t bits = gl_flag_bits(flags, begin, end);
            if (end - begin == SIZE) blocks[block] = 0;
            if (!bits) continue;
            memset(flags + begin, 0, (size_t)(end - begin));
            for (; bits; bits &= bits - 1) out[found++] = (int32_t)(begin + __builtin_ctzll(bits));
        }
    }
    return found;
}
#endif
