"""How a rank of a run that is to fail begins: ``rank.py FOLDER gaslab WORDS`` or ``... SCRIPT WORDS``.

It imports gaslab, says in FOLDER which process it is, and raises where SIGUSR1 finds it.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import runpy
import signal
import sys
import time
from pathlib import Path
from types import FrameType

# Run last: from there on Python would let the signal kill this process, which has done all.
atexit.register(signal.signal, signal.SIGUSR1, signal.SIG_IGN)

import gaslab  # noqa: E402, F401 - from here on a rank that raises ends all

NAMES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def main() -> None:
    folder, target, *words = sys.argv[1:]
    rank = next((os.environ[name] for name in NAMES if name in os.environ), "0")

    def fail(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        Path(folder, f"raised-{rank}").write_text(str(time.time()))
        raise RuntimeError("a bad day")

    stacks = open(Path(folder, f"stacks-{rank}"), "w")  # noqa: SIM115 - faulthandler keeps it open
    faulthandler.enable(stacks)
    faulthandler.register(signal.SIGUSR2, file=stacks, all_threads=True)
    signal.signal(signal.SIGUSR1, fail)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would not hear of it
    beside = Path(folder, f".pid-{rank}")
    beside.write_text(str(os.getpid()))
    beside.rename(Path(folder, f"pid-{rank}"))
    sys.argv = [target, *words]
    if target == "gaslab":
        runpy.run_module("gaslab", run_name="__main__")
    else:
        runpy.run_path(target, run_name="__main__")


if __name__ == "__main__":
    main()
