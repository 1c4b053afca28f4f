"""The side of pytest: hosts of ranks, started once per session, that run what a test sends."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from gaslab.parallel.comm import world
from tests.mpi import launcher

START_SECONDS = 60.0
GRACE_SECONDS = 2.0  # for the other ranks, once one has raised


class RanksError(AssertionError):
    """Ranks hung, died, or did not all raise the same error; the message shows what each was doing."""


class RemoteTraceback(Exception):
    """The traceback of a rank, shown as the cause of its error."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


class Ranks:
    """So many ranks that run functions; ``size`` 1 is this process."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._host: Host | None = None

    def __repr__(self) -> str:
        return f"Ranks({self.size})"

    def run(
        self, function: Callable[..., Any], *arguments: Any, threads: int = 1, timeout: float = 60
    ) -> list[Any]:
        """Run ``function(comm, *arguments)`` on every rank and return what each returned, in rank order.

        *function* is one that can be imported (top level of a test module); arguments and results
        are pickled. ``OMP_NUM_THREADS`` is *threads* while it runs. An error that all ranks raise
        alike is raised here; ranks that disagree, hang for *timeout* seconds or die are a
        `RanksError`, with the stack of each.
        """
        if self.size == 1:
            return [_here(function, arguments, threads)]
        if self._host is None:
            self._host = Host(self.size)
        try:
            return self._host.run(pickle.dumps((function, arguments)), threads, timeout)
        except BaseException:  # also an interrupt: ranks in the middle of a task are of no more use
            if self._host.busy:
                self.close()
            raise

    def close(self) -> None:
        """End the host; the next `run` starts another."""
        if self._host is not None:
            self._host.close()
            self._host = None


def _here(function: Callable[..., Any], arguments: tuple[Any, ...], threads: int) -> Any:
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        return function(world(), *arguments)
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


class Host:
    """One mpiexec and a connection to each of its ranks."""

    def __init__(self, size: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-ranks-"))
        self.ranks: dict[int, Connection] = {}
        self.pids: dict[int, int] = {}
        self.fresh = False
        self.busy = False  # a task is under way, or ended without an answer from every rank
        with socket.socket(socket.AF_UNIX) as listener, open(self.folder / "output", "w") as output:
            listener.bind(str(self.folder / "socket"))
            listener.listen(size)
            self.process = subprocess.Popen(
                launcher.command(size, "-X", "faulthandler", "-m", "tests.mpi.host", str(self.folder)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=launcher.ROOT,
                env=launcher.environment(),
                start_new_session=True,  # its own group, so that `close` ends all of it and nothing else
            )
            try:
                self._accept(listener, size)
            except BaseException:
                self.close()
                raise

    def _accept(self, listener: socket.socket, size: int) -> None:
        listener.settimeout(0.2)
        deadline = time.monotonic() + START_SECONDS
        while len(self.ranks) < size:
            try:
                came, _ = listener.accept()
            except TimeoutError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RanksError(f"{size} ranks did not start:\n{self._output()}") from None
                continue
            came.setblocking(True)
            connection = Connection(came.detach())
            rank, pid = connection.recv()
            self.ranks[rank], self.pids[rank] = connection, pid

    def run(self, call: bytes, threads: int, timeout: float) -> list[Any]:
        self.busy = True
        for connection in self.ranks.values():
            connection.send((call, threads, timeout, self.fresh))
        replies, silent = self._collect(timeout)
        errors = {rank: value for rank, (good, value) in replies.items() if not good}
        if silent:
            raise RanksError(self._silence(errors, silent, timeout))
        self.busy = False
        self.fresh = bool(errors)
        if not errors:
            return [replies[rank][1] for rank in sorted(replies)]
        first, text = errors[min(errors)]
        alike = {(type(error), str(error)) for error, _ in errors.values()}
        if len(errors) == len(self.ranks) and len(alike) == 1:
            raise first from RemoteTraceback(text)
        raised = "".join(f"\nrank {rank} raised:\n{reports}" for rank, (_, reports) in sorted(errors.items()))
        fine = sorted(set(self.ranks) - set(errors))
        raise RanksError(f"the ranks did not all raise the same error (ranks {fine} returned):{raised}")

    def _collect(self, timeout: float) -> tuple[dict[int, tuple[bool, Any]], dict[int, str]]:
        """Wait for the ranks; return their replies, and why there is none for the others."""
        replies: dict[int, tuple[bool, Any]] = {}
        silent: dict[int, str] = {}
        deadline = time.monotonic() + timeout
        while waiting := {c: r for r, c in self.ranks.items() if r not in replies and r not in silent}:
            ready = wait(list(waiting), max(deadline - time.monotonic(), 0))
            if not ready:
                silent.update(dict.fromkeys(waiting.values(), "did not answer"))
            for connection in ready:
                rank = waiting[connection]  # type: ignore[index]
                try:
                    replies[rank] = pickle.loads(connection.recv_bytes())  # type: ignore[union-attr]
                except (EOFError, ConnectionError):
                    silent[rank] = "died"
                if rank in silent or not replies[rank][0]:
                    deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
        return replies, silent

    def _silence(self, errors: dict[int, Any], silent: dict[int, str], timeout: float) -> str:
        for rank, why in silent.items():
            if why == "did not answer":
                os.kill(self.pids[rank], signal.SIGUSR1)  # faulthandler writes the stacks of its threads
        time.sleep(0.5)
        reports = [f"\nrank {rank} raised:\n{text}" for rank, (_, text) in sorted(errors.items())]
        for rank, why in sorted(silent.items()):
            stacks = (self.folder / f"stacks-{rank}").read_text()
            reports.append(f"\nrank {rank} {why}; its stacks:\n{stacks}")
        lead = "not all ranks came back" if errors else f"no answer within {timeout:g} s"
        return f"{lead}:{''.join(reports)}\noutput:\n{self._output()}"

    def _output(self) -> str:
        return (self.folder / "output").read_text()[-4000:]

    def close(self) -> None:
        """End idle ranks in peace, busy ones and those that linger by force."""
        for connection in self.ranks.values():
            connection.close()  # an idle rank takes it as the end
        try:
            self.process.wait(0 if self.busy or not self.ranks else 5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # the group that __init__ made
            self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)
