"""Rows of fewer than four edges, as in grids and road networks, as C text: one accumulator holds their total.

Four accumulators, and the loop over four edges at a time, gain nothing there and take a fourth of a vertex's
time. The total has the same bits: the other three would keep the combiner's identity. Only a loop whose
directions are known at compile time tests the length of rows.
"""

from __future__ import annotations

from collections.abc import Callable

from gaslab.compiler.c.stop_checks import check_at_edge, steps
from gaslab.compiler.tree import RecordCombiner, Tree
from gaslab.compiler.tree.uses import marked_field

LIGHT = 16  # steps of a gather up to which the loop's own cost per edge matters
TEXT = """\
    if (__builtin_constant_p(edges)) {{
        const int64_t first_in = edges & GL_IN ? c->in_begin[v] : 0;
        const int64_t last_in = edges & GL_IN ? c->in_begin[v + 1] : 0;
        const int64_t first_out = edges & GL_OUT ? c->out_begin[v] : 0;
        const int64_t last_out = edges & GL_OUT ? c->out_begin[v + 1] : 0;
        if (last_in - first_in < 4 && last_out - first_out < 4) {{
{steps}            return {total};
        }}
    }}
"""


def short_rows(tree: Tree, step: Callable[[str, str], str], total: str) -> str:
    """Return the first statements of ``gl_gather_row``; none for totals of other kinds.

    *step* gives the statement that adds the edge at a place of a row, "in" or "out", and *total* is returned.
    """
    if not has_short_rows(tree):
        return ""
    lines = ""
    for way in ("in", "out"):
        for k in range(3):  # nested: on a chain nothing tests for a third edge
            place = f"first_{way} + {k}"
            lines += f"{'    ' * (3 + k)}if ({place} < last_{way}) {{\n"
            lines += f"{'    ' * (4 + k)}{step(way, f'({place})')}\n"
        lines += "".join(f"{'    ' * (3 + k)}}}\n" for k in (2, 1, 0))
    return TEXT.format(steps=lines, total=total)


def has_short_rows(tree: Tree) -> bool:
    """Return whether gather adds floats, does little else per edge, and looks at every edge."""
    gather, combiner = tree.functions.get("gather"), tree.gather
    if gather is None or combiner is None or combiner.collects or isinstance(combiner, RecordCombiner):
        return False
    begins = "self.draws" in gather.reads or tree.near_vectors("gather") or marked_field(tree) is not None
    chooses = tree.stops or tree.decided_by or check_at_edge(tree, gather) or "gather_edges" in tree.functions
    return combiner.type == "float" and is_light(tree) and not begins and not chooses


def is_light(tree: Tree) -> bool:
    """Return whether gather does so little per edge that the loop's own cost matters."""
    return steps(tree, tree.edge_body(tree.functions["gather"])) <= LIGHT
