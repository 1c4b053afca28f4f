"""A run is ended in the middle of a method by its timeout, and what it ran on stays usable."""

from __future__ import annotations

import re
import signal
import threading
import time
import weakref
from typing import Any, ClassVar

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support import endless_programs as programs
from tests.support.endless_runs import AT, SOON, SYNC, UNORDERED, ring, run, said

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("without_collector")]


def past_the_timeout(graph: gl.Graph, program: Any, way: dict[str, Any], timeout: float = 0.08) -> float:
    """Run an endless program to its timeout, then its twin that ends; return the seconds past the time."""
    expected = run(program(at=AT, ends=True), graph, way).vertices["n"]  # compiled from here on
    for limit in (timeout, 4 * timeout, 16 * timeout):  # a busy machine comes late to the method
        began = time.perf_counter()
        with pytest.raises(gl.TimeoutExpired) as ended:
            run(program(at=AT), graph, way, timeout=limit)
        seconds = time.perf_counter() - began - limit
        place = said(program, f"ran out of {limit:g} s")
        if re.search(place, str(ended.value)):
            break
    assert ended.match(place)
    again = run(program(at=AT, ends=True), graph, way, timeout=60).vertices["n"]
    if way not in UNORDERED:
        assert (again == expected).all()
    return seconds


def every_way(comm: Comm, chosen: list[str], ways: list[dict[str, Any]]) -> list[float]:
    graph = ring(comm)
    return [past_the_timeout(graph, getattr(programs, name), way) for name in chosen for way in ways]


@pytest.mark.parametrize("program", programs.ALL, ids=lambda program: program.__name__)
def test_an_endless_method_ends_at_the_timeout(program: Any) -> None:
    ways = SYNC + (UNORDERED if program in programs.BY_SIGNALS else [])
    seconds = every_way(world(), [program.__name__], ways)
    print(f"{program.__name__}: at most {max(seconds):.2f} s past the timeout")
    assert max(seconds) < SOON


@pytest.mark.slow
def test_on_several_ranks_all_raise_the_same(ranks: Ranks) -> None:
    chosen = ["InInit", "InGather", "InApply", "InScatter"]
    for seconds in ranks.run(every_way, chosen, SYNC + UNORDERED, timeout=240):
        print(f"{ranks.size} ranks: at most {max(seconds):.2f} s past the timeout")
        assert max(seconds) < SOON


def others(comm: Comm) -> list[float]:
    names = [program.__name__ for program in programs.ALL if program not in programs.BY_SIGNALS]
    return every_way(comm, names, SYNC[:2])


def test_methods_of_supersteps_alone_end_on_two_ranks(hosts: Any) -> None:
    for seconds in hosts(2).run(others, timeout=240):
        assert max(seconds) < SOON


def with_threads(comm: Comm) -> None:
    rng = np.random.default_rng(0)
    graph = gl.Graph.from_edges(rng.integers(0, 9000, 60000), rng.integers(0, 9000, 60000), comm=comm)
    for program in (programs.InGather, programs.InApply):
        assert past_the_timeout(graph, program, {"threads": 2}, 0.25) < SOON


def test_on_two_threads(hosts: Any) -> None:
    hosts(1).run(with_threads)
    hosts(2).run(with_threads)


def test_a_long_superstep_without_a_long_loop_ends_between_vertices() -> None:
    graph = gl.Graph.from_edges(np.arange(400_000), np.arange(400_000)[::-1])
    began = time.perf_counter()
    with pytest.raises(
        gl.TimeoutExpired, match=r"endless_programs.py:\d+: Long ran out of 0.5 s (at|before) ver"
    ):
        gl.run(programs.Long(), graph, max_iterations=1000, timeout=0.5, threads=1)
    assert time.perf_counter() - began < SOON


class Thinking(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0

    def apply(self, v: Vertex) -> None:
        v.n += 1

    def done(self) -> bool:
        while True:
            pass


def thinks(comm: Comm) -> None:
    with pytest.raises(
        gl.TimeoutExpired, match=r"test_interrupt.py:\d+: Thinking ran out of 0.4 s in done\(\)\n"
    ):
        gl.run(Thinking(), ring(comm), timeout=0.4)


def test_an_endless_done_ends_at_the_timeout(hosts: Any) -> None:
    hosts(1).run(thinks)
    hosts(2).run(thinks)


class Deaf(Thinking):
    """Its time is up in a callback of a weak reference, where Python drops what is raised."""

    def done(self) -> bool:
        def wait(_: object) -> None:
            until = time.perf_counter() + 0.8
            while time.perf_counter() < until:
                pass

        one = Deaf()
        kept = weakref.ref(one, wait)
        del one
        while kept:
            pass
        return True


class Tidy(Thinking):
    """Takes its time to clean up."""

    cleaned: ClassVar[list[bool]] = []

    def done(self) -> bool:
        try:
            while True:
                pass
        finally:
            until = time.perf_counter() + 1.2
            while time.perf_counter() < until:
                pass
            self.cleaned.append(True)


def test_a_timeout_comes_once_where_it_was_not_dropped() -> None:
    with pytest.raises(
        gl.TimeoutExpired, match=r"Tidy ran out of 0.2 s in done\(\)\n    (while True:|pass)$"
    ):
        gl.run(Tidy(), ring(), timeout=0.2)
    assert Tidy.cleaned == [True]


def test_a_timeout_that_was_dropped_comes_again() -> None:
    with pytest.raises(gl.TimeoutExpired, match=r"Deaf ran out of 0.4 s in done\(\)\n"):
        gl.run(Deaf(), ring(), timeout=0.4)


def test_a_timeout_that_is_not_reached_leaves_nothing_behind() -> None:
    graph, before = ring(), {*threading.enumerate()}
    for way in SYNC + UNORDERED:
        run(programs.InApply(at=AT, ends=True), graph, way, timeout=60)
    time.sleep(0.05)
    left = [t for t in {*threading.enumerate()} - before if isinstance(t, threading.Timer)]
    assert not [t for t in left if not t.finished.is_set()]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_of_the_user_s_has_timeouts_and_no_ctrl_c() -> None:
    found: list[Any] = []
    graph = ring()

    def work() -> None:
        for way in SYNC + UNORDERED:
            found.append(past_the_timeout(graph, programs.InApply, way))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert len(found) == len(SYNC + UNORDERED)
    assert max(found) < SOON


# ---- loops that look ---------------------------------------------------------------------------------


class Counted(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
        last: int = 0

    def apply(self, v: Vertex) -> None:
        for i in range(0, v.degree * 30000, 2):
            if i % 3 == 0:
                continue
            for j in range(v.degree):
                if j == 2:
                    break
                v.n += i % 7
            while v.n % 11 == 5:
                v.n += 1
                if v.n % 13 == 0:
                    break
            if i > 70000:
                break
            v.last = i


def counted(degree: int) -> tuple[int, int]:
    n = last = 0
    for i in range(0, degree * 30000, 2):
        if i % 3 == 0:
            continue
        for _ in range(min(degree, 2)):
            n += i % 7
        while n % 11 == 5:
            n += 1
            if n % 13 == 0:
                break
        if i > 70000:
            break
        last = i
    return n, last


@pytest.mark.parametrize("way", SYNC, ids=str)
def test_loops_that_look_break_and_continue_as_python_s(way: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    result = gl.run(Counted(), graph, max_iterations=1, **way)
    expected = [counted(int(degree)) for degree in (3, 2, 2, 1)]
    assert list(zip(result.vertices["n"], result.vertices["last"], strict=True)) == expected
