/* Draws that take several random words, or as many as it needs until one is accepted.
 *
 * Whoever includes this has included philox.h and defined gl_context, with gl_next_word(context) and
 * gl_next_words(context), which give the next random words of where the draw stands. Emitted programs have
 * this text in them; `gaslab.compiler.python.distributions` has the twins, to the bit.
 */
#ifndef GASLAB_DISTRIBUTIONS_H
#define GASLAB_DISTRIBUTIONS_H

static inline double gl_as_positive(uint64_t word)   /* in (0, 1) */
{
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

static inline double gl_exponential(gl_context *c)   /* of mean 1, by inversion */
{
    return -__builtin_log(gl_as_positive(gl_next_word(c)));
}

/* Of a shape of at least 1 (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000). */
static inline double gl_large_gamma(gl_context *c, double shape)
{
    const double d = shape - 1.0 / 3.0, deviation = 1.0 / __builtin_sqrt(9.0 * d);
    for (;;) {
        const double x = gl_as_normal(gl_next_words(c)), t = 1.0 + deviation * x;
        if (t <= 0) continue;
        const double v = t * t * t, u = gl_as_positive(gl_next_word(c)), square = x * x;
        if (u < 1.0 - 0.0331 * (square * square)) return d * v;
        if (__builtin_log(u) < 0.5 * square + d * (1.0 - v + __builtin_log(v))) return d * v;
    }
}

/* Below a shape of 1, Marsaglia and Tsang's boost: gamma(shape + 1) times a uniform number ** (1 / shape). */
static __attribute__((noinline, unused)) double gl_gamma(gl_context *c, double shape)
{
    if (shape >= 1) return gl_large_gamma(c, shape);
    if (shape == 0) return 0;
    const double large = gl_large_gamma(c, shape + 1.0);
    return large * __builtin_exp(-gl_exponential(c) / shape);
}

/* The logarithm of a draw from a gamma distribution, which of small shapes is near to 0. */
static __attribute__((noinline, unused)) double gl_log_gamma(gl_context *c, double shape)
{
    if (shape >= 1) return __builtin_log(gl_large_gamma(c, shape));
    if (shape == 0) return -__builtin_inf();
    const double large = __builtin_log(gl_large_gamma(c, shape + 1.0));
    return large - gl_exponential(c) / shape;
}

/* The logarithm of the probability of k; from 10 on with Stirling's series, in terms that do not cancel. */
static inline double gl_log_poisson(double k, double mean)
{
    if (k < 10) {
        double factorial = 1;
        for (double i = 2; i <= k; i++) factorial *= i;
        return k * __builtin_log(mean) - mean - __builtin_log(factorial);
    }
    const double square = k * k;
    const double series = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / k;
    return k * __builtin_log1p((mean - k) / k) + (k - mean) - 0.5 * __builtin_log(6.283185307179586 * k) - series;
}

/* Inversion below a mean of 10; else PTRS (Hoermann, "The transformed rejection method for generating
 * Poisson random variables", 1993), up to a mean of 2**52. */
static __attribute__((noinline, unused)) int64_t gl_poisson(gl_context *c, double mean)
{
    __asm__("" : "+m"(mean));   /* no instruction: of a constant, compilers know the logarithm better than libm */
    if (mean < 10) {
        const double u = gl_as_uniform(gl_next_word(c));
        double one = __builtin_exp(-mean), all = one;
        int64_t k = 0;
        while (u >= all && one > 0x1p-60) {
            one *= mean / (double)++k;
            all += one;
        }
        return k;
    }
    const double b = 0.931 + 2.53 * __builtin_sqrt(mean), a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const gl_words words = gl_next_words(c);
        const double u = gl_as_positive(words.first) - 0.5, v = gl_as_positive(words.second);
        const double end = 0.5 - __builtin_fabs(u), k = __builtin_floor((2.0 * a / end + b) * u + mean + 0.43);
        if (end >= 0.07 && v <= sure) return (int64_t)k;
        if (k < 0 || (end < 0.013 && v > end)) continue;
        if (__builtin_log(v * inverse / (a / (end * end) + b)) <= gl_log_poisson(k, mean)) return (int64_t)k;
    }
}
#endif
