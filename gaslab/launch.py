"""What the launcher and the machine say: size of the job, cores, MPI's settings, failure hooks."""

from __future__ import annotations

import os

from gaslab.errors import LaunchError

_SIZE_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_SIZE")


def launched_size() -> int:
    """Return how many processes the MPI launcher says it started; 1 without a launcher."""
    for name in _SIZE_VARIABLES:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 1


def tune_environment() -> None:
    """Set MPI's polling, before MPI starts, for more ranks than cores (only what is unset)."""


def check_world(size: int) -> None:
    """Raise if the launcher started several processes but MPI's world is one."""
    expected = launched_size()
    if expected > 1 and size == 1:
        raise LaunchError(
            f"the launcher started {expected} processes but each sees an MPI world of 1: mpiexec and "
            "mpi4py belong to different MPIs; use the mpiexec of the MPI that mpi4py loads (`gaslab doctor`)"
        )


def threads_per_rank(local_ranks: int = 1) -> int:
    """Return OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else usable cores ÷ local ranks."""
    for name in ("OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        value = os.environ.get(name, "").split(",")[0]
        if value.isdigit() and int(value) > 0:
            return int(value)
    return max(1, len(os.sched_getaffinity(0)) // max(local_ranks, 1))
