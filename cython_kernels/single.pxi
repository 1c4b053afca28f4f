# A program's phases, one vertex at a time.

cdef extern from "abi.h" nogil:
    ctypedef union gl_scalar:
        double f
        int64_t i
    ctypedef struct gl_view:
        int64_t superstep, num_masters, num_local, scatter_edges
        const int64_t *in_begin
        const int32_t *in_neighbor
        const int64_t *out_begin
        const int32_t *out_neighbor
        void *const *vertex
        void *total
        const void *incoming
        uint8_t *signalled
        void *message
        void *message_next
        int64_t *priority
    ctypedef struct gl_fault:
        int64_t code, vertex, site
    ctypedef int32_t (*gl_range_fn)(const gl_view *, const int32_t *, int64_t, int64_t,
                                    gl_scalar *, gl_fault *) noexcept


cdef class Single:
    """Runs a program's range functions on single vertices; after a fault, none any more."""

    cdef gl_view w
    cdef gl_fault fault
    cdef gl_range_fn f_gather, f_combine, f_apply, f_scatter, f_messages
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
        self.f_scatter = <gl_range_fn> <size_t> functions.get("gl_scatter_push", 0)
        self.f_messages = <gl_range_fn> <size_t> functions.get("gl_combine_messages", 0)
        self.total_size, self.message_size = total_size, len(identity)
        self.identity = self._identity
        self.rounds = np.zeros(max(self.w.num_local, 1), np.uint32)
        self.round_of = <uint32_t *> PyArray_DATA(<ndarray> self.rounds)

    def failure(self):
        """Return the first fault as (code, local vertex, site), None without one."""
        return (self.fault.code, self.fault.vertex, self.fault.site) if self.failed else None

    cdef void call(self, gl_range_fn function, int32_t v) noexcept nogil:
        if function is not NULL and not self.failed:
            self.failed = function(&self.w, &v, 0, 1, NULL, &self.fault)

    cdef void gather(self, int32_t v, char *total) noexcept nogil:
        self.w.superstep = self.round_of[v]
        self.w.total = total
        self.call(self.f_gather, v)

    cdef void add(self, char *total, const char *part) noexcept nogil:
        self.w.total = total
        self.w.incoming = part
        self.call(self.f_combine, 0)

    cdef void apply(self, int32_t v, char *total) noexcept nogil:
        self.w.superstep = self.round_of[v]
        self.w.total = total
        self.call(self.f_apply, v)
        if self.message_size:
            memcpy(self.message(v), self.identity, self.message_size)
        self.updates += 1
        self.round_of[v] += 1

    cdef void add_message(self, int32_t v) noexcept nogil:
        self.call(self.f_messages, v)
        self.w.signalled[v] = 0

    cdef char *message(self, int32_t v) noexcept nogil:
        return <char *> self.w.message + v * self.message_size

    cdef char *message_next(self, int32_t v) noexcept nogil:
        return <char *> self.w.message_next + v * self.message_size
