"""The names of gaslab's strategies, for what goes through all of them."""

from __future__ import annotations

from importlib.util import find_spec

from gaslab.partitioning.names import NAMES

PACKAGES = {"metis": "pymetis"}  # what a strategy needs to have been installed
STRATEGIES = tuple(name for name in NAMES if name not in (*PACKAGES, "file"))  # that need nothing
LACKING = tuple(name for name, package in PACKAGES.items() if find_spec(package) is None)
COMPARED = tuple(name for name in NAMES if name not in (*LACKING, "file", "auto"))  # by `gaslab partition`
