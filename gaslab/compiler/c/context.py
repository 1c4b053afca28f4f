"""The context of a range function as C text: the view's arrays, typed, and a vertex in registers."""

from __future__ import annotations

from gaslab.compiler.c import derived, list_templates, names, near_vectors, rng
from gaslab.compiler.c.arrays import member
from gaslab.compiler.c.prefetch import prefetch_drawn
from gaslab.compiler.tree import STORAGE, RecordCombiner, Tree, element_of, is_list
from gaslab.compiler.tree.uses import by_source

POSITIONS = {"in_begin": "int64_t", "out_begin": "int64_t",
             "in_neighbor": "int32_t", "out_neighbor": "int32_t", "out_slot": "int32_t"}  # fmt: skip
SCALARS = {"num_local": "int64_t", "num_vertices": "int64_t", "num_edges": "int64_t", "num_left": "int64_t",
           "superstep": "int64_t", "initial_fields": "uint64_t", "all_active": "int64_t"}  # fmt: skip


def context(tree: Tree) -> str:
    """Return ``gl_context``, ``gl_vertex`` (the near vertex's values) and ``gl_bind``.

    `gl_bind` copies the view's members, because stores through byte pointers (which may alias anything in C)
    would make the compiler reload them; an unused member costs nothing.
    """
    members: list[tuple[str, str, str]] = []  # C type, name, source
    for name in names.ATTRIBUTES:
        members.append(("const int64_t *", name, f"w->{'gid' if name == 'id' else name}"))
    members += [(f"const {kind} *", name, f"w->{name}") for name, kind in POSITIONS.items()]
    members += [("const uint64_t *", "active_bits", "w->active_bits"), ("const int32_t *", "stop", "w->stop")]
    if tree.has_lists:
        members += [("const gl_scratch *", "scratch", "w->scratch"), ("int64_t ", "marked", "0")]
    for k, field in enumerate(tree.vertex_fields):
        if is_list(field.storage):
            name = names.field_name(tree, k)
            members.append(("gl_rows ", name, f"*(const gl_rows *)w->vertex[{k}]"))
            members.append(("gl_rows ", name + "_next", f"*(const gl_rows *)w->vertex_next[{k}]"))
            continue
        c_type, name = STORAGE[field.storage][1], names.field_name(tree, k)
        members.append((f"const {c_type} *", name, f"w->vertex[{k}]"))
        if tree.double_buffered(field.name):
            members.append((f"{c_type} *", name + "_next", f"w->vertex_next[{k}]"))
    for k, field in enumerate(tree.edge_fields):
        if is_list(field.storage):
            members.append(("gl_rows ", names.edge_name(tree, k), f"*(const gl_rows *)w->edge[{k}]"))
            continue
        members.append((f"{STORAGE[field.storage][1]} *", names.edge_name(tree, k), f"w->edge[{k}]"))
    for k in by_source(tree, "gather", "scatter"):
        kind = STORAGE[tree.edge_fields[k].storage][1]
        members.append(
            (f"const {kind} *", f"by_source{k}", f"w->edge_by_source ? w->edge_by_source[{k}] : 0")
        )
    members += [(f"{kind} ", name, f"w->{name}") for name, kind in SCALARS.items()]
    if tree.uses_phase_step:
        members.append(("int64_t ", "phase_step", f"w->superstep - w->param[{len(tree.params)}].i"))
    for row in ("in", "out"):  # of the rows here, read once: each vertex asks how far to prefetch
        edges = f"w->{row}_begin ? w->{row}_begin[w->num_local] : 0"
        members.append(("int64_t ", f"{row}_edges", edges))
    for k, p in enumerate(tree.params):
        kind = element_of(p.type)
        members.append(
            (f"{names.C_TYPE[kind]} ", names.param_name(tree, k), f"w->param[{k}].{names.MEMBER[kind]}")
        )
    for k, array in enumerate(tree.shared):
        c_type, name = STORAGE[array.storage][1], names.shared_name(tree, k)
        members.append((f"const {c_type} *restrict ", name, f"w->shared[{k}]"))
    for k, a in enumerate(tree.aggregators):
        kind = a.combiner.type
        if not isinstance(a.combiner, RecordCombiner) and not a.live:
            place = f"w->aggregate[{tree.slot(k)}].{names.MEMBER[kind]}"
            members.append((f"{names.C_TYPE[kind]} ", names.aggregate_name(tree, k), place))
    if any(isinstance(a.combiner, RecordCombiner) or a.live for a in tree.aggregators):
        members.append(("const gl_scalar *", "aggregate", "w->aggregate"))
    members += [("gl_real *", f"derived{k}", "0") for k in range(len(derived.vectors(tree)))]
    members += [("int64_t ", "next", "0")] if prefetch_drawn(tree) else []
    members += rng.STATE if tree.draws else ()
    members += [("int64_t ", "posted", "0")] if tree.posts else []
    values = [member(f, names.field_name(tree, k)) for k, f in enumerate(tree.vertex_fields)]
    for k, field in enumerate(tree.vertex_fields):
        if is_list(field.storage):
            values.append(f"void *{names.field_name(tree, k)}_room;")
    values += near_vectors.members(tree)
    members += [("_Bool ", "filled", "0")] if near_vectors.members(tree) else []
    lines = "\n    ".join
    return (
        f"{list_templates.HEAD if tree.has_lists else ''}"
        f"\ntypedef struct {{\n    gl_exit *at_fault;\n    int64_t vertex{', stopped' * tree.stops};\n    "
        f"{lines(f'{k}{n};' for k, n, _ in members)}\n"
        "} gl_context;\n"
        f"typedef struct {{\n    int64_t here, id, degree, in_degree, out_degree;\n    {lines(values)}\n"
        "} gl_vertex;\n"
        "GL_INLINE gl_context gl_bind(const gl_view *w, gl_exit *at_fault) {\n    return (gl_context){\n"
        "    .at_fault = at_fault,\n"
        f"    {lines(f'.{n} = {source},' for _, n, source in members)}\n    }};\n}}\n"
    )
