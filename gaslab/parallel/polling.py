"""How MPI and OpenMP wait if ranks or threads outnumber the cores: they yield the core.

MPI reads its variables when it starts, OpenMP's library when the first kernel loads it. They are set for that
moment, unless the user has set them, and then removed: the rest of the process, and its child processes, do
not see them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gaslab.errors import LaunchError
from gaslab.parallel import launch

# MPICH polls 8 ms before it yields the core; so it sleeps a moment after 16 idle polls. In MPICH 4 the first
# three do so; in MPICH 5, which also yields to waiting ranks, the last two.
_MPI = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "16",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "16",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
_OPENMP = {"OMP_WAIT_POLICY": "passive"}


def wanted_by_mpi() -> dict[str, str]:
    """Return the unset variables by which this machine's ranks yield the core."""
    job = launch.launcher()
    return _unset(_MPI) if job.parallel and job.local_size > launch.usable_cores() else {}


def wanted_by_openmp() -> dict[str, str]:
    """Return the unset variables by which the threads of this machine's ranks yield the core."""
    job = launch.launcher()
    with contextlib.suppress(LaunchError):  # not a number of threads: the first call raises it
        if job.parallel and job.local_size * launch.threads_per_rank(job.local_size) > launch.usable_cores():
            return _unset(_OPENMP)
    return {}


def _unset(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in os.environ}


def set_for_job() -> None:
    """Set the variables for the whole process, before the user's script may start MPI itself."""
    os.environ.update(wanted_by_mpi() | wanted_by_openmp())


@contextlib.contextmanager
def set_while_loading(variables: dict[str, str]) -> Iterator[None]:
    """Set *variables* in the environment during the block."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
