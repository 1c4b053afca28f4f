"""One attempt of a supervised job: start the ranks, watch them, leave nothing of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

from gaslab.cli.supervise import ending
from gaslab.cli.supervise.ending import Ending
from gaslab.cli.supervise.signals import Signals
from gaslab.cli.supervise.watch import Watch
from gaslab.errors import GaslabError
from gaslab.parallel import heartbeat
from gaslab.parallel.mpiexec import Mpiexec
from gaslab.system import processes, segments

LOOK_SECONDS = 0.1  # between looks while ranks begin, and where the system does not tell of their end
READ_SECONDS = 0.5  # between looks at what the ranks have said
FAILED_SECONDS = 1.0  # for the launcher to end the others after a rank has died
SAID_SECONDS = 5.0  # after a rank has failed and said so
CLEAN_SECONDS = 2.0  # for the launcher to remove what it has made, once its ranks are killed


class Job(NamedTuple):
    """What is started: a launcher, and the words that it starts on every rank."""

    mpiexec: Mpiexec
    words: tuple[str, ...]
    heartbeat: float  # limit in seconds
    grace: float  # seconds between a signal to end and the end


class Attempt:
    """One run of *job* on *size* ranks, whose heartbeats go to *folder*."""

    def __init__(self, job: Job, size: int, folder: str, signals: Signals) -> None:
        self._job, self._signals = job, signals
        self.watch = Watch(folder, size, job.heartbeat)
        self._lost: str | None = None

    def run(self, first: bool) -> Ending:
        """Run it to its end; *first* says that no attempt went before."""
        before = {segment.name for segment in segments.own()}
        others = processes.descendants(os.getpid())
        with contextlib.ExitStack() as ends:
            ends.callback(self.watch.close)
            process = self._start(ends)
            ends.callback(processes.kill_descendants, others)
            ends.callback(self._end, process, others)
            self._wait_for(process)
        self.watch.read()
        self._clean(before)
        if self._signals.stop is not None:
            return ending.of_stopped(self.watch, process.returncode, self._signals.stop)
        if self._lost is not None:
            return ending.of_lost(self._lost)
        return ending.of_ended(self.watch, process.returncode, first)

    def _start(self, ends: contextlib.ExitStack) -> subprocess.Popen[bytes]:
        variables = {heartbeat.VARIABLE: self.watch.folder}
        read = write = None
        if self._job.mpiexec.hydra:
            read, write = os.pipe()
        command = self._job.mpiexec.command(self.watch.size, self._job.words, variables, write)
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=None if write is None else sys.stderr.fileno(),
                env={**os.environ, **variables},
                pass_fds=() if write is None else (write,),
                start_new_session=True,  # so that a terminal's Ctrl-C comes to the supervisor alone
                preexec_fn=processes.end_with_parent,
            )
        finally:
            if write is not None:
                os.close(write)
        if read is not None:
            copier = threading.Thread(target=_copy, args=(read,), daemon=True)
            copier.start()
            ends.callback(self._drain, copier)
        return process

    def _drain(self, copier: threading.Thread) -> None:
        """Wait until all output is written, however slowly it is read; not after a second signal to end."""
        while copier.is_alive() and self._signals.stops < 2:
            copier.join(LOOK_SECONDS)

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Return once the launcher has ended, or is to be ended."""
        launcher = processes.descriptor(process.pid)
        ends = [] if launcher is None else [launcher]
        deadline = float("inf")
        try:
            while process.poll() is None:
                complete = len(self.watch.ranks) == self.watch.size
                wait = READ_SECONDS if complete and ends else LOOK_SECONDS
                wait = min(wait, deadline - time.monotonic())
                self._signals.wait(wait, [*ends, *self.watch.descriptors])
                now = time.monotonic()
                self.watch.read()
                if self._signals.requests:
                    self.watch.send(self._signals.requests.pop(), self.watch.ranks.values())
                if self._signals.stop is not None:
                    self.watch.stop(self._signals.stop)
                    deadline = min(deadline, now + self._job.grace)
                    if self._signals.stops > 1:
                        return
                elif self.watch.unexplained():
                    deadline = min(deadline, now + FAILED_SECONDS)
                elif self.watch.failed():
                    deadline = min(deadline, now + SAID_SECONDS)
                else:
                    self._lost = self.watch.lost()
                if self._lost is not None or now > deadline:
                    return
        finally:
            if launcher is not None:
                os.close(launcher)

    def _end(self, process: subprocess.Popen[bytes], others: set[int]) -> None:
        """End the ranks on this machine, which a launcher answers by ending those elsewhere, and itself."""
        if process.poll() is None:
            processes.send([rank.said.pid for rank in self.watch.here], signal.SIGKILL)
            processes.kill_descendants({*others, process.pid})  # of dead ranks, and have the launcher's pipes
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CLEAN_SECONDS)
        if process.poll() is None:  # it does not end others by itself: srun without --kill-on-bad-exit
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CLEAN_SECONDS)
        if process.poll() is None:
            process.kill()
            process.wait()

    def _clean(self, before: set[str]) -> None:
        """Remove what killed ranks have left on this machine."""
        with contextlib.suppress(GaslabError):  # in a container that does not see who uses what
            new = [segment for segment in segments.dead() if segment.name not in before]
            segments.remove(new)
        for rank in self.watch.here:
            for path in rank.said.unfinished:
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    with contextlib.suppress(OSError):
                        os.unlink(path)


def _copy(read: int) -> None:
    """Write what comes from *read* to standard output, to its end; a reader that has left misses it."""
    with os.fdopen(read, "rb", buffering=0) as pipe:
        left = False
        while part := pipe.read(1 << 16):
            try:
                while part and not left:
                    part = part[os.write(1, part) :]
            except OSError:
                left = True
