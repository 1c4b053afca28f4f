"""Every pair of features agrees everywhere, or is refused with the reason that docs/pairs.md gives."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.conftest import LONG, Hosts
from tests.pairs import features, page
from tests.pairs.features import BY_NAME, FEATURES, REFUSED, Choice
from tests.pairs.graphs import Drawn
from tests.pairs.judge import differs, judge, unequal
from tests.pairs.phases import twin
from tests.pairs.programs import drawn_program
from tests.pairs.reduce import reduced
from tests.pairs.runs import COMPILED, INTERPRETED, REFERENCE, Answer, Mode, Task, answers, drawn_task, script


def drawn(draws: random.Random, name: str, focus: tuple[str, ...] = ()) -> Task:
    chosen = Choice(draws, focus).chosen
    return drawn_task(draws, name, drawn_program(draws, chosen), chosen)


def asks(hosts: Hosts) -> Any:
    def ask(size: int, task: Task, modes: list[Mode]) -> list[list[Answer]]:
        return hosts(size).run(answers, task, modes, timeout=120)

    return ask


AIMS = ("", "phases", "stale 0", "stale 2", "async relaxed", "async serialisable")


@pytest.mark.slow
@pytest.mark.parametrize("aim", AIMS)
@settings(max_examples=max(settings.default.max_examples // 2, 2))
@given(draws=st.randoms(use_true_random=False), size=st.integers(2, 4), number=st.integers(0, 1 << 30))
def test_drawn_programs_agree_everywhere(
    hosts: Hosts, aim: str, draws: random.Random, size: int, number: int
) -> None:
    """Compiled, interpreted, on threads and ranks and by the drawn engine, an answer is the reference's."""
    task = drawn(draws, f"paired_{number}_{draws.random()}", (aim,) if aim else ())
    verdict = judge(task, asks(hosts), (1, size))
    if verdict.differs:
        note(script(task, "\n".join(verdict.differs)))
    assert not verdict.differs


ROWS = [(a, b, why) for these, those, why in REFUSED
        for a, b in (itertools.product(these, those) if LONG else [(these[0], those[0])])]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other", "why"), ROWS, ids=[f"{a} + {b}" for a, b, _ in ROWS])
def test_a_refused_pair_gives_its_reason(one: str, other: str, why: str, hosts: Hosts) -> None:
    """On its own, without any other pair that is refused."""
    for seed in range(20):
        task = drawn(random.Random(seed), f"refused_{abs(hash((one, other)))}_{seed}", (one, other))
        refused = [p for p in itertools.combinations(sorted(task.features), 2) if features.refusal(*p)]
        texts = {features.refusal(*p) for p in refused}
        if texts == {why}:
            break
    engine = any(BY_NAME[x].slot == "engine" for x in (one, other))
    mode = Mode("engine", own=True) if engine else COMPILED
    [[(kind, said)]] = hosts(1).run(answers, task, [mode])
    assert (kind, why in said) == ("refused", True), said
    if not engine:
        assert hosts(1).run(answers, task, [REFERENCE]) == [[(kind, said)]]


SEEN = FEATURES if LONG else FEATURES[::12]


@pytest.mark.parametrize("name", [f.name for f in SEEN])
def test_every_feature_is_drawn_and_agrees(name: str, hosts: Hosts) -> None:
    task = drawn(random.Random(f"a program with {name}"), f"with_{abs(hash(name))}", (name,))
    assert name in task.features
    [[plain, interpreted]] = hosts(1).run(answers, task, [REFERENCE, INTERPRETED])
    assert differs(task, plain, interpreted) == ""


def test_the_map_is_what_the_features_say() -> None:
    assert page.PAGE.read_text() == page.page(), "write it anew: python -m tests.pairs --page"


def test_every_pair_was_drawn_or_is_refused() -> None:
    """In a campaign whose counts are kept; a new feature needs one of its own, with --focus."""
    runs = page.runs_of_pairs()
    seldom = [pair for pair in features.pairs() if runs.get(frozenset(pair), 0) < page.ENOUGH]
    assert not seldom, f"{len(seldom)} pairs were drawn in fewer than {page.ENOUGH} runs: {seldom[:9]}"


def test_features_need_what_there_is() -> None:
    for feature in FEATURES:
        for need in feature.needs:
            for name in features.ANY.get(need, need.split("|")):
                assert name in BY_NAME, f"{feature.name} needs {name}"
    for these, those, _ in (*REFUSED, *features.POINTLESS):
        assert {*these, *those} <= BY_NAME.keys()


TEXT = """import gaslab as gl

class P(gl.VertexProgram):
    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        n: int = 0
        m: int = 0

    def gather(self, v, e, nbr) -> gl.Sum[int]:
        return 1

    def apply(self, v, total):
        v.m = 7
        v.n = total
    phases = (gl.Phase(gather=gather, apply=apply, supersteps=1),)
"""


def test_a_program_and_its_twin_differ_in_where_directions_stand() -> None:
    assert "supersteps=1, gather_edges=gl.OUT)" in twin(TEXT)
    assert twin(twin(TEXT)) == ""
    assert twin(TEXT.split("    phases")[0]) == ""


def task(edges: list[tuple[int, int]]) -> Task:
    return Task("shrunk", TEXT, Drawn([0, 1, 2], edges), ("gather", "apply", "phases"), limit=1)


def test_what_differs_is_seen() -> None:
    """A wrong bit, a fault without its line, and a rank with another answer are no agreement."""
    assert unequal("x", {"a": [0.0]}, {"a": [-0.0]}) == "x['a'][0] is '-0.0', and by the reference '0.0'"
    assert unequal("x", [1], [1]) == ""
    assert unequal("x", [1, 2], [1]) != ""
    right = ("fault", "ExecutionError: <shrunk>:3: P failed at vertex 1 in superstep 0: no\n    line")
    wrong = ("fault", right[1].replace(":3:", ":4:"))
    assert differs(task([]), right, right) == ""
    assert differs(task([]), right, wrong) != ""

    def lies(size: int, task: Task, modes: list[Mode]) -> list[list[Answer]]:
        [said] = [answers_here(task, modes)]
        if size == 1:
            return [said]
        return [said, [(kind, "another") for kind, _ in said]]

    assert judge(task([(0, 1)]), lies, (1,)).differs == []
    assert "the ranks disagree" in judge(task([(0, 1)]), lies, (1, 2)).differs[0]


def answers_here(task: Task, modes: list[Mode]) -> list[Answer]:
    from gaslab.parallel.comm import Comm

    return answers(Comm(), task, [replace(m, compile="never") for m in modes])


def test_a_finding_is_made_small() -> None:
    """Lines and edges that have no part in what differs go."""
    edges = [(a, b) for a in range(3) for b in range(3)]

    def wrong(smaller: Task) -> bool:
        [(kind, said)] = answers_here(smaller, [INTERPRETED])
        return kind == "answer" and any(n > 0 for n in said["vertices"].get("n", ()))

    least = reduced(task(edges), wrong)
    assert len(least.graph.edges) == 1
    assert "v.m = 7" not in least.text
    assert "v.n = total" in least.text
    assert "gl.run(P(), graph" in script(least)
