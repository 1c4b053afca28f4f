"""Where the ranks of a communicator meet before a collective call, and learn of a rank that cannot come.

A meeting compares a few bytes from every rank. A rank that waits long posts a notice of its place, and reads
the others' notices: a rank that has ended, or that waits in a call on another communicator, never comes, and
the meeting fails. A rank that is merely busy posts nothing; the waiting ranks name it in a warning. Nothing
here blocks inside MPI, so a waiting rank reacts to signals.

A rank also leaves with a notice, and stays until all others have left: ranks that still make collective calls
learn of it at once. A rank that an exception takes out of a call posts that, too: if it then leaves while
others are still in that call, they wait inside MPI, where only the end of the job reaches them.
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

WAITS, LEFT, FAILED, GAVE_UP, BROKE_OFF = range(5)  # a rank's state in a notice
NOTICE_SECONDS = 0.2  # of waiting before a rank says where it is
STUCK_SECONDS = 0.5  # for which two ranks must wait for each other in different calls
WARN_SECONDS = 60.0
BROKEN_SECONDS = 0.5  # in which ranks must abort a call that one has aborted
LEAVE_SECONDS = 5.0  # in which ranks waiting for an ended rank must give up, or the job ends
TIMEOUT = "GASLAB_COLLECTIVE_TIMEOUT"
LOOKS = 3  # without a notice until there is none: one look may only make MPI receive one message
SPINS = 50  # looks, each yielding the core, before a waiting rank sleeps
SHORTEST, LONGEST = 20e-6, 2e-3  # seconds of sleep

log = logging.getLogger("gaslab")
_all: list[Rendezvous] = []  # of this process; never freed, since all ranks must leave the same ones


class Notice(NamedTuple):
    """A rank's state, its number of meetings begun, and the call of the last."""

    state: int
    meetings: int
    call: str


class Rendezvous:
    """The meetings of the ranks of one communicator (a duplicate is used)."""

    def __init__(self, mpi: Any, communicator: Any) -> None:
        self._mpi, self._talk = mpi, communicator.Dup()
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
        self.meetings = 0  # that this rank has begun
        self.call = ""
        self._notices: tuple[dict[int, Notice], ...] = ({}, {}, {}, {}, {})  # by state, each rank's latest
        self._broken: tuple[Any, ...] = ()  # of a meeting that failed: MPI may still write what it holds
        self._ended_by: BaseException | None = None  # the error that took this rank out of its last call
        self.limit = _limit()
        self._requests: list[Any] = []
        world = mpi.COMM_WORLD.Get_group()
        members = communicator.Get_group()
        self.members: list[int] = list(mpi.Group.Translate_ranks(members, None, world))
        self.world_rank, self.world_size = world.Get_rank(), world.Get_size()
        _all.append(self)
        failure.know_others(leave_all, failed_together)

    def meet(self, digest: bytes, call: str) -> list[bytes]:
        """Return every rank's *digest* (of equal length), once all are here (collective).

        Raises
        ------
        UsageError
            A rank has ended, or waits for this one in a call on another communicator.
        AbandonedError
            A rank has stopped waiting for this one.
        TimeoutExpired
            After the seconds of ``$GASLAB_COLLECTIVE_TIMEOUT``, if it is set.
        """
        if self._broken:
            raise UsageError(f"{call}: an earlier call of these ranks failed, {self._broken[0]}; start again")
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
        """Post that *error* took this rank out of the call of the last meeting."""
        self._ended_by = error
        self.notices(BROKE_OFF)  # received, so that errors that a script catches do not pile up in MPI
        self.post(BROKE_OFF)

    def left_behind(self) -> BaseException | None:
        """Return the error that took this rank out of a call where others still are (not collective)."""
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
        """Return the latest notice of each rank that has posted *state* (not collective)."""
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
        """Return the notices of ranks that wait in a meeting not yet begun here (not collective)."""
        gone = self.notices(GAVE_UP)
        waiting = self.notices(WAITS).items()
        return {r: notice for r, notice in waiting if notice.meetings > self.meetings and r not in gone}


class _Waiting:
    """A rank that has waited in a meeting so long that it asks why."""

    def __init__(self, here: Rendezvous) -> None:
        self._here = here
        self._stuck_since: float | None = None
        self._next_report = min(WARN_SECONDS, here.limit)
        here.post(WAITS)

    def look(self, seconds: float) -> None:
        """Raise if a rank cannot come; warn, or raise, if one is long overdue."""
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
        """Name the missing ranks, in a warning or, after the limit, an error."""
        missing = set(range(self._here.size)) - here
        if not missing:  # all are here, and MPI is about to say so
            return
        text = f"{_ranks(missing)} not come to {self._here.call} for {seconds:.3g} s; {_ranks(here)} waited"
        limit = self._here.limit
        if self._next_report >= limit:
            raise TimeoutExpired(f"{text} ({TIMEOUT}={limit:g})")
        self._next_report = limit
        if self._here.rank == min(here):  # as an error if the command line shows only rank 0's warnings
            log.log(logging.ERROR if missing & {0} else logging.WARNING, "%s", text)

    def _in_another_call(self) -> tuple[int, str] | None:
        """Return a rank of this meeting, and its call, that waits for this rank on another communicator.

        With other threads, one of them may be on its way there.
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

    A rank that waits for this one in a call ends the job. If it does not, or waits inside MPI, this one does:
    returns the exit code for the job, 0 if all have ended.
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
    return 0  # never reached: pauses never end


def _say(text: str) -> None:
    print(f"gaslab: {text}", file=sys.stderr, flush=True)


def failed_together(seconds: float) -> list[int]:
    """Post to all ranks that this one has failed; return those that fail within *seconds*, including this."""
    here = next((one for one in _all if one.size == one.world_size), None)
    if here is None:  # only smaller communicators: none speaks for the job
        return [_all[0].world_rank]
    here.post(FAILED)
    for waited in pauses():
        failed = here.notices(FAILED)
        if waited > seconds:
            break
    return sorted(here.members[rank] for rank in {here.rank, *failed})


def pauses() -> Iterator[float]:
    """Yield the seconds since the start, ever less often."""
    began = time.monotonic()
    for look in itertools.count():
        yield time.monotonic() - began
        if look < SPINS:
            os.sched_yield()
        else:
            time.sleep(min(SHORTEST * (look - SPINS + 1), LONGEST))


def _limit() -> float:
    """Return the seconds of $GASLAB_COLLECTIVE_TIMEOUT, infinity if unset."""
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
