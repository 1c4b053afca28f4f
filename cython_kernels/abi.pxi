# Declares abi.h: what kernels use of it.

cdef extern from "abi.h" nogil:
    enum: GL_ABI_VERSION
    enum: GL_SIGNAL_BLOCK
    enum: GL_FAULT_TIMEOUT
    enum: GL_FAULT_INTERRUPT
    ctypedef union gl_scalar:
        double f
        int64_t i
    ctypedef struct gl_scratch:
        void *work
    ctypedef struct gl_outbox:
        char *records
        int64_t count, room, size
        int32_t (*grow)(gl_outbox *) noexcept
    ctypedef struct gl_view:
        int64_t superstep, num_masters, num_local, gather_edges, scatter_edges, concurrent, all_active
        const int64_t *in_begin
        const int32_t *in_neighbor
        const int64_t *out_begin
        const int32_t *out_neighbor
        void *const *vertex
        void *const *vertex_next
        void *total
        const void *incoming
        uint8_t *signalled
        uint8_t *signal_blocks
        void *message
        void *message_next
        int64_t *priority
        void *cache
        uint8_t *cached
        const uint8_t *changed
        int32_t *stop
        const gl_scratch *scratch
        gl_outbox *outbox
    ctypedef struct gl_fault:
        int64_t code, vertex, site
    ctypedef int32_t (*gl_range_fn)(const gl_view *, const int32_t *, int64_t, int64_t,
                                    gl_scalar *, gl_fault *) noexcept
