"""Documents by the topics of a model: their mixtures, their likelihood, a topic for each token.

The words of document d are ``begin[d]`` to ``begin[d + 1]`` of *row*, their rows of *probability*, and of *count*,
how often each is in it. Rows of topics are padded with zeros to whole lanes. A document's answer depends on nothing
but the document.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

import numpy as np

cdef extern from "foldin.h" nogil:
    int GL_LANES
    ctypedef struct gl_document:
        int64_t words
        const int64_t *row
        const int64_t *count
        const double *probability
        int64_t topics, width
    void gl_mixture(const gl_document *d, const double *prior, double total, int iterations, double *mix, double *sums)
    double gl_likelihood(const gl_document *d, const double *mix)
    void gl_draw(const gl_document *d, const double *mix, uint64_t seed, uint32_t moment, int64_t number,
                 const int64_t *name, double *upto, int32_t *topic)

LANES = GL_LANES


cdef gl_document _document(const int64_t[::1] begin, const int64_t[::1] row, const int64_t[::1] count,
                           const double[:, ::1] probability, int64_t topics, int64_t d) noexcept nogil:
    cdef gl_document found
    found.words = begin[d + 1] - begin[d]
    found.row, found.count, found.probability = NULL, NULL, NULL
    found.topics, found.width = topics, probability.shape[1]
    if found.words:
        found.row, found.count, found.probability = &row[begin[d]], &count[begin[d]], &probability[0, 0]
    return found


def _check(begin, row, count, probability, topics, mixes):
    documents, width = begin.shape[0] - 1, probability.shape[1]
    if width % GL_LANES or not 0 < topics <= width or mixes.shape != (documents, width):
        raise ValueError("the matrices differ in their padding")
    if row.shape[0] != count.shape[0] or begin[documents] != row.shape[0]:
        raise ValueError("the documents do not end where their words do")


def mixtures(const int64_t[::1] begin, const int64_t[::1] row, const int64_t[::1] count,
             const double[:, ::1] probability, const double[::1] prior, int64_t topics, int iterations,
             double[:, ::1] out, int threads):
    """out[d] = the mixture of document d after so many steps of expectation maximisation under the prior.

    It begins with all topics alike. A document without tokens has the mean of the prior.
    """
    _check(np.asarray(begin), row, count, probability, topics, np.asarray(out))
    cdef int64_t d, k
    cdef double total = 0.0
    cdef double[:, ::1] sums = np.zeros((threads, out.shape[1]))
    cdef gl_document document
    for k in range(topics):
        total += prior[k]
    for d in prange(out.shape[0], nogil=True, num_threads=threads, schedule="dynamic", chunksize=16):
        document = _document(begin, row, count, probability, topics, d)
        gl_mixture(&document, &prior[0], total, iterations, &out[d, 0], &sums[threadid(), 0])


def likelihood(const int64_t[::1] begin, const int64_t[::1] row, const int64_t[::1] count,
               const double[:, ::1] probability, int64_t topics, const double[:, ::1] mixes, double[::1] out,
               int threads):
    """out[d] = the log-likelihood (base e) of the tokens of document d by its mixture."""
    _check(np.asarray(begin), row, count, probability, topics, np.asarray(mixes))
    cdef int64_t d
    cdef gl_document document
    for d in prange(out.shape[0], nogil=True, num_threads=threads, schedule="dynamic", chunksize=16):
        document = _document(begin, row, count, probability, topics, d)
        out[d] = gl_likelihood(&document, &mixes[d, 0])


def draw(const int64_t[::1] begin, const int64_t[::1] row, const int64_t[::1] count,
         const double[:, ::1] probability, int64_t topics, const double[:, ::1] mixes, uint64_t seed,
         uint32_t moment, const int64_t[::1] number, const int64_t[::1] name, const int64_t[::1] place,
         int32_t[::1] out, int threads):
    """Draw a topic for each token: those of the words of document d begin at ``place[begin[d]]`` of *out*.

    A draw is a function of seed, moment, the *number* of its document, the *name* of its word, and of which of the
    tokens of that word in the document it is.
    """
    _check(np.asarray(begin), row, count, probability, topics, np.asarray(mixes))
    cdef int64_t d
    cdef double[:, ::1] upto = np.zeros((threads, mixes.shape[1]))
    cdef gl_document document
    for d in prange(mixes.shape[0], nogil=True, num_threads=threads, schedule="dynamic", chunksize=16):
        document = _document(begin, row, count, probability, topics, d)
        if document.words:
            gl_draw(&document, &mixes[d, 0], seed, moment, number[d], &name[begin[d]], &upto[threadid(), 0],
                    &out[place[begin[d]]])
