/* What the twins share: looking ahead, and random numbers. */
#include <stddef.h>
#include <stdint.h>

#define AHEAD 64   /* edges */

/* A Weyl sequence, mixed by one multiplication (wyrand; Wang Yi, "Modern non-cryptographic hash function
 * and pseudorandom number generator", 2019). */
static inline uint64_t draw(uint64_t *state)
{
    *state += 0xA0761D6478BD642Full;
    const unsigned __int128 product = (unsigned __int128)*state * (*state ^ 0xE7037ED1A0B428DBull);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline double uniform(uint64_t *state)   /* in [0, 1) */
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

static inline int32_t below(uint64_t *state, int32_t n)   /* 0 .. n - 1 */
{
    return (int32_t)((draw(state) >> 32) * (uint64_t)n >> 32);
}
