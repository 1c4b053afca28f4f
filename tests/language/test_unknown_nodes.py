"""What a backend has no case for is an internal error that names it, never taken for the last kind."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pytest

from gaslab.compiler import tree as t
from gaslab.compiler.c import body as c_body
from gaslab.compiler.c import expressions as c_expressions
from gaslab.compiler.c import statements as c_statements
from gaslab.compiler.c.names import narrowed
from gaslab.compiler.python import body as python_body
from gaslab.compiler.python import expressions as python_expressions
from gaslab.compiler.python import statements as python_statements
from gaslab.engine import storage
from gaslab.errors import InternalError
from gaslab.reference.arithmetic import narrow
from gaslab.reference.combiners import Combiner
from gaslab.reference.distributions import drawn
from gaslab.replication.message import Message, positions_at
from tests.support import hand_trees as h
from tests.support.hand_trees import F, I, const


@dataclass(frozen=True)
class Strange:
    """A node that came later; as a statement and as an expression."""

    site: int = 0
    type: str = F


LIST = t.VertexField("v", 0, "list:int64")
MATRIX, RIGHT = t.Local("m", t.Array(F, (2, 2))), t.Local("b", t.Array(F, (2,)))
STATEMENTS: dict[str, Any] = {
    "a statement": Strange(),
    "a target": t.Assign(Strange(), const(1.0), 0),  # type: ignore[arg-type]
    "a way to solve": t.Solve("qr", MATRIX, RIGHT, 0),
    "the end of a signal": t.Signal(None, 0, target="both"),
    "a storage": t.Assign(t.VertexField("v", 1, F), const(1.0), 0),
}
EXPRESSIONS: dict[str, Any] = {
    "an expression": Strange(),
    "a function": t.Call("median", (const(1.0),), F),
    "a function of math": t.Call("math.comb", (const(1.0),), F),
    "a reduction": t.Reduce("median", "k", 3, const(1.0), F),
    "a draw": t.Draw("cauchy", (const(1.0),), F),
    "a word on lists": t.ListWord("median", (LIST,), I),
}


def backend(name: str, body: list[Any]) -> None:
    apply = h.function("apply", body)
    tree = h.program([apply], vertex=(h.variable("x", "list:int64"), h.variable("y", "float16")))
    if name == "emit":
        c_statements.text_of(c_body.Body(tree, apply))
    else:
        python_statements.text_of(python_body.Body(tree, apply), "def do_apply(c, n, v):")


@pytest.mark.parametrize("name", ["emit", "interpret"])
@pytest.mark.parametrize("what", STATEMENTS)
def test_an_unknown_statement_is_named(name: str, what: str) -> None:
    with pytest.raises(InternalError, match=f"^{name} does not know .*; this is a fault of gaslab"):
        backend(name, [STATEMENTS[what]])


@pytest.mark.parametrize("name", ["emit", "interpret"])
@pytest.mark.parametrize("what", EXPRESSIONS)
def test_an_unknown_expression_is_named(name: str, what: str) -> None:
    with pytest.raises(InternalError, match=f"^{name} does not know .*(Strange|median|math.comb|cauchy)"):
        backend(name, [t.Assign(t.Local("k", F), EXPRESSIONS[what], 0)])


def test_every_kind_of_node_has_a_case_in_both_backends() -> None:
    """A new kind must not wait for a program that has it."""
    for kinds, functions in (
        (get_args(t.Stmt), (c_statements.write, python_statements.write)),
        (get_args(t.Expr), (c_expressions.plain_expr, python_expressions.plain_expr)),
    ):
        for function in functions:
            text = inspect.getsource(function)
            assert [kind.__name__ for kind in kinds if f"t.{kind.__name__})" not in text] == []


@pytest.mark.parametrize(
    "of", [lambda c: c.identity, storage.identity, lambda c: c.c("a", "b"), lambda c: c.python("a", "b")]
)
def test_an_unknown_combiner_is_named(of: Any) -> None:
    with pytest.raises(InternalError, match="does not know Combiner"):
        of(t.Combiner("median", "int64"))


def test_the_reference_names_what_it_does_not_know() -> None:
    with pytest.raises(InternalError, match=r"the reference does not know .*median"):
        Combiner("median", "int64").add(1, 2)
    with pytest.raises(InternalError, match=r"the reference does not know .*median"):
        Combiner("median", "int64").identity  # noqa: B018
    with pytest.raises(InternalError, match="the reference does not know 'float16'"):
        narrow("float16", 1)
    with pytest.raises(InternalError, match="the reference does not know 'cauchy'"):
        drawn("cauchy", (1.0,), lambda used: (1, 2))


def test_an_unknown_storage_is_named() -> None:
    with pytest.raises(InternalError, match="emit does not know 'float16'"):
        narrowed("float16", "x", 0)


def test_an_unknown_code_in_a_message_is_named() -> None:
    for count in (None, np.array([1], np.int32), np.arange(40, dtype=np.int32)):
        message = Message()
        message.add_positions(count, 1000)
        data = message.bytes
        positions_at(data, 0, 0, 1000)
        data[:8].view(np.int64)[0] = 77
        with pytest.raises(InternalError, match="does not know 77"):
            positions_at(data, 0, 0, 1000)
