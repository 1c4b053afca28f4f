"""Ctrl-C ends a run in the middle of a method, whichever thread or call it comes in, and none is lost."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import signal
import sys
import threading
import time
import weakref
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

import gaslab as gl
from gaslab._kernels import phase_runner
from gaslab.cancellation import Cancellation
from tests.support import endless_programs as programs
from tests.support.endless_runs import AT, SOON, SYNC, UNORDERED, ring, run, said

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("without_collector")]


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


def test_ctrl_c_while_a_run_begins_leaves_no_timer_behind() -> None:
    class Started(threading.Timer):
        def start(self) -> None:
            super().start()
            raise KeyboardInterrupt

    graph, before = ring(), {*threading.enumerate()}
    with patch.object(threading, "Timer", Started), pytest.raises(KeyboardInterrupt):
        run(programs.InApply(at=AT, ends=True), graph, {}, timeout=60)
    left = [t for t in {*threading.enumerate()} - before if isinstance(t, threading.Timer)]
    assert all(t.finished.is_set() for t in left)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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
    with pytest.raises(KeyboardInterrupt, match=r"test_ctrl_c.py:\d+: counts was interrupted at vertex"):
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

    class Around(gl.VertexProgram):
        class Vertex(gl.Vertex):
            n: int = 0

        def apply(self, v: Vertex) -> None:
            v.n += 1

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
