"""Additive fields as C text: contributions of scatter are kept beside the fields until scatter is over."""

from __future__ import annotations

import math

from gaslab.compiler.c.names import WIDE_TYPE, constant, edge_name, narrowed, widened
from gaslab.compiler.c.phases import ROWS, VERTEX_LOOP
from gaslab.compiler.tree import EdgeField, Tree, element_of
from gaslab.compiler.tree.uses import contributed_at


def contribute(tree: Tree) -> str:
    """Return ``gl_delta``, contributions to a vertex's additive fields, and the functions that add them."""
    indices = tree.contributed()
    if not indices:
        return ""
    members, functions = [], []
    for k in indices:
        field = tree.vertex_fields[k]
        element = element_of(field.type)
        kind, array = WIDE_TYPE[element], bool(field.shape)
        both = field.added.wide_c("*place", "value")
        members.append(f"{kind} d{k}{f'[{math.prod(field.shape)}]' * array};")
        touch = "" if array else "    gl_touch(w, v);\n"  # of an array once, not by its elements
        functions.append(
            f"GL_INLINE void gl_contribute_{k}("
            f"const gl_view *w, const int64_t v{', const int64_t i' * array}, const {kind} value) {{\n"
            f"    {kind} *place = &((gl_delta *)w->delta)[v].d{k}{'[i]' * array};\n    *place = {both};\n"
            f"{touch}}}\n"
        )
    return f"\ntypedef struct {{ {' '.join(members)} }} gl_delta;\n{''.join(functions)}"


def contribute_edges(tree: Tree) -> str:
    """Return ``gl_edge_delta``, the contributions of one end of an edge, and the functions that add them."""
    if not tree.contributed_edges():
        return ""
    members, functions = [], []
    for k in tree.contributed_edges():
        kind = WIDE_TYPE[tree.edge_fields[k].added.type]
        members.append(f"{kind} d{k};")
        functions.append(
            f"GL_INLINE void gl_contribute_e{k}("
            f"const gl_view *w, const int64_t e, const _Bool forward, const {kind} value) {{\n"
            f"    {kind} *place = &((gl_edge_delta *)(forward ? w->delta_forth : w->delta_back))[e].d{k};\n"
            f"    *place = {tree.edge_fields[k].added.wide_c('*place', 'value')};\n}}\n"
        )
    return f"\ntypedef struct {{ {' '.join(members)} }} gl_edge_delta;\n{''.join(functions)}"


def apply_edge_deltas(tree: Tree) -> str:
    """Return ``gl_join_ends``, ``gl_apply_deltas_in`` and ``_out``; an edge has one row in each direction."""
    if not tree.contributed_edges():
        return ""
    join, apply = [], []
    for k in tree.contributed_edges():
        combiner, storage = tree.edge_fields[k].added, tree.edge_fields[k].storage
        none = constant(combiner.identity, combiner.type)
        place = f"c->{edge_name(tree, k)}[e]"
        joined = combiner.wide_c(f"forth->d{k}", f"back->d{k}")
        join.append(f"back->d{k} = {joined}; forth->d{k} = {none};")
        both = combiner.wide_c(widened(storage, place), f"back->d{k}")
        apply.append(
            f"{place} = {narrowed(storage, both, contributed_at(tree, EdgeField, k))}; back->d{k} = {none};"
        )

    def over(name: str, row: str, lines: list[str], ends: tuple[str, ...]) -> str:
        begin, _, slot = ROWS[row]
        deltas = "".join(
            f"            gl_edge_delta *{end} = (gl_edge_delta *)w->delta_{end} + e;\n" for end in ends
        )
        made = "".join(f"            {line}\n" for line in lines)
        return (
            f"\nGL_RANGE({name}) {{\n{VERTEX_LOOP}"
            f"        for (int64_t p = {begin}[v], end = {begin}[v + 1]; p < end; p++) {{\n"
            f"            const int64_t e = {slot.format(p='p')};\n{deltas}{made}        }}\n"
            "    }\n}\n"
        )

    return (
        over("gl_join_ends", "out", join, ("forth", "back"))
        + over("gl_apply_deltas_in", "in", apply, ("back",))
        + over("gl_apply_deltas_out", "out", apply, ("back",))
    )
