"""Ends kernels on the main thread at Ctrl-C; `interrupt.h` says how."""

from libc.stdint cimport int32_t

cdef extern from "interrupt.h" nogil:
    ctypedef struct gl_listener:
        int32_t *stop
    void gl_listen(gl_listener *)
    void gl_leave(gl_listener *)


cdef class Listener:
    """Ends a run at SIGINT, from `listen` to `leave`; runs may be nested, as calls are.

    *stop* is the int32[2] that the run's views have as ``stop``.
    """

    cdef int32_t[::1] stop
    cdef gl_listener run
    cdef bint listening

    def __init__(self, int32_t[::1] stop):
        self.stop = stop

    def listen(self):
        """Install the handler of SIGINT; to be called on the main thread."""
        self.run.stop = &self.stop[0]
        gl_listen(&self.run)
        self.listening = True

    def leave(self):
        """Put the former handler back."""
        if self.listening:
            self.listening = False
            gl_leave(&self.run)

    def __dealloc__(self):  # an exception came between `listen` and the block that would leave
        if self.listening:  # its traceback may have kept this until within a later run
            gl_leave(&self.run)
