"""Matrix factorisation by alternating least squares, with biases.

A rating is mean + bias[user] + bias[item] + factors[user] . factors[item]. Users and items take turns: with
the other side held still, each vertex solves its own ridge problem for its factors and its bias at once,
regularized in proportion to how many ratings it has (Zhou, Wilkinson, Schreiber, Pan, "Large-Scale Parallel
Collaborative Filtering for the Netflix Prize", AAIM 2008). An iteration is the users' turn, then the items'.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs import _ratings
from gaslab.programs._numpy import np
from gaslab.programs._recommend import factorisation
from gaslab.programs._sweeps import run_sweeps
from gaslab.programs._tool import Option, Tool

SOLVERS = ("cholesky", "conjugate_gradient")
LENGTHS = {"factors": (8, 16, 64, 100, 128)}  # for which setup.py compiles the page, beside the default
STEPS = 3  # of the conjugate gradient method


class ALS(gl.VertexProgram):
    """Alternating least squares: an iteration is a superstep of users (left) and one of items (right)."""

    factors: int = 32
    mean: float = 0.0  # of the ratings
    regularization: float = 0.1
    iterations: int = 20
    steps: int = 0  # of the conjugate gradient method for each vertex; 0: Cholesky's method
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        factors: gl.Vector = gl.field(shape="factors", dtype=gl.float32, init=gl.normal(0.1))
        bias: float = 0.0

    class Edge(gl.Edge):
        rating: float

    class Total(gl.Accumulator):  # the normal equations of one vertex
        products: gl.Matrix = gl.field(shape=("factors", "factors"))
        vectors: gl.Vector = gl.field(shape="factors")
        right: gl.Vector = gl.field(shape="factors")
        rest: float

    @gl.aggregator(every=2)
    def squares(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        error = e.rating - self.mean - v.bias - nbr.bias - np.dot(v.factors, nbr.factors)
        return float(error * error)

    def active(self, v: Vertex) -> bool:  # users, then items
        return v.side == self.superstep % 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        rest = e.rating - self.mean - nbr.bias
        return self.Total(
            products=np.outer(nbr.factors, nbr.factors),
            vectors=nbr.factors,
            right=rest * nbr.factors,
            rest=rest,
        )

    def apply(self, v: Vertex, total: Total) -> None:
        """Solve for factors and bias; the bias is eliminated first, which leaves a matrix of the factors."""
        count = float(max(v.degree, 1))
        trace = 0.0
        for k in range(self.factors):
            trace += total.products[k, k]
        # Without regularization, too, the matrix is positive definite beyond rounding.
        ridge = max(self.regularization * count, 1e-9 * trace, 1e-30)
        whole = count + self.regularization * count
        matrix = total.products - np.outer(total.vectors, total.vectors) / whole
        matrix += ridge * np.eye(self.factors)
        right = total.right - total.rest / whole * total.vectors
        if self.steps > 0:
            x = gl.conjugate_gradient(matrix, right, v.factors, self.steps)
        else:
            x = gl.solve_spd(matrix, right)
        v.factors = x
        v.bias = (total.rest - np.dot(total.vectors, x)) / whole

    def done(self) -> bool:
        return self.superstep + 1 >= 2 * self.iterations


def checked(*, solver: Any, steps: Any, **common: Any) -> dict[str, Any]:
    """Return the program parameters for the arguments of `als`; raise UsageError if these are invalid."""
    solver = arguments.choice("solver", solver, SOLVERS)
    steps = arguments.whole("steps", steps, 1, optional=True)
    if solver == "conjugate_gradient":
        steps = STEPS if steps is None else steps
    elif steps is not None:
        raise arguments.wrong("steps", steps, "Cholesky's method takes none; say solver='conjugate_gradient'")
    return {**_ratings.checked(**common), "steps": steps or 0}


@collective(options="run", own=("columns",))
def als(
    graph: gl.Graph,
    *,
    factors: int = 32,
    regularization: float = 0.1,
    iterations: int = _ratings.SWEEPS,
    solver: str = "cholesky",
    steps: int | None = None,
    rating: str | None = None,
    test: gl.Graph | None = None,
    **options: Any,
) -> gl.Result:
    """Factorise user-item ratings by alternating least squares, ``result.tables["user_factors"]``.

    A rating is predicted as mean + bias[user] + bias[item] + factors[user] . factors[item]. The objective
    is the sum over ratings of the squared error plus *regularization* times the squares of both biases and of
    all factors of user and item. The mean is that of the ratings, correctly rounded.

    Parameters
    ----------
    graph : Graph
        Bipartite, users on the left and items on the right, an edge for every rating; parallel
        edges each count. Users and items without ratings have factors and bias 0.
    factors : int
        Length of each user's and each item's vector, at least 1.
    regularization : float
        At least 0. It is multiplied by the number of ratings of a vertex, so the same value suits any data
        of the same scale.
    iterations : int
        At least 1; each solves for all users, then for all items. After the last, the run is converged.
    solver : {"cholesky", "conjugate_gradient"}
        How each vertex solves its system: exactly, or by *steps* steps of the conjugate gradient method
        from its current factors, which takes less time and learns nearly as much per iteration.
    steps : int, optional
        At least 1, by default 3; "cholesky" takes none.
    rating : str, optional
        Edge column of the ratings: finite numbers, at most 1e30 in magnitude. By default ``rating``, else the
        first column (the third field of a text file).
    test : Graph, optional
        Further ratings, in a bipartite graph read the same way; they are predicted, not learned. The
        prediction for a user or an item without a rating in *graph* is the mean.
    **options
        As for `gaslab.run`, without ``max_iterations`` and ``columns``; ``engine`` is ``"sync"`` or
        ``"reference"``.

    Returns
    -------
    Result
        ``tables["user_factors"]`` and ``tables["item_factors"]`` have a row for each user and each item, by
        id: ``factors`` (float32, a vector of length *factors*) and ``bias`` (float64). ``vertices`` has both.
        ``history`` has a row for each iteration with ``rmse``, the root mean square error on the ratings of
        *graph* after that iteration. ``metrics["figures"]`` has ``train_rmse``, the last of these,
        ``cpu_seconds`` of all ranks and threads, and with *test* ``test_rmse`` and ``test_ratings``, their
        number. ``metrics["parameters"]`` has the arguments and the ``mean``; ``steps`` is None for Cholesky's
        method.

    Raises
    ------
    UsageError
        The graph is not bipartite or has no ratings, a rating is not finite or exceeds 1e30, or an argument
        is invalid.

    Examples
    --------
    >>> import gaslab as gl
    >>> users, items = ["ann", "ann", "bob", "bob", "cy"], ["tea", "milk", "tea", "milk", "tea"]
    >>> graph = gl.Graph.from_edges(users, items, columns={"rating": [5, 1, 4, 2, 5]}, bipartite=True)
    >>> result = gl.als(graph, factors=1)
    >>> result.tables["item_factors"].ids.tolist(), result.tables["item_factors"]["bias"].round(2).tolist()
    (['milk', 'tea'], [-0.95, 0.67])
    >>> result.iterations, round(result.metrics["figures"]["train_rmse"], 2)
    (20, 0.1)

    References
    ----------
    Zhou, Wilkinson, Schreiber, Pan: Large-Scale Parallel Collaborative Filtering for the Netflix Prize.
    AAIM 2008.

    Takács, Pilászy, Tikk: Applications of the Conjugate Gradient Method for Implicit Feedback Collaborative
    Filtering. RecSys 2011.
    """
    known = checked(
        factors=factors, regularization=regularization, iterations=iterations, solver=solver, steps=steps
    )
    ratings = _ratings.Ratings("als", graph, rating, test, options)
    result = run_sweeps(ALS(mean=ratings.mean, **known), graph, 2, ratings.measured, **ratings.options)
    result.metrics["parameters"] |= {"solver": solver, "steps": known["steps"] or None}
    return ratings.answer(result)


TOOL = Tool(
    als, order=160,
    command=factorisation(
        "by alternating least squares",
        options=(
            Option("solver", SOLVERS, "solver of each vertex's linear system (cholesky)"),
            Option("steps", "whole", "conjugate gradient steps per vertex and sweep (3)", "N"),
        ),
        iterations="sweeps, each over all users, then all items (20)", check=checked,
    ),
    answer="`factors`, `bias`; training and test RMSE",
    definition="mean + both biases + product of the factors; λ weighted by the number of ratings; "
    "each vertex exactly or by conjugate gradient",
    source="Zhou, Wilkinson, Schreiber, Pan 2008",
)  # fmt: skip
