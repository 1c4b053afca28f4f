"""Masters: for each vertex one of the ranks that hold its edges, chosen at the directory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.parallel.virtual import Peers
from gaslab.partitioning.directory import Directory


@dataclass
class Placement:
    """Where the masters are: one entry per vertex with an edge here, in the order of global ids."""

    master: np.ndarray  # int32: rank
    in_degree: np.ndarray  # int64: of the whole graph
    out_degree: np.ndarray
    isolated: np.ndarray  # int64 global ids, ascending: vertices without edges that this rank masters


def place_masters(
    comm: Peers, gids: np.ndarray, in_count: np.ndarray, out_count: np.ndarray, num_vertices: int,
    directed: bool,
) -> Placement:  # fmt: skip
    """Choose the master of every vertex (collective).

    *gids* are the vertices with an edge on this rank, ascending; the counts are their edges here. Among a
    vertex's holders, those with in-edges and out-edges come first: fewer values travel. Then those with
    in-edges, because a gather over in-edges then starts at the master; among equals, the one with the fewest
    values to send and receive so far. Without direction all are equal. Each directory rank balances its own
    share; a vertex without edges stays with the directory.
    """
    directory = Directory(comm, gids, num_vertices)
    in_totals = directory.sums(in_count)
    out_totals = directory.sums(out_count)
    kinds = directory.send(kinds_of((in_count > 0) | (not directed), (out_count > 0) | (not directed)))

    begin = np.zeros(directory.num_slots + 1, dtype=np.int64)
    np.cumsum(np.bincount(directory.slots, minlength=directory.num_slots), out=begin[1:])
    record = np.empty(directory.slots.size, dtype=np.int32)
    kernels.group_by_slot(directory.slots, begin[:-1].copy(), record)
    lonely = np.flatnonzero(begin[1:] == begin[:-1])

    load = np.zeros(comm.size, dtype=np.int64)
    master = np.full(directory.num_slots, comm.rank, dtype=np.int32)
    kernels.place(begin, record, directory.sender, kinds, load, master)
    return Placement(
        master=directory.answer(master[directory.slots]),
        in_degree=directory.answer(in_totals[directory.slots]),
        out_degree=directory.answer(out_totals[directory.slots]),
        isolated=lonely * comm.size + comm.rank,
    )


def kinds_of(has_in: np.ndarray, has_out: np.ndarray) -> np.ndarray:
    """Return which edges replicas have, as uint8: 1 for in-edges, 2 for out-edges, 3 for both."""
    kinds: np.ndarray = has_in.astype(np.uint8) | has_out.astype(np.uint8) << 1
    return kinds
