"""Where the ranks of a communicator meet before a collective call, and learn of a rank that cannot come.

A meeting compares a few bytes of every rank. A rank that waits for long posts a notice of where it is, and
reads those of the others: a rank that has ended, or that waits in a call of another communicator, never
comes, and the meeting fails. A rank that is merely busy posts nothing; the ranks that wait name it in a
warning. Nothing here blocks inside MPI, so that a waiting rank hears of signals.

A rank leaves by a notice too, and stays until all others have left: those that still call something
collective learn of it at once. A rank that an exception has taken out of a call posts that, too: if it then
leaves while others are still in that call, they wait inside MPI, where only the end of the job reaches them.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gaslab.errors import AbandonedError, TimeoutExpired, UsageError
from gaslab.parallel import failure
from gaslab.parallel.tags import Tag

WAITS, LEFT, FAILED, GAVE_UP, BROKE_OFF = range(5)  # what a notice says of a rank
NOTICE_SECONDS = 0.2  # of waiting, before a rank says where it is
STUCK_SECONDS = 0.5  # for which two ranks must have waited for each other in different calls
WARN_SECONDS = 60.0
BROKEN_SECONDS = 0.5  # in which the ranks of a call that one has broken off break it off too
LEAVE_SECONDS = 5.0  # in which the ranks that wait for one that has ended must give up, or end the job
TIMEOUT = "GASLAB_COLLECTIVE_TIMEOUT"
LOOKS = 3  # without a notice before there is none: a look may only make MPI take one message in
SPINS = 50  # looks before a waiting rank sleeps, each of which yields the core
SHORTEST, LONGEST = 20e-6, 2e-3  # seconds of sleep

log = logging.getLogger("gaslab")
_all: list[Rendezvous] = []  # of this process; never freed, as all ranks must leave the same ones


class Notice(NamedTuple):
    """A rank's state, how many meetings it has begun, and the call of the last."""

    state: int
    meetings: int
    call: str


class Rendezvous:
    """The meetings of the ranks of one communicator (of which a duplicate is used)."""

    def __init__(self, mpi: Any, communicator: Any) -> None:
        self._mpi, self._talk = mpi, communicator.Dup()
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
        self.meetings = 0  # that this rank has begun
        self.call = ""
        self._notices: tuple[dict[int, Notice], ...] = ({}, {}, {}, {}, {})  # by state, each rank's newest
        self._broken: tuple[Any, ...] = ()  # of a meeting that failed: MPI may still write what it holds
        self._ended_by: BaseException | None = None  # what has taken this rank out of its last call
        self.limit = _limit()
        self._requests: list[Any] = []
        world = mpi.COMM_WORLD.Get_group()
        members = communicator.Get_group()
        self.members: list[int] = list(mpi.Group.Translate_ranks(members, None, world))
        self.world_rank, self.world_size = world.Get_rank(), world.Get_size()
        _all.append(self)
        failure.know_others(leave_all, failed_together)

    def meet(self, digest: bytes, call: str) -> list[bytes]:
        """Return every rank's *digest* (one length), once all are here (collective).

        Raises
        ------
        UsageError
            A rank has ended, or waits for this one in a call of another communicator.
        AbandonedError
            A rank has waited for this one no longer.
        TimeoutExpired
            After the seconds of ``$GASLAB_COLLECTIVE_TIMEOUT``, if it is set.
        """
        if self._broken:
            raise UsageError(f"{call}: an earlier call of these ranks failed, {self._broken[0]}; start anew")
        self.meetings += 1
        self.call, self._ended_by = call, None
        row = np.frombuffer(digest, np.uint8).copy()
        table = np.empty((self.size, row.size), np.uint8)
        request = self._talk.Iallgather(row, table)
        try:
            self._await(request)
        except BaseException as error:
            self._broken = (f"{type(error).__name__}: {error}", request, row, table)
            self.post(GAVE_UP)
            raise
        for rank, notice in self.notices(GAVE_UP).items():
            self._broken = (f"rank {rank} gave up waiting for {notice.call}", request, row, table)
            raise AbandonedError(f"rank {self.rank} came to {call} too late: {self._broken[0]}")
        return [one.tobytes() for one in table]

    def _await(self, request: Any) -> None:
        waiting: _Waiting | None = None
        for seconds in pauses():
            if request.Test():
                return
            if seconds > NOTICE_SECONDS:
                if waiting is None:
                    waiting = _Waiting(self)
                waiting.look(seconds)

    def break_off(self, error: BaseException) -> None:
        """Post that *error* has taken this rank out of the call that the last meeting was for."""
        self._ended_by = error
        self.notices(BROKE_OFF)  # taken in, so that errors that a script catches do not pile up in MPI
        self.post(BROKE_OFF)

    def left_behind(self) -> BaseException | None:
        """Return what has taken this rank out of a call in which other ranks still are (not collective)."""
        out = self.notices(BROKE_OFF)
        gone = {r for r, notice in out.items() if notice.meetings >= self.meetings} | {*self.notices(LEFT)}
        return self._ended_by if len(gone) < self.size - 1 else None

    def post(self, state: int) -> None:
        """Post the state of this rank to all others (not collective)."""
        self._requests = [r for r in self._requests if not r.Test()]
        data = np.frombuffer(pickle.dumps((state, self.meetings, self.call)), np.uint8)
        for peer in range(self.size):
            if peer != self.rank:
                self._requests.append(self._talk.Isend(data, dest=peer, tag=Tag.NOTICE))

    def notices(self, state: int) -> dict[int, Notice]:
        """Return the newest notice of each rank that has posted one of *state* (not collective)."""
        status, empty = self._mpi.Status(), 0
        while empty < LOOKS:
            message = self._talk.Improbe(tag=Tag.NOTICE, status=status)
            if message is None:
                empty += 1
                continue
            empty = 0
            data = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
            message.Recv(data)
            notice = Notice(*pickle.loads(data.tobytes()))
            self._notices[notice.state][status.Get_source()] = notice
        return self._notices[state]

    def awaiting_this_rank(self) -> dict[int, Notice]:
        """Return the notices of ranks that wait in a meeting that is still to begin here (not collective)."""
        gone = self.notices(GAVE_UP)
        waiting = self.notices(WAITS).items()
        return {r: notice for r, notice in waiting if notice.meetings > self.meetings and r not in gone}


class _Waiting:
    """A rank that has waited in a meeting for so long that it asks why."""

    def __init__(self, here: Rendezvous) -> None:
        self._here = here
        self._stuck_since: float | None = None
        self._next_report = min(WARN_SECONDS, here.limit)
        here.post(WAITS)

    def look(self, seconds: float) -> None:
        """Raise if a rank cannot come; warn, or raise, if one has not come for long."""
        here = self._here
        for rank, notice in here.notices(LEFT).items():
            if notice.meetings < here.meetings:
                raise UsageError(
                    f"rank {rank} has ended, but rank {here.rank} called {here.call}; every rank must make "
                    "the same calls"
                )
        stuck = self._in_another_call()
        if stuck is None:
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = seconds
        elif seconds - self._stuck_since > STUCK_SECONDS:
            raise UsageError(
                f"rank {stuck[0]} called {stuck[1]} on one communicator, rank {here.rank} {here.call} on "
                "another, and each waits for the other"
            )
        if seconds > self._next_report:
            come = {r for r, notice in here.notices(WAITS).items() if notice.meetings == here.meetings}
            self._report(seconds, come | {here.rank})

    def _report(self, seconds: float, here: set[int]) -> None:
        """Name the ranks that have not come, as a warning or, after the limit, as an error."""
        missing = set(range(self._here.size)) - here
        if not missing:  # all have come, and MPI is about to say so
            return
        text = f"{_ranks(missing)} not come to {self._here.call} for {seconds:.3g} s; {_ranks(here)} waited"
        limit = self._here.limit
        if self._next_report >= limit:
            raise TimeoutExpired(f"{text} ({TIMEOUT}={limit:g})")
        self._next_report = limit
        if self._here.rank == min(here):  # as an error where the command line shows warnings of rank 0 alone
            log.log(logging.ERROR if missing & {0} else logging.WARNING, "%s", text)

    def _in_another_call(self) -> tuple[int, str] | None:
        """Return a rank of this meeting, and its call, that waits for this rank on another communicator.

        Where there are other threads, one of them may be on its way there.
        """
        if threading.active_count() > 1:
            return None
        for other in _all:
            for rank, notice in other.awaiting_this_rank().items() if other is not self._here else ():
                world = other.members[rank]
                if world in self._here.members:
                    return self._here.members.index(world), notice.call
        return None


def leave_all() -> int:
    """Post to all ranks that this one has ended, and wait until all have.

    A rank that waits for this one in a call ends the job. Should it not, or wait inside MPI, this one does:
    what is returned is the exit code for the job, 0 if all have ended.
    """
    for one in _all:
        one.post(LEFT)
    awaited_since = None
    for seconds in pauses():
        if all(len(one.notices(LEFT)) == one.size - 1 for one in _all):
            return 0
        error, call = next(((e, one.call) for one in _all if (e := one.left_behind())), (None, ""))
        if error is not None and seconds > BROKEN_SECONDS:
            kind = type(error).__name__
            _say(f"rank {_all[0].world_rank} left {call} by {kind}, and other ranks are still in it")
            return failure.exit_code(error) or 1
        if not any(one.awaiting_this_rank() for one in _all):
            awaited_since = None
        elif awaited_since is None:
            awaited_since = seconds
        elif seconds - awaited_since > LEAVE_SECONDS:
            rank, notice = next(item for one in _all for item in one.awaiting_this_rank().items())
            _say(f"rank {rank} waits in {notice.call} for a rank that has ended")
            return 1
    return 0  # never reached: pauses go on


def _say(text: str) -> None:
    print(f"gaslab: {text}", file=sys.stderr, flush=True)


def failed_together(seconds: float) -> list[int]:
    """Post to all ranks that this one has failed; return those that fail within *seconds*, this included."""
    here = next((one for one in _all if one.size == one.world_size), None)
    if here is None:  # only smaller communicators: none of them speaks for the job
        return [_all[0].world_rank]
    here.post(FAILED)
    for waited in pauses():
        failed = here.notices(FAILED)
        if waited > seconds:
            break
    return sorted(here.members[rank] for rank in {here.rank, *failed})


def pauses() -> Iterator[float]:
    """Yield the seconds since the begin, ever less often."""
    began = time.monotonic()
    for look in itertools.count():
        yield time.monotonic() - began
        if look < SPINS:
            os.sched_yield()
        else:
            time.sleep(min(SHORTEST * (look - SPINS + 1), LONGEST))


def _limit() -> float:
    """Return the seconds of $GASLAB_COLLECTIVE_TIMEOUT, infinity where it is not set."""
    text = os.environ.get(TIMEOUT, "")
    if not text:
        return math.inf
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise UsageError(f"{TIMEOUT}={text!r}: a number of seconds above 0 is needed")
    return seconds


def _ranks(ranks: set[int]) -> str:
    """Return ``rank 1 has`` or ``ranks 0, 2 have``."""
    listed = ", ".join(map(str, sorted(ranks)))
    return f"rank {listed} has" if len(ranks) == 1 else f"ranks {listed} have"
