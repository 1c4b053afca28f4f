"""Loads the MPI library; the only importer of mpi4py."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from gaslab.errors import LaunchError, PerformanceWarning, warn_user
from gaslab.parallel import children, launch, polling


def load_mpi() -> Any:
    """Return mpi4py.MPI, which starts MPI if it is not running.

    Raises
    ------
    LaunchError
        No MPI library is found, or MPI does not run although mpi4py is loaded.
    """
    if "mpi4py.MPI" in sys.modules:
        return _started_before()
    try:
        import mpi4py

        mpi4py.rc.thread_level = "funneled"  # our threads never call MPI, so it needs no locks
        with polling.set_while_loading(polling.wanted_by_mpi()), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # from a wrong launcher: check_world reports it
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise LaunchError(
            f"MPI cannot be loaded: {error}; install one with `pip install gaslab[mpich]`, "
            "or load your cluster's MPI module"
        ) from error
    return MPI


def _started_before() -> Any:
    """Return the MPI that the user's script started."""
    mpi = running_mpi()
    if mpi is None:
        raise LaunchError(
            "mpi4py is loaded, but MPI does not run: call MPI.Init() before the first gaslab call"
        )
    if polling.wanted_by_mpi():
        job = launch.launcher()
        warn_user(
            f"{job.local_size} ranks share {launch.usable_cores()} cores, and MPI started before gaslab "
            "could make waiting ranks yield them; start the script with `python -m gaslab SCRIPT.py`",
            PerformanceWarning,
            job.rank,
        )
    return mpi


def running_mpi() -> Any:
    """Return mpi4py.MPI if it is running, else None, as in a child process, whose parent runs it."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not hasattr(mpi, "COMM_WORLD") or not mpi.Is_initialized() or mpi.Is_finalized():
        return None
    if children.is_child():
        return None
    return mpi


def mpi_family() -> str:
    """Return the family of the MPI that mpi4py will load, without starting it; "" if unknown."""
    try:
        from mpi4py import _mpiabi

        return str(_mpiabi._get_mpiabi())  # type: ignore[attr-defined]
    except (ImportError, AttributeError, OSError, RuntimeError):  # built from source: one MPI, no choice
        return ""
