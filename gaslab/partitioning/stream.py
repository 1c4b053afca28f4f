"""The steps of a stateful strategy: edges to pairs, pairs in rounds to parts, parts back to the edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gaslab.partitioning.answer import checked_parts
from gaslab.partitioning.context import Context
from gaslab.partitioning.gathering import make_room
from gaslab.partitioning.pairs import Degrees, Pairs, few
from gaslab.partitioning.stateful import Block, Stateful, Stream, cap, check_parts


def place(
    make: Callable[[], Stateful], src: np.ndarray, dst: np.ndarray, k: int, context: Context,
    first: Callable[..., np.ndarray] | None = None,
) -> np.ndarray:  # fmt: skip
    """Return the part of each edge by the stateful strategy that *make* returns (collective).

    *first* makes the cut that it refines, as `parts_of` does.
    """
    check_parts(k)
    comm = context.comm
    part = None if first is None else first([src, dst], k, context)
    num_edges = int(comm.allreduce(src.size))
    strategy = make()
    degrees = Degrees(src, dst, context)
    if strategy.gathered:
        make_room(strategy, k, degrees.degree, num_edges, comm)
    gathered = strategy.gathered or few(num_edges, k, comm)
    pairs = Pairs(src, dst, degrees, context, gathered)
    stream = Stream(
        **vars(context), num_edges=num_edges, degree=degrees.degree, gid=degrees.gid,
        largest=pairs.largest, cap=cap(num_edges, k, pairs.largest),
    )  # fmt: skip
    del degrees
    comm.attempt(partial(strategy.begin, k, stream))
    found: list[np.ndarray] = []
    before = None if part is None else pairs.of_pairs(part, context.threads)
    for block in pairs.blocks(strategy.gathered, before):
        assign = partial(_assign, found, strategy, block, k, stream)
        if strategy.gathered:
            comm.on_root(assign, long_running=True)
        else:
            comm.attempt(assign)
        strategy.agree(comm)
    comm.attempt(strategy.finish)
    return pairs.of_edges(np.concatenate([*found, np.empty(0, np.int32)]), context.threads)


def _assign(found: list[np.ndarray], strategy: Stateful, block: Block, k: int, stream: Stream) -> None:
    """Append the result of `Stateful.assign`, checked."""

    def pair(at: int) -> str:
        ends = [int(stream.gid[end[at]]) for end in (block.low, block.high)]
        return "the pair {} -> {}".format(*(reversed(ends) if block.reverse[at] else ends))

    part = strategy.assign(block)
    found.append(checked_parts("assign() returned", part, block.low.size, k, pair, "pairs"))
