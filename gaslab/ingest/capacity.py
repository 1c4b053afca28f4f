"""Whether a graph of so many vertices fits on the ranks and their machines."""

from __future__ import annotations

from gaslab.errors import InputError
from gaslab.parallel.comm import Comm
from gaslab.system.memory import available_memory, human

LARGEST_PART = (1 << 31) - 1  # vertices of a rank
VERTEX_BYTES = 64  # that a graph takes for a vertex without edges, at least
FEW = 1 << 20  # vertices, for which there is room anywhere


def check_room(comm: Comm, num_vertices: int, where: str = "") -> None:
    """Raise InputError for more vertices than the ranks and their machines can hold (collective)."""
    most = comm.size * LARGEST_PART
    if num_vertices > most:
        holders = f"{comm.size} rank{'s' * (comm.size != 1)}"
        raise InputError(f"{where}{num_vertices} vertices are more than the {most} that {holders} can hold")
    if num_vertices <= FEW:
        return
    room = int(comm.allreduce(available_memory(), "min"))
    ranks = int(comm.allreduce(comm.local_ranks, "max"))  # of one machine
    needed = num_vertices * VERTEX_BYTES * ranks // comm.size
    if needed > room:
        raise InputError(
            f"{where}a graph of {num_vertices} vertices takes {human(needed)} of a machine at least, and "
            f"{human(room)} are free; is that number right? More machines hold more (mpiexec)"
        )
