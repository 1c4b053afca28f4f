"""Typed tree -> the C text of a program, to be compiled by `build`.

A pure function. The text stands alone: the border (`abi.h`) and the helpers it uses are in it.
`#line` points compilers and debuggers to the user's file; `build` leaves these lines out of its key.
"""

from __future__ import annotations

from gaslab.compiler.c import (
    additive,
    aggregate,
    arrays,
    context,
    distributions,
    faults,
    gather,
    keyed,
    lists,
    near_vectors,
    outer_products,
    phases,
    pull,
    push,
    records,
    remote_signals,
    rng,
    visit,
)
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.names import aggregate_name, helper_name
from gaslab.compiler.c.prelude import HEAD, REAL, header, helpers_for
from gaslab.compiler.c.statements import text_of
from gaslab.compiler.tree import OWN, STORAGE, Function, KeyedCombiner, RecordCombiner, Tree
from gaslab.compiler.tree.depth import too_deep
from gaslab.compiler.tree.uses import by_source


def emit(tree: Tree) -> str:
    """Return the C text of *tree*; the same tree gives the same text; ProgramError if it is too deep."""
    try:
        return _text(tree)
    except RecursionError:
        raise too_deep(tree) from None


def _text(tree: Tree) -> str:
    methods = records.structs(tree) + outer_products.struct(tree) + keyed.helpers(tree)
    methods += "".join(_helpers(tree)) + "".join(_methods(tree))
    ranges = "".join(_ranges(tree))
    bound = context.context(tree)
    helpers = faults.RAISE + rng.helpers(tree)
    helpers += header("random/distributions.h") if distributions.in_header(methods) else ""
    helpers += helpers_for(bound + methods + ranges)
    helpers += lists.helpers(methods + ranges)
    text = (
        header("abi.h")
        + (header("random/philox.h") if tree.draws else "")
        + HEAD
        + faults.RANGES
        + REAL[tree.precision]
        + bound
        + helpers
        + methods
        + ranges
    )
    return _with_line_numbers(text)


def _function(head: str, text: str) -> str:
    return f"\n{head} {{\n{text}}}\n#line 0\n"


def _method(tree: Tree, function: Function, name: str, more: str = "", row: str = "") -> str:
    """Return a method of a vertex alone, or of a *row* of edges; `const` keeps readers from writing."""
    vertex = "gl_vertex" if function.name in ("init", "init_message", "apply") else "const gl_vertex"
    head = arrays.head(function, f"gl_do_{name}", f"gl_context *c, {vertex} *n{more}")
    if function.name == "gather" and isinstance(tree.gather, RecordCombiner):
        kept = outer_products.PARAMETER if outer_products.waiting(tree) else ""
        head = f"{head[:-1]}, gl_total *t{kept})"
    elif function.name == "gather" and isinstance(tree.gather, KeyedCombiner):
        head = f"{head[:-1]}, gl_total *t)"
    elif function.name == "gather" and tree.gather is not None and tree.gather.collects:
        head = f"GL_INLINE int64_t gl_do_{name}(gl_context *c, {vertex} *n{more})"
    signal, deliver = "gl_signal(w, {at});", ""
    if isinstance(tree.message, RecordCombiner):
        deliver = "(gl_message *)w->message_next + {at}"
    elif tree.message is not None:
        c_type = STORAGE[tree.message.storage][1]
        concurrent = "(int)w->concurrent" if tree.signals_by_id("apply") else "0"  # others may send to it too
        deliver = f"gl_send(c, &(({c_type} *)w->message_next)[{{at}}], {{message}}, {concurrent});"
    return _function(head, text_of(Body(tree, function, "v", signal, deliver, row)))


def _gather(tree: Tree, function: Function) -> list[str]:
    """Return gather, and again for the out-edges if fields are kept in their order."""
    more = phases.more_of_edge(tree, "gather")
    if tree.gather is not None and tree.gather.collects and not isinstance(tree.gather, KeyedCombiner):
        more += f", {STORAGE[tree.gather.storage][1]} *place"
    edge = ", const int64_t x, const int64_t e"
    texts = [*_near(tree, function), _method(tree, function, "gather", edge + more)]
    if by_source(tree, "gather"):
        texts.append(_method(tree, function, "gather_out", f"{edge}, const int64_t q{more}", "out"))
    return texts


def _near(tree: Tree, function: Function) -> list[str]:
    body = Body(tree, function)
    if body.divided is None:
        return []
    head = f"GL_INLINE void gl_near_{function.name}(gl_context *c, const gl_vertex *n)"
    return [_function(head, near_vectors.text_of(body))]


def _helpers(tree: Tree) -> list[str]:
    texts = []
    for k, function in enumerate(tree.helpers):
        texts.append(_function(arrays.head(function, helper_name(tree, k)), text_of(Body(tree, function))))
    return texts


def _methods(tree: Tree) -> list[str]:
    texts = [push.send(tree), remote_signals.record(tree), lists.received(tree)]
    if tree.merge is not None:
        texts.append(_function(records.MERGE, text_of(Body(tree, tree.merge))))
    for name, function in tree.functions.items():
        if name == "scatter":
            continue
        if name == "gather":
            texts += _gather(tree, function)
            continue
        if name == "visit":
            texts.append(_function(*visit.method(tree)))
            continue
        more = phases.near_arguments(tree, "apply") if name == "apply" else ""
        texts.append(_method(tree, function, name, more))
    for k, a in enumerate(tree.aggregators):
        name = aggregate_name(tree, k)
        texts.append(aggregate.method(tree, k) if a.own_sweep else _method(tree, a.function, name))
    if "scatter" in tree.functions:
        texts += _scatter(tree, tree.functions["scatter"])
    return texts


def _scatter(tree: Tree, function: Function) -> list[str]:
    """Return scatter twice: pushed, ``v`` near, and (unless it writes edges) pulled, ``nbr`` near."""
    message = tree.message
    push = "gl_signal(w, {at});"
    deliver = concurrent = ""
    if message is not None:
        deliver = "(gl_message *)w->message + {at}"
        if not isinstance(message, RecordCombiner):
            c_type = STORAGE[message.storage][1]
            deliver = f"gl_send(c, &(({c_type} *)w->message)[{{at}}], {{message}}, concurrent);"
        concurrent = ", const int concurrent"
    if tree.contributed() or any(signal.target == "v" for signal in tree.signals("scatter")):
        concurrent += ", const int64_t v"
    texts = [additive.contribute(tree), additive.contribute_edges(tree), *_near(tree, function)]
    for row, place in phases.rows(tree).items():
        head = f"GL_INLINE void gl_push_{row}(gl_context *c, const gl_view *w, const gl_vertex *n"
        head = f"{head}, const int64_t x, {place}{concurrent})"
        texts.append(_function(head, text_of(Body(tree, function, "v", push, deliver, row))))
        if tree.can_pull:
            texts.append(_function(*pull.method(tree, row, place)))
    return texts


def _ranges(tree: Tree) -> list[str]:
    texts = [phases.masters(tree, name) for name in phases.ALONE if name in tree.functions]
    if "visit" in tree.functions:
        texts.append(visit.visit(tree))
    if tree.gather is not None:
        texts += [gather.gather_row(tree), gather.gather(tree)]
    texts.append(phases.totals(tree))
    if "apply" in tree.functions:
        texts.append(phases.apply(tree))
    if tree.in_apply:
        texts.append(phases.aggregate(tree))
    for k, a in enumerate(tree.aggregators):
        texts += [aggregate.own_sweep(tree, k)] if a.own_sweep else []
        texts += [records.merge_aggregates(tree, k)] if a.combiner.op == OWN else []
    if "scatter" in tree.functions:
        texts += [push.scatter_push(tree), additive.apply_edge_deltas(tree)]
        if tree.can_pull:
            texts.append(pull.scatter_pull(tree))
    if tree.message is not None and not tree.collects_messages:
        texts.append(phases.combine(tree, "gl_combine_messages", tree.message, "message"))
    return texts


def _with_line_numbers(text: str) -> str:
    """Set `#line` back to the emitted text after each method."""
    lines = text.split("\n")
    return "\n".join(
        f'#line {number} "emitted.c"' if line == "#line 0" else line for number, line in enumerate(lines, 2)
    )
