"""Pending vertices by priority (buckets.h): a superstep runs only the lowest bucket that the whole graph has."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "buckets.h" nogil:
    enum: GL_CHUNK
    enum: GL_SPARE
    int64_t GL_NEVER
    ctypedef struct gl_buckets:
        int64_t *priority
        int32_t *entry
        int32_t *before
        uint8_t *flags
        uint8_t *blocks
        int64_t n, chunks
    void gl_buckets_clear(gl_buckets *, int64_t)
    int64_t gl_buckets_next(gl_buckets *, int32_t *, int64_t *)
    void gl_buckets_add(gl_buckets *, const int32_t *, int64_t)

cdef extern from "abi.h":
    enum: GL_SIGNAL_BLOCK

NEVER = GL_NEVER


cdef class Buckets:
    """The pending ones of the first *n* vertices; *priority* (int64 by local id) has the least of each."""

    cdef gl_buckets c
    cdef int64_t[::1] priority
    cdef object arrays
    cdef int32_t[::1] room

    def __init__(self, int64_t[::1] priority, int64_t n):
        cdef int32_t[::1] entry, before
        cdef uint8_t[::1] flags, blocks
        self.c.n, self.c.chunks = n, 2 * (n // GL_CHUNK) + 2 * GL_SPARE
        self.priority = priority
        self.room = np.empty(n + 1, dtype=np.int32)
        entry, before = np.empty(self.c.chunks * GL_CHUNK, dtype=np.int32), np.empty(self.c.chunks, dtype=np.int32)
        flags = np.zeros(n + 1, dtype=np.uint8)
        blocks = np.zeros((n >> GL_SIGNAL_BLOCK) + 1, dtype=np.uint8)
        self.arrays = (entry, before, flags, blocks)
        self.c.entry, self.c.before, self.c.flags, self.c.blocks = &entry[0], &before[0], &flags[0], &blocks[0]
        self.c.priority = &priority[0] if n else NULL
        self.clear()

    @property
    def address(self):
        """The address of the ``gl_buckets``."""
        return <size_t> &self.c

    def clear(self):
        """Let no vertex be pending."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.priority.shape[0]):
                self.priority[i] = GL_NEVER
            gl_buckets_clear(&self.c, 0)

    def lowest(self, const int32_t[::1] signalled):
        """Take in masters that were signalled (ascending); return the lowest bucket and its vertices, ascending.

        Pass these vertices to `take` or `keep`. If there are none, the bucket is NEVER.
        """
        cdef int64_t count = signalled.shape[0], bucket
        self.room[:count] = signalled
        with nogil:
            bucket = gl_buckets_next(&self.c, &self.room[0], &count)
        return bucket, np.array(self.room[:count])

    def take(self, const int32_t[::1] ids):
        """Let these vertices, which run, be pending no more."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(ids.shape[0]):
                self.priority[ids[i]] = GL_NEVER

    def keep(self, const int32_t[::1] ids):
        """Put back these vertices, which do not run yet."""
        if ids.shape[0]:
            with nogil:
                gl_buckets_add(&self.c, &ids[0], ids.shape[0])
