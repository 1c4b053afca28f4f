# What the runs of a block of lines report: counters, bad lines, and which columns have reals.

PADDING = 64
KEPT_BAD = KEPT               # bad lines remembered per run: enough to show the first and a few more

cdef enum:
    KEPT = 4


cdef inline const uint8_t *_past_blanks(const uint8_t *p) noexcept nogil:
    while gl_blank(p[0]):
        p += 1
    return p


cdef void _note_bad(
    int64_t *bad, int64_t rejected, int64_t line, int64_t offset, int64_t length, int problem, int field
) noexcept nogil:
    """Remember a bad line, behind the *rejected* ones before it, if there is room."""
    if rejected < KEPT:
        bad += 5 * rejected
        bad[0], bad[1], bad[2], bad[3], bad[4] = line, offset, length, problem, field


def _reports(int runs, int counters, int columns):
    """Return (counters, int64[runs, counters]; bad lines, int64[runs, KEPT, 5]; reals, uint8[runs, columns])."""
    bad = np.zeros((runs, KEPT, 5), dtype=np.int64)
    return np.zeros((runs, counters), dtype=np.int64), bad, np.zeros((runs, columns), dtype=np.uint8)


def _places(tuple columns, const int64_t[::1] first, int64_t origin):
    """Return the address of each run's first value of each column (int64 arrays), int64[runs, columns]."""
    cdef int runs = first.shape[0], t, k
    cdef int64_t[::1] column
    place_array = np.zeros((runs, max(len(columns), 1)), dtype=np.int64)
    cdef int64_t[:, ::1] place = place_array
    for k in range(len(columns)):
        column = columns[k]
        for t in range(runs):
            place[t, k] = <int64_t> &column[0] + 8 * (first[t] - origin) if column.shape[0] else 0
    return place_array
