"""Properties of the job and the machine: number of ranks, cores, threads.

All come from environment variables and the kernel, before any MPI library is loaded.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import NamedTuple

from gaslab.errors import LaunchError
from gaslab.parallel import children

ALLOW_SINGLETON = "GASLAB_ALLOW_SINGLETON"
RANKS_PAY = 1_000_000  # edges from which two ranks are faster than one: see docs/cluster.md

# name: variables that hold the size, rank, ranks on this machine and rank among those. First match wins.
_LAUNCHERS: tuple[tuple[str, str, str, str, str], ...] = (
    ("Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("MVAPICH", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
    ("Hydra (MPICH)", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"),
    ("Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"),
    ("PMIx", "PMIX_SIZE", "PMIX_RANK", "PMIX_LOCAL_SIZE", "PMIX_LOCAL_RANK"),
)  # fmt: skip


started_by: int | None = None  # the launcher's process, where it is not the parent of this one


class Launcher(NamedTuple):
    """What started this process; `name` is ``"none"`` and `size` 1 for a plain ``python``.

    `size` is 0 if a launcher does not say how many processes it started.
    """

    name: str = "none"
    size: int = 1
    rank: int = 0
    local_size: int = 1
    local_rank: int = 0

    @property
    def parallel(self) -> bool:
        """Whether other processes were, or may have been, started with this one."""
        return self.size != 1


def launcher(environment: Mapping[str, str] = os.environ) -> Launcher:
    """Return the MPI launcher that started this process, according to *environment*.

    A child of a rank has the rank's variables, but no launcher started it.
    """
    if environment is os.environ and children.is_child():
        return Launcher()
    for name, *variables in _LAUNCHERS:
        size, rank, local_size, local_rank = (_number(environment.get(v, "")) for v in variables)
        if size is None and not (name == "PMIx" and rank is not None):
            continue
        if name == "Hydra (MPICH)":
            if "SLURM_STEP_ID" in environment:
                name = "Slurm (PMI)"
            elif any(v.startswith("I_MPI_HYDRA") for v in environment):
                name = "Hydra (Intel MPI)"
        if name == "Slurm" and "PMIX_RANK" in environment:
            name = "Slurm (PMIx)"
        size = size or 0
        return Launcher(name, size, rank or 0, local_size or size or 1, local_rank or 0)
    return Launcher()


def _number(text: str) -> int | None:
    """Return the leading number in *text* (Slurm writes ``4(x2)``), None without one."""
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    return int(digits) if digits else None


def usable_cores() -> int:
    """Return the cores this machine lets the whole job use: our affinity and our launcher's, quota.

    A launcher that binds each rank to a core is not bound itself, hence the look at our parent.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = len(os.sched_getaffinity(0))
    if launcher().parallel:
        with contextlib.suppress(OSError):  # someone else's process: our own affinity counts
            cores = max(cores, len(os.sched_getaffinity(started_by or os.getppid())))
    return max(1, min(cores, _quota(cores)))


def _quota(default: int, path: str = "/sys/fs/cgroup/cpu.max") -> int:
    """Return the cores that a container's CPU quota allows, *default* without one."""
    try:
        with open(path) as file:
            limit, period = file.read().split()[:2]
        return default if limit == "max" else -(-int(limit) // int(period))
    except (OSError, ValueError):
        return default


class SeparateWorldsError(LaunchError):
    """Every process of a launcher is a separate world."""


def check_world(size: int) -> None:
    """Raise SeparateWorldsError if the launcher started several processes but MPI's world is one."""
    job = launcher()
    if not job.parallel or size > 1 or job.size == 0 or singleton_allowed():
        return
    raise SeparateWorldsError(
        f"{job.name} started {job.size} processes, but each sees an MPI world of 1: this mpiexec and the MPI "
        "that mpi4py loads are not the same; start with the mpiexec of that MPI (`gaslab doctor` names it), "
        f"or pass --allow-singleton ({ALLOW_SINGLETON}=1) to run {job.size} separate copies"
    )


def singleton_allowed() -> bool:
    """Return whether several processes may each be a world of one (``--allow-singleton``)."""
    return os.environ.get(ALLOW_SINGLETON, "").lower() not in ("", "0", "no", "false")


def threads_per_rank(local_ranks: int = 1) -> int:
    """Return OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else usable cores ÷ ranks on this machine.

    Raises LaunchError for a variable that is not a number of threads.
    """
    return _threads(local_ranks)[0]


def threads_rule(local_ranks: int = 1) -> str:
    """Return what decided `threads_per_rank`."""
    return _threads(local_ranks)[1]


def _threads(local_ranks: int) -> tuple[int, str]:
    """Return the threads per rank and the rule that gave them."""
    for name in ("OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        value = os.environ.get(name, "").split(",")[0].strip()  # OpenMP's may be a list, by nesting level
        if value and not (value.isdecimal() and int(value) > 0):
            raise LaunchError(
                f"{name}={os.environ[name]!r}: a whole number of at least 1 is needed; correct it or unset it"
            )
        if value:
            return int(value), name
    cores, ranks = usable_cores(), max(local_ranks, 1)
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    rule = f"{cores} core{'s' * (cores > 1)} ÷ {ranks} rank{'s' * (ranks > 1)} on this machine"
    return max(1, min(own, cores // ranks)), rule


_announced = False
_said_small = False


def choose_threads(threads: int | None, local_ranks: int = 1, rank: int = 0) -> int:
    """Return *threads*, or if None `threads_per_rank`; rank 0 logs the choice once."""
    global _announced
    count, rule = (threads, "as asked") if threads else _threads(local_ranks)
    if rank == 0 and not _announced:
        import logging  # not at the top: every `gaslab --help` imports this module

        logging.getLogger("gaslab").info("%d thread%s a rank (%s)", count, "s" * (count > 1), rule)
        _announced = True
    return count


def say_small(edges: int, ranks: int, rank: int = 0) -> None:
    """Log once, on rank 0, that a graph with this many edges is too small for several ranks."""
    global _said_small
    if ranks > 1 and edges < RANKS_PAY and rank == 0 and not _said_small:
        import logging  # as above

        logging.getLogger("gaslab").info(
            "%s edges on %d ranks: one rank is mostly faster below about %s edges",
            f"{edges:,}", ranks, f"{RANKS_PAY:,}",
        )  # fmt: skip
        _said_small = True
