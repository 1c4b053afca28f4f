"""What a supervisor knows of its ranks: alive, dead, or lost."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable

from gaslab.parallel import heartbeat
from gaslab.parallel.heartbeat import Heartbeat
from gaslab.system import processes


class Rank:
    """A rank that has begun."""

    def __init__(self, said: Heartbeat, now: float) -> None:
        self.said = said
        self.beat_at = self.moved_at = now  # when its counters changed, by this process's clock
        self.dead = False
        self.wait_status: int | None = None  # of a dead one, as of waitpid; None: it was too late to see it
        self.descriptor: int | None = None  # which can be read when the process ends
        self.stopped = False  # by a signal to end that the supervisor got

    def __str__(self) -> str:
        return f"rank {self.said.rank} (pid {self.said.pid} on {self.said.host})"

    @property
    def phase(self) -> str:
        """What the rank was last known to do, after its name and a verb."""
        return f"{'in' if self.said.moves else 'while'} {self.said.phase}"

    @property
    def signal(self) -> int | None:
        """The signal that ended the rank, if one did and it was seen."""
        status = self.wait_status
        return os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, if it was seen."""
        status = self.wait_status
        return os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None

    @property
    def fate(self) -> str:
        """How a dead rank ended, in words."""
        if self.signal is not None:
            how = f"was ended by {signal.Signals(self.signal).name}"
        elif self.exit_code is not None:
            how = f"ended with exit code {self.exit_code}"
        else:
            how = "died"
        return f"{self} {how} {self.phase}"


class Watch:
    """The ranks of one attempt.

    Parameters
    ----------
    folder : str
        Where the ranks write their heartbeats.
    size : int
        How many ranks were started.
    limit : float
        Seconds after which a rank that shows no sign of life, or stays in a short phase, is lost.
    """

    def __init__(self, folder: str, size: int, limit: float) -> None:
        self.folder, self.size, self.limit = folder, size, limit
        self.ranks: dict[int, Rank] = {}
        self._began = time.monotonic()
        self._host = heartbeat.host()

    def close(self) -> None:
        """Give back what belongs to the system."""
        for rank in self.ranks.values():
            if rank.descriptor is not None:
                os.close(rank.descriptor)
                rank.descriptor = None

    @property
    def descriptors(self) -> list[int]:
        """Descriptors which can be read when a rank that was alive ends."""
        return [r.descriptor for r in self.ranks.values() if r.descriptor is not None and not r.dead]

    @property
    def here(self) -> list[Rank]:
        """The ranks on this machine."""
        return [rank for rank in self.ranks.values() if rank.said.host == self._host]

    def read(self) -> None:
        """Read what the ranks have said since."""
        now = time.monotonic()
        for number, said in heartbeat.read(self.folder).items():
            rank = self.ranks.get(number)
            if rank is None:
                rank = self.ranks[number] = Rank(said, now)
                if said.host == self._host and hasattr(os, "pidfd_open"):
                    with contextlib.suppress(OSError):  # it has ended
                        rank.descriptor = os.pidfd_open(said.pid)
                continue
            if said.beat != rank.said.beat:
                rank.beat_at = now
            if (said.progress, said.moves) != (rank.said.progress, rank.said.moves):
                rank.moved_at = now
            rank.said = said

    def unexplained(self) -> list[Rank]:
        """Return ranks that have died since the last call without saying why."""
        new = []
        for rank in self.here:
            if rank.dead:
                continue
            process = processes.look(rank.said.pid)
            if processes.has_ended(rank.said.pid):
                rank.dead = True
                rank.wait_status = process.wait_status if process and process.state in "ZX" else None
                new.append(rank)
        if new:
            self.read()  # the last word may have come after the look
        return [rank for rank in new if rank.said.code is None]

    def lost(self) -> str | None:
        """Return why a rank is lost, None if none is; what the ranks have just said is known."""
        now = time.monotonic()
        if len(self.ranks) < self.size and now - self._began > self.limit:
            missing = sorted(set(range(self.size)) - set(self.ranks))
            return f"rank {missing[0]} has not begun within {self.limit:g} s"
        alive = [rank for rank in self.ranks.values() if not rank.dead and rank.said.code is None]
        silent = max(alive, key=lambda rank: now - rank.beat_at, default=None)
        stuck = [rank for rank in alive if rank.said.moves and now - rank.moved_at > self.limit]
        # The others wait for a rank that is stopped, and are stuck no later than it is silent.
        if silent is not None and now - silent.beat_at > self.limit / (2 if stuck else 1):
            return f"{silent} has shown no sign of life for {now - silent.beat_at:.0f} s, last {silent.phase}"
        if not stuck:
            return None
        first = min(stuck, key=lambda rank: rank.moved_at)
        who = f"{first} has" if len(stuck) < len(alive) or len(alive) == 1 else "the ranks have"
        return f"{who} not moved on for {self.limit:g} s {first.phase} (--heartbeat)"

    def stop(self, number: int) -> None:
        """Send a signal to each rank that has not had it yet, also to ranks that begin late."""
        self.send(number, [rank for rank in self.ranks.values() if not rank.stopped])
        for rank in self.ranks.values():
            rank.stopped = True

    def send(self, number: int, ranks: Iterable[Rank]) -> None:
        """Send a signal to ranks that are alive."""
        for rank in ranks:
            if rank.said.host != self._host:
                heartbeat.ask(self.folder, rank.said.rank, number)
            elif not rank.dead:
                processes.send([rank.said.pid], number)
