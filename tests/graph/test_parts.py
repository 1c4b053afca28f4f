"""What a user's strategy returns is looked at before it is believed, on every number of ranks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from gaslab.partitioning.cut import cut
from gaslab.partitioning.strategies import hashes
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks
from tests.support.built_graphs import build_and_check, edge_list
from tests.support.threadcomm import run_ranks

SRC, DST = np.arange(40) % 7, np.arange(40) % 11
EDGES = 40


def _short(src: Any, dst: Any, k: int, context: Any) -> Any:
    return (src % k)[3:]


def _long(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.append(src % k, [0])


def _none(src: Any, dst: Any, k: int, context: Any) -> Any:
    return None


def _too_large(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.where(src == 5, k, src % k)


def _negative(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.where(src == 5, -1, src % k).astype(np.int32)


def _huge(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.where(src == 5, 2**31 - 1, src % k)


def _beyond(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.where(src == 5, 2**32, src % k)  # 0, if it were cut to 32 bits


def _unsigned(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.where(src == 5, np.uint64(2**64 - 1), (src % k).astype(np.uint64))


def _real(src: Any, dst: Any, k: int, context: Any) -> Any:
    return src / 7


def _nan(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.full(src.size, np.nan)


def _text(src: Any, dst: Any, k: int, context: Any) -> Any:
    return ["0"] * src.size


def _table(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.zeros((src.size, 1), int)


def _number(src: Any, dst: Any, k: int, context: Any) -> Any:
    return 0


def _ragged(src: Any, dst: Any, k: int, context: Any) -> Any:
    return [[0], [0, 1]] * (src.size // 2)


def _masked(src: Any, dst: Any, k: int, context: Any) -> Any:
    return np.ma.array(src % k, mask=src == 5)


def _fails(src: Any, dst: Any, k: int, context: Any) -> Any:
    raise ZeroDivisionError("division by zero")


def _writes(src: Any, dst: Any, k: int, context: Any) -> Any:
    src %= k
    return src


WRONG: list[tuple[Callable[..., Any], str]] = [
    (
        _short,
        r"returned \d+ parts; an integer array with the part, 0 to \d, of each of the \d+ edges is needed",
    ),
    (_long, r"returned \d+ parts; an integer array"),
    (_none, "returned None; an integer array"),
    (_too_large, r"returned part \d for the edge 5 -> \d+ \(global ids\); an integer array"),
    (_negative, r"returned part -1 for the edge 5 -> \d+ \(global ids\); an integer array"),
    (_huge, r"returned part 2147483647 for the edge 5 -> "),
    (_beyond, r"returned part 4294967296 for the edge 5 -> "),
    (_unsigned, r"returned part 18446744073709551615 for the edge 5 -> "),
    (_real, r"returned float64; .* \(convert it with .astype\('int32'\)\)"),
    (_nan, "returned float64; an integer array"),
    (_text, "returned <U1; an integer array"),
    (_table, r"returned a ndarray of shape \(\d+, 1\); an integer array"),
    (_number, r"returned a int of shape \(\); an integer array"),
    (_ragged, "returned a list, which is not an array"),
    (_masked, r"returned a masked value at position \d+; an integer array"),
    (_fails, "failed: ZeroDivisionError: division by zero"),
    (_writes, "failed: ValueError: .*read-only"),
]


def rank_of_wrong(comm: Comm, number: int, one_rank: bool) -> list[str]:
    """Return what a wrong strategy brings in each place that takes one; on the last rank alone or on all."""
    function, said = WRONG[number][0], []

    def chosen(src: Any, dst: Any, k: int, context: Any) -> Any:
        wrong = not one_rank or context.comm.rank == context.comm.size - 1
        return (function if wrong else hashes.random)(src, dst, k, context)

    graph = gl.Graph.from_edges(SRC, DST, comm=comm)
    strategies.STRATEGIES["mine"] = chosen
    try:
        edges = edges_from_arrays(SRC, DST, comm)
        for make in (
            lambda: gl.Graph.from_edges(SRC, DST, strategy="mine", comm=comm),
            lambda: graph.partitioned("mine"),
            lambda: gl.pagerank(graph, strategy="mine"),
            lambda: cut(edges, 5, "mine", comm),
        ):
            with pytest.raises(UsageError) as caught:
                make()
            said.append(str(caught.value))
    finally:
        del strategies.STRATEGIES["mine"]
    assert gl.degrees(graph).vertices["edges"].sum() == 2 * EDGES  # the graph is as it was
    return said


@pytest.mark.parametrize("one_rank", [False, True], ids=["everywhere", "on one rank"])
@pytest.mark.parametrize("number", range(len(WRONG)), ids=[f.__name__[1:] for f, _ in WRONG])
def test_a_wrong_strategy_is_an_error_that_names_it(ranks: Ranks, number: int, one_rank: bool) -> None:
    everywhere = ranks.run(rank_of_wrong, number, one_rank)
    assert len({tuple(said) for said in everywhere}) == 1
    for said in everywhere[0]:
        assert said.startswith("strategy 'mine' ")
        assert re.search(WRONG[number][1], said), said


@pytest.mark.parametrize(
    "make",
    [
        lambda part: part.astype(np.int64),
        lambda part: part.astype(np.uint64),
        lambda part: part.astype(np.uint8),
        lambda part: part.astype(">i4"),
        lambda part: np.repeat(part.astype(np.int16), 2)[::2],
        lambda part: part.tolist(),
        lambda part: pd.Series(part, index=part + 9),
        lambda part: np.ma.array(part),
    ],
    ids=["int64", "uint64", "uint8", "big-endian", "strided", "list", "Series", "masked nowhere"],
)
@pytest.mark.parametrize("size", [1, 3])
def test_integers_of_any_kind_are_parts(make: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "mine", lambda src, dst, k, context: make((src + dst) % k))
    got = build_and_check(size, SRC, DST, 12, strategy="mine")
    assert [g["graph"].local.num_edges for g in got] == np.bincount(
        (SRC + DST) % size, minlength=size
    ).tolist()
    made = cut(edge_list(Comm(), SRC, DST, 12), 5, "mine")
    assert made.part.dtype == np.int32
    assert np.array_equal(made.part, (SRC + DST) % 5)


def test_no_edges_have_no_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "mine", lambda src, dst, k, context: [])
    for size in (1, 2):
        run_ranks(size, lambda comm: gl.Graph.from_edges([], [], vertices=[1, 2], strategy="mine", comm=comm))


def test_so_many_parts_as_32_bits_number() -> None:
    for k in (0, -1, 2**31):
        with pytest.raises(UsageError, match=rf"k={k}: a whole number from 1 to 2147483647 is needed"):
            cut(edge_list(Comm(), SRC, DST, 12), k, "1d")


@pytest.mark.parametrize("lacking", ["src", "dst", "num_vertices", "ids"])
def test_what_is_no_list_of_edges_is_not_cut(lacking: str) -> None:
    edges = edge_list(Comm(), SRC, DST, 12)
    delattr(edges, lacking)
    with pytest.raises(UsageError, match="an EdgeList is needed, not SimpleNamespace"):
        cut(edges, 2)


def test_a_strategy_is_registered_by_name() -> None:
    with pytest.raises(UsageError, match=r"a name without a colon is needed, as in @strategy\('by-source'\)"):

        @strategies.strategy  # type: ignore[arg-type]
        def bare(src: Any, dst: Any, k: int, context: Any) -> Any: ...

    needed = r"strategy .five. is 5; a function of \(.*\) or a subclass of Stateful is needed"
    with pytest.raises(UsageError, match=needed):
        strategies.strategy("five")(5)  # type: ignore[arg-type]
    assert "five" not in strategies.STRATEGIES
    graph: Any = gl.Graph.from_edges([0], [1])
    with pytest.raises(UsageError, match=r"strategy='\w+': a name is needed; register a function"):
        graph.partitioned(hashes.by_one_end)


COLLECTIVE = """
import gaslab as gl
from gaslab.partitioning.strategies import strategy

@strategy("mine")
def mine(src, dst, k, context):
    if context.comm.rank == 1:
        raise ValueError("a bad day")
    context.comm.allreduce(src.size)  # rank 1 does not come
    return src % k

gl.Graph.from_edges(range(9), range(9), strategy="mine")
"""


@pytest.mark.slow
def test_a_collective_strategy_that_fails_on_one_rank_ends_all(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(COLLECTIVE)
    done = run_script(3, [str(script)], timeout=60)
    assert done.returncode == 1
    assert "ValueError: a bad day" in done.stderr
