"""The exit codes of the command line."""

DONE, FAILED, USAGE, NOT_CONVERGED, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 124, 130
