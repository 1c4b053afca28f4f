"""Every vertex program that has a twin: what the twin is given, and how their answers are compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import gaslab as gl
from benchmarks.twins import programs
from benchmarks.twins.measure import Pair, Run, Values

ALPHA, BETA = 0.1, 0.01  # of every sampler

Bind = Callable[[Run], Values]
Agree = Callable[[Run, Values], None]

# ---- what twins are given --------------------------------------------------------------------------


def rows_of(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return where each vertex's in-neighbours begin, and these; of an undirected graph, all neighbours."""
    local = run.local
    if run.graph.directed:
        return local.in_begin, local.in_neighbor
    out_begin, out_neighbor, _ = local.out()
    vertex = [np.repeat(np.arange(local.num_local), np.diff(begin)) for begin in (local.in_begin, out_begin)]
    order = np.argsort(np.concatenate(vertex), kind="stable")
    return local.in_begin + out_begin, np.concatenate([local.in_neighbor, out_neighbor])[order]


def rows_with(run: Run, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of an undirected graph, with a field of the edges."""
    out_begin, _, slot = run.local.out()
    counts = [np.diff(begin) for begin in (run.local.in_begin, out_begin)]
    order = np.argsort(np.concatenate([np.repeat(np.arange(c.size), c) for c in counts]), kind="stable")
    return *rows_of(run), np.concatenate([run.edge(name), run.edge(name)[slot]])[order]


def labels(run: Run) -> Values:
    begin, neighbor, weight = rows_with(run, "weight")
    n, label = run.local.num_local, run.local.gid.astype(np.int32)
    return {
        "begin": begin, "neighbor": neighbor, "weight": weight, "label": label,
        "label_next": np.empty_like(label), "sum": np.zeros(n), "used": np.empty(n + 1, np.int32), "n": n,
    }  # fmt: skip


def joins(run: Run) -> Values:
    values = {**labels(run), "size": programs.SIZES, "rate": run.program.parameters()["rate"]}
    values["n"] = values.pop("n")  # last
    return values


def rank_by(score: str, share: str) -> Bind:
    """Return how a PageRank with fields of these names is bound."""

    def bind(run: Run) -> Values:
        local, out = run.local, run.local.out_degree.astype(np.int32)
        begin, neighbor = rows_of(run)
        return {
            "begin": begin, "neighbor": neighbor, "out_degree": out,
            "score": run.vertex(score).copy(), "share": run.vertex(share).copy(),
            "share_next": np.empty(local.num_local), "dangling": np.array([(out == 0).mean(), 0.0]),
            "n": local.num_local, "damping": 0.85,
        }  # fmt: skip

    return bind


def relax_by(distance: str, weight: str) -> Bind:
    def bind(run: Run) -> Values:
        return {
            "begin": run.local.in_begin, "neighbor": run.local.in_neighbor, "weight": run.edge(weight).copy(),
            "distance": run.vertex(distance).copy(), "distance_next": np.empty(run.local.num_local),
            "n": run.local.num_local,
        }  # fmt: skip

    return bind


def histogram(run: Run) -> Values:
    return {
        "begin": run.local.in_begin, "topic": run.edge("topic").copy(),
        "counts": np.zeros_like(run.vertex("counts")), "n": run.local.num_local,
    }  # fmt: skip


def palette(run: Run) -> Values:
    begin, _, slot = run.local.out()
    return {
        "begin": begin, "topic": run.edge("kind")[slot], "counts": np.zeros_like(run.vertex("often")),
        "n": run.local.num_local,
    }  # fmt: skip


def lda(run: Run) -> Values:
    out_begin, out_neighbor, out_slot = run.local.out()
    topics, tokens = run.program.parameters()["topics"], run.edge("_topics").astype(np.int32)
    run.kept, totals = tokens[:, 0].copy(), np.zeros((3, topics), np.int64)
    totals[[0, 2]] = np.bincount(run.kept, minlength=topics)
    return {
        "in_begin": run.local.in_begin, "in_neighbor": run.local.in_neighbor,
        "out_begin": out_begin, "out_neighbor": out_neighbor, "out_slot": out_slot,
        "tokens": tokens, "old": np.zeros(len(tokens), np.int32),
        "share": np.ones_like(run.vertex("_share")), "id": run.local.gid.astype(np.int32),
        "totals": totals, "seed": run.state.seed, "n": run.local.num_local, "words": words(run),
        "alpha": ALPHA, "beta": BETA,
    }  # fmt: skip


def by_document(counts: str, topic: str) -> Bind:
    """Return how a sampler is bound that goes through the tokens of one document after the other."""

    def bind(run: Run) -> Values:
        begin, word, slot = run.local.out()
        run.kept = run.edge(topic).copy()
        topics, rows = run.kept[slot], run.vertex(counts).copy()
        return {
            "begin": begin, "word": word, "id": run.local.gid.astype(np.int32),
            "topic": topics, "counts": rows,
            "totals": np.bincount(topics, minlength=rows.shape[1]), "seed": run.state.seed,
            "n": run.local.num_local, "words": words(run), "alpha": ALPHA, "beta": BETA,
        }  # fmt: skip

    return bind


def words(run: Run) -> int:
    return int((run.local.gid >= run.graph.ids.num_left).sum())


def descent(factors: str, bias: str, rating: str, mean: str, rate: float, decay: float) -> Bind:
    """Return how a gradient descent is bound; factors are filled up to eights with zeros."""

    def bind(run: Run) -> Values:
        user, item, ratings, run.kept = run.visited(rating)
        start = run.vertex(factors)[run.kept]
        room = -(-start.shape[1] // 8) * 8
        rows = np.zeros(len(start), [("factors", np.float32, room), ("bias", run.vertex(bias).dtype)])
        rows["factors"][:, : start.shape[1]] = start
        rows["bias"] = run.vertex(bias)[run.kept]
        return {
            "user": user, "item": item, "rating": ratings, "rows": rows, "ratings": ratings.size,
            "mean": run.program.parameters()[mean], "rate": rate, "decay": decay, "regularization": 0.1,
        }  # fmt: skip

    return bind


def als(run: Run) -> Values:
    begin, neighbor, slot = run.local.out()
    ratings = run.edge("rating").copy()
    return {
        "out_begin": begin, "out_neighbor": neighbor, "out_rating": ratings[slot],
        "in_begin": run.local.in_begin, "in_neighbor": run.local.in_neighbor, "in_rating": ratings,
        "factors": run.vertex("factors").copy(), "bias": run.vertex("bias").copy(),
        "n": run.local.num_local, "mean": run.program.parameters()["mean"], "regularization": 0.1,
    }  # fmt: skip


def triangles(run: Run) -> Values:
    local, n = run.local, run.local.num_local
    out_begin, out_neighbor, _ = local.out()
    return {
        "in_begin": local.in_begin, "in_neighbor": local.in_neighbor, "out_begin": out_begin,
        "out_neighbor": out_neighbor, "degree": local.degree.astype(np.int32),
        "id": local.gid.astype(np.int32), "begin": np.zeros(n + 1, np.int64),
        "higher": np.empty(local.num_edges, np.int32), "marked": np.zeros(n, np.uint8),
        "middle": np.zeros(n, np.int64), "n": n,
    }  # fmt: skip


def lbp(run: Run) -> Values:
    local, prior = run.local, run.vertex("prior")
    out_begin, _, out_slot = local.out()
    return {
        "in_begin": local.in_begin, "in_neighbor": local.in_neighbor, "out_begin": out_begin,
        "out_slot": out_slot, "weight": np.ones(local.num_edges),
        "edges": np.zeros((local.num_edges, 4, prior.shape[1])), "log_prior": np.log(prior),
        "belief": np.zeros_like(prior), "logs": np.zeros_like(prior), "n": local.num_local,
        "smoothing": 0.5, "damping": 0.2,
    }  # fmt: skip


# ---- whether they agree ----------------------------------------------------------------------------


def same(**fields: str) -> Agree:
    """Return a comparison to the bit of parameters with the vertex fields named."""

    def agree(run: Run, values: Values) -> None:
        for name, field in fields.items():
            assert np.array_equal(values[name], run.vertex(field)), f"{field} differs"

    return agree


def same_now(name: str, field: str) -> Agree:
    """Return a comparison to the bit of a parameter that changes places with another at every step."""

    def agree(run: Run, values: Values) -> None:
        now = values[f"{name}_next"] if run.state.superstep % 2 else values[name]
        assert np.array_equal(now, run.vertex(field)), f"{field} differs"

    return agree


def close(tolerance: float, **fields: str) -> Agree:
    """Return a comparison within a part of the field's largest value: sums are added in another order."""

    def agree(run: Run, values: Values) -> None:
        for name, field in fields.items():
            _close(tolerance, field, run.vertex(field), values[name])

    return agree


def close_rows(factors: str, bias: str) -> Agree:
    """Return the comparison of a gradient descent."""

    def agree(run: Run, values: Values) -> None:
        ours = run.vertex(factors)[run.kept]
        _close(1e-4, factors, ours, values["rows"]["factors"][:, : ours.shape[1]])
        _close(1e-4, bias, run.vertex(bias)[run.kept], values["rows"]["bias"])

    return agree


def _close(tolerance: float, field: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    apart = np.abs(ours - theirs).max() / np.abs(ours).max()
    assert apart <= tolerance, f"{field}: {apart:.1g} of the largest apart"


def same_topics(topic: str, by_word: bool) -> Agree:
    """Return a comparison of samplers that draw the same numbers."""

    def agree(run: Run, values: Values) -> None:
        ours, theirs = _topics(run, values, topic, by_word)
        assert np.array_equal(ours, theirs), f"{(ours != theirs).sum()} of {ours.size} topics differ"

    return agree


def _topics(run: Run, values: Values, topic: str, by_word: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the topics of the tokens on both sides, by slot."""
    ours = run.edge(topic)
    if by_word:  # then proposals
        return ours[:, 0], values["tokens"][:, 0]
    theirs = np.empty_like(values["topic"])
    theirs[run.local.out()[2]] = values["topic"]
    return ours, theirs


def alike(topic: str, by_word: bool) -> Agree:
    """Return a comparison of samplers that make other things of their draws.

    Compared is how many tokens have left their first topic, and how probable it is that two tokens of a
    document, of a word, or of all have one topic: the fewer the tokens, the more these differ from chain to
    chain.
    """

    def figures(run: Run, topics: np.ndarray) -> list[float]:
        local, target = run.local, run.local.targets()
        same = [_same_topic(ends, topics) for ends in (local.in_neighbor, target, 0 * target)]
        return [float((topics != run.kept).mean()), *same]

    def agree(run: Run, values: Values) -> None:
        ours, theirs = _topics(run, values, topic, by_word)
        for one, other in zip(figures(run, ours), figures(run, theirs), strict=True):
            assert abs(one - other) <= (0.01 + 12 / ours.size**0.5) * one, f"{one:.4g} is not {other:.4g}"

    return agree


def _same_topic(vertex: np.ndarray, topics: np.ndarray) -> float:
    counts = np.bincount(vertex * np.int64(topics.max() + 1) + topics)
    return float((counts.astype(float) ** 2).sum() / (np.bincount(vertex).astype(float) ** 2).sum())


# ---- the pairs -------------------------------------------------------------------------------------

LIKELIHOOD, SQUARES = "gl_aggregate_2", "gl_aggregate_0"
GIBBS = gl.programs.CollapsedGibbs(
    topics=100, alpha=ALPHA, beta=BETA, ways=1, iterations=4,
    likelihood_every=5,  # which is never
)  # fmt: skip


def _lda(name: str, program: type[gl.programs.LDA], topics: int, defines: str = "") -> Pair:
    made = program(topics=topics, alpha=ALPHA, beta=BETA, iterations=4)
    agree = (same_topics if "UNIFORM" in defines else alike)("_topics", by_word=True)
    return Pair(
        name, made, f"lda.c K={topics} {defines}", ("tokens",), lda, agree,
        ("words", "documents"), supersteps=8, apart=(LIKELIHOOD,),
    )  # fmt: skip


def _priors(graph: gl.Graph) -> dict[str, np.ndarray]:
    return {"prior": np.random.default_rng(1).random((graph.num_vertices, 8)) + 0.1}


WEIGHTED = ("weighted_rmat", "weighted_uniform", "weighted_grid")
PAIRS = (
    Pair(
        "pagerank", gl.programs.PageRank(tolerance=0.0), "pagerank.c",
        ("rmat", "grid", "undirected_grid", "chain"),
        rank_by("score", "share"), close(1e-12, score="score"),
    ),
    Pair(
        "relax", programs.Relax(), "relax.c", ("rmat", "grid", "chain"),
        relax_by("distance", "weight"), same_now("distance", "distance"),
    ),
    Pair(
        "histogram", programs.Histogram(), "histogram.c K=100", ("tokens",), histogram, same(counts="counts"),
        columns={"topic": "topic100"},
    ),
    Pair(
        "labels", programs.Labels(), "labels.c", WEIGHTED, labels, same_now("label", "label")
    ),
    Pair(
        "labels-by-loop", programs.LabelsByLoop(), "labels.c", WEIGHTED, labels, same_now("label", "label")
    ),
    Pair(
        "joins-by-loop", programs.Joins(), f"labels.c JOINS={programs.SIZES.size}", WEIGHTED, joins,
        same_now("label", "group"),
    ),
    _lda("lda", gl.programs.LDA, 100),
    _lda("uniform-lda-20", programs.UniformLDA, 20, "UNIFORM"),
    _lda("uniform-lda-100", programs.UniformLDA, 100, "UNIFORM"),
    Pair(
        "gibbs", GIBBS, "gibbs.c K=100", ("tokens",),
        by_document("counts", "_topic"), alike("_topic", by_word=False), ("count", "sweep", "sweep", "sweep"),
        supersteps=4, columns={"_topic": "topic100"},
    ),
    Pair(
        "sgd", gl.programs.SGD(mean=3.5, learning_rate=0.02), "sgd.c K=32 REAL=float", ("ratings",),
        descent("factors", "bias", "rating", "mean", rate=0.02, decay=0.2),
        close_rows("factors", "bias"), apart=(SQUARES,),
    ),
    Pair(
        "als", gl.programs.ALS(mean=3.5), "als.c K=32", ("ratings",), als,
        close(1e-4, factors="factors", bias="bias"), ("users", "items"), supersteps=4, apart=(SQUARES,),
    ),
    Pair(
        "triangles", gl.programs.TriangleCount(), "triangles.c", ("undirected_rmat", "uniform"), triangles,
        same(middle="middle"), ("lists", "common"), supersteps=2,
    ),
    Pair(
        "lbp", gl.programs.BeliefPropagation(states=8, smoothing=0.5, damping=0.2, tolerance=0.0),
        "lbp.c K=8", ("small_grid",), lbp, close(1e-9, belief="belief"), supersteps=6, init=_priors,
    ),
    Pair(
        "pagerank-renamed", programs.Standing(), "pagerank.c", ("rmat",),
        rank_by("rank", "portion"), close(1e-12, score="rank"),
    ),
    Pair(
        "widest", programs.Widest(), "relax.c WIDEST", ("rmat",), relax_by("width", "capacity"),
        same_now("distance", "width"), columns={"capacity": "weight"},
    ),
    Pair(
        "palette", programs.Palette(), "histogram.c K=37", ("tokens",), palette, same(counts="often"),
        columns={"kind": "topic37"},
    ),
    Pair(
        "chooser", programs.Chooser(own_prior=ALPHA, word_prior=BETA), "sampler.c K=50", ("tokens",),
        by_document("tally", "group"), same_topics("group", by_word=False), supersteps=6,
    ),
    Pair(
        "tastes", programs.Tastes(), "sgd.c K=20", ("ratings",),
        descent("taste", "lean", "stars", "middle", rate=0.02, decay=0.0),
        close_rows("taste", "lean"), columns={"stars": "rating"},
    ),
)  # fmt: skip
