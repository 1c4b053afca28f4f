/* Random numbers that are a function of where they are drawn: Philox-4x32-10 (Salmon, Moraes, Dror,
 * Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 *
 * The key is the run's seed; the counter is (draw number, moment, unit): moment is
 * superstep << 4 | phase, unit the global id of a vertex or the key of an edge. So a draw is the same
 * on any rank and thread. Emitted programs have this text in them.
 */
#ifndef GASLAB_PHILOX_H
#define GASLAB_PHILOX_H
#include <stdint.h>

typedef struct { uint64_t first, second; } gl_words;

static inline __attribute__((always_inline)) gl_words gl_philox(
    uint64_t seed, uint32_t number, uint32_t moment, uint64_t unit)
{
    uint32_t c0 = number, c1 = moment, c2 = (uint32_t)unit, c3 = (uint32_t)(unit >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (gl_words){(uint64_t)c1 << 32 | c0, (uint64_t)c3 << 32 | c2};
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014), for keys and rng="stream". */
static inline __attribute__((always_inline)) uint64_t gl_spread(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static inline __attribute__((always_inline)) uint64_t gl_edge_key(
    int64_t source, int64_t target, int64_t occurrence)
{
    const uint64_t step = 0x9E3779B97F4A7C15ull;
    uint64_t key = gl_spread((uint64_t)source + step);
    key = gl_spread((key ^ (uint64_t)target) + step);
    return gl_spread((key ^ (uint64_t)occurrence) + step);
}

/* For rng="hash": the unit of a vertex and of an edge, what seed and moment add to it, and a word of such a
 * point. Edges are points of a lattice, which the word's multiplication mixes (wyrand; Wang Yi, "Modern
 * non-cryptographic hash function and pseudorandom number generator", 2019). */
static inline __attribute__((always_inline)) uint64_t gl_vertex_hash(int64_t vertex)
{
    return gl_spread((uint64_t)vertex + 0x9E3779B97F4A7C15ull);
}

#define GL_HASH_STEP 0x8EBC6AF09C88C6E3ull   /* from an edge to the next one between the same ends */

static inline __attribute__((always_inline)) uint64_t gl_ends_hash(int64_t source, int64_t target)
{
    return (uint64_t)source * 0xD1342543DE82EF95ull + (uint64_t)target * 0xAF251AF3B0F025B5ull;
}

static inline __attribute__((always_inline)) uint64_t gl_moment_hash(uint64_t seed, uint32_t moment)
{
    return gl_spread(gl_spread(seed + 0x9E3779B97F4A7C15ull) + moment * 0xD1342543DE82EF95ull);
}

static inline __attribute__((always_inline)) uint64_t gl_point_word(uint64_t point)
{
    const unsigned __int128 product = (unsigned __int128)point * (point ^ 0xE7037ED1A0B428DBull);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline __attribute__((always_inline)) double gl_as_uniform(uint64_t word)   /* in [0, 1) */
{
    return (double)(word >> 11) * 0x1p-53;
}

static inline __attribute__((always_inline)) double gl_as_normal(gl_words w)   /* Box and Muller, 1958 */
{
    const double radius = __builtin_sqrt(-2.0 * __builtin_log((double)((w.first >> 11) + 1) * 0x1p-53));
    return radius * __builtin_cos(6.283185307179586 * gl_as_uniform(w.second));
}

static inline __attribute__((always_inline)) int64_t gl_as_integer(uint64_t word, int64_t n)   /* 0..n-1 */
{
    return (int64_t)((unsigned __int128)word * (uint64_t)n >> 64);
}
#endif
