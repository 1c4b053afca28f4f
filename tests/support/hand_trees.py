"""Typed trees written by hand, so that emit, build and interpret are tested without the parser."""

from __future__ import annotations

from gaslab.compiler import tree as t

F, I, B = "float", "int", "bool"  # noqa: E741
SITES = (t.Site("program.py", 10, "first"), t.Site("program.py", 11, "second"))
V, NBR = "v", "nbr"


def variable(name: str, storage: str = "float64", default: object = 0) -> t.Variable:
    return t.Variable(name, storage, default, SITES[0])


def local(name: str, kind: str = F) -> t.Local:
    return t.Local(name, kind)


def const(value: float | int | bool) -> t.Const:
    return t.Const(value, {bool: B, int: I, float: F}[type(value)])


def assign(target: t.Local | t.VertexField | t.EdgeField, value: t.Expr, site: int = 0) -> t.Assign:
    return t.Assign(target, value, site)


def ret(value: t.Expr | None = None) -> t.Return:
    return t.Return(value, 0)


def binary(op: str, left: t.Expr, right: t.Expr, site: int = 0) -> t.Binary:
    return t.Binary(op, left, right, left.type, site)


def function(
    name: str,
    body: list[t.Stmt],
    returns: str | None = None,
    reads: str = "",
    writes: str = "",
    parameters: dict[str, str] | None = None,
    locals: dict[str, str] | None = None,
) -> t.Function:
    parameters = parameters or {}
    return t.Function(
        name, tuple(t.Local(p, kind) for p, kind in parameters.items()), returns,
        {**parameters, **(locals or {})}, tuple(body),
        frozenset(reads.split()), frozenset(writes.split()), 0,
    )  # fmt: skip


def program(
    functions: list[t.Function],
    *,
    vertex: tuple[t.Variable, ...] = (),
    edge: tuple[t.Variable, ...] = (),
    params: tuple[t.Variable, ...] = (),
    aggregators: tuple[t.Aggregator, ...] = (),
    helpers: tuple[t.Function, ...] = (),
    gather: t.Combiner | None = None,
    message: t.Combiner | None = None,
) -> t.Tree:
    return t.Tree(
        "Hand", params, vertex, edge, aggregators, {f.name: f for f in functions}, helpers, gather, message,
        1 if gather else 0, 2, False, SITES,
    )  # fmt: skip


def evaluated(expression: t.Expr, storage: str, params: dict[str, str], *helpers: t.Function) -> t.Tree:
    """A program whose init stores an expression over parameters (name -> storage) in field ``r``."""
    kind = t.STORAGE[storage][0]
    assert expression.type == kind
    body = [assign(t.VertexField(V, 0, kind), expression, 1)]
    return program(
        [function("init", body, reads="", writes="v.r")],
        vertex=(variable("r", storage),),
        params=tuple(variable(name, of) for name, of in params.items()),
        helpers=tuple(helpers),
    )


def pagerank() -> t.Tree:
    """PageRank as in the manual: two aggregators, a double-buffered field, a locally used parameter."""
    score, share, moved = (t.VertexField(V, k, F) for k in range(3))
    out_degree = t.VertexAttribute(V, "out_degree", I)
    n = t.Cast(t.Global("num_vertices"), F)
    clipped = t.Cast(t.Call("max", (out_degree, const(1)), I), F)
    total, new, d = local("total"), local("score"), local("d")
    one_less = binary("+", binary("-", const(1.0), d), binary("*", d, t.Aggregate(0, "dangling", F)))
    return program(
        [
            function("init", [
                assign(score, t.Binary("/", const(1.0), n, F, 0, True)),
                assign(share, t.Binary("/", score, clipped, F, 0, True)),
            ], reads="v.score v.out_degree", writes="v.score v.share"),
            function("gather", [ret(t.VertexField(NBR, 1, F))], F, reads="nbr.share"),
            function("apply", [
                assign(d, t.Param(0, "damping", F)),
                assign(new, binary("+", t.Binary("/", one_less, n, F, 0, True), binary("*", d, total))),
                assign(moved, t.Call("abs", (binary("-", new, score),), F)),
                assign(score, new),
                assign(share, t.Binary("/", new, clipped, F, 0, True)),
            ], reads="v.score v.out_degree", writes="v.score v.share v.moved",
               parameters={"total": F}, locals={"d": F, "score": F}),
        ],
        vertex=(variable("score"), variable("share"), variable("moved")),
        params=(variable("damping", default=0.85),),
        gather=t.Combiner("sum", "float64"),
        aggregators=(
            t.Aggregator("dangling", t.Combiner("sum", "float64"), function("dangling", [
                ret(t.Conditional(t.Compare("==", out_degree, const(0)), score, const(0.0), F)),
            ], F, reads="v.out_degree v.score")),
            t.Aggregator("change", t.Combiner("sum", "float64"),
                         function("change", [ret(moved)], F, reads="v.moved")),
        ),
    )  # fmt: skip


def shortest_paths() -> t.Tree:
    """Single-source distances over edge weights, with a plain signal."""
    source = t.Param(0, "source", "id")
    at_source = t.Compare("==", t.VertexAttribute(V, "id", "id"), source)
    own, far, weight = t.VertexField(V, 0, F), t.VertexField(NBR, 0, F), t.EdgeField(0, F)
    return program(
        [
            function("init", [
                assign(own, t.Conditional(at_source, const(0.0), const(float("inf")), F)),
            ], reads="v.id", writes="v.distance"),
            function("start", [ret(at_source)], B, reads="v.id"),
            function("gather", [ret(binary("+", far, weight))], F, reads="nbr.distance e.weight"),
            function("apply", [assign(own, t.Call("min", (own, local("total")), F))],
                     reads="v.distance", writes="v.distance", parameters={"total": F}),
            function("scatter", [
                t.If(t.Compare("<", binary("+", own, weight), far), (t.Signal(None, 0),), (), 0),
            ], reads="v.distance nbr.distance e.weight"),
        ],
        vertex=(variable("distance"),),
        edge=(variable("weight"),),
        params=(variable("source", "id", t.REQUIRED),),
        gather=t.Combiner("min", "float64"),
    )  # fmt: skip


def messages(op: str = "min", storage: str = "float64") -> t.Tree:
    """Vertices send neighbours ``value + weight``; apply combines the message into its value."""
    kind = t.STORAGE[storage][0]
    own, weight = t.VertexField(V, 0, kind), t.EdgeField(0, kind)
    message = local("message", kind)
    fold = binary("+", own, message) if op == "sum" else t.Call(op, (own, message), kind)
    return program(
        [
            function("apply", [assign(own, fold)], reads="v.value", writes="v.value",
                     parameters={"message": kind}),
            function("scatter", [t.Signal(binary("+", own, weight), 1)], reads="v.value e.weight"),
        ],
        vertex=(variable("value", storage),),
        edge=(variable("weight", storage),),
        message=t.Combiner(op, storage),
    )  # fmt: skip
