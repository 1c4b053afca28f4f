"""How ranks are started on this machine, under MPICH or Open MPI."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "data"  # beside the project; its tests skip where it is absent


@functools.cache
def mpiexec() -> tuple[str, ...]:
    """Return the launcher and the options it needs to start more ranks than cores.

    ``$MPIEXEC`` wins, then the mpiexec beside this interpreter (the MPI that pip installed), then
    the one on PATH.
    """
    named = os.environ.get("MPIEXEC")
    if named:
        return tuple(shlex.split(named))
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise FileNotFoundError("no mpiexec beside python or on PATH; `pip install .[mpich]` brings one")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30)
    if "Open MPI" in version.stdout + version.stderr or "OpenRTE" in version.stdout:
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return (found, "--oversubscribe", "--bind-to", "none", *root)
    return (found,)


def command(ranks: int, *arguments: str) -> list[str]:
    """Return the command line that runs this interpreter with *arguments* on so many ranks."""
    return [*mpiexec(), "-n", str(ranks), sys.executable, *arguments]


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment, with the repository importable, and *changes*."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "OMP_WAIT_POLICY": "passive", **changes}


def run_script(
    ranks: int, arguments: Sequence[str], *, timeout: float = 60, cwd: Path | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run ``mpiexec -n ranks python *arguments*`` to its end and return its output and exit code.

    For what a rank host cannot show: exit codes, the command line, a script that dies.
    """
    return subprocess.run(
        command(ranks, *arguments),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        cwd=cwd or ROOT,
        env=environment(**changes),
    )
