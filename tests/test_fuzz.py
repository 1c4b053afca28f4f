"""A small sample of what `make fuzz` draws, and all that it once found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz import make, names
from tests.fuzz.fuzzer import Fuzzer, corpus, fuzz, quiet, smaller

SEED = 0  # `make fuzz` draws others


# A fault strikes at a moment of the clock, which no seed repeats: of these there are runs of their own.
@pytest.fixture(params=[name for name in names() if name != "faults"])
def fuzzer(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = make(request.param)
    yield made
    made.close()


def test_a_sample_of_drawn_inputs(fuzzer: Fuzzer) -> None:
    done, found = fuzz(fuzzer, SEED, runs=fuzzer.sample, stop_at=1)
    print(f"{fuzzer.name}: {done} runs of seed {SEED}{fuzzer.summary()}")
    assert not found, f"seed {SEED}, run {found[0][0]}: {found[0][2]}\n{found[0][1]}"


def test_a_rank_that_is_killed_at_a_drawn_moment_ends_all() -> None:
    faults, drawn = make("faults"), random.Random(SEED)
    try:
        for fault in ("kill", "term", "kill", "term"):
            case = {**faults.draw(drawn), "fault": fault}
            assert faults.check(case) is None, case
    finally:
        faults.close()


def test_what_was_once_found(fuzzer: Fuzzer) -> None:
    with quiet():
        wrong = {name: what for name, case in corpus(fuzzer.name).items() if (what := fuzzer.check(case))}
    assert not wrong


class Broken(Fuzzer):
    """Finds every list that has a 7 in it."""

    name = "broken"

    def draw(self, random: random.Random) -> Any:
        return {"values": [random.randrange(10) for _ in range(20)]}

    def check(self, case: Any) -> str | None:
        return "a seven" if 7 in case["values"] else None


def test_a_finding_is_shrunk_and_named_by_its_run() -> None:
    done, found = fuzz(Broken(), 1, runs=50)
    assert done == 50
    assert [(case, what) for _, case, what in found] == [({"values": [7]}, "a seven")]
    assert Broken().check(Broken().draw(random.Random(f"broken 1 {found[0][0]}")))


def test_simpler_values() -> None:
    assert "ab" in list(smaller("abcd"))
    assert {"a": [1]} in list(smaller({"a": [1, 2]}))
    assert not list(smaller({"a": "xy"}, texts=False))
