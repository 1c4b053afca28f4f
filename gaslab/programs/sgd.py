"""Matrix factorisation by stochastic gradient descent, with biases, in blocks that share no user and no item.

A rating is mean + bias[user] + bias[item] + factors[user] . factors[item]. One rating after the other, both
ends take a step down the gradient of its squared error plus regularization times the squares of its biases
and factors (Koren, Bell, Volinsky, "Matrix Factorization Techniques for Recommender Systems", Computer
2009). `visit` runs as many at once as share no vertex (Gemulla, Nijkamp, Haas, Sismanis, "Large-Scale Matrix
Factorization with Distributed Stochastic Gradient Descent", KDD 2011), and the answer has the same bits on
any number of ranks and threads and under any cut. It computes in float32: a step is a guess, so digits beyond
that say nothing.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs import _ratings
from gaslab.programs._numpy import np
from gaslab.programs._recommend import factorisation
from gaslab.programs._sweeps import run_sweeps
from gaslab.programs._tool import Option, Tool

LENGTHS = {"factors": (8, 16, 64, 100, 128)}  # for which setup.py compiles the page, beside the default


class SGD(gl.VertexProgram):
    """Stochastic gradient descent: each sweep is a superstep; the step size shrinks from sweep to sweep."""

    precision = gl.float32

    factors: int = 32
    mean: float = 0.0  # of the ratings
    regularization: float = 0.1
    learning_rate: float = 0.05
    decay: float = 0.2  # the step is learning_rate / (1 + decay * sweep)
    iterations: int = 20

    class Vertex(gl.Vertex):
        factors: gl.Vector = gl.field(shape="factors", dtype=gl.float32, init=gl.normal(0.1))
        bias: float = 0.0

    class Edge(gl.Edge):
        rating: float

    @gl.aggregator
    def squares(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        error = e.rating - self.mean - v.bias - nbr.bias - np.dot(v.factors, nbr.factors)
        return float(error * error)

    def init(self, v: Vertex) -> None:
        if v.degree == 0:  # no rating will move it
            v.factors = np.zeros(self.factors)

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        step = self.learning_rate / (1.0 + self.decay * self.superstep)
        kept = 1.0 - step * self.regularization
        error = e.rating - self.mean - u.bias - w.bias - np.dot(u.factors, w.factors)
        before = np.copy(u.factors)
        u.factors = kept * u.factors + step * error * w.factors
        w.factors = kept * w.factors + step * error * before
        u.bias = kept * u.bias + step * error
        w.bias = kept * w.bias + step * error

    def done(self) -> bool:
        return self.superstep + 1 >= self.iterations or not math.isfinite(self.squares)


def checked(*, learning_rate: Any, decay: Any, **common: Any) -> dict[str, Any]:
    """Return the program parameters for the arguments of `sgd`; raise UsageError if these are invalid."""
    return {
        **_ratings.checked(**common),
        "learning_rate": arguments.number("learning_rate", learning_rate, above=0, hint="; 0.05 is usual"),
        "decay": arguments.number("decay", decay, least=0, hint="; 0.2 is usual"),
    }


@collective(options="run", own=("columns",))
def sgd(
    graph: gl.Graph,
    *,
    factors: int = 32,
    regularization: float = 0.1,
    learning_rate: float = 0.05,
    decay: float = 0.2,
    iterations: int = _ratings.SWEEPS,
    rating: str | None = None,
    test: gl.Graph | None = None,
    **options: Any,
) -> gl.Result:
    """Factorise user-item ratings by stochastic gradient descent, ``result.tables["user_factors"]``.

    A rating is predicted as mean + bias[user] + bias[item] + factors[user] . factors[item]. The objective is
    that of `als`. The mean is that of the ratings, correctly rounded. The answer has the same bits on any
    number of ranks and threads and under any cut.

    Parameters
    ----------
    graph, factors, rating, test, **options
        As for `als`.
    regularization : float
        At least 0. It acts with every rating, so its weight at a vertex grows with the vertex's number of
        ratings.
    learning_rate : float
        The first step size, above 0. The default suits ratings with a spread of about 1, such as 1 to 5
        stars; for others, scale it by the inverse of their spread.
    decay : float
        At least 0; in sweep t, counted from 0, the step size is *learning_rate* / (1 + *decay* * t).
    iterations : int
        Number of sweeps over all ratings, at least 1. After the last, the run is converged.

    Returns
    -------
    Result
        As for `als`: ``tables["user_factors"]`` and ``tables["item_factors"]`` with ``factors`` (float32, a
        vector of length *factors*) and ``bias`` (float32); ``history`` with the ``rmse`` on the ratings of
        *graph* after each sweep; ``metrics["figures"]`` with ``train_rmse``, ``cpu_seconds``, and with *test*
        ``test_rmse`` and ``test_ratings``.

    Raises
    ------
    UsageError
        The graph is not bipartite or has no ratings, a rating is not finite or exceeds 1e30, an argument is
        invalid, or the steps were so large that the vectors diverged.

    Examples
    --------
    >>> import gaslab as gl
    >>> users, items = ["ann", "ann", "bob", "bob", "cy"], ["tea", "milk", "tea", "milk", "tea"]
    >>> graph = gl.Graph.from_edges(users, items, columns={"rating": [5, 1, 4, 2, 5]}, bipartite=True)
    >>> result = gl.sgd(graph, factors=1, regularization=0.02, iterations=100)
    >>> result.tables["item_factors"].ids.tolist(), result.tables["item_factors"]["bias"].round(2)
    (['milk', 'tea'], array([-1.22,  1.1 ], dtype=float32))
    >>> result.iterations, round(result.metrics["figures"]["train_rmse"], 2)
    (100, 0.39)

    References
    ----------
    Koren, Bell, Volinsky: Matrix Factorization Techniques for Recommender Systems. Computer 2009. Gemulla,
    Nijkamp, Haas, Sismanis: Large-Scale Matrix Factorization with Distributed Stochastic Gradient Descent.
    KDD 2011.
    """
    known = checked(
        factors=factors, regularization=regularization, learning_rate=learning_rate, decay=decay,
        iterations=iterations,
    )  # fmt: skip
    ratings = _ratings.Ratings("sgd", graph, rating, test, options)
    result = run_sweeps(SGD(mean=ratings.mean, **known), graph, 1, ratings.measured, **ratings.options)
    if not math.isfinite(result.history[-1]["rmse"]):
        raise gl.UsageError(
            f"learning_rate={learning_rate!r} with regularization={regularization!r} is too large: in "
            f"iteration {result.iterations} the vectors grew beyond all bounds; try "
            f"learning_rate={learning_rate / 10:g}, or scale the column {ratings.column!r}"
        )
    return ratings.answer(result)


TOOL = Tool(
    sgd, order=170,
    command=factorisation(
        "by stochastic gradient descent",
        options=(
            Option("learning_rate", "number", "the first step (0.05)", "S"),
            Option("decay", "number", "in sweep t, from 0, the step is S / (1 + D * t) (0.2)", "D"),
        ),
        iterations="sweeps over all ratings (20)", check=checked,
    ),
    answer="`factors`, `bias`; training and test RMSE",
    definition="as `als`, one rating at a time; bit-identical on any number of ranks",
    source="Koren, Bell, Volinsky 2009; Gemulla, Nijkamp, Haas, Sismanis 2011",
)  # fmt: skip
