"""The built-in programs, the examples and the benchmarks."""
