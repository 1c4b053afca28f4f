"""The names of the strategies that gaslab brings; no numpy here, so that the command line's help is quick."""

from __future__ import annotations

NAMES = ("random", "1d", "2d", "dbh", "chunk", "hdrf", "ne", "hep", "auto")
DEFAULT = "1d"
