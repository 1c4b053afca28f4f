"""A function as a whole: the types of its locals settled, then its tree."""

from __future__ import annotations

from gaslab.compiler.depth import TOO_DEEP, deepest
from gaslab.compiler.parse.statements import Statements
from gaslab.compiler.tree import PAIR, RECORD, Assign, Function, Local, Stmt, Type


class Body(Statements):
    """One function, from `settle_types` to `build`.

    A local has one type, which holds all values it is given (int and float make float). The body is
    walked anew until no type widens any more; one more walk makes the tree.
    """

    @property
    def result(self) -> Type | None:
        """The type of what the function returns, None if it returns nothing."""
        return self.returns

    def settle_types(self) -> None:
        """Find the types of all locals; raises for what is outside the language."""
        self.types = dict(self.parameters)
        self.unsettled = True
        while self.unsettled:
            self.unsettled = False
            self.walk()

    def build(self) -> Function:
        """Return the function as a tree; its types are settled."""
        self.final = True
        canonical = {name: self.canonical(name) for name in self.parameters}
        self.written = self.names_in_tree(canonical)
        body = self.walk()
        parameters = [(canonical[name], kind) for name, kind in self.parameters.items()]
        parameters += [(local.name, local.type) for local in self.hidden.values()]
        at = self.site(self.source.node)
        widened = [
            Assign(self.local(name), self.widened(Local(canonical[name], kind), self.types[name]), at)
            for name, kind in self.parameters.items()
            if self.types[name] != kind
        ]
        return Function(
            name=self.name,
            parameters=tuple(parameters),
            returns=None if self.result in (RECORD, PAIR) else self.result,
            locals={**dict(parameters), **{self.written[name]: kind for name, kind in self.types.items()}},
            body=(*widened, *body),
            reads=frozenset(self.reads),
            writes=frozenset(self.writes),
            site=at,
        )

    def walk(self) -> tuple[Stmt, ...]:
        """Return the tree of the body with the types known so far."""
        self.assigned = set(self.parameters)
        self.breaks = []
        self.made = set()
        self.stand_ins = {}
        self.bound = 0
        self.pending = []
        self.drawn = 0
        try:
            body = self.block(self.source.node.body)
        except RecursionError:  # a chain of helpers comes here too, at one that has room to raise
            raise self.error(deepest(self.source.node), TOO_DEEP) from None
        if self.assigned is not None and (self.returns is not None or self.is_helper):
            name = self.source.node.name
            raise self.error(self.source.node, f"{name} may end without a value; return one on every path")
        return body

    def canonical(self, name: str) -> str:
        """Return what the tree calls parameter *name*."""
        return ascii_name(name)

    def names_in_tree(self, canonical: dict[str, str]) -> dict[str, str]:
        """Return the name in the tree of each local: ASCII, distinct, and no parameter's.

        A parameter that is also assigned a wider type has a local of its own beside it.
        """
        used = {*canonical.values(), *(local.name for local in self.hidden.values())}
        written = {}
        for name, kind in self.types.items():
            if self.parameters.get(name) == kind:
                written[name] = canonical[name]
                continue
            stem = ascii_name(name)
            new, k = stem, 0
            while new in used:
                k += 1
                new = f"{stem}_{k}"
            used.add(new)
            written[name] = new
        return written


def ascii_name(name: str) -> str:
    """Return an identifier with other letters than ASCII's written as their numbers."""
    return "".join(c if c.isascii() else f"_{ord(c):x}" for c in name)
