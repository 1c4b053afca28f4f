"""The progress of a run on stderr: supersteps, or the figures of a run without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gaslab.system.memory import human

Say = Callable[[Mapping[str, Any]], str]  # of a row of the history; "" leaves what is there

FEW = 4  # ranks whose figures are shown one by one
PACE = 0.2  # seconds that these are of


class Supersteps:
    """Shows the number of supersteps, out of the limit, and what *say* makes of the last row, if anything."""

    def __init__(
        self, most: int | None, what: str = "supersteps", scaled: bool = False, say: Say | None = None
    ) -> None:
        from tqdm.auto import tqdm  # slow to load, and scripts need none

        self.bar = tqdm(total=most, desc=what, unit="", unit_scale=scaled, leave=False)
        self._say = say

    def see(self, row: Mapping[str, Any]) -> None:
        """Show a new row of the run's history."""
        if self._say is not None and (words := self._say(row)):
            self.bar.set_postfix_str(words, refresh=False)
        self.bar.update()

    def close(self) -> None:
        """Remove the line."""
        self.bar.close()


class Updates(Supersteps):
    """Shows how many vertices ran, how quickly on each rank, and how many wait."""

    def __init__(self, most: int | None) -> None:
        super().__init__(most, "updates", scaled=True)
        self._last: Mapping[str, Any] | None = None

    def see(self, row: Mapping[str, Any]) -> None:
        if self._last is None:
            self._last = row
        elif row["seconds"] - self._last["seconds"] >= PACE:
            self.bar.set_postfix_str(", ".join(in_words(row, self._last)), refresh=False)
            self._last = row
        self.bar.update(row["updates"] - self.bar.n)


def in_words(row: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Return the figures of a row as words, with each rank's updates per second since the row *before*."""
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
