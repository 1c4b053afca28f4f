"""From a program class to its typed tree; every error in a program is raised here.

::

    source       the user's text, found through code objects
    declare      parameters, fields, methods, combiners, directions   (field_declarations, combiner)
    parsed       keeps the trees of built-in programs
    sequence     the same for each phase of a program of several
    program_rules  checks of a program as a whole
    method       a phase, and helpers: what phases call, made for the types it is called with
    body         types of locals, then the tree: one walk over the statements, each time
    scope        the state of one function while it is read; an argument of every construct
    statements   a function for each kind of statement   (assign, additive, growing, records, signals,
                 caching)
    dispatch     a function for each kind of expression  (names, subscripts, conditions, operators, calls)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.caching import check_caching
from gaslab.compiler.frontend.counts import counting
from gaslab.compiler.frontend.declare import PHASES, Declared, declare
from gaslab.compiler.frontend.growing import with_growing
from gaslab.compiler.frontend.helpers import Helpers
from gaslab.compiler.frontend.method import is_over_edges, method
from gaslab.compiler.frontend.parsed import Trees, parsed_once, stays
from gaslab.compiler.frontend.program_rules import check_declared, check_messages, check_tree
from gaslab.compiler.frontend.scope import SharedArrays, Sites, Unit
from gaslab.compiler.frontend.sequence import declare_phases
from gaslab.compiler.tree.key_order import without_order
from gaslab.errors import ProgramError


def parse(cls: type, shapes: Mapping[str, int] | None = None, debugging: bool = False) -> t.Tree:
    """Return the typed tree of program class *cls*, of its first phase if it has several.

    *shapes* has the values of the int parameters (by default their own defaults); if a parameter is the
    length of a field, its value is fixed in the tree. With *debugging*, lines that call print() or
    breakpoint() are allowed and left out of the tree.

    Raises
    ------
    ProgramError
        The program is outside the language; the message has the user's file, line and column, the mistake and
        the remedy, then the line itself and a caret.
    """
    return parse_phases(cls, shapes, debugging)[0]


def parse_phases(
    cls: type, shapes: Mapping[str, int] | None = None, debugging: bool = False, many_edges: bool = False
) -> Trees:
    """Return the typed trees of all phases of *cls*: one for a program without ``phases``.

    They have the same parameters, fields and aggregators; ``init`` is in the first. With *many_edges*, edge
    counts always take 64 bits. Trees of built-in programs are cached.
    """
    if stays(cls):
        return parsed_once(_parse, cls, shapes, (debugging, many_edges))
    return _parse(cls, shapes, debugging, many_edges)


def _parse(cls: type, shapes: Mapping[str, int] | None, debugging: bool, many_edges: bool) -> Trees:
    phases = declare_phases(cls, shapes)
    every = phases or [declare(cls, shapes=shapes)]
    trees = tuple(
        replace(_tree(declared, debugging, k, many_edges), in_phases=bool(phases))
        for k, declared in enumerate(every)
    )
    check_messages(every, trees)
    return with_growing(trees, every)


def _halved(gather: t.Combiner | None, parts: set[tuple[str, str]]) -> t.Combiner | None:
    """Note which parts of an accumulator get only the lower half of a matrix."""
    if not isinstance(gather, t.RecordCombiner):
        return gather
    halved = {name for name, kind in parts if kind == "half" and (name, "whole") not in parts}
    return replace(gather, parts=tuple(replace(p, symmetric=p.name in halved) for p in gather.parts))


def _methods(unit: Unit, names: Sequence[str]) -> dict[str, t.Function]:
    """Return these methods by name; raises ProgramError with the first mistake in each."""
    read: dict[str, t.Function] = {}
    mistakes: dict[str, ProgramError] = {}
    for name in names:
        try:
            read[name] = method(unit, name)
        except ProgramError as error:
            mistakes.setdefault(str(error), error)  # methods that call the same helper repeat it
    if len(mistakes) > 1:
        raise ProgramError(*mistakes)
    for only in mistakes.values():
        raise only
    return read


def _tree(declared: Declared, debugging: bool, phase: int, many_edges: bool) -> t.Tree:
    check_declared(declared)
    sites, helpers, arrays = Sites(), Helpers(), SharedArrays()
    unit = helpers.unit = Unit(declared, sites, helpers, set(), arrays, debugging)
    phases = [name for name in PHASES if name in declared.functions and name != "done"]
    read = _methods(unit, [*phases, *declared.aggregators, *["merge"] * (declared.own is not None)])
    functions = {name: read[name] for name in phases}
    aggregators = tuple(
        t.Aggregator(
            name, combiner, read[name],
            over_edges=is_over_edges(declared, name), live=mark.live, by_phase=mark.by_phase,
            in_every=mark.every == 1, after_scatter=mark.after == "scatter",
        )
        for name, combiner in declared.aggregators.items()
        for mark in (declared.marks[name],)
    )  # fmt: skip
    gather = declared.gather if many_edges else counting(declared.gather, functions)
    tree = t.Tree(
        name=declared.cls.__name__,
        params=declared.params,
        vertex_fields=declared.vertex_fields,
        edge_fields=declared.edge_fields,
        aggregators=aggregators,
        functions=functions,
        helpers=helpers.all(),
        gather=_halved(gather, unit.parts),
        message=declared.message,
        gather_edges=declared.gather_edges,
        scatter_edges=declared.scatter_edges,
        has_done="done" in declared.functions,
        sites=sites.all(),
        phase=phase,
        supersteps=declared.supersteps,
        merge=read.get("merge"),
        rng=declared.rng,
        precision=declared.precision,
        lengths=tuple(declared.baked),
        shared=tuple(arrays.variables),
        outside=arrays.outside,
    )
    check_tree(declared, tree)
    check_caching(declared, tree)
    return without_order(tree)
