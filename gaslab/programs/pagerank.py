"""PageRank: the stationary distribution of a random surfer.

Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998. Scores sum to 1 and
the mass of vertices without out-edges is spread evenly, as NetworkX and LDBC Graphalytics define it.
Each vertex keeps `share`, its score divided by its out-degree, so that a gather reads one value per
edge and one field travels to mirrors. Its relatives are in `pagerank_variants`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs import pagerank_variants as variants
from gaslab.programs._arguments import check_graph, is_async, unsaved
from gaslab.programs._columns import run, weights
from gaslab.programs._loops import count_self_loops, init_with_loops, one_superstep
from gaslab.programs._tool import Command, Option, Tool

LEAST, MOST = 1e-290, 1e290  # a sum of weights that scores are divided by


class PageRank(gl.VertexProgram):
    """Power iteration over all vertices in each superstep, until the L1 change is below the tolerance."""

    damping: float = 0.85
    tolerance: float = 1e-9  # L1 change of the whole vector

    class Vertex(gl.Vertex):
        score: float = 0.0
        share: float = 0.0  # what out-neighbours read
        moved: float = 0.0

    @gl.aggregator
    def dangling(self, v: Vertex) -> gl.Sum[float]:
        return v.score if v.out_degree == 0 else 0.0

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Sum[float]:
        return v.moved

    def init(self, v: Vertex) -> None:
        v.score = 1.0 / self.num_vertices
        v.share = v.score / max(v.out_degree, 1)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share

    def apply(self, v: Vertex, total: float) -> None:
        d = self.damping
        score = (1.0 - d + d * self.dangling) / self.num_vertices + d * total
        v.moved = abs(score - v.score)
        v.score, v.share = score, score / max(v.out_degree, 1)

    def done(self) -> bool:
        return self.change < self.tolerance


class UndirectedPageRank(PageRank):
    """PageRank of an undirected graph with self-loops, each of which counts once, as in NetworkX.

    `loops`, the number of a vertex's self-loops, is given (``init=``); `pagerank` fills it in.
    """

    class Vertex(PageRank.Vertex):
        loops: float = 0.0

    def init(self, v: Vertex) -> None:  # type: ignore[override]  # its vertices have one field more
        v.score = 1.0 / self.num_vertices
        v.share = v.score / max(v.out_degree - v.loops, 1.0)

    def apply(self, v: Vertex, total: float) -> None:  # type: ignore[override]
        d = self.damping
        links = total - v.loops * v.share  # the gather has met each self-loop twice
        score = (1.0 - d + d * self.dangling) / self.num_vertices + d * links
        v.moved = abs(score - v.score)
        v.score, v.share = score, score / max(v.out_degree - v.loops, 1.0)


@collective(options="run")
def pagerank(
    graph: gl.Graph,
    *,
    damping: float = 0.85,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    personalization: Mapping[Any, float] | None = None,
    weight: str | None = None,
    unnormalised: bool = False,
    method: str | None = None,
    **options: Any,
) -> gl.Result:
    """Return PageRank scores, ``result.vertices["score"]`` (float64, one per vertex, sum 1).

    Parameters
    ----------
    graph : Graph
        Undirected edges count in both directions, self-loops once, as in NetworkX.
    damping : float
        The surfer follows an edge with this probability; in [0, 1).
    tolerance : float, optional
        Stop when the L1 change of the whole vector is below this (1e-9); with ``method="signal"``, the change
        of one unnormalised score that triggers a signal (1e-3).
    max_iterations : int, optional
        Maximum number of supersteps (200); reaching it warns (ConvergenceWarning). ``engine="async"`` has
        none.
    personalization : mapping, optional
        Where the surfer restarts: vertex id to non-negative weight, normalised to sum 1; the sum of the
        weights is positive and finite. Dangling mass goes there too, as in NetworkX.
    weight : str, optional
        Edge column of non-negative weights; edges are followed in proportion to them. The weights of a
        vertex's out-edges sum to 0, which is like having no out-edges, or to 1e-290 to 1e290.
    unnormalised : bool
        PowerGraph's definition: scores start at 1 and dangling mass is lost.
    method : {"power", "signal"}, optional
        ``"signal"`` runs only vertices whose in-neighbours changed (`SignalPageRank`); the default with
        ``engine="async"``, which has no other. ``"power"`` (`PageRank`) is the default elsewhere.
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        Damping outside [0, 1), invalid weights or sums of weights, a tolerance that is not finite, or options
        that exclude each other.
    VertexNotFound
        An id in *personalization* is not in the graph.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0])
    >>> gl.pagerank(graph).vertices["score"].round(4)
    array([0.3326, 0.3202, 0.3097, 0.0375])
    """
    check_graph(graph)
    damping = arguments.number("damping", damping, least=0, below=1, hint="; 0.85 is usual")
    tolerance = arguments.number("tolerance", tolerance, least=0, optional=True)
    arguments.numbers("personalization", personalization)
    weight = arguments.text("weight", weight, optional=True)
    unnormalised = arguments.flag("unnormalised", unnormalised)
    method = arguments.choice("method", method, ("power", "signal"), optional=True)
    unordered = is_async(options)
    options["max_iterations"] = 200 if max_iterations is None and not unordered else max_iterations
    method = method or ("signal" if unordered else "power")
    if method == "power" and unordered:
        raise gl.UsageError("method='power' runs in supersteps; engine='async' needs method='signal'")
    if personalization is not None or weight is not None:
        if unnormalised or method == "signal":
            raise gl.UsageError("personalization and weight need method='power' and normalised scores")
        if options.get("init") is not None:
            raise gl.UsageError("init= goes with neither personalization nor weight")
        return _personalized(graph, damping, tolerance, personalization, weight, options)
    loops = not graph.directed and count_self_loops(graph) > 0
    if loops:
        unweighted = {**options, "columns": {"weight": None}}
        options["init"] = init_with_loops(graph, unweighted, ("score", "share", "moved"))
    if method == "signal":
        result = run(
            variants.SignalPageRank(damping=damping, loops_once=loops, tolerance=_or(tolerance, 1e-3)),
            graph,
            **options,
        )
        return result if unnormalised else _normalised(graph, result, options)
    tolerance = _or(tolerance, 1e-9)
    if unnormalised:
        program = variants.UnnormalizedPageRank(damping=damping, loops_once=loops, tolerance=tolerance)
        return run(program, graph, **options)
    kind = UndirectedPageRank if loops else PageRank
    return run(kind(damping=damping, tolerance=tolerance), graph, **options)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _normalised(graph: gl.Graph, result: gl.Result, options: dict[str, Any]) -> gl.Result:
    """Divide the scores of *result* by their sum, keeping its metrics and history."""
    mass = result.aggregates["mass"] if result.history else float(graph.num_vertices)
    again = one_superstep(options, init=result)
    scaled = run(variants.Scale(factor=1.0 / (mass or 1.0)), graph, **again)
    answer = scaled.replaced(
        metrics=result.metrics,
        history=result.history,
        converged=result.converged,
        iterations=result.iterations,
    )
    answer.aggregates, answer.initial_aggregates = result.aggregates, result.initial_aggregates
    return answer


def _personalized(
    graph: gl.Graph,
    damping: float,
    tolerance: float | None,
    personalization: Mapping[Any, float] | None,
    weight: str | None,
    options: dict[str, Any],
) -> gl.Result:
    options = {**options, "columns": {"weight": weights(graph, weight)}}
    out = run(variants.OutWeight(), graph, **{**unsaved(options), "max_iterations": 1})
    for name in ("lightest", "heaviest") if out.history and graph.num_vertices else ():
        whole, vertex = out.history[-1][name]
        if whole > 0.0 and not LEAST <= whole <= MOST and (whole, name) != (math.inf, "lightest"):
            raise gl.UsageError(
                f"the weights {weight!r} of the out-edges of vertex {vertex!r} sum to {whole:g}, and "
                f"PageRank divides by it; scale the column, so that it is {LEAST:g} to {MOST:g}"
            )
    if personalization is None:
        restart: Any = 1.0 / max(graph.num_vertices, 1)
    else:
        whole = float(sum(personalization.values()))
        if not 0.0 < whole < math.inf:
            raise gl.UsageError(
                f"the weights sum to {whole:g}; personalization needs finite weights of at least 0, with a "
                "sum that is positive and finite"
            )
        restart = {vertex: value / whole for vertex, value in personalization.items()}
    loops = not graph.directed and count_self_loops(graph) > 0
    given = init_with_loops(graph, {**options, "init": None}, ()) if loops else {}
    program = variants.PersonalizedPageRank(
        damping=damping, tolerance=_or(tolerance, 1e-9), loops_once=loops
    )
    return run(
        program, graph, **{**options, "init": {**given, "restart": restart, "out_weight": out}}
    )



def _from_words(
    graph: gl.Graph, *, method: str | None, max_iterations: int | None = None, **options: Any
) -> gl.Result:
    """Run `pagerank` for the command, whose report says the method and the number of supersteps."""
    if max_iterations is None and not is_async(options):
        max_iterations = 100
    method = method or ("signal" if is_async(options) else "power")
    result = pagerank(graph, method=method, max_iterations=max_iterations, **options)
    said = {"method": method, "max_iterations": max_iterations}
    return result.replaced(
        metrics={**result.metrics, "parameters": {**said, **result.metrics["parameters"]}}
    )


TOOL = Tool(
    pagerank, order=50,
    command=Command(
        "importance of every vertex (PageRank)",
        "PageRank: scores that sum to 1, as NetworkX and Graphalytics define them.",
        fields=("score",),
        options=(
            Option("damping", "number", "probability of following an edge (default 0.85)", "D"),
            Option("tolerance", "number", "stop at this total change of the scores (default 1e-9)", "T"),
            Option("personalization", "weights", "restart vertices: lines of id and weight (or 1)", "FILE"),
            Option("weight", "column", "edge column with weights: follow edges in proportion to it", "NAME"),
            Option("unnormalised", "flag", "PowerGraph's scores: mean 1, dangling mass lost"),
            Option("method", ("power", "signal"),
                   "signal: run only vertices whose in-neighbours changed, as --engine async does"),
        ),
        columns="weighted", also=("share", "moved", "restart", "out_weight", "loops"), run=_from_words,
    ),
    answer="`score`", definition="sums to 1; dangling mass is spread evenly", source="Brin, Page 1998",
    networkx="`pagerank`",
)  # fmt: skip
