"""`Meter`: the figures of a rank without supersteps; `Course`: the rows of the run's history."""

from __future__ import annotations

from typing import Any

from gaslab._kernels.machine import Machine
from gaslab.engine.asynchronous.counts import Counts
from gaslab.engine.observe.timed import MachineSpans
from gaslab.parallel.transport import Transport

SHARE = 1 / 5000  # of the run's time so far is between two rows of its history


class Meter:
    """Measures the machine between its steps; a look takes a fraction of a microsecond."""

    def __init__(self, drawn: MachineSpans | None = None) -> None:
        self._drawn = drawn
        self.began = self.seen = 0.0
        self._most_waiting = self._most_in_flight = 0
        self._idle = 0.0  # seconds

    def begin(self, machine: Machine, now: float) -> None:
        """Note how many vertices wait before the first step."""
        self.began = self.seen = now
        waiting = machine.waiting
        self.count(waiting)
        if self._drawn is not None:
            self._drawn.begin(machine, now, waiting)

    def end(self, machine: Machine) -> None:
        """Note how many vertices wait after the last step."""
        if self._drawn is not None:
            self.count(self._drawn.end(machine, self.seen))

    def look(self, machine: Machine, busy: bool, now: float) -> None:
        """Note a step that has just ended."""
        if not busy:
            self._idle += now - self.seen
        if self._drawn is not None:
            waiting = self._drawn.look(machine, busy, self.seen, now)
            self.count(waiting or 0)
        self.seen = now
        self._most_in_flight = max(self._most_in_flight, machine.in_flight)

    def count(self, waiting: int) -> None:
        """Note how many vertices wait in the scheduler, where a step has counted them."""
        self._most_waiting = max(self._most_waiting, waiting)

    def figures(self, machine: Machine, transport: Transport) -> dict[str, Any]:
        """Return this rank's figures of the whole run."""
        seconds = self.seen - self.began
        requests, waits = machine.lock_counts()
        return {
            "updates": machine.updates,
            "updates_per_second": machine.updates / seconds if seconds > 0 else 0.0,
            "most_waiting": self._most_waiting,
            "most_in_flight": self._most_in_flight,
            "lock_requests": requests,
            "lock_waits": waits,
            "records": machine.out.records,
            "batches": transport.sent,
            "bytes_sent": transport.bytes_sent,
            "seconds": seconds,
            "seconds_idle": self._idle,
        }


class Course:
    """Makes rows of the run's history: one for every table of counts at first, later for fewer and fewer."""

    def __init__(self, began: float, before: int = 0) -> None:
        self._began = self._last = began
        self._updates = self._before = before  # updates of the run that this one resumes

    def is_due(self, now: float) -> bool:
        """Return whether another row is due."""
        return now - self._last >= SHARE * (now - self._began)

    def row(self, counts: Counts, now: float) -> dict[str, Any]:
        """Return the row of a table of all ranks' counts."""
        updates = self._before + int(counts.updates.sum())
        rate = (updates - self._updates) / max(now - self._last, 1e-9)
        self._last, self._updates = now, updates
        return {
            "seconds": now - self._began,
            "updates": updates,
            "updates_per_second": rate,
            "waiting": int(counts.waiting.sum()),
            "in_flight": int(counts.in_flight.sum()),
            "lock_waits": int(counts.lock_waits.sum()),
            "bytes_sent": int(counts.bytes_sent.sum()),
            "updates_by_rank": counts.updates.tolist(),
        }
