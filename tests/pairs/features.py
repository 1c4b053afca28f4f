"""All features of programs, graphs and runs: how often each is drawn, what it needs, and what it refuses.

Two features of one slot are alternatives: a program has one of them. `REFUSALS` has the pairs that gaslab
refuses, with a part of the error; every other pair runs.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Feature:
    """One feature: its group in the table, how likely it is drawn, and what it needs or excludes."""

    name: str
    group: str
    weight: float = 0.15
    needs: tuple[str, ...] = ()  # each is a feature, or "a|b" for any of these
    slot: str = ""


def _all(group: str, names: str, weight: float, slot: str = "", needs: tuple[str, ...] = ()) -> list[Feature]:
    return [Feature(name, group, weight, needs, slot) for name in names.split(", ")]


SENDS = "scatter|v.signal in apply|signal by id in apply"
RUNS_APPLY = ("apply",)
WITH_IDS = "aggregator Min|aggregator Max|aggregator ArgMin|aggregator ArgMax|aggregator record"
OPS = "Sum, Min, Max, Prod, Any, All, Count, BitOr, ArgMin, ArgMax, record, own merge"
COLLECTED = ("List", "SortedSet", "tuples")
WHERE = {
    "init": "init", "start": "start", "active": "active", "visit": "visit", "apply": "apply",
    "scatter": "scatter",
    "gather": "gather", "aggregator": "aggregator", "gather_edges": "gather by method",
    "merge": "gather own merge|message own merge|aggregator own merge",
    "scatter_edges": "scatter by method", "message init": "init with a message",
}  # fmt: skip

FEATURES: tuple[Feature, ...] = (
    # fields of vertices
    *_all("field", "float field, bool field, id field", 0.6),
    *_all("field", "float32 field, vector field, matrix field, list field, set field, private field", 0.2),
    *_all("field",
        "int8 field, int16 field, int32 field, uint8 field, uint16 field, uint32 field, uint64 field",
          0.12, "width"),
    Feature("drawn start", "field", 0.1), Feature("vertex column", "field", 0.15),
    Feature("shape parameter", "field", 0.1, ("vector field",)),
    Feature("lookup", "field", 0.15, ("id field", "apply")),
    Feature("vector of ids", "field", 0.12), Feature("append", "field", 0.15, ("init|apply",)),
    # fields of edges
    *_all("edge field", "edge column, edge default", 0.4),
    *_all("edge field", "edge vector, edge list, edge set, drawn edge field", 0.12),
    Feature("edge written", "edge field", 0.2, ("scatter|visit",)),
    # additive fields
    *_all("additive", "sync=gl.SUM, sync=gl.MIN, sync=gl.MAX, additive vector, additive edge field", 0.08,
          needs=("scatter",)),
    # what is combined
    *(Feature(f"gather {op}", "gather", 0.07, ("gather",), "gather of") for op in OPS.split(", ")),
    *(Feature(f"gather {op}", "gather", 0.05, ("gather",),
        "gather of") for op in ("List", "SortedSet", "SumBy")),
    *(Feature(f"message {op}", "message", 0.05, ("apply", SENDS), "message of") for op in OPS.split(", ")),
    *(Feature(f"message {op}", "message", 0.05, ("apply", SENDS), "message of") for op in COLLECTED),
    *(Feature(f"aggregator {op}", "aggregator", 0.08, ("aggregator",),
        "aggregator of") for op in OPS.split(", ")),
    Feature("gl.stop", "gather", 0.06, ("gather",)),
    Feature("None in gather", "gather", 0.25, ("gather",)),
    # methods
    Feature("init", "method", 0.7, (), "init"), Feature("gather", "method", 0.7, ("apply",)),
    Feature("apply", "method", 0.97), Feature("scatter", "method", 0.6),
    Feature("start", "method", 0.2), Feature("active", "method", 0.12), Feature("visit", "method", 0.07),
    Feature("done", "method", 0.15, ("aggregator",)), Feature("aggregator", "method", 0.4),
    Feature("aggregator over edges", "aggregator", 0.3, ("aggregator",)),
    Feature("aggregator read", "aggregator", 0.4, ("aggregator",)),
    Feature("aggregator of ids", "aggregator", 0.15, ("id field", WITH_IDS)),
    Feature("finaliser", "aggregator", 0.2, ("aggregator",)),
    Feature("every=", "aggregator", 0.2, ("aggregator",)),
    Feature("None in an aggregator", "aggregator", 0.3, ("aggregator",)),
    Feature("after scatter", "aggregator", 0.25, ("aggregator",)),
    Feature("live total", "aggregator", 0.5, ("visit",)),
    Feature("init with a message", "method", 0.07, ("apply", "scatter", "a message"), "init"),
    Feature("phases", "method", 0.2, ("apply",)), Feature("phases begin anew", "method", 0.3, ("phases",)),
    Feature("repeat_phases", "method", 0.4, ("phases",)),
    Feature("supersteps by name", "method", 0.4, ("phases",)),
    Feature("messages between phases", "message", 0.4, ("phases", "a message")),
    # which vertices run
    Feature("signal without a message", "signal", 0.3, ("scatter",)),
    Feature("priority", "signal", 0.25, ("scatter",)),
    Feature("v.signal in apply", "signal", 0.12, RUNS_APPLY),
    Feature("v.signal in scatter", "signal", 0.1, ("scatter",)),
    Feature("signal by id in apply", "signal", 0.1, RUNS_APPLY),
    Feature("signal by id in scatter", "signal", 0.08, ("scatter",)),
    # directions
    *(Feature(f"gather {way}", "direction", 0.15, ("gather",), "gather way")
      for way in ("IN", "OUT", "ALL", "NONE", "by method")),
    *(Feature(f"scatter {way}", "direction", 0.15, ("scatter",), "scatter way")
      for way in ("IN", "OUT", "ALL", "NONE", "by method")),
    Feature("directions of the phase", "direction", 0.3, ("phases",)),
    Feature("e.forward", "direction", 0.15, ("gather|scatter",)),
    # caching
    Feature("post_delta", "caching", 0.1, ("gather", "scatter")),
    Feature("clear_cache", "caching", 0.1, ("gather", "scatter")),
    Feature("cache_rebuild", "caching", 0.3, ("post_delta|clear_cache",)),
    # draws
    *_all("draw", "uniform, normal, integers", 0.1),
    Feature("draw in gather", "draw", 0.06, ("gather", "uniform|normal|integers")),
    Feature("draw in scatter", "draw", 0.06, ("scatter", "uniform|normal|integers")),
    *_all("draw", "rng stream, rng hash", 0.2, "rng", ("uniform|normal|integers",)),
    # words
    *_all("parameter", "id parameter, int parameter, float parameter", 0.3),
    *_all("parameter", "vector parameter, matrix parameter", 0.12),
    Feature("self.superstep", "parameter", 0.3), Feature("self.phase_step", "parameter", 0.3),
    Feature("v.index", "parameter", 0.3),
    *_all("helper",
        "helper of numbers, helper of vertices, helper of an edge, helper of vectors, method as helper",
          0.12),
    Feature("module constant", "helper", 0.15), Feature("module array", "helper", 0.12),
    *_all("statement",
        "elif, while, for, break, continue, return early, tuple assignment, augmented assignment", 0.2),
    *_all("statement", "conditional, chained comparison, and or not, in", 0.3),
    *_all("operator", "slice, concatenate, bits of vectors", 0.15),
    *_all("operator",
        "integer arithmetic, bits, float arithmetic, math, wild floats, numpy, linear algebra", 0.4),
    Feature("precision float32", "operator", 0.12), Feature("bit_count", "operator", 0.3),
    Feature("list words", "operator", 0.3, ("list field|set field|edge list|edge set",)),
    # graphs
    Feature("undirected", "graph", 0.25), Feature("bipartite", "graph", 0.12),
    Feature("v.side", "graph", 0.5, ("bipartite",)),
    *_all("graph", "parallel edges, self-loops, isolated vertices", 0.4),
    *_all("graph", "string ids, sparse ids", 0.2, "ids"),
    *_all("graph", "no edges, no vertices, large graph", 0.05, "size"),
    # runs
    *_all("cut", "random, 1d, 2d, dbh, chunk, hdrf, ne", 0.15, "cut"),  # hashes; with state; on one rank
    Feature("init=", "run", 0.2), Feature("start= ids", "run", 0.12, (SENDS,), "start="),
    Feature("start= messages", "run", 0.08, ("a message",), "start="),
    Feature("columns=", "run", 0.2, ("edge column",)), Feature("seed=", "run", 0.3),
    Feature("resumed", "run", 0.2),
    *_all("engine", "stale 0, stale 2", 0.12, "engine"),
    *_all("engine", "async relaxed, async serialisable", 0.15, "engine"),
    *_all("scheduler", "fifo, sweep, random scheduler", 0.3, "scheduler",
          ("async relaxed|async serialisable",)),
    Feature("priority scheduler", "scheduler", 0.3, ("async relaxed|async serialisable", "priority"),
        "scheduler"),
    # faults
    *(Feature(f"fault in {where}", "fault", 0.02, (needed,), "fault") for where, needed in WHERE.items()),
    Feature("fault in done", "fault", 0.01, ("done",), "fault"),
    Feature("fault in finaliser", "fault", 0.01, ("finaliser",), "fault"),
    Feature("fault in a helper", "fault", 0.02, ("a fault",)),
    *(Feature(f"{kind} fault", "fault", 0.1, ("a fault",), "kind of fault") for kind in
      ("division", "modulo", "cast", "index", "narrow store")),
)  # fmt: skip
BY_NAME = {f.name: f for f in FEATURES}
ANY = {
    "a message": tuple(n for n in BY_NAME if n.startswith("message ")),
    "a fault": tuple(f"fault in {where}" for where in WHERE),
}
ASYNC, STALE = ("async relaxed", "async serialisable"), ("stale 0", "stale 2")
DIRECTED_BY_METHOD = ("gather by method", "scatter by method")
LISTS = ("list field", "set field", "gather List", "gather SortedSet", "edge list", "edge set", "list words")
ADDITIVE = ("sync=gl.SUM", "sync=gl.MIN", "sync=gl.MAX", "additive vector", "additive edge field")
CACHED = ("post_delta", "clear_cache", "cache_rebuild")
IN_PHASES = (
    "phases", "phases begin anew", "repeat_phases", "supersteps by name", "messages between phases",
    "directions of the phase",
)  # fmt: skip
LISTED = tuple(f"message {op}" for op in COLLECTED)
BY_ID = ("signal by id in apply", "signal by id in scatter")
FIXED_POINT = (*ASYNC, "stale 2")  # runs whose answer is that of supersteps only at one fixed point

# (these, beside these, are refused with an error that has this)
REFUSED: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (("visit",), ("start", "active", "scatter"), "has no effect with visit"),
    (("visit",), ("phases",), "visit cannot be in phases"),
    (("start",), ("active",), "start has no effect with active"),
    (("start= ids", "start= messages"), ("active",), "start= has no effect in P"),
    (("priority", "priority scheduler"), ("active", "fault in active"), "a priority has no effect with"),
    (("priority scheduler",), ("visit", "fault in visit"), "has no effect with visit"),
    (("phases",), ("init with a message",), "init takes no message here"),
    (CACHED, DIRECTED_BY_METHOD, "cached gathers need one direction"),
    (CACHED, ("init with a message",), "init with a message changes what is cached"),
    (CACHED, ("draw in gather",), "a cached gather cannot draw"),
    (CACHED, ("gather ArgMin", "gather ArgMax", "gather record", "gather own merge", "gather List",
              "gather SortedSet", "gather SumBy"), "only totals of one number are cached"),
    (CACHED, ("gather NONE",), "a gather over no edges needs no cache"),
    (CACHED, ("scatter NONE",), "cached gathers over"),
    (("gl.stop",), ("gather Sum", "gather Prod", "gather Count", "gather own merge", "gather List",
                    "gather SortedSet", "gather SumBy"), "gl.stop() is for gl.Min and gl.Max"),
    (("finaliser", "fault in finaliser"), ("aggregator of ids",),
        "gives a vertex id, which cannot have a finaliser"),
    (STALE, ("aggregator of ids",), "an aggregator holds vertex ids"),
    (ASYNC, IN_PHASES, "it has several phases"),
    (ASYNC, ("after scatter",), "an aggregator after scatter needs supersteps"),
    (ASYNC, ("init with a message",), "init(v, message) needs supersteps"),
    (ASYNC, ("visit",), "cannot run with engine='async'"),
    (ASYNC, ("active",), "no signals decide which vertices run"),
    (ASYNC, ADDITIVE, "its scatter adds to fields declared with sync="),
    (ASYNC, DIRECTED_BY_METHOD, "its directions depend on the vertex"),
    (ASYNC, (*LISTS, "append"), "it keeps lists"),
    (ASYNC, ("gather SumBy",), "its gather sums by key"),
    ((*ASYNC, *STALE), LISTED, "its messages are lists"),
    (("start= messages",), LISTED, "which only its methods send"),
    (ASYNC, BY_ID, "it signals vertices by their ids"),
    (ASYNC, ("lookup",), "it looks up fields by id"),
    (ASYNC, ("self.superstep",), "its methods read self.superstep"),
    (ASYNC, ("self.phase_step",), "its methods read self.phase_step"),
    (STALE, IN_PHASES, "it has several phases"),
    (STALE, ("after scatter",), "an aggregator after scatter would wait"),
    (STALE, ("priority",), "priorities let one bucket run everywhere at once"),
    (STALE, CACHED, "it posts changes of gathers"),
    (STALE, ("lookup",), "fields that it looks up by id"),
    (STALE, ("visit",), "visit moves the right to write"),
    (STALE, ("init with a message",), "init(v, message) changes what others gather"),
    (STALE, ("gather by method",), "gather_edges is a method"),
    (STALE, ("gather List", "gather SortedSet"), "its gather collects lists"),
    (STALE, ("gather SumBy",), "its gather sums by key"),
]  # fmt: skip

# (these, beside these, are not drawn together: there is nothing that could be asked)
POINTLESS: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (("no vertices",), ("self-loops", "parallel edges", "isolated vertices", "id parameter"),
     "a graph without vertices has none"),
    (("no edges", "no vertices"), ("self-loops", "parallel edges", "edge list", "edge set"),
        "a graph without edges has none"),
    (("bipartite",), ("self-loops",), "edges lead from left to right"),
    (("stale 0", "stale 2"), ("fifo", "priority scheduler", "sweep", "random scheduler"),
     "a scheduler is of engine='async'"),
]  # fmt: skip


@functools.cache
def _table(kind: str) -> dict[frozenset[str], str]:
    rows = REFUSED if kind == "refused" else POINTLESS
    return {frozenset((a, b)): why for these, those, why in rows for a in these for b in those}


def refusal(a: str, b: str) -> str | None:
    """Return what the error of a refused pair says, None if the pair runs."""
    return _table("refused").get(frozenset((a, b)))


def pointless(a: str, b: str) -> str | None:
    """Return why two features cannot stand together in one program or run, None if they can."""
    slot = BY_NAME[a].slot
    if slot and slot == BY_NAME[b].slot:
        return f"alternatives: {slot}"
    return _table("pointless").get(frozenset((a, b)))


@functools.cache
def conflict(a: str, b: str) -> tuple[str, str] | None:
    """Return ("refused" or "pointless", why) of two features, or of what they need; None if they run."""
    if why := pointless(a, b):
        return "pointless", why
    if why := refusal(a, b):
        return "refused", why
    for feature, other in ((a, b), (b, a)):
        for need in BY_NAME[feature].needs:
            options = ANY.get(need, tuple(need.split("|")))
            found = [None if option == other else conflict(option, other) for option in options]
            if None not in found:
                return max(one for one in found if one)  # "refused" where one of them is
    return None


def pairs() -> Iterator[tuple[str, str]]:
    """Yield every pair of features that can be asked for."""
    for a, b in itertools.combinations(BY_NAME, 2):
        if (conflict(a, b) or ("",))[0] != "pointless":
            yield a, b


class Choice:
    """A set of features that is drawn, and stays free of pairs that cannot be."""

    def __init__(self, draws: random.Random, focus: Collection[str] = ()) -> None:
        self.random, self.chosen = draws, set[str]()
        self.focus = frozenset(focus)
        for name in focus:
            self._add(name, forced=True)
        self.refused = any(refusal(a, b) for a, b in itertools.combinations(sorted(self.chosen), 2))
        others = [f for f in FEATURES if f.name not in self.chosen]
        draws.shuffle(others)
        others.sort(key=lambda f: f.group not in ("engine", "graph", "method"))
        for f in others:
            rarely = 0.3 if self._lacks(f) else 1.0  # or the one that others need would never be absent
            if draws.random() < f.weight * rarely * (0.5 if self.refused else 1.0):
                self.add(f.name)
        if not self.chosen & {"apply", "scatter", "visit", "aggregator"}:
            self.add("apply")
        if any(name in self.chosen for name in ANY["a fault"]):
            self.add(draws.choice([n for n in BY_NAME if n.endswith(" fault")]))
        if any(name in self.chosen for name in ASYNC):
            self.add("scatter")
        if (
            self.chosen & {*CACHED, *FIXED_POINT}
            and {"gather", "scatter"} <= self.chosen
            and not self.chosen & {*DIRECTED_BY_METHOD, "gather NONE", "scatter NONE"}
        ):
            self._way_back()
        for name in ("gather", "aggregator"):
            if name in self.chosen:
                options = [f.name for f in FEATURES if f.slot == f"{name} of"]
                draws.shuffle(options)
                any(self.add(option) for option in options if not self._slot(f"{name} of"))

    def _lacks(self, feature: Feature) -> bool:
        """Return whether something that a feature needs is not there yet."""
        options = (ANY.get(need, need.split("|")) for need in feature.needs)
        return any(not self.chosen & {*names} for names in options)

    def _way_back(self) -> None:
        """Let scatter go the way back of gather, as kept totals need it."""
        across = {"IN": "OUT", "OUT": "IN", "ALL": "ALL"}
        ways = {what: next((way for way in across if f"{what} {way}" in self.chosen), None) for what in
                ("gather", "scatter")}  # fmt: skip
        gather = across[ways["scatter"]] if ways["scatter"] and not ways["gather"] else ways["gather"] or "IN"
        if f"scatter {ways['scatter']}" in self.focus and f"gather {ways['gather']}" not in self.focus:
            gather = across[str(ways["scatter"])]
        self.chosen -= {f"{what} {way}" for what in ways for way in across}
        self.chosen |= {f"gather {gather}", f"scatter {across[gather]}"}

    def _slot(self, slot: str) -> bool:
        return any(BY_NAME[name].slot == slot for name in self.chosen)

    def _fits(self, name: str) -> bool:
        return all(pointless(name, other) is None and refusal(name, other) is None for other in self.chosen)

    def add(self, name: str) -> bool:
        """Add a feature with what it needs if all of it fits; return whether it is there."""
        before = set(self.chosen)
        if self._add(name, forced=False):
            return True
        self.chosen = before
        return False

    def _add(self, name: str, forced: bool) -> bool:
        if name in self.chosen:
            return True
        if not self._fits(name) and not (forced and name in self.focus):
            return False
        self.chosen.add(name)
        return self._add_needs(name, forced)

    def _add_needs(self, name: str, forced: bool) -> bool:
        for need in BY_NAME[name].needs:
            options = list(ANY.get(need, need.split("|")))
            if any(option in self.chosen for option in options):
                continue
            self.random.shuffle(options)
            wished = [option for option in options if option in self.focus]
            if any(self._add(option, forced) for option in wished + options):
                continue
            if not forced:
                return False
            self.chosen.add(options[0])  # a pair that is refused may need another that is
            self._add_needs(options[0], forced)
        return True
