"""Vertex-cut strategies: the part of each edge.

A *stateless* strategy is a function of an edge's ends; a *stateful* one remembers where it put earlier edges.
Register either kind with `strategy`; gaslab's own are also listed in `names`.
"""

from __future__ import annotations

from gaslab.partitioning.context import Context as Context
from gaslab.partitioning.context import Strategy as Strategy
from gaslab.partitioning.names import DEFAULT as DEFAULT
from gaslab.partitioning.names import NAMES
from gaslab.partitioning.registry import STRATEGIES as STRATEGIES
from gaslab.partitioning.registry import find as find
from gaslab.partitioning.registry import needs_options as needs_options
from gaslab.partitioning.registry import strategy as strategy
from gaslab.partitioning.registry import with_passes as with_passes
from gaslab.partitioning.stateful import Block as Block
from gaslab.partitioning.stateful import Stateful as Stateful
from gaslab.partitioning.stateful import Stream as Stream
from gaslab.partitioning.strategies import auto as auto
from gaslab.partitioning.strategies import hashes as hashes
from gaslab.partitioning.strategies import hdrf as hdrf
from gaslab.partitioning.strategies import metis as metis
from gaslab.partitioning.strategies import neighborhood as neighborhood
from gaslab.partitioning.strategies import saved as saved
from gaslab.partitioning.strategies import two_phase as two_phase

assert {*STRATEGIES} == {*NAMES}, "names.py names each strategy that ships"
for name in NAMES:
    STRATEGIES[name] = STRATEGIES.pop(name)  # in that order
SHIPPED = dict(STRATEGIES)  # these return valid parts, as tests check


def is_shipped(name: str) -> bool:
    """Return whether a strategy, with or without options, is gaslab's own."""
    known = name.partition(":")[0]
    return known in SHIPPED and STRATEGIES[known] is SHIPPED[known]
