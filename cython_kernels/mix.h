/* The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014):
 * a bijection of 64-bit words that spreads every bit over all. */
#ifndef GASLAB_MIX_H
#define GASLAB_MIX_H
#include <stdint.h>

static inline uint64_t gl_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
#endif
