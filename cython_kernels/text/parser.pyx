"""Edge lists from text: counts and parses the lines of one block of bytes, several threads at once.

A block holds whole lines, the last one ended by a newline too, and PADDING bytes more that may be
read but mean nothing. `split` cuts it at line starts into one run per thread and counts each run's
lines, so that every run knows where its edges go; `parse` then fills them in. A line that is plainly
``digits sep digits [sep number]*`` takes the fast path (`_quick`); every other line takes the slow one
(`_careful`), which alone defines what a line means. Tests compare the two.
"""

from cython.parallel cimport prange
from libc.math cimport isinf
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

import numpy as np

include "numbers.pxi"
include "runs.pxi"

cdef extern from "text.h" nogil:
    int64_t gl_count_lines(const uint8_t *p, int64_t length)

cdef extern from "fields.h" nogil:
    int gl_split_blanks(const uint8_t *p, const uint8_t *end, int quotes, gl_field *field, int most)
    int gl_split_delimiter(
        const uint8_t *p, const uint8_t *end, uint8_t delimiter, int width, gl_field *field, int most
    )
    bint gl_is_utf8(const uint8_t *p, int64_t length)

cdef extern from "names.h" nogil:
    ctypedef struct gl_names:
        uint8_t *arena
        int64_t *start
        uint64_t *slot
        int64_t mask
        int64_t count
    int64_t gl_intern(gl_names *names, const uint8_t *text, int64_t length)

MAX_FIELDS = FIELDS
TWICE = REPEATED              # added to the byte of a delimiter of two such bytes

# What a run reports, by index; the names are the contract with gaslab.ingest.text.
COUNTERS = (
    "lines", "edges", "comments", "blanks", "headers", "rejected", "self_loops", "largest", "least", "leading_zero",
)
cdef enum:
    LINES, EDGES, COMMENTS, BLANKS, HEADERS, REJECTED, SELF_LOOPS, LARGEST, LEAST, LEADING_ZERO, NUM_COUNTERS

cdef enum:                    # roles of a field; a column k has role k
    SOURCE = -1
    TARGET = -2
    CHECKED = -3              # a number that is not kept
    IGNORED = -4
    TEXT = -5                 # not kept, and no number

cdef enum:
    FIELDS = 256
    REPEATED = 256

include "edge_line.pxi"


cdef void _parse_run(
    const uint8_t *text, int64_t lo, int64_t hi, int64_t header, Dialect *dialect, Run *run, int64_t *report
) noexcept nogil:
    cdef int64_t counter[NUM_COUNTERS]           # on the stack: neighbours' counters share cache lines
    cdef const uint8_t *p = text + lo
    cdef const uint8_t *stop = text + hi
    cdef const uint8_t *end
    cdef const uint8_t *first
    cdef int problem, field = 0, i
    for i in range(NUM_COUNTERS):
        counter[i] = 0
    counter[LARGEST] = -1
    run.counter = counter
    while p < stop:
        counter[LINES] += 1
        if dialect.plain and p - text > header:
            end = _quick(p, dialect, run)
            if end != NULL:
                p = end
                continue
        end = <const uint8_t *> memchr(p, 10, stop - p)
        first = _past_blanks(p)
        if first == end or (first[0] == 13 and first + 1 == end):
            counter[BLANKS] += 1
        elif dialect.comment[first[0]]:
            counter[COMMENTS] += 1
        elif p - text == header or (dialect.head and p - text < header):
            counter[HEADERS] += 1
        else:
            problem = _careful(p, end - 1 if (end - 1)[0] == 13 else end, dialect, run, &field)
            if problem != FINE:
                _note_bad(run.bad, counter[REJECTED], counter[LINES] - 1, p - text, end - p, problem, field)
                counter[REJECTED] += 1
        p = end + 1
    for i in range(NUM_COUNTERS):
        report[i] = counter[i]


def split(const uint8_t[::1] text, int64_t begin, int64_t end, int runs):
    """Cut ``text[begin:end]`` (whole lines) at line starts into *runs* runs.

    Returns (bounds, int64[runs + 1]; lines in each run, int64[runs]).
    """
    _check_block(text, begin, end)
    bounds_array = np.empty(runs + 1, dtype=np.int64)
    lines_array = np.zeros(runs, dtype=np.int64)
    cdef int64_t[::1] bounds = bounds_array, lines = lines_array
    cdef const uint8_t *p = &text[0]
    cdef int64_t at
    cdef int t
    bounds[0] = begin
    bounds[runs] = end
    for t in range(1, runs):
        at = max(bounds[t - 1], begin + (end - begin) * t // runs)
        if at > begin and at < end:
            at = <const uint8_t *> memchr(p + at - 1, 10, end - at + 1) - p + 1
        bounds[t] = at
    for t in prange(runs, nogil=True, schedule="static", num_threads=runs):
        lines[t] = gl_count_lines(p + bounds[t], bounds[t + 1] - bounds[t])
    return bounds_array, lines_array


def parse(
    const uint8_t[::1] text, const int64_t[::1] bounds, const int64_t[::1] first, int64_t header,
    int delimiter, const uint8_t[::1] comment, bint strings, const int32_t[::1] role,
    int64_t[::1] source, int64_t[::1] target, tuple columns, const int64_t[:, ::1] names, bint head=False,
):
    """Parse the runs of a block; run t's edges go to positions ``first[t]`` onwards.

    *delimiter* is a byte, TWICE more if it stands twice between fields, or 0 for runs of blanks. *header* is
    the offset of a line to leave out, or -1; with *head* all lines above it are left out too.
    *role* gives each field's use: -1 source, -2 target, -3 a number that is not kept, -4 not looked at, -5 text
    that is not kept, k >= 0 ``columns[k]`` (int64 arrays; their values are the bits of int64, or of float64 in
    the runs marked in *real*). With *strings*, ``names[t]`` describes run t's name table
    (`gaslab.ingest.names.NameTable.describe`) and ends are indices into it.

    Returns (counters int64[runs, len(COUNTERS)], where *largest* is the size of a run's name table if there
    are any, and *least* is 0 or a negative id, bad int64[runs, KEPT_BAD, 5] as (line, offset,
    length, problem, field), real uint8[runs, columns]).
    """
    cdef int runs = bounds.shape[0] - 1, num_columns = len(columns), t, k
    _check_block(text, bounds[0], bounds[runs])
    if role.shape[0] > FIELDS:
        raise ValueError(f"at most {FIELDS} fields, not {role.shape[0]}")
    counters_array, bad_array, real_array = _reports(runs, NUM_COUNTERS, max(num_columns, 1))
    cdef int64_t[:, ::1] counters = counters_array, pointers = _places(columns, first, 0)
    cdef int64_t[:, :, ::1] bad = bad_array
    cdef uint8_t[:, ::1] real = real_array
    cdef Dialect dialect
    dialect.delimiter = delimiter % REPEATED
    dialect.width = 2 if delimiter >= REPEATED else 1
    dialect.comment = &comment[0]
    dialect.strings = strings
    dialect.head = head
    dialect.num_fields = role.shape[0]
    dialect.role = &role[0]
    dialect.plain = not strings and role[0] == SOURCE and role[1] == TARGET
    for k in range(48, 58):
        dialect.plain &= not comment[k]
    for t in prange(runs, nogil=True, schedule="static", num_threads=runs):
        _one_run(text, bounds, first, header, &dialect, source, target, pointers, names, counters, bad, real, t)
    return counters_array, bad_array, real_array[:, :num_columns]


cdef void _one_run(
    const uint8_t[::1] text, const int64_t[::1] bounds, const int64_t[::1] first, int64_t header, Dialect *dialect,
    int64_t[::1] source, int64_t[::1] target, int64_t[:, ::1] pointers, const int64_t[:, ::1] names,
    int64_t[:, ::1] counters, int64_t[:, :, ::1] bad, uint8_t[:, ::1] real, int t,
) noexcept nogil:
    cdef Run run
    cdef gl_names table
    if bounds[t] == bounds[t + 1]:
        counters[t, LARGEST] = names[t, 4] if dialect.strings else -1
        return
    run.source = &source[0] + first[t]
    run.target = &target[0] + first[t]
    run.column = <int64_t **> &pointers[t, 0]
    run.real = &real[t, 0]
    run.bad = &bad[t, 0, 0]
    run.names = &table
    if dialect.strings:
        table.arena = <uint8_t *> names[t, 0]
        table.start = <int64_t *> names[t, 1]
        table.slot = <uint64_t *> names[t, 2]
        table.mask = names[t, 3]
        table.count = names[t, 4]
    _parse_run(&text[0], bounds[t], bounds[t + 1], header, dialect, &run, &counters[t, 0])
    if dialect.strings:
        counters[t, LARGEST] = table.count


def _check_block(const uint8_t[::1] text, int64_t begin, int64_t end):
    if begin < 0 or end < begin or end + PADDING > text.shape[0]:
        raise ValueError(f"[{begin}, {end}) with {PADDING} bytes of padding is not inside {text.shape[0]} bytes")
    if end > begin and text[end - 1] != 10:
        raise ValueError("the block does not end with a newline")


def number_problem(bytes text):
    """Return which of PROBLEMS a field has as a number, "fine" for one that `parse` keeps in a column."""
    cdef gl_field token
    cdef gl_number number
    cdef int kind
    cdef bytes padded = text + b"\n" + bytes(PADDING)
    token.at = padded
    token.length = len(text)
    token.quoted = 0
    return PROBLEMS[_number(&token, &kind, &number)]


def is_number(bytes text):
    """Whether a field is written as a number; nan and what float64 does not hold count as such."""
    return number_problem(text) in ("fine", "nan", "out_of_range")


def fields(bytes line, int delimiter):
    """Return the fields of one line (without its line end) as bytes, or None for bad quotes."""
    cdef gl_field token[FIELDS]
    cdef bytes padded = line + b"\n" + bytes(PADDING)
    cdef const uint8_t *p = padded
    cdef int n, k
    if delimiter == 0:
        n = gl_split_blanks(p, p + len(line), True, token, FIELDS)
    else:
        n = gl_split_delimiter(
            p, p + len(line), <uint8_t> (delimiter % REPEATED), 2 if delimiter >= REPEATED else 1, token, FIELDS
        )
    if n < 0:
        return None
    found = []
    for k in range(min(n, FIELDS)):
        field = (<const char *> token[k].at)[:token[k].length]
        found.append(field.replace(b'""', b'"') if token[k].quoted == 2 else field)
    return found
