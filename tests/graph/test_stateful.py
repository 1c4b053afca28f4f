"""Strategies that keep state: the cap, what they are told and when, and what they may return."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import pairs, strategies
from gaslab.partitioning.cut import cut
from gaslab.partitioning.stateful import Block, Stateful, Stream, cap
from tests.mpi.ranks import Ranks
from tests.support.built_graphs import edge_list, multigraphs
from tests.support.threadcomm import run_ranks

Ends = tuple[np.ndarray, np.ndarray, int]


def power_law(n: int = 2000, m: int = 12_000) -> Ends:
    src, dst = (n * np.random.default_rng(1).random((2, m)) ** 3).astype(np.int64)
    key = np.unique(src * n + dst)
    return key // n, key % n, n


def star(n: int = 800) -> Ends:
    return np.zeros(n - 1, np.int64), np.arange(1, n), n


def path(n: int = 800) -> Ends:
    return np.arange(n - 1), np.arange(1, n), n


def loops(n: int = 300) -> Ends:
    return np.arange(n), np.arange(n), n


GRAPHS = {"power law": power_law, "star": star, "path": path, "loops": loops}
ORDERS = {
    "by source": lambda src, dst: np.lexsort((dst, src)),
    "by target": lambda src, dst: np.lexsort((src, dst)),
    "backwards": lambda src, dst: np.lexsort((dst, src))[::-1],
    "shuffled": lambda src, dst: np.random.default_rng(3).permutation(src.size),
}


@pytest.fixture(params=["few", "many"])
def rounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rank 0 has all pairs of a small graph; or each has its own, as of a large one."""
    if request.param == "many":
        monkeypatch.setattr(pairs, "FEW", 0)
    return str(request.param)


def cut_on(size: int, graph: Ends, k: int, name: str, cuts: Any = None, directed: bool = True) -> np.ndarray:
    """Return the parts of all edges, in the order of the graph's."""
    src, dst, n = graph
    made = run_ranks(
        size, lambda comm: cut(edge_list(comm, src, dst, n, directed, cuts), k, name, comm).part
    )
    return np.concatenate(made)


# ---- the cap -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("k", [1, 2, 7, 50, 1000, 1024])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.usefixtures("rounds")
def test_no_part_exceeds_the_cap_in_any_order(order: str, graph: str, k: int, size: int) -> None:
    src, dst, n = GRAPHS[graph]()
    turn = ORDERS[order](src, dst)
    part = cut_on(size, (src[turn], dst[turn], n), k, "hdrf")
    assert part.size == src.size
    load = np.bincount(part, minlength=k)
    assert load.max() <= cap(src.size, k, 1)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.usefixtures("rounds")
def test_the_order_of_the_edges_changes_nothing(size: int) -> None:
    src, dst, n = power_law()
    placed = cut_on(size, (src, dst, n), 16, "hdrf")
    turn = np.random.default_rng(5).permutation(src.size)
    cuts = [0, *sorted(np.random.default_rng(6).integers(0, src.size, size - 1).tolist()), src.size]
    assert np.array_equal(cut_on(size, (src[turn], dst[turn], n), 16, "hdrf", cuts), placed[turn])


@given(
    graph=multigraphs(), size=st.integers(1, 4), k=st.sampled_from([1, 2, 5, 64, 65, 1024]),
    directed=st.booleans(), many=st.booleans(),
)  # fmt: skip
def test_parallel_edges_stay_together(graph: Any, size: int, k: int, directed: bool, many: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr(pairs, "FEW", 0)
            patch.setattr(pairs, "SHARE", 0)
        part = cut_on(size, graph, k, "hdrf", directed=directed)
    assert part.size == len(graph[0])
    assert np.array_equal(part, np.clip(part, 0, k - 1))
    home: dict[Any, int] = {}
    for u, v, p in zip(*graph[:2], part.tolist(), strict=True):
        assert home.setdefault((u, v) if directed else (min(u, v), max(u, v)), p) == p


def test_a_pair_weighs_as_many_edges_as_it_stands_for() -> None:
    src, dst = np.repeat([0, 2, 4, 6], [100, 50, 50, 100]), np.repeat([1, 3, 5, 7], [100, 50, 50, 100])
    assert np.bincount(cut_on(1, (src, dst, 8), 2, "hdrf")).tolist() == [150, 150]


def test_on_many_ranks_replicas_are_hardly_more() -> None:
    graph = gl.Graph.generate("rmat", scale=16, edge_factor=18, seed=2, drop_duplicates=True)
    src, dst = graph.edges()
    assert src.size >= pairs.FEW > 0
    found = []
    for size in (1, 2, 4):
        made = run_ranks(
            size, lambda comm: cut(edge_list(comm, src, dst, graph.num_vertices), 16, "hdrf", comm).metrics
        )
        found.append(made[0].replication_factor)
        assert made[0].edge_balance <= 1.05
    assert found[1] < 1.03 * found[0]
    assert found[2] < 1.03 * found[0]


@pytest.mark.parametrize("strategy", ["hdrf", "ne", "hep"])
def test_over_mpi(ranks: Ranks, strategy: str) -> None:
    got = ranks.run(rank_of_over_mpi, strategy)
    assert len(set(map(bytes, got))) == 1


def rank_of_over_mpi(comm: Comm, strategy: str) -> bytes:
    """Return the parts of all edges, as cut in rounds."""
    src, dst, n = power_law()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "FEW", 0)
        part = cut(edge_list(comm, src, dst, n), 8, strategy, comm).part
    all_parts = np.concatenate(comm.allgather_array(part))
    load = np.bincount(all_parts, minlength=8)
    assert load.sum() == src.size
    assert load.max() <= cap(src.size, 8, 1)
    return all_parts.tobytes()


@pytest.mark.parametrize("name", ["hdrf", "ne", "dbh:refine=1"])
def test_more_parts_than_there_are_bits_for_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"k=1025: a strategy that keeps state cuts into 1,024 parts"):
        cut(edge_list(Comm(), [0], [1], 2), 1025, name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hdrf:weight=2", "'weight=2' is not an option; hdrf has balance=1.0, refine=0"),
        ("hdrf:balance", "'balance' is not an option"),
        ("hdrf:balance=much", "balance is 'much'; a number is needed, as in hdrf:balance=1.0"),
        ("hdrf:balance=nan", "balance is 'nan'; a number is needed"),
        ("hdrf:balance=inf", "balance is 'inf'; a number is needed"),
        ("hdrf:balance=-1", "balance=-1.0: a number of at least 0 is needed"),
        ("random:seed=3", "'seed=3' is not an option; random has refine=0"),
    ],
)
def test_what_is_no_option_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        strategies.find(name)


def test_a_balance_of_nothing_still_holds_the_cap() -> None:
    graph = power_law()
    loose, tight = (np.bincount(cut_on(1, graph, 8, f"hdrf:balance={b}"), minlength=8) for b in (0, 5))
    assert loose.max() <= cap(graph[0].size, 8, 1)
    assert np.ptp(tight) <= 2


# ---- a strategy of one's own -------------------------------------------------------------------------


class Spy(Stateful):
    """Puts a pair where its ends' numbers say, and writes down what it is asked."""

    calls: list[Any]

    def __init__(self, *, shift: int = 0) -> None:
        self.shift = shift

    def begin(self, k: int, stream: Stream) -> None:
        self.k, self.rank = k, stream.comm.rank
        self.calls = [("begin", k)]
        self.stream = stream

    def assign(self, block: Block) -> Any:
        self.calls.append(("assign", block))
        return (block.low.astype(np.int64) + block.high + self.shift) % self.k

    def agree(self, comm: Comm) -> None:
        self.calls.append(("agree", comm.allreduce(1)))

    def finish(self) -> None:
        self.calls.append(("finish",))


def spied(kind: type[Spy], size: int, graph: Ends, k: int, directed: bool = True) -> list[Spy]:
    """Cut by a spy on each rank, and return them by rank."""
    made: list[Spy] = []

    def make(**options: Any) -> Spy:
        made.append(kind(**options))
        return made[-1]

    from gaslab.partitioning.context import Context
    from gaslab.partitioning.stream import place

    src, dst, n = graph

    def rank(comm: Comm) -> None:
        mine = slice(src.size * comm.rank // comm.size, src.size * (comm.rank + 1) // comm.size)
        place(make, src[mine], dst[mine], k, Context(comm, n, directed))

    run_ranks(size, rank)
    return sorted(made, key=lambda spy: spy.rank)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.usefixtures("rounds")
def test_a_strategy_is_told_of_each_pair_once_in_order(size: int, directed: bool) -> None:
    src, dst, n = power_law(300, 2000)
    src, dst = np.concatenate([src, src[::3], dst[::5]]), np.concatenate([dst, dst[::3], src[::5]])
    spies = spied(Spy, size, (src, dst, n), 5, directed)
    seen: dict[tuple[int, int], int] = {}
    homes: dict[int, int] = {}
    for spy in spies:
        names = [call[0] for call in spy.calls]
        assert names[0] == "begin"
        assert names[1:-1] == ["assign", "agree"] * (len(names) // 2 - 1)
        assert names[-1] == "finish"
        stream = spy.stream
        assert stream.num_edges == src.size
        assert np.array_equal(np.sort(stream.gid), np.arange(n))
        assert np.array_equal(
            stream.degree, np.bincount(np.concatenate([src, dst]), minlength=n)[stream.gid]
        )
        assert np.all(np.diff(stream.degree) >= 0)
        last = -1
        for block in (call[1] for call in spy.calls if call[0] == "assign"):
            assert block.part is None
            assert np.all(block.low <= block.high)
            assert np.all(np.diff(block.low) >= 0)
            assert block.totals[spy.rank] == block.multiplicity.sum()
            if block.low.size:
                assert block.low[0] >= last
                last = int(block.low[-1])
            for low, high, reverse, count in zip(
                block.low, block.high, block.reverse, block.multiplicity, strict=True
            ):
                ends = [int(stream.gid[low]), int(stream.gid[high])]
                pair = tuple(reversed(ends) if reverse else ends if directed else sorted(ends))
                assert pair not in seen
                seen[pair] = int(count)
                assert homes.setdefault(int(low), spy.rank) == spy.rank
    wanted: dict[tuple[int, int], int] = {}
    for u, v in zip(src.tolist(), dst.tolist(), strict=True):
        pair = (u, v) if directed else (min(u, v), max(u, v))
        wanted[pair] = wanted.get(pair, 0) + 1
    assert seen == wanted
    assert spies[0].stream.largest == max(wanted.values())
    assert spies[0].stream.cap == cap(src.size, 5, max(wanted.values()))


class Gathered(Spy):
    gathered = True


def test_a_gathered_strategy_is_asked_once_on_rank_0() -> None:
    graph = power_law(300, 2000)
    spies = spied(Gathered, 3, graph, 5)
    assert [call[0] for call in spies[0].calls] == ["begin", "assign", "agree", "finish"]
    assert spies[0].calls[1][1].multiplicity.sum() == graph[0].size
    for spy in spies[1:]:
        assert [call[0] for call in spy.calls] == ["begin", "agree", "finish"]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Any:
    def register(made: Any) -> str:
        monkeypatch.setitem(strategies.STRATEGIES, "spy", made)
        return "spy"

    return register


def test_options_follow_its_name(registered: Any) -> None:
    name = registered(Spy)
    one, other = (cut_on(1, power_law(), 6, f"{name}:shift={shift}") for shift in (1, 4))
    assert np.array_equal((one + 3) % 6, other)
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert gl.partition(graph, 2, strategy="spy:shift=1").strategy == "spy:shift=1"


def test_a_class_that_is_no_strategy_is_refused() -> None:
    with pytest.raises(UsageError, match="a subclass of Stateful is needed"):
        strategies.strategy("plain")(dict)


ANSWERS = {
    "short": (lambda part: part[1:], r"assign\(\) returned \d+ parts; an integer array with the part, 0 to"),
    "none": (lambda part: None, r"assign\(\) returned None; .* of each of the \d+ pairs is needed"),
    "large": (lambda part: part + 5, r"assign\(\) returned part \d for the pair \d+ -> \d+ \(global ids\)"),
    "negative": (lambda part: part - 9, r"assign\(\) returned part -\d for the pair"),
    "real": (lambda part: part / 2, r"assign\(\) returned float64; .*\(convert it"),
    "table": (lambda part: part[:, None], r"assign\(\) returned a ndarray of shape"),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_what_it_returns_is_checked(answer: str, gathered: bool, size: int, registered: Any) -> None:
    wrong, message = ANSWERS[answer]

    class Wrong(Spy):
        def assign(self, block: Block) -> Any:
            return wrong(super().assign(block))

    Wrong.gathered = gathered
    name = registered(Wrong)
    said = run_ranks(size, lambda comm: refused(comm, name))
    assert len(set(said)) == 1
    assert re.search(message, said[0]), said[0]


@pytest.mark.parametrize("method", ["__init__", "begin", "assign", "finish"])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.usefixtures("rounds")
def test_one_rank_that_fails_ends_all(method: str, size: int, registered: Any) -> None:
    class Fails(Spy):
        pass

    def fail(self: Any, *arguments: Any) -> Any:
        if method == "__init__" or self.rank_of(arguments) == size - 1:
            raise ZeroDivisionError("by the book")
        return getattr(Spy, method)(self, *arguments)

    def rank_of(self: Any, arguments: Any) -> int:
        return int(arguments[1].comm.rank if method == "begin" else self.rank)

    setattr(Fails, "rank_of", rank_of)  # noqa: B010
    setattr(Fails, method, fail)
    name = registered(Fails)
    said = run_ranks(size, lambda comm: refused(comm, name))
    assert set(said) == {"strategy 'spy' failed: ZeroDivisionError: by the book"}


def refused(comm: Comm, name: str) -> str:
    src, dst, n = power_law(300, 2000)
    with pytest.raises(UsageError) as caught:
        cut(edge_list(comm, src, dst, n), 5, name, comm)
    return str(caught.value)


def rank_of_failing(comm: Comm, method: str) -> str:
    class Fails(Spy):
        pass

    def fail(self: Any, *arguments: Any) -> Any:
        if comm.rank == comm.size - 1:
            raise ZeroDivisionError("by the book")
        return getattr(Spy, method)(self, *arguments)

    setattr(Fails, method, fail)
    strategies.STRATEGIES["spy"] = Fails
    try:
        return refused(comm, "spy")
    finally:
        del strategies.STRATEGIES["spy"]


@pytest.mark.parametrize("method", ["begin", "assign", "finish"])
def test_one_rank_that_fails_ends_all_over_mpi(ranks: Ranks, method: str) -> None:
    assert set(ranks.run(rank_of_failing, method)) == {
        "strategy 'spy' failed: ZeroDivisionError: by the book"
    }
