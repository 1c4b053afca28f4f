# A program's phases, on lists of vertices.

include "abi.pxi"


cdef class Program:
    """Runs a program's range functions on lists of vertices; after a fault it runs none."""

    cdef gl_view w
    cdef gl_fault fault
    cdef gl_range_fn f_gather, f_combine, f_apply, f_gather_apply, f_scatter, f_messages
    cdef int failed
    cdef size_t total_size, message_size
    cdef readonly int64_t updates
    cdef readonly object rounds  # how often each replica ran, uint32 by local id
    cdef uint32_t *round_of
    cdef const char *identity
    cdef object _view, _identity

    def __init__(self, view, functions, size_t total_size, identity):
        self._view, self._identity = view, bytes(identity)
        self.w = (<gl_view *> <size_t> view.address)[0]
        self.f_gather = <gl_range_fn> <size_t> functions.get("gl_gather", 0)
        self.f_combine = <gl_range_fn> <size_t> functions.get("gl_combine", 0)
        self.f_apply = <gl_range_fn> <size_t> functions.get("gl_apply", 0)
        self.f_gather_apply = <gl_range_fn> <size_t> functions.get("gl_gather_apply", 0)
        self.f_scatter = <gl_range_fn> <size_t> functions.get("gl_scatter_push", 0)
        self.f_messages = <gl_range_fn> <size_t> functions.get("gl_combine_messages", 0)
        self.total_size, self.message_size = total_size, len(identity)
        self.identity = self._identity
        self.rounds = np.zeros(max(self.w.num_local, 1), np.uint32)
        self.round_of = <uint32_t *> PyArray_DATA(<ndarray> self.rounds)

    def failure(self):
        """Return the first fault as (code, local vertex, site), None without one."""
        return (self.fault.code, self.fault.vertex, self.fault.site) if self.failed else None

    cdef void call(self, gl_range_fn function, const int32_t *ids, int64_t n) noexcept nogil:
        if function is not NULL and n and not self.failed:
            self.failed = function(&self.w, ids, 0, n, NULL, &self.fault)

    cdef void gather(self, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        """Gather over the edges here into *totals*, in the order of *ids*."""
        self.w.superstep = self.round_of[ids[0]]
        self.w.total = totals
        self.call(self.f_gather, ids, n)

    cdef void add(self, char *totals, const char *parts, int32_t n) noexcept nogil:
        """Combine *n* totals with as many parts."""
        self.w.total = totals
        self.w.incoming = parts
        if self.f_combine is not NULL and not self.failed:
            self.failed = self.f_combine(&self.w, NULL, 0, n, NULL, &self.fault)

    cdef void apply(self, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        """Apply, and reset the messages; without *totals* gather and apply vertex by vertex."""
        cdef int64_t i
        self.w.superstep = self.round_of[ids[0]]
        self.w.total = totals
        self.call(self.f_apply if totals is not NULL else self.f_gather_apply, ids, n)
        for i in range(n):
            self.round_of[ids[i]] += 1
            if self.message_size:
                memcpy(self.message(ids[i]), self.identity, self.message_size)
        self.updates += n

    cdef void hear_themselves(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Combine the messages that apply at these vertices sent to themselves into their messages."""
        cdef int64_t i
        cdef char *sent
        if not self.message_size or self.w.message_next == self.w.message:
            return
        for i in range(n):
            sent = <char *> self.w.message_next + ids[i] * self.message_size
            if memcmp(sent, self.identity, self.message_size):
                self.hear(ids[i], sent)
                memcpy(sent, self.identity, self.message_size)

    cdef void scatter(self, const int32_t *ids, int64_t n) noexcept nogil:
        self.w.superstep = self.round_of[ids[0]] - 1
        self.call(self.f_scatter, ids, n)

    cdef void hear(self, int32_t v, const char *message) noexcept nogil:
        """Combine a message into v's, and signal v."""
        self.w.incoming = message
        self.call(self.f_messages, &v, 1)

    cdef void signal(self, int32_t v) noexcept nogil:
        self.w.signalled[v] = 1
        self.w.signal_blocks[v >> GL_SIGNAL_BLOCK] = 1

    cdef char *message(self, int32_t v) noexcept nogil:
        return <char *> self.w.message + v * self.message_size
