"""Prefetching, as C text, of what loops over edges read of the far vertices (see ``gl_ahead``)."""

from __future__ import annotations

from gaslab.compiler.c.names import ATTRIBUTES, field_name
from gaslab.compiler.tree import Array, Tree, is_list


def prefetch(tree: Tree, names: frozenset[str], neighbor: str, edges: int = 4) -> str:
    """Return the statements that prefetch what will be read of the far vertices of the next *edges*."""
    arrays = [(field_name(tree, k), field) for k, field in enumerate(tree.vertex_fields)]
    far = [(name, field.type.size if isinstance(field.type, Array) else 1)
           for name, field in arrays if field.name in names and not is_list(field.storage)]  # fmt: skip
    far += [(name, 1) for name in ATTRIBUTES if name in names]
    if not far:
        return ""
    distance = "GL_AHEAD" if edges > 1 else "GL_NEAR"
    places = [neighbor.format(p=f"(p + {distance} + {k})") for k in range(edges)]
    fetches = [
        f"__builtin_prefetch(&c->{array}[{place if size == 1 else f'(int64_t){place} * {size}'}]);"
        for array, size in far
        for place in places
    ]
    lines = "\n                ".join(fetches)
    return f"            if (p < ahead) {{\n                {lines}\n            }}\n"
