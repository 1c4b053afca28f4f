"""Every loop written by hand in C beside a vertex program gives its answer, at tiny sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.twins.__main__ import main
from benchmarks.twins.inputs import Inputs
from benchmarks.twins.measure import Pair, build, in_turn
from benchmarks.twins.pairs import PAIRS

SCALE = 12


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return Inputs(SCALE)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_twin_gives_the_answer_of_its_program(pair: Pair, inputs: Inputs, tmp_path: Path) -> None:
    step = build(pair, tmp_path)
    for graph in pair.graphs:
        times = in_turn(pair, getattr(inputs, graph), step)
        assert len(times) == pair.supersteps
        assert all(seconds > 0 for both in times for seconds in both)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_twin_that_stands_still_is_noticed(pair: Pair, inputs: Inputs) -> None:
    with pytest.raises(AssertionError, match=r"differ|apart|is not"):
        in_turn(pair, getattr(inputs, pair.graphs[0]), lambda values, superstep: None)


PARTS = ("lists", "common", "all")  # of triangles


def test_the_command_prints_a_row_for_each_part_and_graph(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["triangles", "histogram", f"--scale={SCALE}", "--repeats=2"]
    monkeypatch.setattr(sys, "argv", ["twins", *words])
    main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [cells[:2] for cells in rows] == [
        ["histogram", "tokens"],
        *(["triangles: " + part, g] for g in ("undirected_rmat", "uniform") for part in PARTS),
    ]
    for _, _, ours, theirs, ratio, by_superstep, edges in rows:
        assert float(ours) >= 0
        assert float(theirs) >= 0
        least, most = map(float, by_superstep.split(" to "))
        assert 0 < least <= most
        assert float(ratio) > 0
        assert all(float(million) > 0 for million in edges.split(", "))


@pytest.mark.slow
def test_an_unknown_loop_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["twins", "page"])
    with pytest.raises(SystemExit, match="there is no loop 'page'; there are pagerank; relax; "):
        main()
