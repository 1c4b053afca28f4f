"""Whether a graph with given numbers of vertices and edges fits the ranks and their machines."""

from __future__ import annotations

from gaslab.errors import InputError
from gaslab.parallel.comm import Comm
from gaslab.system.memory import available_memory, human

LARGEST_PART = (1 << 31) - 1  # vertices of a rank, and edges
VERTEX_BYTES = 64  # minimum for a vertex without edges
EDGE_BYTES = 16  # for the two ends of an edge, while the graph is made
FEW = 1 << 20  # vertices or edges that fit anywhere


def check_room(comm: Comm, num_vertices: int, where: str = "") -> None:
    """Raise InputError for more vertices than the ranks and their machines can hold (collective)."""
    _check(comm, num_vertices, "vertices", VERTEX_BYTES, where)


def check_edges(comm: Comm, num_edges: int, where: str = "") -> None:
    """Raise InputError for more edges than the ranks and their machines can hold (collective)."""
    _check(comm, num_edges, "edges", EDGE_BYTES, where)


def _check(comm: Comm, count: int, what: str, each: int, where: str) -> None:
    most = comm.size * LARGEST_PART
    if count > most:
        holders = f"{comm.size} rank{'s' * (comm.size != 1)}"
        raise InputError(f"{where}{count} {what} are more than the {most} that {holders} can hold")
    if count <= FEW:
        return
    room = int(comm.allreduce(available_memory(), "min"))
    ranks = int(comm.allreduce(comm.local_ranks, "max"))  # of one machine
    needed = count * each * ranks // comm.size
    if needed > room:
        raise InputError(
            f"{where}a graph of {count} {what} takes {human(needed)} of a machine at least, and "
            f"{human(room)} are free; is that number right? More machines hold more (mpiexec)"
        )
