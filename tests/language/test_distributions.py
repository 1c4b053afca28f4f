"""Draws from distributions: their laws, their faults, the same numbers in all modes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gaslab as gl
from gaslab.engine import initial_draws
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.support.one_fault import MODES, assert_fault, vertices

MANY = 20000


class Laws(gl.VertexProgram):
    scale: float = 2.0
    shape: float = 1.0
    mean: float = 1.0

    class Vertex(gl.Vertex):
        wait: float = 0.0
        sum: float = 0.0
        count: int = 0
        after: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.wait, v.sum = gl.exponential(self.scale), gl.gamma(self.shape, scale=self.scale)
        v.count, v.after = gl.poisson(self.mean), gl.uniform()


class StreamLaws(Laws):
    rng = "stream"


class HashLaws(Laws):
    rng = "hash"


PROGRAMS = [Laws, StreamLaws, HashLaws]
ENOUGH = 1e-4  # of a p-value; the seeds are fixed


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("shape", [0.02, 0.5, 1.0, 3.7, 1000.0])
def test_waits_and_gamma_draws_have_their_laws(program: type[Laws], shape: float) -> None:
    drawn = gl.run(program(shape=shape), vertices(MANY), max_iterations=1, seed=3).vertices
    wait, total = drawn["wait"], drawn["sum"]
    assert stats.kstest(wait, stats.expon(scale=2.0).cdf).pvalue > ENOUGH
    assert stats.kstest(total, stats.gamma(shape, scale=2.0).cdf).pvalue > ENOUGH
    assert abs(total.mean() - 2.0 * shape) < 5 * 2.0 * math.sqrt(shape / MANY)
    fourth = (3 + 6 / shape) * (4 * shape) ** 2  # central moment, of which the variance's error is made
    assert abs(total.var() - 4 * shape) < 5 * math.sqrt(fourth / MANY)
    assert abs(np.corrcoef(wait, total)[0, 1]) < 5 / math.sqrt(MANY)
    assert stats.kstest(drawn["after"], stats.uniform.cdf).pvalue > ENOUGH


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mean", [0.0, 0.3, 4.0, 9.99, 10.0, 11.5, 80.0, 1e4, 1e10, 2.0**52])
def test_counts_are_poisson(program: type[Laws], mean: float) -> None:
    drawn = gl.run(program(mean=mean), vertices(MANY), max_iterations=1, seed=4).vertices["count"]
    assert abs(drawn.mean() - mean) <= 5 * math.sqrt(mean / MANY)
    if mean == 0.0:
        return
    assert abs(drawn.var() / mean - 1) < 5 * math.sqrt((2 + 1 / mean) / MANY)
    if mean > 1e9:
        z = (drawn - mean) / math.sqrt(mean)
        assert stats.kstest(z, stats.norm.cdf).pvalue > ENOUGH
        return
    law = stats.poisson(mean)
    edges = np.unique(law.ppf(np.linspace(0.002, 0.998, 60)))
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=edges.size + 1)
    expected = MANY * np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    some = expected > 0
    assert stats.chisquare(counts[some], expected[some]).pvalue > ENOUGH


class Shares(gl.VertexProgram):
    class Vertex(gl.Vertex):
        alpha: gl.Vector = gl.field(shape=5, dtype=gl.float32)
        x: gl.Vector = gl.field(shape=5)

    def apply(self, v: Vertex) -> None:
        v.x = gl.dirichlet(v.alpha)


@pytest.mark.parametrize("alpha", [[0.25, 1.0, 2.5, 0.0, 7.0], [1.0] * 5, [50.0, 1.0, 1.0, 0.5, 0.25]])
def test_a_dirichlet_draw_has_beta_distributed_shares(alpha: list[float]) -> None:
    x = gl.run(Shares(), vertices(MANY), max_iterations=1, init={"alpha": alpha}, seed=5).vertices["x"]
    np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=1e-14)
    whole = sum(alpha)
    for k, a in enumerate(alpha):
        if a == 0.0:
            assert not x[:, k].any()
        else:
            assert stats.kstest(x[:, k], stats.beta(a, whole - a).cdf).pvalue > ENOUGH
    i, j = 0, 4
    covariance = -alpha[i] * alpha[j] / whole**2 / (whole + 1)
    assert abs(np.cov(x[:, i], x[:, j])[0, 1] - covariance) < 5 / math.sqrt(MANY) / 4


def test_smallest_parameters_leave_one_share() -> None:
    """All draws from the gamma distributions would be 0, and their quotients nan."""
    alpha = [1e-6, 2e-6, 0.0, 1e-6, 4e-6]
    x = gl.run(Shares(), vertices(8000), max_iterations=1, init={"alpha": alpha}).vertices["x"]
    np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=1e-14)
    largest = np.bincount(x.argmax(axis=1), minlength=5)
    assert (x.max(axis=1) > 0.99).mean() > 0.999
    some = [0, 1, 3, 4]
    assert stats.chisquare(largest[some], 1000 * np.array([1, 2, 1, 4])).pvalue > ENOUGH


class All(gl.VertexProgram):
    """Every distribution, of parameters that take all its ways, and what is drawn after it."""

    class Vertex(gl.Vertex):
        alpha: gl.Vector = gl.field(shape=9, init=gl.gamma(0.3))
        x: gl.Vector = gl.field(shape=9)
        floats: gl.Vector = gl.field(shape=4)
        counts: gl.Vector = gl.field(shape=4, dtype=int)

    def apply(self, v: Vertex) -> None:
        v.x = gl.dirichlet(v.alpha)
        v.floats[0] = gl.exponential(gl.exponential())
        v.floats[1] = gl.gamma(v.alpha[0]) + gl.gamma(1.0 + v.alpha[1], v.floats[0])
        v.floats[2] = gl.gamma(0) - gl.gamma(1e-4) + gl.exponential(0)
        v.counts[0] = gl.poisson(3.0 * v.alpha[2]) - gl.poisson(0)
        v.counts[1] = gl.poisson(10 + v.alpha[3])
        v.counts[2] = gl.poisson(math.exp(3.0 + 5 * v.alpha[4] % 30.0))
        v.counts[3] = gl.categorical(v.alpha * gl.exponential()) + 10 * gl.categorical(v.x)
        v.floats[3] = gl.uniform()


class StreamAll(All):
    rng = "stream"


class HashAll(All):
    rng = "hash"


@pytest.mark.slow
@pytest.mark.parametrize("program", [All, StreamAll, HashAll])
def test_rejected_or_not_the_numbers_are_the_same_in_all_modes(program: type[All]) -> None:
    compiled, interpreted, plain = (
        gl.run(program(), vertices(700), max_iterations=1, seed=6, **mode).vertices for mode in MODES
    )
    for name in ("alpha", "x", "floats", "counts"):
        assert compiled[name].tobytes() == interpreted[name].tobytes() == plain[name].tobytes(), name


class Starts(gl.VertexProgram):
    rate: float = 4.0

    class Vertex(gl.Vertex):
        wait: float = gl.exponential("rate")
        sums: gl.Matrix = gl.field(shape=(2, 3), init=gl.gamma(0.5, "rate"))
        count: gl.int16 = gl.poisson("rate")
        many: int = gl.poisson(1000)

    class Edge(gl.Edge):
        count: gl.int8 = gl.poisson(12)
        kept: bool = False

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.count, e.kept = e.count + 1, True


def test_starts_of_fields_have_the_same_laws() -> None:
    found = gl.run(Starts(), vertices(MANY), max_iterations=0, seed=7).vertices
    assert stats.kstest(found["wait"], stats.expon(scale=4.0).cdf).pvalue > ENOUGH
    assert stats.kstest(found["sums"].ravel(), stats.gamma(0.5, scale=4.0).cdf).pvalue > ENOUGH
    for name, mean in (("count", 4.0), ("many", 1000.0)):
        assert abs(found[name].mean() - mean) < 5 * math.sqrt(mean / MANY)
        assert abs(found[name].var() / mean - 1) < 5 * math.sqrt((2 + 1 / mean) / MANY)
    assert abs(np.corrcoef(found["sums"].reshape(-1, 6).T)[0, 1:]).max() < 5 / math.sqrt(MANY)


def starts(comm: Comm, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges([0, 0, 1, 2, 3], [1, 1, 2, 3, 0], comm=comm)
    found = gl.run(Starts(rate=11.0), graph, max_iterations=1, seed=8, edges=True, **mode)
    edges = zip(*map(list, found.edges.ids), found.edges["count"].tolist(), strict=True)
    return found.vertices.to_dict(), sorted(edges)


def test_starts_are_the_same_in_all_modes_and_on_any_ranks(hosts: Hosts) -> None:
    expected = starts(Comm(), MODES[2])
    assert starts(Comm(), MODES[1]) == expected
    for size in (1, 2, 3):
        assert hosts(size).run(starts, MODES[0]) == [expected] * size


@pytest.mark.parametrize("block", [1, 7, 13])
def test_starts_are_the_same_in_any_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = starts(Comm(), MODES[0])
    monkeypatch.setattr(initial_draws, "BLOCK", block)
    assert starts(Comm(), MODES[0]) == expected


def test_starts_that_cannot_be_say_what_is_needed() -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(gl.UsageError, match=r"gl.exponential\('rate'\): rate is -1.0; a finite number of at"):
        gl.run(Starts(rate=-1.0), graph)
    with pytest.raises(gl.UsageError, match=r"gl.poisson\('rate'\) does not fit int16; choose a wider type"):
        gl.run(Starts(rate=32000.0), graph)
    with pytest.raises(
        gl.UsageError, match=r"gl.normal\(scale=-1.0\): a finite number of at least 0 is need"
    ):
        gl.normal(-1.0)
    with pytest.raises(gl.UsageError, match=r"from -1e\+308 to 1e\+308 has no finite width"):
        gl.uniform(-1e308, 1e308).values({})
    with pytest.raises(gl.UsageError, match=r"gl.gamma\(shape=-0.5\): a finite number of at least 0 is need"):
        gl.gamma(-0.5)
    with pytest.raises(gl.UsageError, match=r"gl.poisson\(mean=1e\+16\): a finite .* at most 2\*\*52"):
        gl.poisson(1e16)
    with pytest.raises(gl.UsageError, match=r"gl.dirichlet draws only in the methods of a program"):
        gl.dirichlet([1.0, 2.0])
    assert repr(gl.gamma("shape")) == "gl.gamma('shape', 1.0)"


class Waits(gl.VertexProgram):
    class Vertex(gl.Vertex):
        given: float = 1.0
        x: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.x = gl.exponential(v.given)


class Noise(Waits):
    def apply(self, v: Waits.Vertex) -> None:
        v.x = gl.normal(v.given)


class Sums(Waits):
    def apply(self, v: Waits.Vertex) -> None:
        v.x = gl.gamma(v.given)


class Scaled(Waits):
    def apply(self, v: Waits.Vertex) -> None:
        v.x = gl.gamma(2.0, v.given)


class Counts(Waits):
    def apply(self, v: Waits.Vertex) -> None:
        v.x = gl.poisson(v.given)


@pytest.mark.parametrize("program", [Waits, Noise, Sums, Scaled, Counts])
@pytest.mark.parametrize("given", [-1.0, math.nan, math.inf])
def test_parameters_out_of_their_range_name_the_vertex(
    program: type[Waits], given: float, hosts: Hosts
) -> None:
    assert_fault(hosts, program, {"given": {4: given}}, 14)


class Range(Waits):
    def apply(self, v: Waits.Vertex) -> None:
        v.x = gl.uniform(-1e308, 1e308)


def test_a_range_that_is_too_wide_is_refused() -> None:
    with pytest.raises(gl.ProgramError, match=r"gl.uniform from -1e\+308 to 1e\+308 has no finite width"):
        gl.run(Range(), gl.Graph.from_edges([0], [1]), max_iterations=1)


def test_a_mean_that_is_too_large_names_the_vertex(hosts: Hosts) -> None:
    assert_fault(hosts, Counts, {"given": {4: 2.0**52 + 1}}, 14)


@pytest.mark.parametrize(
    "alpha", [[0.0] * 5, [1e-320] * 5, [1.0, -1.0, 1.0, 1.0, 1.0], [1.0, math.inf, 1.0, 1.0, 1.0]]
)
def test_shares_of_no_parameters_name_the_vertex(alpha: list[float], hosts: Hosts) -> None:
    assert_fault(hosts, Shares, {"alpha": {1: [1.0] * 5, 2: [1.0] * 5, 3: [2.0] * 5, 4: alpha}}, 14)
