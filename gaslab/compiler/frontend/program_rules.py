"""Rules for a program as a whole: declarations that need each other, and likely misspellings."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from typing import Any

from gaslab import program
from gaslab.arguments import shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.declare import PHASES, Declared
from gaslab.compiler.frontend.live import check_live
from gaslab.compiler.frontend.method import entities_of
from gaslab.compiler.frontend.names import GLOBALS
from gaslab.compiler.frontend.source import class_source, declaring_source
from gaslab.compiler.tree.edge_ends import READ, WRITTEN, conflict
from gaslab.errors import nearest
from gaslab.language.phases import DIRECTIONS
from gaslab.language.visit_ways import MOST as MAX_WAYS


def check_declared(declared: Declared) -> None:
    """Raise for missing, useless or misspelt methods, before their bodies are read."""
    _check_nested(declared)
    _check_spelling(declared)
    functions = declared.functions
    if "signal" in functions:
        raise declared.error("signal", "self.signal is a word of the language; choose another name")
    if not declared.aggregators and not any(phase in functions for phase in PHASES):
        raise class_source(declared.cls).error(
            None, f"{declared.cls.__name__} has no methods; write gather and apply"
        )
    if "gather" in functions and "apply" not in functions:
        text = "gather needs an apply to take its total; write def apply(self, v, total)"
        raise declared.error("gather", text)
    if "init_message" in functions and "apply" not in functions:
        text = "init needs an apply to run after it; write def apply(self, v)"
        raise declared.error("init_message", text)
    for name in DIRECTIONS:
        what = name.removesuffix("_edges")
        if name in functions and what not in functions:
            raise declared.error(name, f"{name} has no effect without a {what}; write one, or remove it")
    if "start" in functions and "active" in functions:
        raise declared.error("start", "start has no effect with active; keep one of them")
    if "visit" in functions:
        _check_visit(declared)
    for name, mark in declared.marks.items():
        if mark.live:
            check_live(declared, name)
        if isinstance(mark.every, str) and mark.every not in declared.whole:
            near = nearest(mark.every, declared.whole)
            raise declared.error(name, f"every={mark.every!r} is not an int parameter of the program{near}")
        if mark.finalizer is not None and gives_id(declared.aggregators[name]):
            raise declared.error(name, f"{name} gives a vertex id, which cannot have a finaliser; remove it")
    if "done" in functions:
        check_done(declared)


def gives_id(combiner: t.Combiner) -> bool:
    parts = combiner.parts if isinstance(combiner, t.RecordCombiner) and combiner.is_pair else ()
    return combiner.type == "id" or any(part.combiner.type == "id" for part in parts)


def _check_visit(declared: Declared) -> None:
    """Raise for methods that choose vertices next to visit, which takes every edge, and for bad ways."""
    for name in ("start", "active", "scatter"):
        if name in declared.functions:
            why = "has no effect with visit, which runs on every edge in every superstep"
            raise declared.error(name, f"{name} {why}; remove {name}")
    cls: Any = declared.cls
    ways = cls.visit_ways
    known = ways in declared.whole if isinstance(ways, str) else type(ways) is int and 1 <= ways <= MAX_WAYS
    if ways is not None and not known:
        text = f"visit_ways is {shown(ways)}; write an int from 1 to {MAX_WAYS}, or an int parameter's name"
        raise declaring_source(cls, "visit_ways").error_at_value("visit_ways", text)


def check_messages(phases: Sequence[Declared], trees: Sequence[t.Tree]) -> None:
    """Raise for a message that apply takes but no method sends, in its phase or one of the same kind."""
    for declared, tree in zip(phases, trees, strict=True):
        alike = (other for other in trees if t.same_kind(other.message, tree.message))
        if declared.message is None or any(signal.sends for other in alike for signal in other.signals()):
            continue
        source = declared.source("init_message" if "init_message" in declared.functions else "apply")
        text = "nothing sends messages; write nbr.signal(...) in scatter"
        if "scatter" in tree.functions:
            text = "scatter sends no message; write nbr.signal(...) with a value"
        raise source.error(source.arguments[-1], text)


def check_tree(declared: Declared, tree: t.Tree) -> None:
    """Raise for errors of a phase as a whole, such as a phase without an end."""
    if declared.scatter_edges == program.ALL:
        _check_ends(declared, tree)
    _check_lookups(declared, tree)
    if declared.endless is not None and not tree.by_signal:
        raise declared.endless


def _check_lookups(declared: Declared, tree: t.Tree) -> None:
    """Raise if a method other than apply reads a looked-up field: it has no value there."""
    names = [field.name for field in tree.vertex_fields if field.lookup]
    looked_up = {f"{role}.{name}" for role in ("v", "nbr") for name in names}
    others = {name: f for name, f in tree.functions.items() if name != "apply"}
    for name, function in {**others, **{a.name: a.function for a in tree.aggregators}}.items():
        for read in sorted(looked_up & function.reads):
            raise declared.error(name, f"{read} is looked up only for apply; copy it into a field there")


def _check_ends(declared: Declared, tree: t.Tree) -> None:
    """Raise for an edge field that both ends of an edge write, or that one writes and the other reads."""
    found = conflict(tree)
    if found is None:
        return
    (index, how), source = found, declared.source("scatter")
    name, edge = tree.edge_fields[index].name, source.arguments[2].arg
    context = ast.Store if how == WRITTEN else ast.Load
    for node in ast.walk(source.node):
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, context):
            break
    else:
        node = source.node  # read in a helper
    text = f"with gl.ALL both ends would write this; write it under `if {edge}.forward:`"
    if how == READ:
        text = f"the other end may be writing {edge}.{name}; read it where it is written"
    raise source.file.error(node, text, at_attribute=True)


def _check_nested(declared: Declared) -> None:
    """Raise for a class based on gl.Vertex that is not called Vertex; likewise Edge."""
    for base in declared.cls.__mro__:
        for name, value in vars(base).items():
            for kind in (program.Vertex, program.Edge):
                if isinstance(value, type) and issubclass(value, kind) and name != kind.__name__:
                    word = kind.__name__
                    text = f"{name} is based on gl.{word} but not called {word}"
                    raise class_source(base).error_at(name, f"{text}; write class {word}(gl.{word}):")


def _check_spelling(declared: Declared) -> None:
    """Raise for an uncalled method whose name is almost a phase's."""
    called = {name for function in declared.functions.values() for name in function.__code__.co_names}
    for name in declared.functions:
        if name in PHASES or name in declared.aggregators or name in called:
            continue
        close = difflib.get_close_matches(name, PHASES, n=1, cutoff=0.75)
        if close and close[0] not in declared.functions:
            raise declared.error(name, f"nothing calls method {name!r}; did you mean {close[0]!r}?")


def check_done(declared: Declared) -> None:
    """Raise if done has wrong parameters or reads unknown names of self.

    done is plain Python that runs on one rank, so its body is not checked further.
    """
    source = declared.source("done")
    entities_of(source, "done", declared)
    me = source.arguments[0].arg
    params = (*declared.params, *declared.array_params)
    known = [*(p.name for p in params), *declared.aggregators, *GLOBALS]
    for node in ast.walk(source.node):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != me:
            continue
        if node.attr not in known and not hasattr(declared.cls, node.attr):
            text = f"{declared.cls.__name__} has no parameter or aggregator {node.attr!r}"
            raise source.file.error(node, text + nearest(node.attr, known), at_attribute=True)
