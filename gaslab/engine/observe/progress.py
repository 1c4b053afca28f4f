"""The progress of a run on stderr: supersteps or sweeps, or the figures of a run without them.

On a terminal it is a bar; if stderr goes to a file or to mpiexec, log lines.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gaslab.system.memory import human

Say = Callable[[Mapping[str, Any]], str]  # of a row of the history; "" changes nothing

log = logging.getLogger("gaslab")
LINES = "lines"  # `progress=` values that ask for these
FIRST, SELDOM = 1.0, 10.0  # seconds until the first line; the interval then doubles up to this
FEW = 4  # ranks whose figures are shown individually
PACE = 0.2  # seconds that these are of


@dataclass(frozen=True)
class Sweeps:
    """The progress of a program of sweeps, instead of supersteps."""

    say: Say
    supersteps: int  # of a sweep
    most: int  # sweeps
    done: int  # of them, by a program before
    lines: bool


class Lines:
    """Log lines in place of a tqdm bar, with the needed part of its interface."""

    def __init__(self, most: int | None, what: str, done: int = 0) -> None:
        self.n = done
        self._most = "" if most is None else f" of {most:,}"
        self._what, self._words = what, ""
        self._pace, self._last = FIRST, time.perf_counter()

    def set_postfix_str(self, words: str, refresh: bool = False) -> None:
        """Show *words* in later lines."""
        self._words = f", {words}"

    def update(self, steps: int = 1) -> None:
        """Count more steps; write a line if one is due."""
        self.n += steps
        now = time.perf_counter()
        if now - self._last >= self._pace:
            log.info("%s: %s%s%s", self._what, f"{self.n:,}", self._most, self._words)
            self._pace, self._last = min(2 * self._pace, SELDOM), now

    def close(self) -> None:
        """Keep the lines."""


class Supersteps:
    """Shows the number of supersteps, out of the limit, and *say* of the last row, if anything.

    With *each* above 1 it counts groups of that many.
    """

    def __init__(
        self, most: int | None, what: str = "supersteps", lines: bool = False, scaled: bool = False,
        say: Say | None = None, each: int = 1, done: int = 0,
    ) -> None:  # fmt: skip
        self.bar: Any = Lines(most, what, done) if lines else _bar(most, what, scaled, done)
        self._say, self._each, self._rows = say, each, 0

    def see(self, row: Mapping[str, Any]) -> None:
        """Show a new row of the run's history."""
        if self._say is not None and (words := self._say(row)):
            self.bar.set_postfix_str(words, refresh=False)
        self._rows += 1
        if self._rows % self._each == 0:
            self.bar.update()

    def close(self) -> None:
        """Remove the line."""
        self.bar.close()


class Updates(Supersteps):
    """Shows how many vertices ran, how fast on each rank, and how many wait."""

    def __init__(self, most: int | None, lines: bool = False) -> None:
        super().__init__(most, "updates", lines, scaled=True)
        self._last: Mapping[str, Any] | None = None

    def see(self, row: Mapping[str, Any]) -> None:
        if self._last is None:
            self._last = row
        elif row["seconds"] - self._last["seconds"] >= PACE:
            self.bar.set_postfix_str(", ".join(in_words(row, self._last)), refresh=False)
            self._last = row
        self.bar.update(row["updates"] - self.bar.n)


def _bar(most: int | None, what: str, scaled: bool, done: int) -> Any:
    from tqdm.auto import tqdm  # slow to load, and not needed by scripts

    return tqdm(total=most, desc=what, unit="", unit_scale=scaled, initial=done, leave=False)


def in_words(row: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Return a row's figures as text, with each rank's updates per second since the row *before*."""
    ranks = len(row["updates_by_rank"])
    parts = [f"{short(row['waiting'])} waiting"]
    if ranks == 1:
        return parts
    parts.append(f"{short(row['in_flight'])} in flight")
    if row["lock_waits"]:
        parts.append(f"{short(row['lock_waits'])} lock waits")
    parts.append(f"{human(row['bytes_sent'])} sent")
    seconds = row["seconds"] - before["seconds"]
    pairs = zip(row["updates_by_rank"], before["updates_by_rank"], strict=True)
    rates = [(now - then) / seconds for now, then in pairs]
    if ranks > FEW:
        return [*parts, f"{short(min(rates))} to {short(max(rates))}/s a rank"]
    return [*parts, f"{' + '.join(map(short, rates))}/s"]


def short(count: float) -> str:
    """Return a count in at most four figures and a letter."""
    for letter in ("", "k", "M", "G"):
        if count < 999.5:
            return f"{count:.3g}{letter}"
        count /= 1000
    return f"{count:.3g}T"
