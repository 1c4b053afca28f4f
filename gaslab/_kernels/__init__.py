"""Compiled loops, one module per file of ``cython_kernels/``."""
