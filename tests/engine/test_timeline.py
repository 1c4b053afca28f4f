"""`run(timeline=...)`: files that a browser's trace viewer opens, true to what the ranks did."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.engine.observe import timeline as module
from gaslab.engine.observe.timed import TimedPending
from gaslab.engine.observe.timeline import TRANSPORT, Timeline, behind, is_drawn
from gaslab.parallel.comm import Comm, Pending
from tests.support import unordered_programs as programs

KINDS = {"X", "C", "M", "s", "f"}


def ring(comm: Comm, n: int = 400) -> gl.Graph:
    source = np.arange(n)
    return gl.Graph.from_edges(source, (source * 7 + 1) % n, comm=comm)


def drawn(path: Path) -> list[dict[str, Any]]:
    """Return the events of a file after a look at all that the format asks of them."""
    whole = json.loads(path.read_text())
    events: list[dict[str, Any]] = whole["traceEvents"]
    assert whole["otherData"]["events_left_out"] == 0
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        assert {"ph", "name", "ts", "pid", "tid"} <= event.keys()
        assert event["ph"] in KINDS
        assert event["ts"] >= 0
        tracks[event["pid"], event["tid"]].append(event)
    for track in tracks.values():
        times = [event["ts"] for event in track]
        assert times == sorted(times)
        check_nesting([event for event in track if event["ph"] == "X"])
    return events


def check_nesting(spans: list[dict[str, Any]]) -> None:
    open_until: list[float] = []
    for span in spans:
        end = span["ts"] + span["dur"]
        assert span["dur"] >= 0
        while open_until and open_until[-1] <= span["ts"] + 5e-4:  # half a nanosecond
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 1e-3, span
        open_until.append(end)


def spans(events: list[dict[str, Any]], name: str, rank: int) -> list[dict[str, Any]]:
    return [e for e in events if e["ph"] == "X" and e["name"] == name and e["pid"] == rank]


def ranked(comm: Comm, path: str) -> tuple[int, list[float]]:
    plain = gl.run(gl.programs.PageRank(), ring(comm), max_iterations=12)
    result = gl.run(gl.programs.PageRank(), ring(comm), max_iterations=12, timeline=path)
    assert result.vertices["score"].tolist() == plain.vertices["score"].tolist()
    return result.iterations, [row["bytes_sent"] for row in result.history]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_supersteps_are_drawn_with_their_parts(hosts: Any, size: int, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    iterations, _ = hosts(size).run(ranked, str(path))[0]
    events = drawn(path)
    assert {event["pid"] for event in events} == set(range(size))
    assert list(tmp_path.iterdir()) == [path]
    for rank in range(size):
        steps = spans(events, "superstep", rank)
        assert [step["args"]["superstep"] for step in steps] == list(range(iterations))
        assert all(step["args"]["active"] == 400 for step in steps)
        for name in ("prepare", "init", "gather and apply", "gather_apply", "sync mirrors"):
            assert spans(events, name, rank), name
        inside = [part for part in spans(events, "gather_apply", rank) if part["ts"] >= steps[0]["ts"]]
        assert len(inside) == iterations
        assert bool(spans(events, "send", rank)) == bool(spans(events, "wait", rank)) == (size > 1)


def chased(comm: Comm, path: str, consistency: str) -> list[dict[str, Any]]:
    result = gl.run(
        programs.Labels(), ring(comm, 3000), engine=gl.Async(consistency=consistency), timeline=path
    )
    ranks: list[dict[str, Any]] = result.metrics["asynchronous"]["ranks"]
    return ranks


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
def test_the_machine_is_drawn_with_batches(hosts: Any, size: int, consistency: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    ranks = hosts(size).run(chased, str(path), consistency)[0]
    events = drawn(path)
    for rank in range(size):
        parts = spans(events, "run vertices", rank) + spans(events, "idle", rank)
        assert sum(part["args"]["updates"] for part in parts) == ranks[rank]["updates"]
        seconds = sum(part["dur"] for part in parts) / 1e6
        assert seconds == pytest.approx(ranks[rank]["seconds"], abs=1e-4)
        assert len(spans(events, "count", rank)) >= 2
        batches = sum(len(spans(events, f"send to {peer}", rank)) for peer in range(size))
        assert batches == ranks[rank]["batches"] or batches >= 512
        curve = [e for e in events if e["pid"] == rank and e["name"] == "scheduler depth"]
        deepest = [event["args"]["waiting"] for event in curve]
        assert 0 < max(deepest) <= ranks[rank]["most_waiting"]
        assert deepest[-1] == 0
    ends = Counter((e["ph"], e["id"]) for e in events if e["ph"] in "sf")
    assert set(ends.values()) <= {1}
    assert {name for kind, name in ends if kind == "s"} == {name for kind, name in ends if kind == "f"}
    assert bool(ends) == (size > 1)
    begin = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    assert all(e["ts"] >= begin[e["id"]] for e in events if e["ph"] == "f")
    for event in events:
        if event["ph"] in "sf":  # an arrow's end is within a span, else viewers do not show it
            track = [e for e in events if e["pid"] == event["pid"] and e["tid"] == TRANSPORT]
            around = [e for e in track if e["ph"] == "X"]
            assert any(e["ts"] <= event["ts"] <= e["ts"] + e["dur"] for e in around)


def test_supersteps_that_a_kernel_runs_are_drawn_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    chain = gl.Graph.from_edges(np.arange(2000), np.arange(1, 2001))
    result = gl.bfs(chain, 0, timeline=path)
    steps = [step["args"]["superstep"] for step in spans(drawn(path), "superstep", 0)]
    assert steps == [k for k in range(result.iterations) if is_drawn(k)]
    assert 512 < len(steps) < 1100 < result.iterations


def test_ever_fewer_are_drawn() -> None:
    counts = np.cumsum([is_drawn(k) for k in range(1 << 14)])
    assert counts[511] == 512
    assert np.diff(counts[[511, 1023, 2047, 4095, 8191, 16383]]).tolist() == [256] * 5


def fails(comm: Comm, path: str) -> None:
    graph = gl.Graph.from_edges([1, 2, 3], [2, 3, 4], comm=comm)
    with pytest.raises(gl.ExecutionError, match="division"):
        gl.run(programs.Divides(), graph, engine="async", timeline=path)


def test_a_run_that_fails_is_drawn_up_to_there(hosts: Any, tmp_path: Path) -> None:
    hosts(2).run(fails, str(tmp_path / "run.json"))
    events = drawn(tmp_path / "run.json")
    assert spans(events, "init", 0)
    assert spans(events, "init", 1)


def refused(comm: Comm, path: str, message: str) -> None:
    with pytest.raises(gl.UsageError, match=message):
        gl.run(gl.programs.PageRank(), ring(comm), max_iterations=1, timeline=path)


def test_a_bad_path_is_refused_before_the_run(hosts: Any, tmp_path: Path) -> None:
    hosts(2).run(refused, str(tmp_path / "no" / "run.json"), "there is no directory")
    hosts(2).run(refused, str(tmp_path), "it is a directory")
    with pytest.raises(gl.UsageError, match="engine='reference' is plain Python on one"):
        gl.run(gl.programs.Components(), ring(Comm()), engine="reference", timeline=tmp_path / "run.json")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_does_not_cost_the_answer(tmp_path: Path) -> None:
    timeline = Timeline(Comm(), tmp_path / "run.json")
    (tmp_path / "run.json").mkdir()
    with pytest.warns(UserWarning, match=r"cannot write .*run.json: .*; the timeline is lost"):
        timeline.write()


def test_the_rest_is_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    timeline = Timeline(Comm(), tmp_path / "run.json")
    now = time.perf_counter()
    for k in range(5):
        timeline.span(f"part {k}", now + k, now + k + 0.5)
    timeline.write()
    whole = json.loads((tmp_path / "run.json").read_text())
    assert [e["name"] for e in whole["traceEvents"] if e["ph"] == "X"] == ["part 0", "part 1", "part 2"]
    assert whole["otherData"] == {"ranks": 1, "events_left_out": 2}


def offset(comm: Comm) -> tuple[int, int]:
    clock = module.time
    same = behind(comm)
    ahead = SimpleNamespace(perf_counter_ns=lambda: time.perf_counter_ns() + comm.rank * 10**10)
    module.time = ahead  # type: ignore[assignment]
    try:
        return same, behind(comm)
    finally:
        module.time = clock


class Late(Pending):
    """Messages that nobody is ready to receive for a while."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def finish(self) -> None:
        time.sleep(self._seconds)


def test_the_wait_for_a_peer_that_is_late_is_drawn() -> None:
    """What nobody is late for is received at once."""
    drawn: list[str] = []
    line: Any = SimpleNamespace(span=lambda name, began, ended, **_: drawn.append(name))
    TimedPending(Pending(), line).end()
    assert drawn == []
    TimedPending(Late(0.01), line).end()
    assert drawn == ["wait"]


def test_clocks_are_compared_with_that_of_rank_0(hosts: Any) -> None:
    for rank, (same, other) in enumerate(hosts(3).run(offset)):
        assert same == 0
        assert other == pytest.approx(-rank * 10**10, abs=10**8)


def drawn_over_the_graph(comm: Comm, path: str) -> None:
    gl.run(gl.programs.PageRank(), gl.read_graph(path, comm=comm), timeline=path)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_timeline_never_replaces_the_graph(hosts: Any, tmp_path: Path, size: int) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("1 2\n2 1\n")
    with pytest.raises(gl.UsageError) as caught:
        hosts(size).run(drawn_over_the_graph, str(path))
    assert str(caught.value) == f"timeline= {path} is read too; write to another file"
    assert path.read_text() == "1 2\n2 1\n"
    with pytest.raises(gl.UsageError, match="timeline='': no file can have this path"):
        gl.run(gl.programs.PageRank(), ring(Comm()), timeline="")


def test_the_command_line_draws(tmp_path: Path, capsys: Any) -> None:
    edges, path = tmp_path / "edges.tsv", tmp_path / "run.json"
    edges.write_text("".join(f"{k} {k + 1}\n" for k in range(30)))
    words = ["components", str(edges), "--timeline", str(path)]
    assert main(words) == 0
    assert spans(drawn(path), "superstep", 0)
    assert main(words) == 2
    assert "run.json exists; --force replaces it" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    assert main(["components", str(edges), "--timeline", str(tmp_path / "no" / "run.json")]) == 2
    assert "there is no directory" in capsys.readouterr().err
