"""The program that starts ranks: an mpiexec, or what the user names, and what each kind needs to hear.

MPICH's mpiexec writes its own messages to standard output. Here it leaves what the ranks write to a
descriptor of its own (``-outfile-pattern``), so that the job's output can be told from the launcher's.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gaslab.errors import UsageError

VERSION_SECONDS = 30


class Mpiexec(NamedTuple):
    """A launcher: its words, and whether it is MPICH's Hydra or of Open MPI."""

    words: tuple[str, ...]
    hydra: bool = False
    open_mpi: bool = False

    def command(
        self, ranks: int, words: Sequence[str], variables: Mapping[str, str], stdout: int | None
    ) -> list[str]:
        """Return the command line that starts *words* on so many ranks.

        *variables* are in the launcher's environment; they are named to a launcher that else keeps them on
        this machine. *stdout* is the descriptor that ranks write to, for Hydra.
        """
        options = ["-n", str(ranks)]
        if self.hydra and stdout is not None:
            options += ["-outfile-pattern", f"/dev/fd/{stdout}"]
        if self.open_mpi:
            for name in variables:
                options += ["-x", name]
        return [*self.words, *options, *words]


def find(given: str | None = None) -> Mpiexec:
    """Return the launcher that *given* names, else the mpiexec beside this Python, else the one on PATH.

    Raises UsageError if there is none, or if it cannot be run.
    """
    words = tuple(shlex.split(given)) if given is not None else _default()
    if not words:
        raise UsageError("the launcher has no words: name a program, as in --launcher 'mpiexec -f hosts'")
    try:
        done = subprocess.run(
            [words[0], "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=False,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        why = error.strerror if isinstance(error, OSError) else f"no answer within {VERSION_SECONDS} s"
        raise UsageError(f"the launcher {words[0]} cannot be run: {why}") from None
    said = done.stdout + done.stderr
    return Mpiexec(words, hydra="HYDRA build" in said, open_mpi="Open MPI" in said or "OpenRTE" in said)


def _default() -> tuple[str, ...]:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.access(beside, os.X_OK) else shutil.which("mpiexec")
    if found is None:
        raise UsageError(
            "there is no mpiexec beside this Python or on PATH; `pip install gaslab[mpich]` brings one, "
            "a cluster's MPI module too, and --launcher names another, as in --launcher srun"
        )
    return (found,)
