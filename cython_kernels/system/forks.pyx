"""Lets children of a fork compute after their parent has used threads; `forks.h` says how."""

cdef extern from "forks.h":
    int gl_handle_forks(int ending)


def handle(bint ending=True):
    """End OpenMP's threads before every fork from now on; without *ending*, give children one thread instead."""
    if gl_handle_forks(ending):
        raise MemoryError("there is no room for a handler of forks")
