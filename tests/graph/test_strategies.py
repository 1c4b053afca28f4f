"""The strategies: what each promises of its cut, and how they are found."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gaslab.cli import main
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from gaslab.partitioning.strategies import hashes
from tests.support.built_graphs import build_and_check
from tests.support.strategies import STRATEGIES
from tests.support.threadcomm import run_ranks


def test_1d_has_no_in_edges_on_mirrors() -> None:
    rng = np.random.default_rng(2)
    for got in build_and_check(4, rng.integers(0, 99, 900), rng.integers(0, 99, 900), 99, strategy="1d"):
        bounds = got["graph"].local.mirror_bounds
        assert np.array_equal(bounds[:, 1], bounds[:, 3])


@pytest.mark.parametrize("turned", ["as it is", "reversed", "both ways"])
@pytest.mark.parametrize("num_left", [20, 50, 80])
def test_1d_of_a_bipartite_graph_mirrors_the_side_of_fewer_vertices(num_left: int, turned: str) -> None:
    rng = np.random.default_rng(2)
    src, dst = rng.integers(0, num_left, 900), rng.integers(num_left, 100, 900)
    flip = {
        "as it is": rng.random(900) < 0,
        "reversed": rng.random(900) >= 0,
        "both ways": rng.random(900) < 0.5,
    }
    src, dst = np.where(flip[turned], dst, src), np.where(flip[turned], src, dst)
    for got in build_and_check(4, src, dst, 100, strategy="1d", num_left=num_left):
        local = got["graph"].local
        mirrors = local.gid[local.num_masters :]
        assert mirrors.size
        assert ((mirrors < num_left) == (num_left <= 50)).all()


@pytest.mark.parametrize("sources", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_ends_are_dealt_out_as_evenly_as_they_can_be(k: int, sources: bool) -> None:
    rng = np.random.default_rng(4)
    ends = rng.permutation(np.repeat(np.arange(20_000), (4000 / np.arange(1, 20_001) + 1).astype(int)))
    if sources:  # of a bipartite graph with a single target
        context = strategies.Context(Comm(), 20_001, True, num_left=20_000)
        part = hashes.by_one_end(ends, np.full_like(ends, 20_000), k, context)
    else:
        part = hashes.by_one_end(np.zeros_like(ends), ends, k, strategies.Context(Comm(), 20_000, True))
    of = np.full(20_000, -1)
    of[ends] = part
    assert np.array_equal(of[ends], part), "an end is in one part"
    work = np.bincount(part, minlength=k) + hashes.VERTEX_WORK * np.bincount(of, minlength=k)
    assert work.max() < 1.03 * work.mean()


def test_a_target_with_more_than_its_share_has_a_part_of_few_others() -> None:
    dst = np.concatenate([np.full(60_000, 7), np.arange(20_000)])
    part = hashes.by_one_end(np.zeros_like(dst), dst, 4, strategies.Context(Comm(), 20_000, True))
    counts = np.bincount(part[60_000:], minlength=4)
    assert counts[part[0]] < 0.2 * counts.mean()
    assert np.delete(counts, part[0]).max() < 1.02 * 20_000 / 3


@pytest.mark.parametrize("k", [1024, 100_000, hashes.MOST_BUCKETS, (1 << 31) - 1])
def test_targets_go_to_very_many_parts(k: int) -> None:
    dst = np.arange(1000)
    part = hashes.by_one_end(dst, dst, k, strategies.Context(Comm(), 1000, True))
    assert part.min() >= 0
    assert part.max() < k
    assert len(set(part.tolist())) > 500


def test_1d_source_is_1d_of_the_edges_turned_round() -> None:
    src, dst = np.random.default_rng(7).integers(0, 5000, (2, 60_000)) ** 2 // 5000
    context = strategies.Context(Comm(), 5000, True)
    part = hashes.by_source(src, dst, 9, context)
    assert np.array_equal(part, hashes.by_one_end(dst, src, 9, context))
    bipartite = strategies.Context(Comm(), 10_000, True, num_left=5000)
    of = np.full(5000, -1)
    of[src] = hashes.by_source(src, dst + 5000, 9, bipartite)
    assert np.array_equal(of[src], hashes.by_source(src, dst + 5000, 9, bipartite)), "a source is in one part"


def test_2d_bounds_the_replicas() -> None:
    rng = np.random.default_rng(3)
    src, dst = np.zeros(4000, dtype=int), rng.integers(0, 500, 4000)  # vertex 0 is the source of every edge
    for size, most in [(4, 3), (9, 5)]:
        got = build_and_check(size, src, dst, 500, strategy="2d")
        assert sum(0 in g["graph"].local.gid for g in got) <= most


@pytest.mark.parametrize("k", range(1, 18))
def test_2d_uses_every_part_evenly(k: int) -> None:
    src, dst = np.random.default_rng(6).integers(0, 5000, (2, 200_000))
    part = hashes.by_grid(src, dst, k, strategies.Context(Comm(), 5000, True))
    counts = np.bincount(part, minlength=k)
    assert counts.size == k
    assert counts.max() < 1.2 * counts.mean()
    replicas = Counter(v for v, _ in {*zip(src.tolist(), part.tolist(), strict=True)})
    assert max(replicas.values()) <= np.ceil(np.sqrt(k)) + 1


def test_dbh_keeps_leaves_whole() -> None:
    leaves = np.arange(1, 401)
    got = build_and_check(4, np.zeros(400, dtype=int), leaves, 401, strategy="dbh")
    holders = Counter(v for g in got for v in g["graph"].local.gid.tolist())
    assert holders[0] == 4
    assert all(holders[v] == 1 for v in leaves)


def parts_on(
    size: int, name: str, src: np.ndarray, dst: np.ndarray, n: int, k: int, directed: bool = True
) -> np.ndarray:
    """The parts of all edges by a strategy on *size* ranks, which have runs of them of several lengths."""

    def rank(comm: Comm) -> np.ndarray:
        cuts = src.size * np.arange(size + 1) ** 2 // size**2
        mine = slice(cuts[comm.rank], cuts[comm.rank + 1])
        context = strategies.Context(comm, n, directed)
        return strategies.find(name)[1](src[mine], dst[mine], k, context)

    return np.concatenate(run_ranks(size, rank))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("threshold", [None, 12])
def test_hybrid_keeps_low_targets_whole_and_cuts_hubs_by_source(size: int, threshold: int | None) -> None:
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, 3000, 40_000), rng.integers(0, 3000, 40_000) ** 3 // 3000**2
    name = "hybrid" if threshold is None else f"hybrid:threshold={threshold}"
    part = parts_on(size, name, src, dst, 3000, 7)
    degree = np.bincount(dst, minlength=3000)
    hub = degree > (threshold or hashes.HUB * dst.size / np.count_nonzero(degree))
    at = np.where(hub[dst], src, dst)
    assert 0.1 < hub[dst].mean() < 0.99
    of = np.full(3000, -1)
    of[at] = part
    assert np.array_equal(of[at], part), "an edge is where the end that decides has its edges"
    assert np.bincount(part).max() < 1.05 * part.size / 7
    assert np.array_equal(part, parts_on(1, name, src, dst, 3000, 7))


@pytest.mark.parametrize("size", [1, 3])
def test_hybrid_of_undirected_edges(size: int) -> None:
    rng = np.random.default_rng(9)
    src, dst = rng.integers(0, 3000, 40_000), rng.integers(0, 3000, 40_000) ** 3 // 3000**2
    part = parts_on(size, "hybrid", src, dst, 3000, 7, directed=False)
    flip = rng.random(src.size) < 0.5
    turned = [np.where(flip, dst, src), np.where(flip, src, dst)]
    assert np.array_equal(part, parts_on(size, "hybrid", *turned, 3000, 7, directed=False))
    degree = np.bincount(src, minlength=3000) + np.bincount(dst, minlength=3000)
    target = np.where((degree[src] > degree[dst]) | ((degree[src] == degree[dst]) & (src > dst)), src, dst)
    hub = degree[target] > hashes.HUB * src.size / np.count_nonzero(degree)
    at = np.where(hub, src + dst - target, target)
    of = np.full(3000, -1)
    of[at] = part
    assert 0.1 < hub.mean() < 0.99
    assert np.array_equal(of[at], part)


def test_a_negative_threshold_is_refused() -> None:
    with pytest.raises(UsageError, match=r"hybrid:threshold=-2': .*or 0 to find one from the degrees"):
        parts_on(1, "hybrid:threshold=-2", np.array([0]), np.array([1]), 2, 3)


@pytest.mark.parametrize("n", [1000, hashes.SLICES - 1, hashes.SLICES, 300_001])
def test_chunks_are_ranges_with_as_much_work(n: int) -> None:
    dst = np.concatenate([np.arange(n), np.full(8 * n, n // 3)])  # one with half of the work
    part = hashes.by_chunk(np.zeros_like(dst), dst, 4, strategies.Context(Comm(), n, True))
    assert np.all(np.diff(part[:n]) >= 0)
    assert len(set(part[n:].tolist())) == 1
    work = np.bincount(part, minlength=4) + hashes.VERTEX_WORK * np.bincount(part[:n], minlength=4)
    assert work.sum() == 17 * n
    others = np.delete(work, part[-1])
    assert others.max() < 0.26 * 17 * n, "no chunk has more than its share but by one vertex"


def test_a_path_in_chunks_has_one_mirror_at_each_border() -> None:
    path = np.arange(4999)
    got = build_and_check(4, path, path + 1, 5000, strategy="chunk")
    assert got[0]["graph"].replication_factor == pytest.approx(5003 / 5000)
    assert max(g["masters"].size for g in got) < 1.02 * 1250


def test_random_keeps_an_edge_and_its_reverse_together() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 1 << 40, 500), rng.integers(0, 1 << 40, 500)
    context = strategies.Context(Comm(), 1 << 40, True)
    assert np.array_equal(hashes.random(a, b, 7, context), hashes.random(b, a, 7, context))
    assert set(hashes.random(a, b, 7, context)) == set(range(7))


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_undirected_edge_and_its_reverse_stay_together(name: str) -> None:
    a, b = np.random.default_rng(5).integers(0, 300, (2, 4000)) ** 2 // 300
    part = parts_on(2, name, np.concatenate([a, b]), np.concatenate([b, a]), 300, 7, directed=False)
    assert np.array_equal(part[:4000], part[4000:])
    assert set(part) == set(range(7))


def test_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="strategy='dhb' is unknown; did you mean 'dbh'"):
        strategies.find("dhb")


def test_default_strategy_is_registered() -> None:
    assert strategies.find(None)[0] == strategies.DEFAULT
    assert strategies.DEFAULT.partition(":")[0] in strategies.STRATEGIES


def test_a_registered_strategy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        strategies.STRATEGIES, "last", lambda src, dst, k, context: np.full(src.size, k - 1, dtype=np.int32)
    )
    got = build_and_check(3, [0, 1, 2], [1, 2, 0], 4, strategy="last")
    assert [g["graph"].local.num_edges for g in got] == [0, 0, 3]


NAMES = list(strategies.STRATEGIES)
ROOT = Path(__file__).resolve().parents[2]
QUOTED = re.compile(r"""[`'"]([0-9a-z-]+)[`'"]""")


def test_the_documentation_has_two_rows_for_each_strategy() -> None:
    rows = (ROOT / "docs" / "partitioning.md").read_text().splitlines()
    tables = [row.split("|") for row in rows if row.startswith("|")]
    measured = [name for name in NAMES if name != "auto" and not strategies.needs_options(name)]
    for heading, names in (("which part an edge", NAMES), ("RF / EB / VB", measured)):
        head = next(k for k, cells in enumerate(tables) if heading in cells[2])
        named = [name for cells in tables[head + 2 :] for name in QUOTED.findall(cells[1])[:1]]
        assert named[: len(names)] == names, heading
    (default,) = (row for row in rows if row.startswith("|") and "(the default" in row)
    assert f"`{strategies.DEFAULT}`" in default


@pytest.mark.parametrize("command", ["pagerank", "run", "info", "partition"])
def test_the_command_line_offers_each_strategy(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"{', '.join(NAMES)}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_no_other_file_lists_the_strategies() -> None:
    for path in [*(ROOT / "gaslab").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        if path.name in ("names.py", "test_strategies.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.unparse(node) if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else ""
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            words = set(re.findall(r"\w+", text))
            assert not words >= {*NAMES}, f"{path.name}:{node.lineno}"
