"""Fingerprints: equal for the same content in another dress, different for another content."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections import OrderedDict, deque
from datetime import date
from decimal import Decimal
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.parallel.fingerprint import SIZE, fingerprint
from tests.mpi.launcher import environment


class Colour(IntEnum):
    RED = 1
    BLUE = 2


class Rate(gl.VertexProgram):
    rate: float = 1.0
    near: gl.VertexId = 0

    class Vertex(gl.Vertex):
        heat: float = 1.0

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[float]:
        return v.heat

    def apply(self, v: Vertex) -> None:
        v.heat = v.heat * self.rate if self.superstep in {1, 2, 3} else 0.0


class OtherTotal(Rate):
    @gl.aggregator
    def total(self, v: Rate.Vertex) -> gl.Sum[float]:
        return v.heat + 1.0


class OtherField(Rate):
    class Vertex(gl.Vertex):
        heat: float = 2.0


GRAPH = gl.Graph.from_edges([0, 1], [1, 2])
SAME: list[tuple[Any, Any]] = [
    (1, np.int64(1)),
    (1, np.uint8(1)),
    (0.5, np.float32(0.5)),
    (True, np.bool_(True)),
    ("a", np.str_("a")),
    (float("nan"), float("nan")),
    ([1, 2], (1, 2)),
    ({"a": 1, "b": 2}, OrderedDict(b=2, a=1)),
    ({1, 2, 3}, frozenset([3, 2, 1])),
    ("a/b", Path("a/b")),
    (np.arange(6)[::2], np.array([0, 2, 4])),
    (pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0])),
    (Rate(rate=2.0), Rate(rate=np.float64(2.0))),
    (gl.right(7), gl.right(7)),
    (GRAPH, gl.Graph.from_edges([0, 1], [1, 2])),
    (gl.degrees(GRAPH), gl.degrees(GRAPH)),
    (lambda x: x + 1, lambda x: x + 1),
    ([1, 2.5, "a", None], [np.int64(1), np.float64(2.5), np.str_("a"), None]),
    (range(3), range(0, 3, 1)),
    (nx.path_graph(3), nx.path_graph(4)),  # says nothing of its content: readers compare what they take
]
DIFFERENT: list[tuple[Any, Any]] = [
    (1, 1.0),
    (1, True),
    (0, None),
    (0.0, -0.0),
    ("1", 1),
    ("a", b"a"),
    ([1, 2], [2, 1]),
    ([[1], 2], [1, [2]]),
    ([], {}),
    ({"a": 1}, {"a": 2}),
    (np.zeros(3), np.zeros(4)),
    (np.zeros(4), np.zeros((2, 2))),
    (np.zeros(3), np.zeros(3, np.float32)),
    (np.array(["a", "b"]), np.array(["a", "c"])),
    (np.array(["a", None], object), np.array(["a", "None"], object)),
    (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])),
    (pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0], index=[5, 6])),
    (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
    (sp.eye(3).tocsr(), (2 * sp.eye(3)).tocsr()),
    (Rate(), Rate(rate=2.0)),
    (Rate(), Rate(near=gl.right(0))),
    (Rate(), OtherTotal()),
    (Rate(), OtherField()),
    (Rate(), gl.programs.PageRank()),
    (GRAPH, gl.Graph.from_edges([0, 1], [1, 3])),
    (gl.degrees(GRAPH), gl.degrees(GRAPH.reverse())),
    (lambda x: x + 1, lambda x: x + 2),
    (lambda x, y=1: x, lambda x, y=2: x),
    (gl.pagerank, gl.components),
    (range(3), range(4)),
    ({1: 2}.values(), {1: 3}.values()),
    (deque([1]), deque([2])),
    (Decimal("1.1"), Decimal("1.2")),
    (date(2020, 1, 1), date(2020, 1, 2)),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    (Colour.RED, Colour.BLUE),
    (partial(max, 1), partial(max, 2)),
    (array("i", [1]), array("i", [2])),
]


@pytest.mark.parametrize("pair", SAME, ids=lambda pair: type(pair[0]).__name__)
def test_the_same(pair: tuple[Any, Any]) -> None:
    assert fingerprint(pair[0]) == fingerprint(pair[1])
    assert len(fingerprint(pair[0])) == SIZE


@pytest.mark.parametrize("pair", DIFFERENT, ids=lambda pair: type(pair[0]).__name__)
def test_different(pair: tuple[Any, Any]) -> None:
    assert fingerprint(pair[0]) != fingerprint(pair[1])
    assert fingerprint([pair[0]]) != fingerprint([pair[1]])


def test_one_changed_value_among_many_counts() -> None:
    values = np.zeros(1_000_000)
    before = fingerprint(values)
    values[123_457] = 1.0
    assert fingerprint(values) != before


def test_a_container_that_holds_itself_ends() -> None:
    loop: list[Any] = []
    loop += [loop, loop, loop]
    assert fingerprint(loop)


def test_an_integer_of_any_size() -> None:
    assert fingerprint(10**5000) == fingerprint(10**5000)
    assert fingerprint(10**5000) != fingerprint(10**5000 + 1)


@pytest.mark.slow
def test_no_address_and_no_hash_seed_is_in_it() -> None:
    text = (
        "from tests.mpi.test_fingerprint import Rate, fingerprint\n"
        "print(fingerprint([Rate(), {'x', 'y', 'z'}, object(), Rate.apply]).hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60,
            env=environment(PYTHONHASHSEED=seed),
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1
