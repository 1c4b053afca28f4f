"""What matrix factorisation does around its vertex programs: find the ratings, take their mean, predict.

`Ratings` looks at a graph before the run and completes the answer after it. The mean is taken exactly: its
bits do not depend on how the ratings are spread over ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import gaslab as gl
from gaslab import arguments
from gaslab.graph.absent import warn_of_default, why_absent
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import check_scale
from gaslab.programs._numpy import np
from gaslab.programs._sweeps import check_options

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

SWEEPS = 20
LARGEST = 1e30  # of a rating: float32 holds its vectors, float64 the squares of errors
MOST_FACTORS = 256  # of whose products a matrix, of 65,536 elements, is the largest that a program has
BLOCK = 1 << 15  # ratings that are looked at together
MANTISSA, HALF = 53, 27  # bits of a float64; of the lower of two integers that it is cut into
LEAST_EXPONENT, EXPONENTS = -1074, 2100  # of np.frexp, with room on both sides


def checked(*, factors: Any, regularization: Any, iterations: Any) -> dict[str, Any]:
    """Return the arguments that all kinds of factorisation have, once they are what they must be."""
    return {
        "factors": arguments.whole("factors", factors, 1, MOST_FACTORS),
        "regularization": arguments.number("regularization", regularization, least=0, hint="; 0.1 is usual"),
        "iterations": arguments.whole("iterations", iterations, 1),
    }


class Ratings:
    """The ratings of a graph, and those of a test; all methods are collective.

    Attributes
    ----------
    column : str
        The edge column of the ratings.
    mean : float
        Of the ratings, correctly rounded.
    options : dict
        For the run: what the caller passed, and the column.
    """

    def __init__(self, name: str, graph: Any, rating: Any, test: Any, options: Mapping[str, Any]) -> None:
        """Look at the arguments of the function *name*; raises UsageError for what cannot be factorised."""
        check_graph(graph)
        arguments.instance("test", test, gl.Graph, arguments.GRAPH, optional=True)
        rating = arguments.text("rating", rating, optional=True)
        check_options(name, graph, options)
        self.graph, self.test = graph, test
        self.column = ratings_of(graph, rating, "the graph")
        if test is not None:
            _check_alike(graph, test)
            try:
                self.test_column = ratings_of(test, rating, "the test")
            except gl.UsageError as error:  # on every rank
                text = str(error)
                raise gl.UsageError(text if "the test" in text else f"the test: {text}") from None
        values = graph.edge_columns[self.column]
        sums = graph.local.derived(values, "exact sums", lambda: exact_sums(values))
        self.mean = exact_mean(graph.comm, sums, graph.num_edges)
        self.options = {**options, "columns": {"rating": self.column}}

    def measured(self, row: Mapping[str, Any]) -> dict[str, float]:
        """Return what the history of a sweep has of the row of its last superstep (not collective)."""
        return {"rmse": math.sqrt(row["squares"] / self.graph.num_edges)}

    def answer(self, result: gl.Result) -> gl.Result:
        """Complete the answer of a run: its tables, and what it predicts of the test."""
        sides = (("user_factors", 0), ("item_factors", 1))
        result.tables = {name: result.vertices.side(side).select("factors", "bias") for name, side in sides}
        figures = {"train_rmse": result.history[-1]["rmse"]}
        if self.test is not None:
            squares = squared_errors(result, self.graph, self.test, self.test_column, self.mean)
            figures["test_rmse"] = math.sqrt(squares / self.test.num_edges)
            figures["test_ratings"] = self.test.num_edges
        figures["cpu_seconds"] = result.metrics["figures"]["cpu_seconds"]
        result.metrics["figures"] = figures
        return result


def ratings_of(graph: gl.Graph, rating: str | None, what: str) -> str:
    """Return the edge column of the ratings, after a look at it; *what* is the graph in errors."""
    known = graph.edge_columns
    column = rating or ("rating" if "rating" in known else next(iter(known), None))
    if graph.num_edges == 0:
        raise gl.UsageError(f"{what} has no ratings: it has no edges")
    if column is None:
        left = "".join(f"; {name!r} was left out ({why})" for name, why in graph.left_out.items())
        raise gl.UsageError(
            f"{what} has no edge column with ratings; give it one with columns=, or read a file whose third "
            f"field is the rating{left}"
        )
    if column not in known:
        raise gl.UsageError(f"{what} has no edge column {column!r}{why_absent(graph, column)}")
    if rating is None and column.casefold() != "rating":
        warn_of_default(graph, "rating", f"the ratings of {what} are the column {column!r}")
    shape = getattr(known[column], "shape", ())[1:]  # lists have none: `Graph.check_column` refuses them
    if shape:
        raise gl.UsageError(f"edge column {column!r} of {what} has rows of shape {shape}; a number is needed")
    graph.check_column(column, -math.inf, finite=True)
    check_scale(graph, column, "its square is summed", 0.0, LARGEST)
    return column


def _check_alike(graph: gl.Graph, test: gl.Graph) -> None:
    """Raise UsageError where the vertices of the test cannot be those of the graph."""
    if test.comm.size != graph.comm.size:
        raise gl.UsageError(
            f"test is on {test.comm.size} ranks and the graph on {graph.comm.size}; make both on the same"
        )
    if test.ids.num_left is None:
        raise gl.UsageError("test is not a bipartite graph; make it with bipartite=True (--bipartite)")
    for number, side in enumerate(("users", "items")):
        kinds = [one.ids.sides[number].kind for one in (graph, test)]  # type: ignore[attr-defined]
        if kinds[0] != kinds[1]:
            raise gl.UsageError(
                f"the ids of {side} are of kind {kinds[0]!r} in the graph and {kinds[1]!r} in the test, so "
                "none is the same; read both with the same ids= (--ids)"
            )


def exact_sums(values: np.ndarray) -> np.ndarray:
    """Return the sums of finite *values* by their powers of two, int64 of shape (2, EXPONENTS).

    A float64 is an integer times a power of two: the integers of each power are summed, in two halves, so
    that no sum of 2**36 of them overflows an int64.
    """
    sums = np.zeros((2, EXPONENTS), np.int64)
    for lo in range(0, values.size, BLOCK):
        fraction, exponent = np.frexp(values[lo : lo + BLOCK].astype(np.float64, copy=False))
        integer = np.ldexp(fraction, MANTISSA).astype(np.int64)
        place = exponent - LEAST_EXPONENT
        for half, part in zip(sums, (integer & ((1 << HALF) - 1), integer >> HALF), strict=True):
            half += np.bincount(place, part, EXPONENTS).astype(np.int64)  # exact: BLOCK parts are below 2**53
    return sums


def exact_mean(comm: Comm, sums: np.ndarray, count: int) -> float:
    """Return the sum of all ranks' `exact_sums` by *count*, correctly rounded (collective)."""
    low, high = np.asarray(comm.allreduce(sums))
    filled = np.flatnonzero((low != 0) | (high != 0))
    whole = sum(
        (int(low[k]) + (int(high[k]) << HALF)) << int(k) for k in filled
    )  # in units of 2 ** (LEAST_EXPONENT - MANTISSA)
    return float(Fraction(whole, count << (MANTISSA - LEAST_EXPONENT)))


def squared_errors(result: gl.Result, graph: gl.Graph, test: gl.Graph, column: str, mean: float) -> float:
    """Return the sum of squared errors over the ratings of *test* (collective).

    Each rank brings the vectors of the users and items of its own test ratings from their masters.
    """
    from gaslab.replication.transfer import to_mirrors

    local, comm = test.local, test.comm
    masters = local.gid[: local.num_masters]
    place = graph.ids.locate(list(test.ids.marked(masters)), rows="parts")
    known, factors, bias = vectors(result, graph, place)
    known, factors, bias = (to_mirrors(comm, local, values) for values in (known, factors, bias))
    source, target, values = local.in_neighbor, local.targets(), test.edge_columns[column]
    squares = 0.0
    for lo in range(0, local.num_edges, BLOCK):
        user, item = source[lo : lo + BLOCK], target[lo : lo + BLOCK]
        dots = np.einsum("ij,ij->i", factors[user].astype(np.float64), factors[item].astype(np.float64))
        guess = np.where(known[user] & known[item], mean + bias[user] + bias[item] + dots, mean)
        squares += float(np.sum((values[lo : lo + BLOCK] - guess) ** 2))
    return float(comm.allreduce(squares))


def vectors(
    result: gl.Result, graph: gl.Graph, gids: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of vertices, by global id: whether they have ratings, their factors, their bias (collective).

    Each rank asks for its own; -1 is a vertex that is not there. The result may be on any ranks.
    """
    from gaslab.replication.transfer import deliver

    comm, table, local = graph.comm, result.vertices, graph.local
    rows = table.global_ids["id"]
    mine = rows % comm.size == comm.rank if result.on == "all" else np.ones(rows.size, bool)
    there = gids >= 0
    factors, bias = deliver(comm, rows[mine], [table["factors"][mine], table["bias"][mine]], gids[there])
    (degree,) = deliver(
        comm, local.gid[: local.num_masters], [local.degree[: local.num_masters]], gids[there]
    )
    known = np.zeros(gids.size, bool)
    known[there] = degree > 0
    all_factors = np.zeros((gids.size, factors.shape[1]), factors.dtype)
    all_bias = np.zeros(gids.size)
    all_factors[there], all_bias[there] = factors, bias
    return known, all_factors, all_bias
