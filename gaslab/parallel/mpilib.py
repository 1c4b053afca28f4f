"""Loads the MPI library; the only importer of mpi4py."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from gaslab.errors import LaunchError
from gaslab.parallel import children, launch


def load_mpi() -> Any:
    """Return mpi4py.MPI, which starts MPI if it is not running; raises LaunchError without a library."""
    launch.tune_environment()
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.thread_level = "funneled"  # our threads never talk, so MPI needs no locks
        with warnings.catch_warnings():  # mpi4py suspects a wrong launcher; check_world knows
            warnings.simplefilter("ignore", RuntimeWarning)
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise LaunchError(
            f"MPI cannot be loaded: {error}; install one with `pip install gaslab[mpich]`, "
            "or load your cluster's MPI module"
        ) from error
    return MPI


def running_mpi() -> Any:
    """Return mpi4py.MPI if it is running, else None; in a child process only its parent runs it."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not hasattr(mpi, "COMM_WORLD") or not mpi.Is_initialized() or mpi.Is_finalized():
        return None
    if children.is_child():
        return None
    return mpi


def mpi_family() -> str:
    """Return the family of the MPI that mpi4py will load, without starting it; "" if it does not say."""
    try:
        from mpi4py import _mpiabi

        return str(_mpiabi._get_mpiabi())  # type: ignore[attr-defined]
    except (ImportError, AttributeError, OSError, RuntimeError):  # built from source: one MPI, no choice
        return ""
