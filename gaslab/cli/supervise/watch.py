"""What a supervisor knows of its ranks: alive, dead, or lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from gaslab.parallel import heartbeat
from gaslab.parallel.heartbeat import Death, Heartbeat
from gaslab.system import processes

SILENT_SECONDS = 2.0  # without a report, which is due every second


class Rank:
    """A rank that has begun."""

    def __init__(self, said: Heartbeat, now: float) -> None:
        self.said = said
        self.beat_at = self.moved_at = now  # when its counters changed, by this process's clock
        self.gone = False
        self.death: Death | None = None  # None: its guard was killed too, by the launcher or with the machine
        self.descriptor: int | None = None  # which can be read when its guard ends
        self.stopped = False  # by a signal to end that the supervisor got

    def __str__(self) -> str:
        return f"rank {self.said.rank} (pid {self.said.pid} on {self.said.host})"

    @property
    def phase(self) -> str:
        """The last phase that is known, with a preposition."""
        return self.said.phase if self.death is None else self.death.phase

    @property
    def signal(self) -> int | None:
        """The signal that ended the rank, if one did."""
        return os.WTERMSIG(self.death.status) if self.death and os.WIFSIGNALED(self.death.status) else None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, if it had one."""
        return os.WEXITSTATUS(self.death.status) if self.death and os.WIFEXITED(self.death.status) else None

    @property
    def fate(self) -> str:
        """How a rank ended that did not say why, in words."""
        if self.signal is not None:
            how = f"was ended by {processes.name_of(self.signal)}"
        else:
            how = "died" if self.exit_code is None else f"ended with exit code {self.exit_code}"
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
        self.first: list[Rank] = []  # the ranks that were the first to be gone without saying why
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
        """Descriptors which can be read when a rank on this machine ends that has not ended yet."""
        return [r.descriptor for r in self.ranks.values() if r.descriptor is not None and not r.gone]

    @property
    def here(self) -> list[Rank]:
        """The ranks on this machine."""
        return [rank for rank in self.ranks.values() if rank.said.host == self._host]

    def read(self) -> None:
        """Read what the ranks have said since, and see which of them are gone."""
        gone = [rank for rank in self.here if processes.has_ended(rank.said.guard)]
        now = time.monotonic()
        beats, deaths = heartbeat.read(self.folder)
        for number, said in beats.items():
            rank = self.ranks.get(number)
            if rank is None:
                rank = self.ranks[number] = Rank(said, now)
                if said.host == self._host:
                    rank.descriptor = processes.descriptor(said.guard)
                continue
            if said.beat != rank.said.beat:
                rank.beat_at = now
            if (said.progress, said.moves) != (rank.said.progress, rank.said.moves):
                rank.moved_at = now
            rank.said = said
        for number in deaths.keys() & self.ranks.keys():
            self.ranks[number].death = deaths[number]
            self.ranks[number].gone = True
        for rank in gone:
            rank.gone = True
        self.first = self.first or self.unexplained()

    def unexplained(self) -> list[Rank]:
        """Return the ranks that are gone without saying why."""
        return [rank for rank in self.ranks.values() if rank.gone and rank.said.code is None]

    def done(self) -> bool:
        """Return whether all ranks said that they end well, and did, or were killed after that."""
        well = [rank.said.code == 0 and not rank.exit_code for rank in self.ranks.values()]
        return len(well) == self.size and all(well)

    def broken(self) -> bool:
        """Return whether a rank on this machine neither said that it ends well nor ended well."""
        silent = [rank for rank in self.here if rank.said.code != 0]
        return self._hears() and any(rank.death is None or rank.death.status != 0 for rank in silent)

    def failed(self) -> list[Rank]:
        """Return the ranks that said that they end with an exit code other than 0."""
        return [rank for rank in self.ranks.values() if rank.said.code]

    def lost(self) -> str | None:
        """Return why a rank is lost, None if none is; what the ranks have just said is known."""
        if not self._hears():
            return None
        now = time.monotonic()
        if len(self.ranks) < self.size and now - self._began > self.limit:
            missing = sorted(set(range(self.size)) - set(self.ranks))
            return f"rank {missing[0]} has not begun within {self.limit:g} s"
        alive = [rank for rank in self.ranks.values() if not rank.gone]
        silent = max(alive, key=lambda rank: now - rank.beat_at, default=None)
        moving = [rank for rank in alive if rank.said.moves and rank.said.code is None]
        stuck = [rank for rank in moving if now - rank.moved_at > self.limit]
        # The others wait for a rank that is stopped, and may seem stuck before it seems silent.
        patience = max(self.limit / 2, SILENT_SECONDS) if stuck else self.limit
        if silent is not None and now - silent.beat_at > patience:
            return f"{silent} has given no sign of life for {now - silent.beat_at:.0f} s, last {silent.phase}"
        if not stuck:
            return None
        first = min(stuck, key=lambda rank: rank.moved_at)
        who = f"{first} has" if len(stuck) < len(moving) or len(moving) == 1 else "the ranks have"
        return f"{who} been {first.phase} for {self.limit:g} s (--heartbeat)"

    def _hears(self) -> bool:
        """Return whether the ranks can say anything: the folder may have been removed."""
        return os.path.isdir(self.folder)

    def stop(self, number: int) -> None:
        """Send a signal to each rank that has not had it yet, also to ranks that begin late."""
        self.send(number, [rank for rank in self.ranks.values() if not rank.stopped])
        for rank in self.ranks.values():
            rank.stopped = True

    def send(self, number: int, ranks: Iterable[Rank]) -> None:
        """Send a signal to those of *ranks* that are alive."""
        for rank in ranks:
            if rank.said.host != self._host:
                heartbeat.ask(self.folder, rank.said.rank, number)
            elif not rank.gone:
                processes.send([rank.said.pid], number)
