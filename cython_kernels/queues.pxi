# Who runs next, and who may: scheduler.h and scopes.h.

cdef extern from "scheduler.h" nogil:
    enum: GL_BUCKETS
    ctypedef struct gl_scheduler:
        int64_t kind, size, waiting, base, cursor
        int32_t *place
        int32_t *next
        int32_t *previous
        int32_t *head
        int32_t *tail
        uint64_t *bits
        const int64_t *priority
        uint64_t random
    void gl_schedule(gl_scheduler *, int32_t)
    int32_t gl_take(gl_scheduler *)

cdef extern from "scopes.h" nogil:
    ctypedef struct gl_scopes:
        const int64_t *in_begin
        const int64_t *out_begin
        const int32_t *in_neighbor
        const int32_t *out_neighbor
        uint8_t *state
        uint8_t *passed
        int32_t *blocked
        int32_t *granted
        int64_t granted_count, asked, waited, requests, waits
        int64_t *locked_at
        int64_t *events
        size_t events_length
    int gl_request(gl_scopes *, int32_t, int)
    void gl_release(gl_scopes *, int32_t)
