"""Engines with options: values, short names, and the schedulers that the kernel has."""

from __future__ import annotations

import pytest

import gaslab as gl
from gaslab._kernels import machine
from gaslab.engine.engines import SCHEDULERS, engine_of


def test_the_kernel_has_these_schedulers() -> None:
    assert (*machine.SCHEDULERS,) == SCHEDULERS


def test_a_word_is_short_for_an_engine_without_options() -> None:
    assert engine_of("sync") == gl.Sync()
    assert engine_of("async") == gl.Async() != gl.Async(scheduler="fifo")
    assert engine_of("reference").name == "reference"


def test_engines_are_values() -> None:
    assert gl.Async(max_updates=1e3) == gl.Async(max_updates=1000)  # type: ignore[arg-type]
    assert len({gl.Stale(2), gl.Stale(staleness=2), gl.Stale(3)}) == 2
    with pytest.raises(AttributeError):
        gl.Stale(2).staleness = 3  # type: ignore[misc]


@pytest.mark.parametrize("engine", [gl.Sync(), gl.Async(scheduler="sweep"), gl.Stale(staleness=0)], ids=str)
def test_functions_of_the_toolkit_take_engines(engine: object) -> None:
    graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0])
    result = gl.pagerank(graph, method="signal", tolerance=1e-12, engine=engine)
    assert result.metrics["engine"] == engine.name  # type: ignore[attr-defined]
    assert result.vertices["score"] == pytest.approx(gl.pagerank(graph).vertices["score"], abs=1e-8)
