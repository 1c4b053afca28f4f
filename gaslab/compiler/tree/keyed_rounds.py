"""The rounds of a loop over a total's items, and whether their order matters.

What a round computes from its key, its sum and values that the loop does not change is the same in any order.
What it keeps is the same, to the bit, if rounds only

- combine ints or bools: ``n += value``, ``odd = odd or value % 2 == 1``, ``n = min(n, key)``;
- assign a value that is the same in all rounds: ``found = True``, also before a ``break``;
- choose: ``if value > most: best, most = key, value``. Of equal values the first key wins, and for ``>=`` the
  last: on equal values, a loop in any order also compares the keys.

At most one place may fault, and it does so in any order or in none. All else needs the order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from gaslab.compiler.tree.declared import INTEGER_RANGE, KeyedCombiner, Type, is_list
from gaslab.compiler.tree.expressions import (
    Binary,
    Bound,
    Call,
    CallHelper,
    Categorical,
    Compare,
    Conditional,
    Const,
    Draw,
    Expr,
    KeyedWord,
    Let,
    Local,
    Logical,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.harmless import faults
from gaslab.compiler.tree.program import Function, Tree
from gaslab.compiler.tree.statements import Assign, Break, Continue, If, KeyedLoop, Return, Stmt, statements

Place = Local | VertexField
_COMBINES = {"+": "sum", "-": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LEAST = {"int": INTEGER_RANGE["int64"][0], "bool": False, "id": 0}  # no key is smaller


def reads(x: Any) -> Counter[str]:
    """Count the locals in *x* by name, except assigned ones."""
    found = Counter(node.name for node in nodes(x) if isinstance(node, Local))
    found -= Counter(
        node.target.name for node in nodes(x) if isinstance(node, Assign) and isinstance(node.target, Local)
    )
    return found


def _is_number(place: Place) -> bool:
    return isinstance(place.type, str) and not is_list(place.type)


@dataclass
class Rounds:
    """Whether the rounds of *loop* need their order: `ordered`, set by `result`, the loop without it."""

    tree: Tree
    function: Function
    loop: KeyedLoop
    lasting: set[str]  # locals that a later round or a statement after the loop may read
    locals: dict[str, Type]  # of the function; more are added
    ordered: bool = False
    faults: int = 0
    ends: int = 0  # statements that end the loop
    before: list[Stmt] = field(default_factory=list)  # of the new loop
    kinds: dict[Place, object] = field(default_factory=dict)  # how a place combines the rounds' values

    def __post_init__(self) -> None:
        targets = [s.target for s in statements(self.loop.body) if isinstance(s, Assign)]
        self.writes = Counter(x for x in targets if isinstance(x, Place))
        self.kept = {x for x in self.writes if isinstance(x, VertexField) or x.name in self.lasting}
        self.meaning = {
            s.target: s.value
            for s in statements(self.loop.body)
            if isinstance(s, Assign) and isinstance(s.target, Place) and s.target not in self.kept
            if self.writes[s.target] == 1
        }
        assert isinstance(self.tree.gather, KeyedCombiner)
        self.combiner = self.tree.gather

    def result(self) -> tuple[Stmt, ...]:
        body = self.block(self.loop.body)
        self.ordered |= self.faults > 1 or (self.ends > 0 and (self.ends > 1 or self.faults > 0))
        return (*self.before, replace(self.loop, body=body, ascending=False))

    def in_order(self, s: Stmt) -> Stmt:
        self.ordered = True
        return s

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(self.statement(s, body) for s in body)

    def statement(self, s: Stmt, around: tuple[Stmt, ...]) -> Stmt:
        if isinstance(s, If) and self.is_free(s.test):
            self.faults += faults(self.tree, s.test)
            return replace(s, body=self.block(s.body), otherwise=self.block(s.otherwise))
        if isinstance(s, If):
            return self.choice(s)
        if isinstance(s, Assign) and isinstance(s.target, Place) and _is_number(s.target):
            if (either := self.as_choice(s)) is not None:
                return self.statement(either, around)
            self.faults += faults(self.tree, s.value)
            if s.target not in self.kept:
                return s if self.is_free(s.value) else self.in_order(s)
            return s if self.combines(s.target, s.value) else self.in_order(s)
        if isinstance(s, Break) or (isinstance(s, Return) and s.value is None):
            self.ends += 1
            here = [x.target for x in around if isinstance(x, Assign)]
            same = [x for x in self.kept if isinstance(self.kinds.get(x), Const) and x in here]
            alone = len(same) == len(self.kept) and all(self.writes[x] == 1 for x in same)
            return s if alone else self.in_order(s)
        return s if isinstance(s, Continue) else self.in_order(s)

    # ---- expressions

    def is_free(self, x: Any) -> bool:
        """Return whether the value of *x* does not depend on earlier rounds."""
        for node in nodes(x):
            if isinstance(node, Draw | Categorical) or (isinstance(node, Place) and node in self.kept):
                return False
            if isinstance(node, CallHelper) and self.draws(node):
                return False
        return True

    def draws(self, call: CallHelper) -> bool:
        """Return whether a helper draws, or one that it calls."""
        inner = list(nodes(self.tree.helpers[call.index].body))
        return any(isinstance(x, Draw | Categorical) for x in inner) or any(
            self.draws(x) for x in inner if isinstance(x, CallHelper)
        )

    def is_same(self, x: Any) -> bool:
        """Return whether the value of *x* is the same in all rounds."""
        changing = {place.name for place in self.writes if isinstance(place, Local)} | {self.loop.target.name}
        return self.is_free(x) and not changing & reads(x).keys()

    def resolved(self, x: Expr) -> Expr:
        """Return *x* with locals of the round that are assigned once replaced by their values."""
        while isinstance(x, Local) and x in self.meaning:
            of = self.meaning[x]
            if any(self.writes[y] > 1 for y in nodes(of) if isinstance(y, Local)):
                break
            x = of
        return x

    def fits(self, target: Place, value: Expr) -> bool:
        """Return whether a store of *value* cannot fault."""
        storage, x = self.tree.storage_of(target), self.resolved(value)
        if storage not in INTEGER_RANGE or storage == "int64" or isinstance(target, Local):
            return True
        if isinstance(x, Call) and x.function in ("min", "max"):
            return all(self.fits(target, y) for y in x.arguments)
        low, high = INTEGER_RANGE["int64"]
        if isinstance(x, Const):
            low = high = int(x.value)
        elif isinstance(x, VertexField):
            low, high = INTEGER_RANGE.get(self.tree.storage_of(x), (low, high))
        elif isinstance(x, KeyedWord) and x.function in ("key", "value", "at"):
            of = self.combiner.key if x.function == "key" else self.combiner.storage
            low, high = INTEGER_RANGE.get(of, (low, high))
        return INTEGER_RANGE[storage][0] <= low and high <= INTEGER_RANGE[storage][1]

    # ---- what combines

    def combines(self, target: Place, x: Expr) -> bool:
        """Return whether ``target = x`` gives the same result in any order of the rounds."""
        kind: object = x if self.is_same(x) else self.operation(target, x)
        if kind is None or self.kinds.setdefault(target, kind) != kind:
            return False
        if kind is x and x.type == "float" and self.writes[target] > 1:  # 0.0 == -0.0
            return False
        if self.fits(target, x):
            return True
        self.faults += 1  # a sum of one constant, or a value not added up, faults in all orders or in none
        steady = isinstance(x, Binary) and x.left == target and isinstance(x.right, Const) and kind == "sum"
        return steady or kind in ("min", "max") or kind is x

    def operation(self, target: Place, x: Expr) -> str | None:
        """Return how *x* combines *target* with the round's value; None if it may depend on the order."""
        if isinstance(x, Binary) and x.type in ("int", "bool") and x.op in _COMBINES:
            kind = _COMBINES[x.op]
            sides = [(x.left, x.right)] if x.op == "-" else [(x.left, x.right), (x.right, x.left)]
            for inner, value in sides:
                if self.is_free(value) and (inner == target or self.operation(target, inner) == kind):
                    return kind
        if isinstance(x, Call) and x.function in ("min", "max") and x.type != "float":
            return x.function if self.is_one_of(target, x.arguments) else None
        if isinstance(x, Logical) and self.is_one_of(target, x.operands):
            return None if faults(self.tree, x) else f"{x.op} of tests"
        return None

    def is_one_of(self, target: Place, given: tuple[Expr, ...]) -> bool:
        """Return whether *given* are the target and the round's values."""
        return given.count(target) == 1 and all(x == target or self.is_free(x) for x in given)

    # ---- choices

    def as_choice(self, s: Assign) -> If | None:
        """Return ``most = max(most, x)`` of floats, or ``most = x if x > most else most``, as an If."""
        x, target = s.value, s.target
        if target not in self.kept:
            return None
        if isinstance(x, Conditional) and x.otherwise == target:
            return If(x.test, (replace(s, value=x.then),), (), s.site)
        if isinstance(x, Call) and x.function in ("min", "max") and x.type == "float":
            first, *rest = x.arguments
            if first == target and len(rest) == 1:
                sign = ">" if x.function == "max" else "<"
                return If(Compare(sign, rest[0], first), (replace(s, value=rest[0]),), (), s.site)
        return None

    def choice(self, s: If) -> Stmt:
        """Return ``if x > best: best, other = x, y`` with a comparison of the keys if x == best."""
        tests = s.test.operands if isinstance(s.test, Logical) and s.test.op == "and" else (s.test,)
        at = [k for k, x in enumerate(tests) if not self.is_free(x)]
        given = {inner.target: inner.value for inner in s.body if isinstance(inner, Assign)}
        if len(at) != 1 or len(given) < len(s.body) or s.otherwise or faults(self.tree, s):
            return self.in_order(s)
        ties = self.ties(tests[at[0]], given)
        found = self.compared(tests[at[0]] if ties is None else ties)
        if found is None or found[0] not in given:
            return self.in_order(s)
        best, _, x = found
        for target, y in given.items():
            if not isinstance(target, Place) or not _is_number(target) or self.writes[target] > 1:
                return self.in_order(s)
            if not self.is_free(y) or (target == best and self.resolved(y) != self.resolved(x)):
                return self.in_order(s)
            if target != best and not self.fits(target, y):
                return self.in_order(s)
        self.faults += not self.fits(best, given[best])  # if the overall best does not fit
        return s if ties is not None else self.tied(s, tests, at[0], found)

    def ties(self, test: Expr, given: dict[Any, Expr]) -> Compare | None:
        """Return the ``x > best`` in ``x > best or (x == best and key < other)``, which breaks ties itself.

        The round's key must be assigned to *other*.
        """
        parts = test.operands if isinstance(test, Logical) and test.op == "or" else ()
        more, both = parts if len(parts) == 2 else (None, None)
        if not isinstance(more, Compare) or more.op not in "<>" or not isinstance(both, Logical):
            return None
        equal, smaller = both.operands if both.op == "and" and len(both.operands) == 2 else (None, None)
        of_keys = None if smaller is None else self.compared(smaller)
        if of_keys is None or not isinstance(equal, Compare) or equal.op != "==":
            return None
        same = (equal.left, equal.right) in ((more.left, more.right), (more.right, more.left))
        other, _, key = of_keys
        return more if same and other in given and self.is_key(key) and self.is_key(given[other]) else None

    def is_key(self, x: Expr) -> bool:
        """Return whether *x* is the round's key."""
        x = self.resolved(x)
        return isinstance(x, KeyedWord) and x.function == "key"

    def tied(self, s: If, tests: tuple[Expr, ...], at: int, found: tuple[Place, str, Expr]) -> Stmt:
        """Return the choice of the best *found* in test *at*, with ties broken by the key."""
        best, sign, x = found
        assert isinstance(best.type, str)
        kind = self.combiner.key_type
        key, won = KeyedWord("key", (self.loop.target,), kind), self.new_local("_won", kind)
        self.before.append(Assign(won, Const(_LEAST[kind], kind), s.site))
        value: Local | Bound = x if isinstance(x, Local) else Bound(self.new_number(), best.type)
        tie = Compare("<" if sign in "<>" else ">=", key, won)
        either = Logical("or", (Compare(sign[0], value, best), tie))  # few rounds get here
        better: Expr = Logical("and", (Compare(f"{sign[0]}=", value, best), either))
        if isinstance(value, Bound):
            better = Let(value.number, x, better, "bool")
        changed = (*tests[:at], better, *tests[at + 1 :])
        test = Logical("and", changed) if len(changed) > 1 else better
        return replace(s, test=test, body=(*s.body, Assign(won, key, s.site)))

    def compared(self, x: Expr) -> tuple[Place, str, Expr] | None:
        """Return the place compared in ``x > best`` or another comparison, its sign, and the value."""
        if not isinstance(x, Compare) or x.op not in _TURNED:
            return None
        for best, sign, value in ((x.right, x.op, x.left), (x.left, _TURNED[x.op], x.right)):
            if isinstance(best, Place) and best in self.kept and self.is_free(value):
                lossy = best.type == "float" and self.tree.storage_of(best) not in (
                    "float64",
                    self.tree.precision,
                )
                return None if lossy else (best, sign, value)
        return None

    def new_local(self, stem: str, kind: str) -> Local:
        name, k = stem, 0
        while name in self.locals:
            k += 1
            name = f"{stem}_{k}"
        self.locals[name] = kind
        return Local(name, kind)

    def new_number(self) -> int:
        """Return an unused `Let` number of the function."""
        most = max((x.number for x in nodes(self.function.body) if isinstance(x, Let)), default=0)
        return most + len(self.before)
