"""Random numbers: Philox's known answers, what a draw depends on, and what is refused."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gaslab as gl
from gaslab._kernels import philox as kernels
from gaslab.compiler.python import rng as interpreted
from gaslab.engine import delivery
from gaslab.engine.initial_draws import InitialDraws
from gaslab.parallel.comm import Comm
from gaslab.reference.rng import philox4x32
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES

# Random123's kat_vectors for philox4x32, 10 rounds: counter, key, answer.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize("known", KNOWN, ids=["zeros", "ones", "pi"])
def test_philox_gives_random123_s_known_answers(known: tuple[str, str, str]) -> None:
    counter, key, answer = ([int(word, 16) for word in part.split()] for part in known)
    assert philox4x32(counter, key) == answer
    words = (answer[1] << 32 | answer[0], answer[3] << 32 | answer[2])
    arguments = (key[1] << 32 | key[0], counter[0], counter[1], counter[3] << 32 | counter[2])
    assert kernels.philox(*arguments) == words
    assert interpreted.philox(*arguments) == words


class Toss(gl.VertexProgram):
    class Vertex(gl.Vertex):
        coin: float = 0.0
        bell: float = 0.0
        die: int = 0

    def init(self, v: Vertex) -> None:
        v.coin, v.bell, v.die = gl.uniform(), gl.normal(2.0), gl.integers(6)


MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_the_first_draw_of_the_first_vertex_is_the_first_known_answer(mode: dict[str, Any]) -> None:
    """Seed, superstep, phase (init), global id and draw number are 0: so is every word of the counter."""
    found = gl.run(Toss(), gl.Graph.from_edges([0], [1]), **mode)
    assert found.vertices["coin"][0] == (0xE169C58D6627E8D5 >> 11) * 2.0**-53


class Parcel(gl.VertexProgram):
    """The message is drawn before the priority."""

    class Vertex(gl.Vertex):
        got: float = 0.0

    def start(self, v: Vertex) -> bool:
        return True

    def apply(self, v: Vertex, message: gl.Sum[float]) -> None:
        v.got += message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.got == 0.0:
            nbr.signal(gl.uniform(), priority=gl.integers(5))


def test_a_signal_draws_its_message_before_its_priority() -> None:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    found = [gl.run(Parcel(), graph, **mode).vertices["got"].tolist() for mode in MODES]
    assert found[0] == found[1] == found[2]
    assert any(found[0])


def test_a_program_without_a_seed_of_its_own_repeats_and_another_seed_differs() -> None:
    graph = gl.Graph.generate("grid", rows=8, columns=8)
    one, again, other = (gl.run(Toss(), graph, seed=seed).vertices for seed in (3, 3, 4))
    for name in ("coin", "bell", "die"):
        assert one[name].tolist() == again[name].tolist()
        assert (one[name] != other[name]).mean() > 0.5
    far = gl.run(Toss(), graph, seed=3 + (1 << 64)).vertices  # a seed counts by its lowest 64 bits
    assert far["coin"].tolist() == one["coin"].tolist()
    assert gl.run(Toss(), graph, seed=-1).metrics["seed"] == -1


def test_draws_are_distributed_as_they_say() -> None:
    n = 40000
    graph = gl.Graph.from_edges([0], [n - 1], vertices=range(n))
    found = gl.run(Toss(), graph, seed=11).vertices
    coin, bell, die = found["coin"], found["bell"], found["die"]
    assert 0.0 <= coin.min() < 0.001
    assert 0.999 < coin.max() < 1.0
    assert abs(coin.mean() - 0.5) < 5 * math.sqrt(1 / 12 / n)
    assert abs(np.corrcoef(coin[:-1], coin[1:])[0, 1]) < 5 / math.sqrt(n)
    assert abs(bell.mean()) < 5 * 2.0 / math.sqrt(n)
    assert abs(bell.std() - 2.0) < 5 * 2.0 / math.sqrt(2 * n)
    assert abs((np.abs(bell) < 2.0).mean() - math.erf(math.sqrt(0.5))) < 5 * 0.5 / math.sqrt(n)
    counts = np.bincount(die, minlength=6)
    assert counts.size == 6
    assert ((counts - n / 6) ** 2 / (n / 6)).sum() < 25  # chi squared of 5 degrees of freedom


class Marks(gl.VertexProgram):
    """Every edge keeps what its two methods draw, and shows it at both ends."""

    scatter_edges = gl.OUT
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        low: float = 0.0

    class Edge(gl.Edge):
        mark: float = gl.uniform()
        late: float = 0.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[float]:
        return gl.uniform()

    def apply(self, v: Vertex, total: float) -> None:
        v.low = total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.late = gl.uniform()
        if e.mark == e.late:
            e.mark = 0.0  # written, so that the result has it
            nbr.signal()


class StreamMarks(Marks):
    rng = "stream"


class HashMarks(Marks):
    rng = "hash"


def run_marks(program: type[Marks], comm: Comm, strategy: str) -> tuple[Any, ...]:
    source, target = [5, 5, 5, 7, 7, 9, 5, 2, 2], [7, 7, 9, 5, 7, 5, 7, 2, 2]
    graph = gl.Graph.from_edges(source, target, strategy=strategy, comm=comm)
    found = gl.run(program(), graph, max_iterations=1, seed=5, edges=True)
    drawn = (found.edges[name].tolist() for name in ("mark", "late"))
    rows = zip(*map(list, found.edges.ids), *drawn, strict=True)
    return found.vertices["low"].tolist(), sorted(rows)


@pytest.mark.slow
@pytest.mark.parametrize("program", [Marks, StreamMarks, HashMarks])
def test_edges_draw_by_their_ends_and_their_place_among_parallels(ranks: Ranks, program: type[Marks]) -> None:
    expected = run_marks(program, Comm(), "1d")
    assert len({mark for *_, mark, _ in expected[1]}) == 9
    assert len({late for *_, late in expected[1]}) == 9
    for strategy in STRATEGIES:
        assert ranks.run(partial(run_marks, program), strategy) == [expected] * ranks.size


class Hashed(gl.VertexProgram):
    """Four draws a call, kept apart."""

    rng = "hash"

    class Vertex(gl.Vertex):
        drawn: gl.Vector = gl.field(shape=4)

    def apply(self, v: Vertex) -> None:
        for k in range(4):
            v.drawn[k] = gl.uniform()


class HashedEdges(gl.VertexProgram):
    rng = "hash"

    class Edge(gl.Edge):
        drawn: float = 0.0

    def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        e.drawn = gl.uniform()


def hashed(axis: str) -> np.ndarray:
    """Return draws that differ along one of what a draw is a function of, in that order."""
    if axis in ("source", "target"):
        one, other = np.zeros(1 << 16, np.int64), np.arange(1 << 16)
        ends = (other, one) if axis == "source" else (one, other)
        table = gl.run(HashedEdges(), gl.Graph.from_edges(*ends), max_iterations=1).edges
        drawn: np.ndarray = table["drawn"]
        return drawn
    graph = gl.Graph.from_edges([0], [1], vertices=range(1 << 14 if axis in ("vertex", "number") else 64))
    runs = 1 if axis in ("vertex", "number") else 1 << 8
    found = []
    for k in range(runs):
        at = {"seed": k} if axis == "seed" else {}
        initial = {"max_iterations": 1 + (k if axis == "superstep" else 0)}
        found.append(gl.run(Hashed(), graph, **initial, **at).vertices["drawn"])
    drawn = np.array(found)
    if axis in ("seed", "superstep"):
        return drawn.transpose(1, 2, 0).ravel()
    return drawn[0].ravel() if axis == "number" else drawn[0].T.ravel()


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["number", "vertex", "source", "target", "superstep", "seed"])
def test_a_hash_mixes_all_that_a_draw_is_a_function_of(axis: str) -> None:
    """Bytes, high and low, and pairs of neighbours are as often as they should be (p above 1e-6)."""
    words = (hashed(axis) * 2.0**53).astype(np.uint64)
    n = words.size
    for shift in (45, 22, 0):
        part = (words >> np.uint64(shift)).astype(np.int64) & 255
        assert stats.chisquare(np.bincount(part, minlength=256)).pvalue > 1e-6
        high = part >> 4
        pairs = np.bincount(high[:-1] << 4 | high[1:], minlength=256)
        assert stats.chisquare(pairs).pvalue > 1e-6
        flips = np.bitwise_xor(part[:-1], part[1:])
        assert stats.chisquare(np.bincount(flips, minlength=256)).pvalue > 1e-6
    assert np.unique(words).size == n
    days = 1 << 24  # equal gaps between birthdays are Poisson (Marsaglia)
    born = np.sort((words[: 1 << 10] % np.uint64(days)).astype(np.int64))
    equal = born.size - 1 - np.unique(np.diff(born)).size
    expected = born.size**3 / 4 / days
    assert 1e-6 < stats.poisson.cdf(equal, expected) < 1 - 1e-6


class Wide(gl.VertexProgram):
    top: int = 4

    class Vertex(gl.Vertex):
        small: gl.int8 = gl.integers("top")
        half: gl.float32 = gl.normal(0.1)

    def apply(self, v: Vertex) -> None:
        v.small += 1


def test_a_start_may_take_a_parameter_and_earlier_values_go_before_it() -> None:
    graph = gl.Graph.from_edges(range(30), range(1, 31))
    plain = [gl.run(Wide(), graph, max_iterations=0, **mode).vertices for mode in MODES]
    assert set(plain[0]["small"].tolist()) == {0, 1, 2, 3}
    assert plain[0]["half"].dtype == np.float32
    given = [
        gl.run(Wide(), graph, max_iterations=0, init={"small": {3: 99}}, **mode).vertices for mode in MODES
    ]
    for k in range(3):
        assert plain[k].to_dict("small") == plain[0].to_dict("small")
        assert given[k].to_dict("small") == {**plain[0].to_dict("small"), 3: 99}
        assert given[k].to_dict("half") == plain[0].to_dict("half")
    with pytest.raises(gl.UsageError, match=r"gl.integers\('top'\) does not fit int8; choose a wider type"):
        gl.run(Wide(top=129), graph, max_iterations=0)
    with pytest.raises(gl.UsageError, match=r"gl.integers\('top'\): n is 0; a whole number of at least 1"):
        gl.run(Wide(top=0), graph, max_iterations=0)


class Spread(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, init=gl.normal(0.1))
        m: gl.Matrix = gl.field(shape=(2, 3), init=gl.uniform())

    def apply(self, v: Vertex) -> None:
        v.x = 2.0 * v.x


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_vectors_that_a_start_leaves_out_keep_their_draws(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges(range(6), range(1, 7))
    plain = gl.run(Spread(), graph, max_iterations=0, **mode).vertices
    for name, one in (("x", [1.0, 2.0]), ("m", [[1.0] * 3] * 2)):
        found = gl.run(Spread(), graph, max_iterations=0, init={name: {3: one}}, **mode).vertices
        assert found.to_dict() == {**plain.to_dict(), 3: {**plain.to_dict()[3], name: one}}
    whole = gl.run(Spread(), graph, max_iterations=1, **mode)
    again = gl.run(Spread(), graph, max_iterations=0, init=whole, **mode).vertices
    assert again.to_dict() == whole.vertices.to_dict()


class Ordered(gl.VertexProgram):
    """Draws where C may choose the order, and where an element is read and written."""

    class Vertex(gl.Vertex):
        n: int = 3
        z: gl.Vector = gl.field(shape=3, init=0.25)
        m: gl.Matrix = gl.field(shape=(2, 3), init=1.0)
        heap: gl.Vector = gl.field(shape=3, sync=gl.SUM)
        x: float = 0.0

    def init(self, v: Vertex) -> None:
        v.n = gl.integers(9)
        v.z[gl.integers(3)] = gl.uniform()
        v.x = gl.uniform()

    def apply(self, v: Vertex) -> None:
        v.z[gl.integers(3)] += gl.uniform()
        v.m[gl.integers(2), gl.integers(3)] -= v.z[gl.integers(3)]

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.heap[gl.integers(3)] += gl.uniform()


@pytest.mark.parametrize("given", [{}, {"n": {0: 7}}, {"z": [0.5, 1.0, 2.0]}, {"n": 1, "z": 0.5}])
def test_draws_come_in_python_s_order_whatever_is_given(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reference engine adds up messages in the order of edges, which is that of a pull.
    monkeypatch.setattr(delivery, "ALWAYS_PUSHED", 0)
    graph = gl.Graph.generate("grid", rows=6, columns=6)
    compiled, interpreted, plain = (
        gl.run(Ordered(), graph, max_iterations=2, init=given, **mode).vertices for mode in MODES
    )
    for name in ("n", "z", "m", "heap", "x"):
        assert compiled[name].tolist() == interpreted[name].tolist() == plain[name].tolist()
    if "n" in given:
        assert compiled["n"][0] in (1, 7)


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_what_a_given_field_would_get_is_still_computed(mode: dict[str, Any]) -> None:
    class Divides(gl.VertexProgram):
        class Vertex(gl.Vertex):
            n: int = 0

        def init(self, v):  # type: ignore[no-untyped-def]
            v.n = 1 // v.n

    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(gl.ExecutionError, match="division"):
        gl.run(Divides(), graph, init={"n": {0: 1}}, **mode)


class Empty(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 0

    def apply(self, v: Vertex) -> None:
        v.x = gl.integers(v.degree - 1)


def test_a_choice_out_of_nothing_ends_the_run() -> None:
    graph = gl.Graph.from_edges([0, 0, 0], [1, 1, 1])
    assert gl.run(Empty(), graph, max_iterations=1).vertices["x"].max() < 2
    for mode in MODES:
        with pytest.raises(gl.ExecutionError, match=r"Empty failed at vertex 0 in superstep 0: gl.integers"):
            gl.run(Empty(), gl.Graph.from_edges([0], [1]), max_iterations=1, **mode)


def test_outside_a_program_the_words_are_starts_of_fields() -> None:
    assert repr(gl.uniform(0.5)) == "gl.uniform(0.5, 1.0)"
    assert gl.normal(0.1) == gl.normal(scale=0.1)
    assert repr(gl.integers("topics")) == "gl.integers('topics')"


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_initial_draws_of_edges_do_not_depend_on_how_many_are_drawn_at_a_time(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 40, (2, 600))
    ends[:, 100:300] = 5  # parallel
    graph = gl.Graph.from_edges(*ends, vertices=range(90))  # some without edges, behind and between
    draw = gl.integers(1000)
    known = InitialDraws(graph, 1, {}).of_edges(draw, 0, np.dtype(np.int32), (3,))
    monkeypatch.setattr("gaslab.engine.initial_draws.BLOCK", block)
    assert (InitialDraws(graph, 1, {}).of_edges(draw, 0, np.dtype(np.int32), (3,)) == known).all()


def test_a_draw_that_does_not_fit_is_refused_without_edges_too() -> None:
    graph = gl.Graph.from_edges([], [], vertices=[1])
    with pytest.raises(gl.UsageError, match="does not fit int8; choose a wider type"):
        InitialDraws(graph, 1, {}).of_edges(gl.integers(1000), 0, np.dtype(np.int8))


def test_edges_are_told_apart_among_very_many_parallel_ones_in_one_pass() -> None:
    many = 1_000_000  # squared, they would take minutes
    graph = gl.Graph.from_edges(np.zeros(many, int), np.ones(many, int))
    drawn = InitialDraws(graph, 1, {}).of_edges(gl.uniform(), 0, np.dtype(float))
    assert np.unique(drawn).size == many
