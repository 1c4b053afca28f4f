"""One drawn program: the methods that its features ask for, as the text of a module with the class P."""

from __future__ import annotations

import ast
import random
from collections.abc import Collection
from dataclasses import replace

from tests.pairs import declarations, gathers, phases, posting, visits
from tests.pairs.totals import Total
from tests.pairs.words import BOTH, STEPS, V, Where
from tests.pairs.writer import OWN_MERGE, WAYS, Writer


class Program(Writer):
    """Writes class P, method by method."""

    def __init__(self, draws: random.Random, features: Collection[str]) -> None:
        super().__init__(draws, features)
        self.gathers, self.scatters, self.applies = self.has("gather"), self.has("scatter"), self.has("apply")
        self.totals = self.total("gather", "Total")
        if self.gathers and self.totals is None:
            self.totals = Total("Sum", "Total", self)
        if self.totals is not None and self.applies:
            self.kept = self.totals.kept
        self.message, self.whole = self.total("message", "Letter"), self.total("aggregator", "Sum")
        if self.has("aggregator") and self.whole is None:
            self.whole = Total("Sum", "Sum", self)
        if self.has("gl.stop") and self.totals is not None:
            self.without_ids()
        self.ways = {"gather": self.way("gather", "gl.IN"), "scatter": self.way("scatter", "gl.OUT")}
        if (
            self.whole is not None
            and self.has("aggregator read")
            and self.whole.op in ("Sum", "Min", "Max", "Prod")
            and self.whole.kinds == ("int",)
        ):
            self.aggregate = "self.whole % 11"
        self.quiet_edges = replace(BOTH, changing=self.now.changing)

    def without_ids(self) -> None:
        while self.totals and self.totals.kinds[:1] == ("id",) and self.totals.op in ("Min", "Max"):
            self.totals = Total(self.totals.op, "Total", self)

    def way(self, what: str, default: str) -> str:
        if self.has(f"{what} by method"):
            return "method"
        return next((word for way, word in WAYS.items() if self.has(f"{what} {way}")), default)

    # ---- methods -------------------------------------------------------------------------------------

    def method(self, head: str, returns: str | None, body: list[str], above: str = "") -> list[str]:
        arrow = f" -> {returns}" if returns else ""
        return [
            *([f"    {above}"] if above else []),
            f"    def {head}{arrow}:",
            *(f"        {line}" for line in body),
        ]

    def text(self) -> str:
        """Return the text of the module."""
        lines = ["class P(gl.VertexProgram):"]
        for rng in ("stream", "hash"):
            if self.has(f"rng {rng}"):
                lines.append(f'    rng = "{rng}"')
        if self.has("precision float32") and self.odds(0.7):  # or the run says so
            lines.append("    precision = gl.float32")
        if self.has("cache_rebuild"):
            lines.append("    cache_rebuild = 2")
        lines += declarations.parameters(self)
        methods: dict[str, list[str]] = {}
        if self.gathers:
            methods["gather"] = self.gather()
        if self.applies:
            methods["apply"] = self.apply()
        if self.scatters:
            methods["scatter"] = self.scatter()
        for name in ("start", "active"):
            if self.has(name):
                body = [
                    *self.fault(name),
                    f"return {self.value('bool', replace(self.now, draws=not self.fixed))}",
                ]
                methods[name] = self.method(f"{name}(self, v)", "bool", body)
        if self.has("visit"):
            methods["visit"] = visits.visit(self)
        for what in ("gather", "scatter"):
            if self.has(what) and self.ways[what] == "method":
                methods[f"{what}_edges"] = self.directions(f"{what}_edges")
            elif self.has(what) and not (self.has("directions of the phase") and self.odds(0.7)):
                lines.append(f"    {what}_edges = {self.ways[what]}")
        head = [*lines, *declarations.fields(self), *self.records()]
        rest = [*visits.aggregators(self), *self.aggregated(), *self.init(), *self.own_helpers()]
        for word in filter(self.has, STEPS):
            if not any(word in x for m in methods.values() for x in m):
                for name in [name for name in ("apply", "scatter") if name in methods][:1]:
                    methods[name].insert(1, f"        if {word} < 0:\n            pass")
        for method in methods.values():
            rest += method
        rest += phases.phases(self, list(methods)) if self.has("phases") else phases.done(self, "done")
        return self.helpers() + "\n\n" + "\n".join([*head, *rest]) + "\n"

    def records(self) -> list[str]:
        totals = (self.totals, self.message, self.whole)
        texts = [t.declared.rstrip("\n") for t in totals if t is not None and t.declared]
        if self.has("live total"):
            texts.append(visits.BALLS.rstrip("\n"))
        if any(t is not None and t.op == "own merge" for t in totals):
            fault = ""
            if self.has("fault in merge"):
                body = ["if a.n + b.n > 3:", *self.indented(self.failing("(a.n + b.n)", False))]
                fault = "".join(f"        {line}\n" for line in body)
            texts.append(OWN_MERGE.format(fault=fault).rstrip("\n"))
        return texts

    def own_helpers(self) -> list[str]:
        if not self.has("method as helper"):
            return []
        return self.method(
            "twice(self, k)",
            None,
            [f"return (k * 2 + {'self.p' if self.has('int parameter') else '1'}) % 101"],
        )

    def aggregated(self) -> list[str]:
        if self.whole is None:
            return []
        of = replace(V, changing=False)
        head = "whole(self, v)"
        if self.has("aggregator over edges"):
            head, of = "whole(self, v, e, nbr)", replace(BOTH, changing=False, ends=False)
        none = self.nothing("None in an aggregator", of)
        body = [*self.fault("aggregator"), *none, f"return {self.whole.given(of)}"]
        after, seldom = self.has("after scatter"), self.has("every=")
        every = "gl.Phase" if self.odds(0.4) and not after else repr("p") if self.has("int parameter") else 2
        said = ", ".join([f"every={every}"] * seldom + ['after="scatter"'] * after)
        above = f"@gl.aggregator({said})" if said else "@gl.aggregator"
        lines = self.method(head, self.whole.text, body, above)
        if self.has("finaliser"):
            body = ["return total"]
            if self.has("fault in finaliser"):
                body = [
                    "if self.superstep >= 0:",
                    "    raise RuntimeError('the finaliser has failed')",
                    *body,
                ]
            elif self.whole.kinds in (("int",), ("float",)) and self.whole.op != "Prod":
                kind = self.whole.kinds[0]
                body = [f"return {kind}(min(max(total, -9), 50)) + self.num_edges % 3"]
            lines += self.method("_(self, total)", None, body, "@whole.finalize")
        return lines

    def init(self) -> list[str]:
        where = replace(V, draws=bool(self.drawn), changing=False)
        if not self.has("init", "init with a message", "id field") and not self.fixed:
            return []
        sets = (
            [f"v.least = {self.one(['v.id', 'gl.NOBODY']) if not self.fixed else 'v.id'}"]
            if self.has("id field")
            else []
        )
        names, fixed = self.names, self.fixed
        self.names, self.fixed = {"int": "n", "float": "x", "bool": "b", "id": "least"}, False
        lines = [*self.fault("init"), *sets, *self.statements(where)]
        if self.has("init with a message") and self.message is not None:
            lines = [*self.fault("message init"), *self.message.taken("message"), *self.statements(where, 2)]
            self.names, self.fixed = names, fixed
            return self.method(f"init(self, v, message: {self.message.text})", None, lines)
        self.names, self.fixed = names, fixed
        if self.fixed:
            lines.append(f"v.low = abs({self.value('int', where)}) % 50")
        return self.method("init(self, v)", None, lines)

    def directions(self, name: str) -> list[str]:
        one, other = self.random.sample(["gl.IN", "gl.OUT", "gl.ALL", "gl.NONE"], 2)
        body = [
            *self.fault(name),
            f"return {one} if {self.value('bool', replace(V, changing=False))} else {other}",
        ]
        return self.method(f"{name}(self, v)", "int", body)

    # ---- gather --------------------------------------------------------------------------------------

    def gather(self) -> list[str]:
        assert self.totals is not None
        where = replace(
            self.quiet_edges,
            changing=self.quiet_edges.changing and not self.cached,
            draws=self.has("draw in gather"),
        )
        if self.has("edge written") and not self.cached and not self.fixed:
            self.extra = {"int": ["e.seen"]}
        near = self.near_vector(where)
        body = [*self.fault("gather"), *self.nothing("None in gather", where)]
        if self.has("draw in gather") and not self.has("gl.stop"):
            body += [f"if {self.draw('bool')}:", f"    return {self.totals.given(where, 1)}"]
        if self.has("return early") and not self.has("gl.stop"):
            body += [f"if {self.value('bool', where, 1)}:", f"    return {self.totals.given(where, 1)}"]
        if "int" in self.kept and self.odds(0.5):
            body += ["if (v.kept[1] + nbr.kept[0]) % 3 == 1:", f"    return {self.totals.given(where, 1)}"]
        if posting.posts(self) and not self.has("draw in gather"):
            body = [*self.fault("gather"), f"return {posting.posted(self, 'nbr')}"]
            if self.has("None in gather"):  # of no edge, for scatter posts the changes over all
                body.insert(-1, "if v.degree < 0: return None")
            if self.has("gl.stop"):  # likewise never
                body.insert(-1, "if v.degree < 0: gl.stop()")
        elif self.has("gl.stop"):
            body += gathers.stopping(self, where)
        elif self.fixed and self.totals.drives and self.odds(0.75) and not self.has("draw in gather"):
            c = self.value("int", replace(where, changing=False, draws=False))
            lines = self.nothing("None in gather", replace(where, changing=False, draws=False))
            body = [*self.fault("gather"), *lines, f"return {self.totals.drive('nbr', c)}"]
            self.driven = True
        else:
            body.append(f"return {self.totals.given(where)}")
        self.extra = {}
        return self.method("gather(self, v, e, nbr)", self.totals.text, [*near, *body])

    def nothing(self, feature: str, where: Where) -> list[str]:
        """Return the lines after which a method may have contributed nothing."""
        if not self.has(feature):
            return []
        none = self.one(["return None", "return"])
        return [f"if {self.value('bool', replace(where, draws=False), 1)}:", f"    {none}"]

    def near_vector(self, where: Where) -> list[str]:
        """Return how gather or scatter first computes a vector of v alone, for values at its edges."""
        if not self.has("numpy") or "v" not in where.roles or self.odds(0.5):
            return []
        value = self.value("float", replace(V, changing=False, lists=where.lists))
        self.extra = {**self.extra, "float": ["near[v.degree % 8]", "near[-1]"]}
        return [f"near = np.cumsum(np.ones(8) * ({value})) % 16.0"]

    driven = False

    # ---- apply and scatter ---------------------------------------------------------------------------

    def apply(self) -> list[str]:
        takes, body = "", []
        where = replace(self.now, draws=not self.fixed)
        if self.gathers:
            takes += ", total"
        if self.message is not None and not self.has("init with a message"):
            takes += f", message: {self.message.text}"
        if self.totals is not None:
            body += self.totals.copied("total")
        if self.cached:
            body.append(f"v._was = {posting.cached_of(self, 'v')}")
        body += self.fault("apply", stores=True)
        if self.fixed:
            body += ["fell = v.low"]
            if self.totals is not None and (self.driven or posting.posts(self)):
                body += self.totals.fall("total") if not posting.posts(self) else ["fell = min(fell, 45)"]
            if self.message is not None and not self.has("init with a message"):
                body += self.message.fall("message") if self.message.drives else []
            body += ["v._fell = fell < v.low", "v.low = fell", "v._turns = min(v._turns + 1, 2)"]
            body += self.totals.taken("total") if self.totals is not None else []
        else:
            body += self.totals.taken("total") if self.totals is not None else []
            if self.message is not None and not self.has("init with a message"):
                body += self.message.taken("message")
            body += self.takes_additive()
        if self.has("return early") and not self.fixed:
            body += [
                f"if {self.value('bool', where)}:",
                *self.indented([*self.store("int", where), "return"]),
            ]
        if self.has("lookup"):
            n = f"v.{self.names['int']}"
            body += ["if v.beyond != gl.NOBODY and v.theirs != 2:", f"    {n} = ({n} + v.theirs + 1) % 101"]
        body += self.statements(where)
        again = [f for f in ("v.signal in apply", "signal by id in apply") if self.has(f)]
        for feature in again:
            test = "v._turns == 1" if self.fixed else self.value("bool", replace(where, draws=False))
            body += [f"if {test}:", f"    {self.signal(self.named(feature), 'v')}"]
        return self.method(f"apply(self, v{takes})", None, body)

    def named(self, feature: str) -> str:
        if not feature.startswith("signal by id"):
            return "v.signal"
        options = ["v.id"] + ["self.source"] * self.has("id parameter")
        options += ["min(v.least, v.id)"] * self.has("id field")
        return f"self.signal|{self.one(options)}"

    def signal(self, what: str, near: str, bare: bool = False) -> str:
        """Return a call by which *near* signals."""
        word, _, target = what.partition("|")
        given = [target] if target else []
        draws = not self.fixed and (near == "v" or self.has("draw in scatter"))
        where = replace(self.quiet_edges if near == "nbr" else self.now, draws=draws)
        if self.message is not None and not bare:
            if self.fixed:
                c = self.value("int", replace(where, changing=False))
                given.append(
                    self.message.drive("v", c) if self.message.drives else self.message.given(where, 1)
                )
            elif near == "v" and self.passes_on() and self.odds(0.5):
                given.append("total")
            else:
                given.append(self.message.given(where, 1))
        if self.has("priority"):
            few, many = (
                f"abs({self.value('int', where, 1)}) % 4",
                f"(abs({self.value('int', where, 1)}) * 37) % 120",
            )
            wide = "e.weight * 15.0" if near == "nbr" and self.has("edge column") else many
            given.append(f"priority={self.one([few, many, wide])}")
        return f"{word}({', '.join(given)})"

    def passes_on(self) -> bool:
        """Return whether apply may send its total as it is: a pair of the message's kinds."""
        both = [one for one in (self.totals, self.message) if one and one.op in ("ArgMin", "ArgMax")]
        return len(both) == 2 and both[0].kinds == both[1].kinds

    def both_ends(self) -> bool:
        return self.has("undirected") or self.ways["scatter"] in ("gl.ALL", "method")

    def scatter(self) -> list[str]:
        where = replace(self.quiet_edges, draws=False)
        near = self.near_vector(where)
        body = self.fault("scatter")
        if self.has("edge written"):
            low = "v.low" if self.fixed else f"({self.value('int', V, 1)}) % 101"
            line = f"e.seen = {low}"
            lines = [line]
            if self.has("draw in scatter") and not self.fixed and self.odds(0.5):  # weighed against a field
                lines = [f"chosen = {low}", "if gl.uniform() * 2.0 < v.n % 3:", "    e.seen = chosen"]
            body += ["if e.forward:", *(f"    {line}" for line in lines)] if self.both_ends() else lines
        body += self.additive(replace(where, changing=False))
        if self.cached:
            body += posting.in_scatter(self)
        test = self.value("bool", where)
        if "int" in self.kept and self.odds(0.5):
            test = f"(nbr.kept[0] % 3 == v.kept[1] % 2 or {test})"
        if self.has("draw in scatter"):
            body += ["toss = " + self.draw("bool"), f"wish = {test}"]  # which may need a loop of its own
            test = "toss and wish"
        if self.fixed:
            test = "v._fell or v._turns == 1" if self.has("apply") else "v._turns == 1"  # or for ever
        body += [f"if {test}:", f"    {self.signal('nbr.signal', 'nbr')}"]
        if self.has("signal without a message") and self.message is not None:
            again = "v._turns == 1" if self.fixed else self.value("bool", where, 1)
            body += [f"elif {again}:", "    nbr.signal()"]
        for feature in ("v.signal in scatter", "signal by id in scatter"):
            if self.has(feature):
                again = "v._turns == 1" if self.fixed else self.value("bool", where, 1)
                body += [f"if {again}:", f"    {self.signal(self.named(feature), 'nbr')}"]
        self.extra = {}
        return self.method("scatter(self, v, e, nbr)", None, [*near, *body])


def drawn_program(draws: random.Random, features: Collection[str]) -> str:
    """Return the text of a module with the program P, which has *features*."""
    return ast.unparse(ast.parse(Program(draws, features).text())) + "\n"
