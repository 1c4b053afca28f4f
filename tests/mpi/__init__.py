"""Tests on several ranks: one ``mpiexec`` per number of ranks serves a whole pytest session.

`launcher` knows how to start ranks under each MPI, `host` is what every rank runs, `ranks` is the
side of pytest: it sends a function to all ranks, collects what each returned, ends hangs.
"""
