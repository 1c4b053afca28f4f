"""Writing a graph into a folder, by all ranks: each the parts that it hosts, rank 0 the manifest last."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from gaslab.errors import UsageError
from gaslab.ingest.edges import EdgeList, VertexColumns
from gaslab.ingest.ids import VertexIds
from gaslab.parallel.comm import Comm
from gaslab.parallel.folders import write_folder
from gaslab.parallel.virtual import Peers, hosted, hosts, run_virtual
from gaslab.partitioning.build import Share, build_placed
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.partitioning.shuffle import shuffle
from gaslab.replication.transfer import deliver_columns
from gaslab.storage.files import write_array
from gaslab.storage.ids import deal_out
from gaslab.storage.manifest import NAME, Manifest, PartEntry, is_saved
from gaslab.storage.part import Part, arrays_of
from gaslab.system.outputs import Output

PART = "part"


def graph_folder(path: str, force: bool, way: str = "force=True") -> Output:
    """Return the folder to be written, checked (rank 0 calls it); UsageError where it may not be."""
    output = Output(path, force, folder=True, way=way)
    output.check()
    check_folder(output)
    return output


def check_folder(output: Output) -> None:
    """Raise UsageError where other files than those of a saved graph would be replaced."""
    if output.path.exists() and not is_saved(output.path) and any(os.scandir(output.path)):
        raise UsageError(f"{output.path} holds other files, no saved graph; it is not replaced")


def save(
    comm: Comm, output: Output, manifest: Manifest, ids: VertexIds, parts: Mapping[int, Part], count: int
) -> None:
    """Write a graph of *count* parts, of which each rank has those that it hosts (collective)."""
    tables = deal_out(ids, count, hosts(comm.size, count))

    def write(folder: Path) -> dict[int, PartEntry]:
        found = {}
        for number, part in parts.items():
            beside = folder / manifest.folder(number)
            os.mkdir(beside)
            arrays = {**arrays_of(part, manifest.directed), **tables[number]}
            described = {name: write_array(beside / f"{name}.npy", x) for name, x in arrays.items()}
            local = part.local
            found[number] = PartEntry(local.num_masters, local.num_local, local.num_edges, described)
        return found

    def describe(written: list[dict[int, PartEntry]]) -> bytes:
        every = {number: entry for part in written for number, entry in part.items()}
        manifest.parts = [every[number] for number in range(count)]
        return manifest.packed()

    write_folder(comm, output, write, NAME, describe)


def parts_of_cut(comm: Comm, edges: EdgeList, part: np.ndarray, count: int) -> dict[int, Part]:
    """Build the parts of a cut into *count* that this rank hosts, as that many ranks would (collective).

    *edges* stay as they are.
    """
    n = edges.num_vertices
    ends = [np.ascontiguousarray(edges.src), np.ascontiguousarray(edges.dst)]
    columns = {**edges.columns, PART: np.asarray(part, np.int32)}
    shuffle(comm, ends, columns, hosts(comm.size, count)[part], num_vertices=n)
    placed = columns.pop(PART)

    def build(peers: Peers) -> tuple[LocalGraph, dict[str, np.ndarray]]:
        mine = np.flatnonzero(placed == peers.rank)
        share = Share([end[mine] for end in ends], {name: values[mine] for name, values in columns.items()})
        return build_placed(share, n, edges.directed, peers)

    built = run_virtual(comm, count, build)
    known: VertexColumns = edges.vertices or (np.empty(0, np.int64), {})
    wanted = [local.gid[: local.num_masters] for local, _ in built]
    values = deliver_columns(comm, *known, np.concatenate([known[0][:0], *wanted]))
    bounds = np.cumsum([0, *(gids.size for gids in wanted)])
    return {
        number: Part(local, of_edges, {name: one[lo:hi] for name, one in values.items()})
        for number, (local, of_edges), (lo, hi) in zip(
            hosted(comm.rank, comm.size, count), built, pairwise(bounds), strict=True
        )
    }
