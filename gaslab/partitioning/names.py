"""The names of gaslab's strategies; no numpy here, so that the command line's help is fast."""

from __future__ import annotations

NAMES = (
    "random", "1d", "1d-source", "2d", "dbh", "hybrid", "chunk", "hdrf", "2ps", "ne", "hep", "metis", "file",
    "auto",
)  # fmt: skip
# The default strategy: `auto` among those that need at most one pass over the edges.
DEFAULT = "auto:stateful=0"
