"""Writes a line to standard error where a call that keeps Python's lock takes long; `reminder.h` says how."""

cdef extern from "reminder.h" nogil:
    ctypedef struct gl_reminder:
        pass
    int gl_remind(gl_reminder *, double, const char *)
    void gl_cancel(gl_reminder *)


cdef class Reminder:
    """Writes *line* after so many whole *seconds*, unless `cancel` is called before."""

    cdef gl_reminder clock
    cdef bytes line
    cdef bint waits

    def __init__(self, double seconds, bytes line):
        self.line = line
        self.waits = gl_remind(&self.clock, seconds, self.line) == 0  # where no thread can be made, no reminder

    def cancel(self):
        """Write nothing from now on; may be called twice."""
        if self.waits:
            self.waits = False
            with nogil:
                gl_cancel(&self.clock)

    def __dealloc__(self):
        if self.waits:
            gl_cancel(&self.clock)
