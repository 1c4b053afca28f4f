# The first statement of a kernel that may run long; the interpreter's lock is still held there.

from cpython.exc cimport PyErr_CheckSignals


cdef inline int enter(int32_t *stop) except -1:
    """From now on SIGINT is left to `stop[0]` (interrupt.h); raises for one that came just before.

    A signal that Python has noted and not raised yet would be raised when the kernel returns, which may be never.
    """
    stop[1] = 1
    if PyErr_CheckSignals() < 0:
        stop[1] = 0
        return -1
    return 0
