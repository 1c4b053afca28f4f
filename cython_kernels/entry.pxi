# The first statement of a kernel that may run long; the interpreter's lock is still held there.

from cpython.exc cimport PyErr_CheckSignals


cdef extern from *:
    """
    static inline void gl_begin_kernel(int32_t *stop) { __atomic_store_n(&stop[1], 1, __ATOMIC_SEQ_CST); }
    """
    void gl_begin_kernel(int32_t *) nogil


cdef inline int enter(int32_t *stop) except -1:
    """From now on SIGINT is left in `stop[0]` (interrupt.h); raises for one that came just before.

    A signal that Python has noted and not raised yet would be raised when the kernel returns, which may be never.
    """
    gl_begin_kernel(stop)  # before Python is asked: a handler on another thread looks here last
    if PyErr_CheckSignals() < 0:
        stop[1] = 0
        return -1
    return 0
