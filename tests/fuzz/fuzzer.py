"""What a fuzzer is, and how it is run: draw, check, shrink what was found, say so."""

from __future__ import annotations

import json
import logging
import random
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus")
Case = Any  # plain data that JSON keeps


class Fuzzer(ABC):
    """Draws cases and checks them; a case is plain data, so that a file can keep it."""

    name = ""
    batch = 1  # cases that are checked together, where starting costs more than a case
    sample = 100  # cases of a run of the tests
    share = 1.0  # of the time of a run of all fuzzers

    @abstractmethod
    def draw(self, random: random.Random) -> Case:
        """Return a case."""

    @abstractmethod
    def check(self, case: Case) -> str | None:
        """Return what is wrong with the answer to *case*, None where nothing is."""

    def check_all(self, cases: list[Case]) -> list[str | None]:
        return [self.check(case) for case in cases]

    def smaller(self, case: Case) -> Iterator[Case]:
        """Yield cases that are simpler than *case* in one place, the boldest first."""
        return smaller(case)

    def close(self) -> None:  # noqa: B027 - most start nothing
        """End what was started."""

    def summary(self) -> str:
        """Return what more there is to say of the runs."""
        return ""


def smaller(value: Any, texts: bool = True) -> Iterator[Any]:
    """Yield simpler values: texts and lists without a part, smaller numbers, mappings with a simpler item."""
    if isinstance(value, dict):
        for key, item in value.items():
            for one in smaller(item, texts):
                yield {**value, key: one}
    elif isinstance(value, list) or (isinstance(value, str) and texts):
        size = len(value) // 2
        while size:
            for at in range(0, len(value), size):
                yield value[:at] + value[at + size :]
            size //= 2
        if len(value) == 1:
            yield value[:0]
        if isinstance(value, list):
            for at, item in enumerate(value):
                for one in smaller(item, texts):
                    yield [*value[:at], one, *value[at + 1 :]]
    elif isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int) and value not in (0, 1):
        yield from (0, 1, value // 2)


def shrink(fuzzer: Fuzzer, case: Case, what: str, seconds: float = 20.0) -> tuple[Case, str]:
    """Return a case that is wrong in the way of *case*, as small as halving makes it in so many seconds."""
    stop = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for one in fuzzer.smaller(case):
            if time.monotonic() > stop:
                return case, what
            try:
                still = fuzzer.check(one)
            except Exception:  # shrinking may have made what no fuzzer draws
                continue
            if still is not None and kind(still) == kind(what):
                case, what, found = one, still, True
                break
    return case, what


def of_seed(fuzzer: Fuzzer, seed: int, run: int) -> Case:
    """Return the case that *fuzzer* draws in run number *run*."""
    return fuzzer.draw(random.Random(f"{fuzzer.name} {seed} {run}"))


def fuzz(
    fuzzer: Fuzzer,
    seed: int,
    *,
    seconds: float | None = None,
    runs: int | None = None,
    first: int = 0,
    stop_at: int = 20,
) -> tuple[int, list[tuple[int, Case, str]]]:
    """Check drawn cases for so many seconds or runs; return how many, and (run, smallest case, what) of each.

    Findings whose texts are alike but for digits are one.
    """
    with quiet():
        return _fuzz(fuzzer, seed, seconds, runs, first, stop_at)


def _fuzz(
    fuzzer: Fuzzer, seed: int, seconds: float | None, runs: int | None, first: int, stop_at: int
) -> tuple[int, list[tuple[int, Case, str]]]:
    until = None if seconds is None else time.monotonic() + seconds
    found: list[tuple[int, Case, str]] = []
    seen: set[str] = set()
    done = 0
    while (runs is None or done < runs) and (until is None or time.monotonic() < until):
        count = fuzzer.batch if runs is None else min(fuzzer.batch, runs - done)
        cases = [of_seed(fuzzer, seed, first + done + k) for k in range(count)]
        for k, what in enumerate(fuzzer.check_all(cases)):
            if what is None or kind(what) in seen:
                continue
            seen.add(kind(what))
            least, text = shrink(fuzzer, cases[k], what)
            found.append((first + done + k, least, text))
            print(
                f"{fuzzer.name}: run {first + done + k} of seed {seed}: {text}\n  {json.dumps(least)}",
                flush=True,
            )
        done += count
        if len(found) >= stop_at:
            break
    return done, found


def kind(what: str) -> str:
    """Return what findings of one cause are likely to have in common."""
    return "".join(c for c in what.split("\n")[0] if not c.isdigit())[:60]


def corpus(name: str) -> dict[str, Case]:
    """Return the cases that the fuzzer *name* once found, by file name."""
    return {path.name: json.loads(path.read_text()) for path in sorted(CORPUS.glob(f"{name}-*.json"))}


def keep(name: str, number: str, case: Case) -> None:
    """Write *case* to the corpus."""
    (CORPUS / f"{name}-{number}.json").write_text(json.dumps(case, indent=1, sort_keys=True) + "\n")


@contextmanager
def quiet() -> Iterator[None]:
    """Leave the log and warnings out: a fuzzer is warned of every bad line."""
    log = logging.getLogger("gaslab")
    kept = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(kept)
