"""Random numbers outside of programs: the starts of fields, by the same function as draws inside."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

import numpy as np

cdef extern from "philox.h" nogil:
    ctypedef struct gl_words:
        uint64_t first, second
    gl_words gl_philox(uint64_t seed, uint32_t number, uint32_t moment, uint64_t unit)
    uint64_t gl_edge_key(int64_t source, int64_t target, int64_t occurrence)
    double gl_as_uniform(uint64_t word)
    double gl_as_normal(gl_words words)
    int64_t gl_as_integer(uint64_t word, int64_t n)

cdef extern from *:
    """
    typedef struct { uint64_t seed, unit; uint32_t moment, number; } gl_context;
    static inline gl_words gl_next_words(gl_context *c)   /* a field has at most 2**16 elements */
    {
        const gl_words words = gl_philox(c->seed, c->number, c->moment, c->unit);
        c->number += 1u << 16;
        return words;
    }
    static inline uint64_t gl_next_word(gl_context *c) { return gl_next_words(c).first; }
    #include "distributions.h"
    """
    ctypedef struct gl_context:
        uint64_t seed, unit
        uint32_t moment, number
    double gl_exponential(gl_context *c) nogil
    double gl_gamma(gl_context *c, double shape) nogil
    int64_t gl_poisson(gl_context *c, double mean) nogil


def philox(uint64_t seed, uint32_t number, uint32_t moment, uint64_t unit):
    """Return one block of Philox-4x32-10 as two 64-bit words."""
    cdef gl_words words = gl_philox(seed, number, moment, unit)
    return words.first, words.second


def edge_keys(const int64_t[::1] gid, const int64_t[::1] in_begin, const int32_t[::1] in_neighbor,
              int64_t first, int64_t last):
    """Return the uint64 keys of the edges to vertices *first* to *last* - 1, by slot."""
    cdef int64_t v, e, begin = in_begin[first], occurrence = 0
    keys_array = np.empty(in_begin[last] - begin, dtype=np.uint64)
    cdef uint64_t[::1] keys = keys_array
    with nogil:
        for v in range(first, last):
            for e in range(in_begin[v], in_begin[v + 1]):
                occurrence += 1   # parallel edges stand together
                if e == in_begin[v] or in_neighbor[e] != in_neighbor[e - 1]:
                    occurrence = 0
                keys[e - begin] = gl_edge_key(gid[in_neighbor[e]], gid[v], occurrence)
    return keys_array


def uniform(uint64_t seed, uint32_t moment, const uint64_t[::1] units, double low, double high,
            double[:, ::1] out):
    """out[i, k] = draw number k of unit i, from [low, high)."""
    cdef int64_t i, k
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                out[i, k] = low + (high - low) * gl_as_uniform(gl_philox(seed, k, moment, units[i]).first)


def normal(uint64_t seed, uint32_t moment, const uint64_t[::1] units, double scale, double[:, ::1] out):
    """out[i, k] = draw number k of unit i, of mean 0 and standard deviation *scale*."""
    cdef int64_t i, k
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                out[i, k] = scale * gl_as_normal(gl_philox(seed, k, moment, units[i]))


def integers(uint64_t seed, uint32_t moment, const uint64_t[::1] units, int64_t n, int64_t[:, ::1] out):
    """out[i, k] = draw number k of unit i, from 0 .. n - 1."""
    cdef int64_t i, k
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                out[i, k] = gl_as_integer(gl_philox(seed, k, moment, units[i]).first, n)


def exponential(uint64_t seed, uint32_t moment, const uint64_t[::1] units, double scale, double[:, ::1] out):
    """out[i, k] = element k of unit i, of mean *scale*: its draws are numbers k, k + 2**16, k + 2 * 2**16, …"""
    cdef int64_t i, k
    cdef gl_context c
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                c = gl_context(seed, units[i], moment, k)
                out[i, k] = scale * gl_exponential(&c)


def gamma(uint64_t seed, uint32_t moment, const uint64_t[::1] units, double shape, double scale,
          double[:, ::1] out):
    """out[i, k] = element k of unit i, of *shape* and *scale*; draws as in `exponential`."""
    cdef int64_t i, k
    cdef gl_context c
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                c = gl_context(seed, units[i], moment, k)
                out[i, k] = scale * gl_gamma(&c, shape)


def poisson(uint64_t seed, uint32_t moment, const uint64_t[::1] units, double mean, int64_t[:, ::1] out):
    """out[i, k] = element k of unit i, of mean *mean*; draws as in `exponential`."""
    cdef int64_t i, k
    cdef gl_context c
    with nogil:
        for i in range(out.shape[0]):
            for k in range(out.shape[1]):
                c = gl_context(seed, units[i], moment, k)
                out[i, k] = gl_poisson(&c, mean)
