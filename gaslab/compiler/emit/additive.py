"""Additive fields as C text: what scatter adds to a vertex is kept beside it until scatter is over."""

from __future__ import annotations

from gaslab.compiler.emit.names import C_TYPE, combined
from gaslab.compiler.tree import WIDE, Combiner, Tree


def contribute(tree: Tree) -> str:
    """Return ``gl_delta``, what a vertex was given for each additive field, and what adds to it."""
    indices = tree.contributed()
    if not indices:
        return ""
    members, functions = [], []
    for k in indices:
        field = tree.vertex_fields[k]
        assert field.sync is not None
        assert isinstance(field.type, str)
        kind = C_TYPE[field.type]
        both = combined(Combiner(field.sync, WIDE[field.type]), "*place", "value")
        members.append(f"{kind} d{k};")
        functions.append(
            f"GL_INLINE void gl_contribute_{k}(const gl_view *w, const int64_t v, const {kind} value) {{\n"
            f"    {kind} *place = &((gl_delta *)w->delta)[v].d{k};\n    *place = {both};\n"
            "    gl_touch(w, v);\n}\n"
        )
    return f"\ntypedef struct {{ {' '.join(members)} }} gl_delta;\n{''.join(functions)}"
