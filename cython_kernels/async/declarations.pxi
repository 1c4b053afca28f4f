# Declares scheduler.h, pace.h and scope_locks.h: which vertices are next, and which may begin.

cdef extern from "scheduler.h" nogil:
    int64_t GL_NEVER
    ctypedef struct gl_buckets:
        pass
    ctypedef struct gl_scheduler:
        int64_t kind, size, at, round, waiting, bucket, least, ceiling
        uint8_t *flags
        uint8_t *blocks
        uint8_t *waits
        int32_t *line
        int32_t *found
        gl_buckets *buckets
        uint64_t random
    bint gl_between_rounds(const gl_scheduler *)
    void gl_mark_waiting(const gl_scheduler *, uint8_t *)
    bint gl_mostly_taken(const gl_scheduler *)
    int64_t gl_front(gl_scheduler *)
    int64_t gl_take(gl_scheduler *, int64_t, int32_t *)
    int64_t gl_waiting(const gl_scheduler *)
    int64_t gl_take_flagged(uint8_t *, uint8_t *, int64_t *, int64_t, int64_t, int32_t *)

cdef extern from "pace.h" nogil:
    int32_t GL_NOT_COUNTING, GL_NOT_SENT
    ctypedef struct gl_pace:
        int32_t rank, ranks, round
        int32_t *done
        int64_t *front
        const uint8_t *rivals
    bint gl_end_round(gl_pace *)
    bint gl_stop_counting(gl_pace *)
    bint gl_in_pace(const gl_pace *)
    bint gl_begin_round(gl_pace *)
    bint gl_set_front(gl_pace *, int64_t)
    int64_t gl_ceiling(const gl_pace *)
    bint gl_stand_in_line(gl_pace *)
    bint gl_in_turn(const gl_pace *)

cdef extern from "scope_locks.h" nogil:
    enum:
        GL_HOLDS
    ctypedef struct gl_scopes:
        int64_t masters
        const int64_t *in_begin
        const int64_t *out_begin
        const int32_t *in_neighbor
        const int32_t *out_neighbor
        uint8_t max_bypass
        uint8_t *state
        uint8_t *passed
        uint8_t *counted
        int32_t *blocked
        int32_t *granted
        int64_t granted_count, asked, waited, requests, waits
        int64_t *locked_at
        int64_t began
        int64_t *events
        size_t events_length
    int gl_alone(gl_scopes *, int32_t)
    void gl_begin(gl_scopes *)
    void gl_note(gl_scopes *, int32_t, int64_t)
    int gl_try(gl_scopes *, int32_t)
    int gl_request(gl_scopes *, int32_t)
    void gl_give_back(gl_scopes *, int32_t)
    void gl_release(gl_scopes *, int32_t)
