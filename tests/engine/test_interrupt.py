"""A run is ended in the middle of a method, by its timeout and by Ctrl-C, and what it ran on stays usable."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import re
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import gaslab as gl
from gaslab._kernels import phase_runner
from gaslab.cancellation import Cancellation
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support import endless_programs as programs

pytestmark = pytest.mark.timed

N, AT = 24, 3
SOON = 5.0  # seconds past its time in which a run must be over; 1 is the promise, the rest is a busy machine
SYNC: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
UNORDERED: list[dict[str, Any]] = [
    {"engine": "stale", "staleness": 1},
    {"engine": "async"},
    {"engine": "async", "consistency": "serialisable"},
]


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    """Python drops what is raised in a callback of the garbage collector, and hypothesis has one."""
    gc.disable()
    yield
    gc.enable()


def ring(comm: Comm | None = None) -> gl.Graph:
    a = np.arange(N)
    return gl.Graph.from_edges(np.r_[a, a, a], np.r_[(a + 1) % N, (a + 5) % N, (a + 7) % N], comm=comm)


def run(program: Any, graph: gl.Graph, way: dict[str, Any], **more: Any) -> gl.Result:
    limit = {} if way.get("engine") == "async" else {"max_iterations": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gl.run(program, graph, **way, **limit, **more)


def said(program: type[gl.VertexProgram], what: str) -> str:
    place = rf"^\S*endless_programs\.py:\d+: {program.__name__} {what} "
    merges = program is programs.InMerge  # of no vertex
    return place if merges else rf"{place}at vertex {AT} in superstep \d+\n    \S"


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


def test_a_timeout_that_is_not_reached_leaves_nothing_behind() -> None:
    graph = ring()
    for way in SYNC + UNORDERED:
        run(programs.InApply(at=AT, ends=True), graph, way, timeout=60)
    time.sleep(0.05)
    assert not [
        t for t in threading.enumerate() if isinstance(t, threading.Timer) and not t.finished.is_set()
    ]
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


# ---- Ctrl-C ----------------------------------------------------------------------------------------


def interrupted(seconds: float = 0.4) -> threading.Timer:
    """Send SIGINT to this process soon."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("way", SYNC + UNORDERED, ids=str)
@pytest.mark.parametrize("program", programs.BY_SIGNALS, ids=lambda program: program.__name__)
def test_ctrl_c_ends_an_endless_method(program: Any, way: dict[str, Any]) -> None:
    graph = ring()
    expected = run(program(at=AT, ends=True), graph, way).vertices["n"]
    for wait in (0.1, 0.4, 1.6):  # a busy machine comes late to the method
        timer, began = interrupted(wait), time.perf_counter()
        with pytest.raises(KeyboardInterrupt) as ended:
            run(program(at=AT), graph, way, timeout=wait + 2 * SOON)
        seconds = time.perf_counter() - began - wait
        timer.join()
        if re.search(said(program, "was interrupted"), str(ended.value)):
            break
    assert ended.match(said(program, "was interrupted"))
    print(f"{seconds:.2f} s after Ctrl-C")
    assert seconds < SOON
    again = run(program(at=AT, ends=True), graph, way).vertices["n"]
    assert way in UNORDERED or (again == expected).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_another_thread_takes_ends_a_run() -> None:
    """The main thread may begin a kernel while the handler is at work on the other."""
    graph, over = ring(), threading.Event()
    run(programs.InApply(at=AT, ends=True), graph, {})
    other = threading.Thread(target=over.wait)
    other.start()

    def run_beside(timer: threading.Timer) -> None:
        timer.start()
        run(programs.InApply(at=AT), graph, {}, timeout=2 * SOON)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for k in range(60):
            timer = threading.Timer(k * 5e-5, signal.pthread_kill, (other.ident, signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                run_beside(timer)
            timer.join()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        over.set()
        other.join()


def test_ctrl_c_just_before_a_kernel_is_not_left_until_its_end() -> None:
    """Python notes the signal, and raises it between two of its instructions: none is before the kernel."""
    graph, kernel, sent = ring(), phase_runner.run, []
    run(programs.InApply(at=AT, ends=True), graph, {})

    def begin(*arguments: Any) -> Any:
        if sent:
            return kernel(*arguments)
        sent.append(True)
        calls = [partial(ctypes.PyDLL(None)["raise"], signal.SIGINT), partial(kernel, *arguments)]
        return list(map(partial.__call__, calls))[1]  # no instruction in between

    began = time.perf_counter()
    with patch.object(phase_runner, "run", begin), pytest.raises(KeyboardInterrupt):
        run(programs.InApply(at=AT), graph, {}, timeout=2 * SOON)
    assert time.perf_counter() - began < SOON


def test_ctrl_c_that_python_drops_ends_a_run() -> None:
    """An exception in a callback of a weak reference is printed and gone."""
    graph, kernel, dropped = ring(), phase_runner.run, []
    run(programs.InApply(at=AT, ends=True), graph, {})

    class Referenced:
        pass

    def begin(*arguments: Any) -> Any:
        referenced = Referenced()
        watch = weakref.ref(referenced, lambda _: signal.raise_signal(signal.SIGINT))
        del referenced
        assert watch() is None
        return kernel(*arguments)

    with (
        patch.object(sys, "unraisablehook", lambda found: dropped.append(found.exc_type)),
        patch.object(phase_runner, "run", begin),
        pytest.raises(KeyboardInterrupt, match="InApply was interrupted before vertex 0"),
    ):
        run(programs.InApply(at=AT), graph, {}, timeout=2 * SOON)
    assert dropped == [KeyboardInterrupt]


def test_an_abandoned_run_does_not_make_a_later_one_deaf() -> None:
    graph = ring()
    run(programs.InApply(at=AT, ends=True), graph, {})
    abandoned = [Cancellation()]
    abandoned[0].__enter__()  # as where Ctrl-C comes before the block, and a traceback keeps the run
    forgotten = threading.Timer(0.2, abandoned.clear)
    forgotten.start()
    timer = interrupted(0.6)
    with pytest.raises(KeyboardInterrupt, match=said(programs.InApply, "was interrupted")):
        run(programs.InApply(at=AT), graph, {}, timeout=2 * SOON)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_a_function_over_vertices() -> None:
    def counts(v: gl.Vertex) -> int:
        k = 0
        while k >= 0:
            k = (k + 1) % 1000
        return k

    timer = interrupted(1.0)
    with pytest.raises(KeyboardInterrupt, match=r"test_interrupt.py:\d+: counts was interrupted at vertex"):
        ring().map_vertices(counts)
    timer.join()


def test_a_handler_of_the_user_s_is_left_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        timer = interrupted(0.1)
        with pytest.raises(gl.TimeoutExpired):
            run(programs.InApply(at=AT), ring(), {}, timeout=0.6)
        timer.join()
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_within_a_run_hears_of_ctrl_c_and_so_does_the_one_around_it() -> None:
    graph = ring()
    heard: list[str] = []

    class Around(Thinking):
        def done(self) -> bool:
            if not heard:
                timer = interrupted()
                try:
                    gl.run(programs.InApply(at=AT), graph)
                except KeyboardInterrupt as error:
                    heard.append(str(error))
                timer.join()
            return self.superstep == 3

    assert gl.run(Around(), graph).iterations == 4
    assert "InApply was interrupted at vertex 3" in heard[0]
    timer = interrupted()
    with pytest.raises(KeyboardInterrupt, match="InGather was interrupted"):
        gl.run(programs.InGather(at=AT), graph)
    timer.join()


def test_within_asyncio_the_loop_s_own_handler_has_it() -> None:
    """asyncio.run cancels the task at the first Ctrl-C; that a run is not ended by it is Python's rule."""

    async def main() -> str:
        timer = interrupted(0.1)
        with pytest.raises(gl.TimeoutExpired):
            run(programs.InApply(at=AT), ring(), {}, timeout=0.6)
        timer.join()
        await asyncio.sleep(10)
        return "not cancelled"

    with pytest.raises((KeyboardInterrupt, asyncio.CancelledError)):
        asyncio.run(main())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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
