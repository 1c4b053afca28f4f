"""The names of the strategies that gaslab brings; no numpy here, so that the command line's help is quick."""

from __future__ import annotations

NAMES = (
    "random", "1d", "1d-source", "2d", "dbh", "hybrid", "chunk", "hdrf", "2ps", "ne", "hep", "metis", "file",
    "auto",
)  # fmt: skip
# What cuts a graph where no strategy is named: `auto` of those that need no more than a pass over the edges.
DEFAULT = "auto:stateful=0"
