"""METIS graphs from text: the lines of one block of bytes, each the neighbours of a vertex, by several threads.

A block holds whole lines, as in parser.pyx. `count` says how many vertices the lines of each run are of, so
that every run knows the number of its first vertex; `parse` then reads them. Every edge stands in the lists of
both its ends: sums over both halves of the listings say whether the halves are the same, in any order and on
any ranks.
"""

from cython.parallel cimport prange
from libc.math cimport isinf
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

import numpy as np

include "numbers.pxi"
include "runs.pxi"

cdef extern from "mix.h" nogil:
    uint64_t gl_mix(uint64_t z)

# What a run reports, by index; the names are the contract with gaslab.ingest.metis. *upper* and *lower* count
# the listings of a higher and of a lower vertex, *upper_sum* and *lower_sum* add up a hash of their edges.
COUNTERS = (
    "lines", "vertices", "comments", "edges", "upper", "lower", "self_loops", "upper_sum", "lower_sum", "rejected",
)
cdef enum:
    LINES, VERTICES, COMMENTS, EDGES, UPPER, LOWER, SELF_LOOPS, UPPER_SUM, LOWER_SUM, REJECTED, NUM_COUNTERS

cdef struct Shape:
    int64_t vertices          # ids are 1 to this
    int numbers               # in front of a vertex's neighbours: its size and weights
    int weighted              # 1: a number follows each neighbour
    int both                  # 1: keep all listings; 0: those of a higher vertex, and self-loops

cdef struct Run:
    int64_t *source
    int64_t *target
    int64_t *weight           # bits of int64 or, from `real` on, of float64
    int64_t **number          # the same for the numbers of vertices, from the run's first vertex on
    uint8_t *real             # [1 + numbers], 1 once a value was not an int64
    int64_t *counter
    int64_t *bad              # [KEPT_BAD, 5]: line, offset, length, problem, word of the line


cdef inline bint _ends(uint8_t c) noexcept nogil:
    """Whether a word ends before *c*."""
    return gl_blank(c) or c == 10 or c == 13


cdef inline const uint8_t *_line_end(const uint8_t *p) noexcept nogil:
    """Return the next line if the line ends at *p*, else NULL."""
    if p[0] == 10:
        return p + 1
    return p + 2 if p[0] == 13 and p[1] == 10 else NULL


cdef int _value(const uint8_t **at, int *kind, gl_number *number) noexcept nogil:
    """Read the number at *at* and move behind it and the blanks; return FINE, or what is wrong."""
    cdef const uint8_t *p = at[0]
    cdef gl_field token
    cdef int problem
    kind[0] = gl_read_number(p, number, &FIVES[0, 0])
    if (kind[0] == GL_INTEGER or kind[0] == GL_DOUBLE) and _ends(p[number.length]):
        at[0] = _past_blanks(p + number.length)
        return FINE
    token.at = p
    token.length = 0
    token.quoted = 0
    while not _ends(p[token.length]):
        token.length += 1
    problem = _number(&token, kind, number)
    at[0] = _past_blanks(p + token.length)
    return problem


cdef int _no_neighbour(const uint8_t *p) noexcept nogil:
    """Say why the word at *p* is no vertex: it is neither blank nor the line's end."""
    cdef int64_t i = 0
    if p[0] == 13:
        return CARRIAGE_RETURN
    while not _ends(p[i]):
        if p[i] < 48 or p[i] > 57:
            return NOT_INTEGER
        i += 1
    return OUTSIDE


cdef inline void _add(int64_t v, int64_t u, int kind, gl_number *number, Shape *shape, int64_t *counter) noexcept nogil:
    """Count the listing of *u* by *v* in the half that it belongs to."""
    cdef double value = 0.0
    cdef uint64_t bits, mark
    if u == v:
        counter[SELF_LOOPS] += 1
        return
    if shape.weighted:
        value = <double> number.integer if kind == GL_INTEGER else number.real
    memcpy(&bits, &value, 8)
    mark = gl_mix(gl_mix(<uint64_t> min(u, v) ^ gl_mix(bits)) + <uint64_t> max(u, v))
    if u > v:
        counter[UPPER] += 1
        counter[UPPER_SUM] = <int64_t> (<uint64_t> counter[UPPER_SUM] + mark)
    else:
        counter[LOWER] += 1
        counter[LOWER_SUM] = <int64_t> (<uint64_t> counter[LOWER_SUM] + mark)


cdef int _line(
    const uint8_t **at, int64_t vertex, int64_t row, Shape *shape, Run *run, int *word
) noexcept nogil:
    """Read the line of *vertex* (from 1) at *at*, which is moved on; return FINE, or what is wrong at which word."""
    cdef const uint8_t *p = at[0]
    cdef const uint8_t *end
    cdef gl_number number
    cdef uint64_t neighbour
    cdef int64_t count, edge
    cdef int k, kind = 0, problem
    word[0] = 0
    for k in range(shape.numbers):
        word[0] = k
        if _line_end(p) != NULL:
            return NO_NUMBER
        problem = _value(&p, &kind, &number)
        if problem != FINE:
            return problem
        _store(run.number[k], row, &run.real[1 + k], kind, &number)
    word[0] = shape.numbers
    while True:
        end = _line_end(p)
        if end != NULL:
            at[0] = end
            return FINE
        count = gl_read_digits(p, &neighbour)
        if count == 0 or count > 18 or not _ends(p[count]):
            return _no_neighbour(p)
        if neighbour < 1 or <int64_t> neighbour > shape.vertices:
            return OUTSIDE
        p = _past_blanks(p + count)
        if shape.weighted:
            word[0] += 1
            if _line_end(p) != NULL:
                return NO_WEIGHT
            problem = _value(&p, &kind, &number)
            if problem != FINE:
                return problem
        word[0] += 1
        _add(vertex, <int64_t> neighbour, kind, &number, shape, run.counter)
        if <int64_t> neighbour >= vertex or shape.both:
            edge = run.counter[EDGES]
            run.source[edge] = vertex - 1
            run.target[edge] = <int64_t> neighbour - 1
            if shape.weighted:
                _store(run.weight, edge, &run.real[0], kind, &number)
            run.counter[EDGES] = edge + 1


cdef void _parse_run(
    const uint8_t *text, int64_t lo, int64_t hi, int64_t vertex, Shape *shape, Run *run, int64_t *report
) noexcept nogil:
    """Read the lines of ``text[lo:hi]``; *vertex* (from 0) is the first of them."""
    cdef int64_t counter[NUM_COUNTERS]           # on the stack: neighbours' counters share cache lines
    cdef const uint8_t *p = text + lo
    cdef const uint8_t *stop = text + hi
    cdef const uint8_t *begin
    cdef int64_t row
    cdef int problem, word = 0, i
    for i in range(NUM_COUNTERS):
        counter[i] = 0
    run.counter = counter
    while p < stop:
        counter[LINES] += 1
        begin = p
        p = _past_blanks(p)
        if p[0] == 37:
            counter[COMMENTS] += 1
            p = <const uint8_t *> memchr(p, 10, stop - p) + 1
            continue
        row = counter[VERTICES]
        counter[VERTICES] += 1
        if vertex + row < shape.vertices:
            problem = _line(&p, vertex + row + 1, row, shape, run, &word)
        elif _line_end(p) != NULL:               # blank lines may follow the last vertex
            p = _line_end(p)
            continue
        else:
            problem = EXTRA_LINE
        if problem != FINE:
            p = <const uint8_t *> memchr(begin, 10, stop - begin) + 1
            _note_bad(
                run.bad, counter[REJECTED], counter[LINES] - 1, begin - text, p - 1 - begin, problem, word
            )
            counter[REJECTED] += 1
    for i in range(NUM_COUNTERS):
        report[i] = counter[i]


def count(const uint8_t[::1] text, const int64_t[::1] bounds):
    """Return how many lines of each run of a block are not comments: vertices, int64[runs]."""
    cdef int runs = bounds.shape[0] - 1, t
    _check(text, bounds)
    found_array = np.zeros(runs, dtype=np.int64)
    cdef int64_t[::1] found = found_array
    for t in prange(runs, nogil=True, schedule="static", num_threads=runs):
        found[t] = _count_run(&text[0] + bounds[t], &text[0] + bounds[t + 1])
    return found_array


cdef int64_t _count_run(const uint8_t *p, const uint8_t *stop) noexcept nogil:
    cdef int64_t vertices = 0
    while p < stop:
        vertices += _past_blanks(p)[0] != 37
        p = <const uint8_t *> memchr(p, 10, stop - p) + 1
    return vertices


def parse(
    const uint8_t[::1] text, const int64_t[::1] bounds, const int64_t[::1] first, int64_t vertices, int numbers,
    bint weighted, bint both, int64_t[::1] source, int64_t[::1] target, int64_t[::1] weight, tuple columns,
):
    """Read the runs of a block; the first vertex of run t is ``first[t]``, from 0.

    *vertices* is how many the graph has; each line begins with so many *numbers* of its vertex, and with
    *weighted* a number follows each neighbour. With *both* every listing is an edge from the line's vertex, else
    those of a higher vertex and of itself are. Edges of run t go to positions ``(bounds[t] - bounds[0]) // 2``
    onwards of *source*, *target* and, if weighted, *weight*, which hold half as many as the block has bytes;
    numbers of vertex v go to position ``v - first[0]`` of *columns* (int64 arrays of bits, as *weight*).

    Returns (counters int64[runs, len(COUNTERS)], bad int64[runs, KEPT_BAD, 5] as (line, offset, length, problem,
    word), real uint8[runs, 1 + numbers], of weights and columns).
    """
    cdef int runs = bounds.shape[0] - 1, t
    _check(text, bounds)
    if source.shape[0] < (bounds[runs] - bounds[0]) // 2 or target.shape[0] < source.shape[0]:
        raise ValueError("no room for the edges of the block")
    if weighted and weight.shape[0] < source.shape[0] or len(columns) != numbers:
        raise ValueError("no room for the numbers of the block")
    counters_array, bad_array, real_array = _reports(runs, NUM_COUNTERS, 1 + numbers)
    cdef int64_t[:, ::1] counters = counters_array, pointers = _places(columns, first, first[0])
    cdef int64_t[:, :, ::1] bad = bad_array
    cdef uint8_t[:, ::1] real = real_array
    cdef Shape shape
    shape.vertices = vertices
    shape.numbers = numbers
    shape.weighted = weighted
    shape.both = both
    for t in prange(runs, nogil=True, schedule="static", num_threads=runs):
        _one_run(text, bounds, first, &shape, source, target, weight, pointers, counters, bad, real, t)
    return counters_array, bad_array, real_array


cdef void _one_run(
    const uint8_t[::1] text, const int64_t[::1] bounds, const int64_t[::1] first, Shape *shape,
    int64_t[::1] source, int64_t[::1] target, int64_t[::1] weight, int64_t[:, ::1] pointers,
    int64_t[:, ::1] counters, int64_t[:, :, ::1] bad, uint8_t[:, ::1] real, int t,
) noexcept nogil:
    cdef Run run
    cdef int64_t place = (bounds[t] - bounds[0]) // 2
    if bounds[t] == bounds[t + 1]:
        return
    run.source = &source[0] + place
    run.target = &target[0] + place
    run.weight = &weight[0] + place if shape.weighted else NULL
    run.number = <int64_t **> &pointers[t, 0]
    run.real = &real[t, 0]
    run.bad = &bad[t, 0, 0]
    _parse_run(&text[0], bounds[t], bounds[t + 1], first[t], shape, &run, &counters[t, 0])


def _check(const uint8_t[::1] text, const int64_t[::1] bounds):
    cdef int64_t begin = bounds[0], end = bounds[bounds.shape[0] - 1]
    if begin < 0 or end < begin or end + PADDING > text.shape[0] or (end > begin and text[end - 1] != 10):
        raise ValueError(f"[{begin}, {end}) is not whole lines with {PADDING} bytes of padding behind them")
