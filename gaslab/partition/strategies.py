"""Vertex-cut strategies: which part each edge goes to.

A *stateless* strategy is a function of an edge's ends; a *stateful* one remembers where it put the edges
before. Register either kind with `strategy`; one that ships is named in `names`, too.
"""

from __future__ import annotations

import gaslab.partition.hashes
import gaslab.partition.hdrf  # noqa: F401 - each registers its strategies
from gaslab.partition.context import Context as Context
from gaslab.partition.names import DEFAULT as DEFAULT
from gaslab.partition.names import NAMES
from gaslab.partition.registry import STRATEGIES as STRATEGIES
from gaslab.partition.registry import Strategy as Strategy
from gaslab.partition.registry import find as find
from gaslab.partition.registry import strategy as strategy
from gaslab.partition.stateful import Block as Block
from gaslab.partition.stateful import Stateful as Stateful
from gaslab.partition.stateful import Stream as Stream

assert tuple(STRATEGIES) == NAMES, "gaslab/partition/names.py names each strategy that ships, in this order"
SHIPPED = dict(STRATEGIES)  # these return what they should: tests hold them to it


def is_shipped(name: str) -> bool:
    """Return whether a strategy, with options or without, is one of gaslab's own."""
    known = name.partition(":")[0]
    return known in SHIPPED and STRATEGIES[known] is SHIPPED[known]
