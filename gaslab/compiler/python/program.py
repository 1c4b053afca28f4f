"""A whole program as Python text, made into functions: its methods, helpers and combiners."""

from __future__ import annotations

import functools
import re
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.python import distributions, keyed, lists, numerics, records, solvers
from gaslab.compiler.python.body import Body
from gaslab.compiler.python.names import narrowed
from gaslab.compiler.python.statements import text_of
from gaslab.compiler.tree.depth import too_deep


def namespace(tree: t.Tree) -> dict[str, Any]:
    """Return the callable functions of `python_text`, by name; ProgramError if the tree is too deep."""
    try:
        text = python_text(tree)
        code = compile(text, f"<interpreted {tree.name}>", "exec")
    except (RecursionError, MemoryError):
        raise too_deep(tree) from None
    except SyntaxError as error:
        if not (error.msg or "").startswith("too many"):  # of nested parentheses, levels, blocks
            raise
        raise too_deep(tree) from None
    words = vars(numerics) | vars(solvers) | vars(distributions)
    names = {name: value for name, value in words.items() if not name.startswith("_")}
    for name in set(re.findall(r"\bmath_(\w+)", text)):
        names[f"math_{name}"] = numerics.math_function(name)
    names |= {f"list_{word}": function for word, function in lists.WORDS.items()}
    names |= {f"total_{word}": function for word, function in keyed.KEYED_WORDS.items()}
    names |= {
        "block": [None],
        "shared": [None, []],
        "no_record": functools.partial(records.empty, tree.own or t.RecordCombiner(t.OWN, "record")),
    }
    names |= {"inf": float("inf"), "nan": float("nan")}
    exec(code, names)
    if isinstance(tree.gather, t.KeyedCombiner):
        names["add_by_key"] = keyed.adder(tree.gather, names["combine_total"])
    return names


def python_text(tree: t.Tree) -> str:
    """Return the program's methods, helpers and combiners as Python text."""
    texts = [_combiner(tree, "total", tree.gather, tree.functions.get("gather"))]
    texts.append(_combiner(tree, "message", tree.message, tree.functions.get("scatter")))
    for k, helper in enumerate(tree.helpers):
        scalars = "".join(f", l_{p.name}" for p in helper.parameters)
        texts.append(text_of(Body(tree, helper), f"def helper{k}(c{scalars}):"))
    for name, function in tree.functions.items():
        edge = ", x, e" if name in ("visit", "gather", "scatter") else ""
        adds = isinstance(tree.gather, t.RecordCombiner | t.KeyedCombiner)
        edge += ", t" if name == "gather" and adds else ""
        scalars = "".join(f", l_{p.name}" for p in function.parameters)
        near = "" if name == "visit" else "v"
        texts.append(text_of(Body(tree, function, near), f"def do_{name}(c, n, v{edge}{scalars}):"))
    if tree.merge is not None:
        texts.append(text_of(Body(tree, tree.merge), "def do_merge(c, n, v, l_a, l_b):"))
    for k, a in enumerate(tree.aggregators):
        into = ", t" * isinstance(a.combiner, t.RecordCombiner)
        near, edge = ("nbr", ", x, e") if a.over_edges else ("v", "")
        texts.append(text_of(Body(tree, a.function, near), f"def aggregator{k}(c, n, v{edge}{into}):"))
        texts.append(_combiner(tree, f"aggregate{k}", a.combiner, a.function))
    for k in tree.contributed_edges():
        both = tree.edge_fields[k].added.python("a", "b")
        texts.append(f"def combine_edge{k}(a, b):\n    return {both}\n")
    return "\n".join(texts)


# ---- combiners -------------------------------------------------------------------------------------


def _combiner(tree: t.Tree, name: str, combiner: t.Combiner | None, function: t.Function | None) -> str:
    if isinstance(combiner, t.KeyedCombiner):
        both = t.Combiner("sum", combiner.storage).python("a", "b")
        both = narrowed(combiner.storage, both, function.site if function else 0)
        return f"def combine_{name}(a, b):\n    return {both}\n"
    if combiner is None or combiner.collects:
        return f"combine_{name} = None\n"
    if isinstance(combiner, t.RecordCombiner) and combiner.own:
        head = f"def combine_{name}(a, b):\n"
        return f"{head}    return do_merge(block[0], None, 0, a, b)\n\nnarrow_{name} = None\n"
    if isinstance(combiner, t.RecordCombiner):
        lines = "".join(_part_combiner(k, part) for k, part in enumerate(combiner.parts))
        return f"def combine_{name}(a, b):\n{lines}    return a\n\nnarrow_{name} = None\n"
    both = combiner.python("a", "b")
    if combiner.storage == tree.precision == "float32":
        both = f"float32({both})"
    narrow = narrowed(combiner.storage, both if name == "message" else "x", function.site if function else 0)
    if name == "message":
        return f"def combine_message(a, b):\n    return {narrow}\n"
    return f"def combine_{name}(a, b):\n    return {both}\n\ndef narrow_{name}(x):\n    return {narrow}\n"


def _part_combiner(k: int, part: t.Part) -> str:
    if part.combiner.is_key:
        earlier = f"earlier_{part.combiner.op}((b[{k}], b[{k + 1}]), (a[{k}], a[{k + 1}]))"
        return f"    a[{k}], a[{k + 1}] = {earlier}\n"
    if part.combiner.op == t.PAYLOAD:
        return ""
    both = part.combiner.python("x", "y")
    one = narrowed(part.combiner.storage, both, 0)
    if part.shape:
        return f"    a[{k}] = [{one} for x, y in zip(a[{k}], b[{k}])]\n"
    return f"    x, y = a[{k}], b[{k}]\n    a[{k}] = {one}\n"
