/* What the twins share: looking ahead, and the random numbers of ``rng = "hash"``. */
#include <stddef.h>
#include <stdint.h>
#include "philox.h"

#define AHEAD 64   /* edges */

enum { SCATTER = 5, VISIT = 6 };   /* gaslab/language/rng.py */

static inline uint64_t moment_of(int64_t seed, int64_t superstep, int method)
{
    return gl_moment_hash((uint64_t)seed, (uint32_t)superstep << 4 | method);
}

static inline uint64_t draw(uint64_t *random)
{
    return gl_point_word(*random += 0x9E3779B97F4A7C15ull);
}

static inline double uniform(uint64_t *random)   /* in [0, 1) */
{
    return gl_as_uniform(draw(random));
}

static inline int32_t below(uint64_t *random, int32_t n)   /* 0 .. n - 1 */
{
    return (int32_t)gl_as_integer(draw(random), n);
}
