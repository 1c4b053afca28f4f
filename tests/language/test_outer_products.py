"""Sums of outer products in blocks, solvers in lanes: the bits of one operation after the other."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler import emit_text, parse_phases, toolchain
from gaslab.compiler.c.outer_products import KEPT
from gaslab.compiler.c.prelude import helpers_for
from gaslab.compiler.python.solvers import conjugate_gradient, solve_spd
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Gram(gl.VertexProgram):
    """The sum of the neighbours' outer products."""

    k: int = 3
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=gl.normal())
        gram: gl.Matrix = gl.field(shape=("k", "k"))

    class Total(gl.Accumulator):
        gram: gl.Matrix = gl.field(shape=("k", "k"))

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(gram=np.outer(nbr.x, nbr.x))

    def apply(self, v: Vertex, total: Total) -> None:
        v.gram = total.gram


class Mixed(Gram):
    """To which something else is added, too."""

    def gather(self, v: Gram.Vertex, e: gl.Edge, nbr: Gram.Vertex) -> Gram.Total:
        if nbr.degree == 1:
            return self.Total(gram=np.eye(self.k))
        return self.Total(gram=np.outer(nbr.x, nbr.x))


class Shared(Gram):
    """An aggregator fills the same accumulator, of which it does not leave out a half."""

    @gl.aggregator
    def whole(self, v: Gram.Vertex) -> Gram.Total:
        return self.Total(gram=np.outer(v.x, v.x))


class Narrow(Gram):
    """In registers of twice the lanes."""

    precision = gl.float32


def hub(comm: Comm | None = None, edges: int = 3 * KEPT + 5) -> gl.Graph:
    """Return a graph in which vertex 0 has parallel edges from several others, and one from three more."""
    rng = np.random.default_rng(3)
    sources = np.concatenate([rng.integers(1, 9, edges), [20, 21, 22]])
    return gl.Graph.from_edges(sources, np.zeros(sources.size, int), comm=comm)


def grams(comm: Comm, program: type[Gram], lengths: list[int]) -> dict[str, list[bytes]]:
    graph = hub(comm)
    found: dict[str, list[bytes]] = {}
    for mode in ("require", "never"):
        for k in lengths:
            table = gl.run(program(k=k), graph, max_iterations=1, compile=mode, seed=k).vertices
            found.setdefault(mode, []).append(table["gram"].tobytes())
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning", "ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize(
    ("program", "lengths"),
    [(Gram, [1, 3, 4, 7, 8, 9, 13, 16, 21]), (Mixed, [3, 8, 13]), (Narrow, [7, 16, 21])],
)
def test_a_sum_has_the_same_bits_compiled_and_interpreted(
    ranks: Ranks, program: type[Gram], lengths: list[int]
) -> None:
    found = ranks.run(grams, program, lengths)
    assert all(one == found[0] for one in found)
    assert found[0]["require"] == found[0]["never"]


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_a_sum_is_whole_where_an_aggregator_fills_its_accumulator() -> None:
    alone, shared = (gl.run(cls(k=9), hub(), max_iterations=1, seed=9).vertices for cls in (Gram, Shared))
    assert shared["gram"].tobytes() == alone["gram"].tobytes()
    assert np.array_equal(shared["gram"], shared["gram"].transpose(0, 2, 1))


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("edges", [0, 1, KEPT - 1, KEPT, KEPT + 1, 2 * KEPT])
def test_a_sum_is_added_edge_after_edge(edges: int) -> None:
    graph = hub(None, edges)
    result = gl.run(Gram(k=9), graph, max_iterations=1, threads=1).vertices
    vectors, local = result["x"], graph.local
    (hub_here,) = np.flatnonzero(local.gid == 0)
    total = np.zeros((9, 9))
    for slot in range(*local.in_begin[hub_here : hub_here + 2]):
        x = vectors[local.gid[local.in_neighbor[slot]]]
        total += np.outer(x, x)
    assert result["gram"][0].tobytes() == total.tobytes()


def test_vectors_wait_only_where_nothing_else_is_added() -> None:
    texts = [emit_text(tree) for cls in (Gram, Mixed) for tree in parse_phases(cls)]
    assert ["gl_vectors *kept" in text for text in texts] == [True, False]


# ---- lanes -----------------------------------------------------------------------------------------

BARE = """
#include <stdint.h>
#define GL_INLINE static inline __attribute__((always_inline))
enum { GL_FAULT_SINGULAR = 6 };
#include <setjmp.h>
typedef struct { jmp_buf place; int64_t code; const int32_t *stop; } gl_context;
static void gl_raise(const gl_context *c, int64_t code, int64_t site) {
    ((gl_context *)c)->code = code;
    longjmp(((gl_context *)c)->place, 1);
}
"""
CALLS = """
int64_t solve(double *a, double *b, int64_t n, int64_t m) {
    gl_context c = {.code = 0};
    if (!setjmp(c.place)) gl_solve_spd(&c, a, b, n, m, 0);
    return c.code;
}
int64_t improve(const double *a, const double *b, double *x, double *room, int64_t n, int64_t steps) {
    const int32_t stop = 0;
    gl_context c = {.stop = &stop};
    if (!setjmp(c.place)) gl_conjugate_gradient(&c, a, b, x, room, n, steps, 0);
    return c.code;
}
void add(double *a, const double *x, int64_t n, int64_t count) { gl_add_outer(a, x, n, count); }
"""


@pytest.fixture(scope="module", params=range(toolchain.cpu_level() + 1))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The helpers, compiled for each CPU level that this machine has."""
    output = tmp_path_factory.mktemp("bare") / "bare.so"
    toolchain.compile_text(BARE + helpers_for(CALLS) + CALLS, toolchain.levels()[request.param], output)
    loaded = ctypes.CDLL(str(output))
    loaded.solve.restype = ctypes.c_int64
    return loaded


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def solved(library: ctypes.CDLL, matrix: np.ndarray, right: np.ndarray) -> int:
    """Solve in place; return the fault's code."""
    n, m = (ctypes.c_int64(length) for length in right.shape)
    return int(library.solve(pointer(matrix), pointer(right), n, m))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9, 12, 16, 17, 23, 24, 33, 64])
def test_lanes_and_blocks_change_no_bit(library: ctypes.CDLL, n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n + 3, n))
    total, plain = (np.zeros((n, n)) for _ in range(2))
    library.add(pointer(total), pointer(x), ctypes.c_int64(n), ctypes.c_int64(n + 3))
    for vector in x:
        plain += np.outer(vector, vector)
    assert np.tril(total).tobytes() == np.tril(plain).tobytes()

    for columns in (1, 3):
        right = rng.normal(size=(n, columns))
        a, b = np.tril(plain).ravel().tolist(), right.ravel().tolist()
        solve_spd(a, b, n, columns, 0)
        answer, matrix = right.copy(), np.tril(plain)
        assert solved(library, matrix, answer) == 0
        assert answer.ravel().tolist() == b
        np.testing.assert_allclose(plain @ answer, right, atol=1e-6 * n)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 16, 21, 32])
def test_lanes_change_no_bit_of_the_conjugate_gradient_method(library: ctypes.CDLL, n: int) -> None:
    rng = np.random.default_rng(n)
    factor = rng.normal(size=(n + 3, n))
    matrix, right, start = factor.T @ factor, rng.normal(size=n), rng.normal(size=n)
    matrix = (matrix + matrix.T) / 2
    heeding = SimpleNamespace(stop=[0])
    for steps in (-1, 0, 1, 2, 5, 3 * n):
        x, room = start.copy(), np.zeros(3 * n)
        pointers = [pointer(part) for part in (matrix, right, x, room)]
        assert library.improve(*pointers, ctypes.c_int64(n), ctypes.c_int64(steps)) == 0
        twin = start.tolist()
        conjugate_gradient(heeding, matrix.ravel().tolist(), right.tolist(), twin, n, steps, 0)
        assert x.tolist() == twin
        if steps < n:
            np.testing.assert_allclose(x, gl.conjugate_gradient(matrix, right, start, steps), rtol=1e-6)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-6)


def test_a_matrix_that_is_not_positive_definite_is_found_in_any_block(library: ctypes.CDLL) -> None:
    for n, bad in ((1, 0), (9, 3), (24, 8), (24, 23)):
        matrix, right = np.eye(n), np.ones((n, 1))
        matrix[bad, bad] = -1.0
        assert solved(library, matrix, right) == 6
