"""Runs without supersteps as their users see them: what is refused, warned of, counted and drawn."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.engine.asynchronous.counts import Counts
from gaslab.engine.asynchronous.meter import Course
from gaslab.engine.observe.progress import in_words, short
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.programs import additive
from tests.support import unordered_programs as programs

pytestmark = pytest.mark.timed


class Weary(programs.Restless):
    """Its done has a fault of its own."""

    def done(self) -> bool:
        if self.most >= 3:
            raise RuntimeError("tired")
        return False


def test_sums_on_edges_are_refused() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"weight": [1.0, 2.0], "cost": [1, 2]})
    with pytest.raises(gl.errors.UsageError, match=r"Tolls cannot run .*its scatter adds to fields declared"):
        gl.run(additive.Tolls(), graph, engine="async")


def test_threads_that_stand_idle_are_warned_of_once() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.warns(gl.PerformanceWarning, match="of threads=2 only init and the aggregators") as found:
        gl.run(programs.Labels(), graph, engine="async", threads=2)
    assert [one.filename for one in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gl.run(programs.Labels(), graph, engine="async", threads=1)
        gl.run(programs.Labels(), graph, engine="async")


def table_of(**figures: Any) -> tuple[Counts, np.ndarray]:
    """Return a table of two ranks: unless *figures* differ, the run has ended."""
    usual = {"sent": 3, "received": 3, "passive": 1, "in_flight": 0, "waiting": 0, "updates": 9, "late": 0}
    rows = [Counts(**usual | {k: v[p] for k, v in figures.items()}).row(np.array([p + 10])) for p in (0, 1)]
    return Counts.of_table(np.stack(rows))


def counts(**figures: Any) -> Counts:
    return table_of(**figures)[0]


def test_counts_are_read_as_they_were_written() -> None:
    found, more = table_of(sent=(1, 2), code=(0, 2), gid=(0, 7), site=(0, 1), turn=(0, 4))
    assert found.sent.tolist() == [1, 2]
    assert [row for row in found.faults().tolist() if row[0]] == [[2, 7, 1, 4]]
    assert more.tolist() == [[10], [11]]


def test_the_end_needs_two_rounds_that_agree() -> None:
    over = counts()
    assert over.end(over)
    assert not over.end(None)
    assert not over.end(counts(passive=(1, 0)))
    assert not counts(passive=(0, 1)).end(over)
    assert not counts(sent=(3, 4)).end(over)  # a batch on the road
    assert not over.end(counts(received=(3, 2)))


def wearily(comm: Comm) -> list[int]:
    """Let done raise with batches on the road; return what a later run finds."""
    source = np.arange(60)
    graph = gl.Graph.from_edges(source, (source * 7 + 1) % 60, comm=comm)
    with pytest.raises(RuntimeError, match="tired"):
        gl.run(Weary(), graph, engine="async")
    got: list[int] = gl.run(programs.Parcels(), graph, engine="async").vertices["got"].tolist()
    return got


def test_a_done_that_raises_leaves_nothing_on_the_road(ranks: Ranks) -> None:
    expected = np.bincount((np.arange(60) * 7 + 1) % 60, minlength=60).tolist()
    assert ranks.run(wearily) == [expected] * ranks.size


def scores(comm: Comm) -> tuple[np.ndarray, np.ndarray, bool]:
    graph = ring(comm, 90)
    found = gl.pagerank(graph, method="signal", engine=gl.Async(scheduler="sweep"), tolerance=1e-9)
    assert found.aggregates["mass"] == found.history[-1]["mass"]
    return found.vertices["score"], gl.pagerank(graph).vertices["score"], "asynchronous" in found.metrics


def test_pagerank_by_signals_runs_without_supersteps(hosts: Any) -> None:
    for size in (1, 2):
        for found, expected, was in hosts(size).run(scores):
            assert was
            assert found == pytest.approx(expected, abs=1e-7)
            assert found.sum() == pytest.approx(1.0, abs=1e-12)


# ---- figures ---------------------------------------------------------------------------------------


def ring(comm: Comm, n: int = 600) -> gl.Graph:
    source = np.arange(n)
    return gl.Graph.from_edges(source, (source * 7 + 1) % n, comm=comm)


def figures(comm: Comm, consistency: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    result = gl.run(programs.Labels(), ring(comm), engine=gl.Async(consistency=consistency))
    return result.metrics, result.history


def test_an_answer_says_how_many_updates_it_took() -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.warns(gl.ConvergenceWarning, match="after 0 updates; raise max_updates"):
        result = gl.run(programs.Labels(), graph, engine=gl.Async(max_updates=0))
    assert repr(result).startswith("<Result of Labels: 2 vertices, 0 updates, not converged;")


@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
def test_metrics_have_what_each_rank_did(ranks: Ranks, consistency: str) -> None:
    for metrics, history in ranks.run(figures, consistency):
        summary = metrics["asynchronous"]
        assert (summary["consistency"], summary["scheduler"]) == (consistency, "fifo")
        each = summary["ranks"]
        assert len(each) == ranks.size
        assert sum(one["updates"] for one in each) == metrics["updates"] >= 600
        assert sum(one["most_waiting"] for one in each) > 0
        assert all(0 <= one["seconds_idle"] <= one["seconds"] for one in each)
        assert all(one["lock_waits"] <= one["lock_requests"] for one in each)
        assert all(one["bytes_sent"] >= 8 * one["records"] >= 8 * one["batches"] for one in each)
        if ranks.size > 1:
            assert all(one["records"] for one in each)
            assert all(bool(one["lock_requests"]) == (consistency == "serialisable") for one in each)
            assert history[-1]["bytes_sent"] == sum(one["bytes_sent"] for one in each)
            assert any(one["most_in_flight"] for one in each) == (consistency == "serialisable")
        last = history[-1]
        assert last["updates_by_rank"] == [one["updates"] for one in each]
        assert last["lock_waits"] == sum(one["lock_waits"] for one in each)
        assert (last["waiting"], last["in_flight"]) == (0, 0)
        course = [row["seconds"] for row in history]
        assert course == sorted(course)


def test_the_history_of_a_long_run_stays_short() -> None:
    course, clock, rows = Course(100.0), 100.0, 0
    table = counts(lock_waits=(0, 0), bytes_sent=(0, 0))
    for _ in range(100_000):  # a thousand seconds of counts
        clock += 0.01
        if course.is_due(clock):
            rows += 1
            last = course.row(table, clock)
    assert 5000 < rows < 5000 * (1 + math.log(1000 / 50)) + 10
    assert last["seconds"] > 999


def shown(comm: Comm, program: str, progress: bool | str) -> str:
    """Return what is shown on stderr while a program runs for a while."""
    graph = ring(comm)
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(gl.TimeoutExpired):
        gl.run(getattr(programs, program)(), graph, engine="async", timeout=1.5, progress=progress)
    return said.getvalue()


@pytest.mark.slow
def test_rank_0_shows_the_figures_of_the_moment(ranks: Ranks) -> None:
    first, *others = ranks.run(shown, "Restless", True)
    line = [line for line in first.split("\r") if "waiting" in line][-1]
    assert re.search(r"^updates: [\d.]+[kMG]? \[.*\d waiting|k waiting", line)
    for part in ("in flight", "B sent", "/s]"):
        assert (part in line) == (ranks.size > 1)
    assert others == [""] * len(others)
    assert ranks.run(shown, "Labels", False) == [""] * ranks.size


def test_lines_of_the_log_have_the_figures_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "gaslab")
    assert shown(world(), "Restless", "lines") == ""
    assert re.search(r"^updates: [\d,]+, \d+ waiting$", caplog.messages[-1])


def test_many_ranks_are_shown_by_the_slowest_and_the_quickest() -> None:
    usual = {"waiting": 1234, "in_flight": 5, "lock_waits": 2, "bytes_sent": 2_500_000}
    before = {**usual, "seconds": 1.0, "updates_by_rank": [0] * 5}
    row = {**usual, "seconds": 3.0, "updates_by_rank": [2000, 40, 600, 800, 1000]}
    words = ["1.23k waiting", "5 in flight", "2 lock waits", "2.5 MB sent", "20 to 1k/s a rank"]
    assert in_words(row, before) == words


def test_counts_are_shown_short() -> None:
    counted = [0, 7, 999, 999.6, 12_345, 1e6, 3.2e10, 5e12]
    assert [short(x) for x in counted] == ["0", "7", "999", "1k", "12.3k", "1M", "32G", "5T"]


def test_the_command_line_writes_what_each_rank_did(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "edges.tsv").write_text("".join(f"{k} {k + 1} 1\n" for k in range(50)))
    report = tmp_path / "run.json"
    graph = str(tmp_path / "edges.tsv")
    assert main(["pagerank", graph, "--method", "signal", "--engine", "async", "--quiet"]) == 0
    assert main(["sssp", graph, "--source", "0", "--engine", "async", "--json", str(report)]) == 0
    summary = json.loads(report.read_text())
    assert summary["asynchronous"]["ranks"][0]["updates"] == summary["updates"] == 51
    assert "51 updates on 1 rank x" in capsys.readouterr().err
