"""Vertex programs beside the same loops written by hand in C: see `benchmarks.twins.__main__`."""
