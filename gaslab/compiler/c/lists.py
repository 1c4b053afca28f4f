"""Lists and sorted sets as C text: their rows, the operations on them, and the gathers that make them.

The value of a list is a ``gl_list``: its address and its length. The rows of a field have fixed room, so
nothing here allocates; `scratch` is the running thread's own. A gathered list is in ascending order (floats:
-0.0 before 0.0, nan last), so that it is the same on any number of ranks; it stays unsorted if no operation
on it depends on the order.
"""

from __future__ import annotations

import re

from gaslab.compiler import tree as t
from gaslab.compiler.c.list_templates import COUNTED, MARKS, TEMPLATES
from gaslab.compiler.c.names import edge_name, field_name
from gaslab.compiler.tree.uses import order_seen
from gaslab.errors import unknown

_LESS_FLOAT = (
    "{0} < {1} || ({0} == {1} && __builtin_signbit({0}) > __builtin_signbit({1})) "
    "|| ({1} != {1} && {0} == {0})"
)

# ---- text ------------------------------------------------------------------------------------------


def helpers(text: str) -> str:
    """Return the templates that *text* uses, each for its storage types."""
    found: list[str] = []
    for name, template in reversed(TEMPLATES.items()):
        later = "".join((text, *found, MARKS if "gl_mark(" in text else ""))
        if f"{name}_" not in later:
            continue
        for storage in sorted(set(re.findall(rf"\b{name}_(\w+)\b", later)) & t.STORAGE.keys()):
            kind, c_type, _ = t.STORAGE[storage]
            members = t.TUPLES.get(storage, ())
            wide = {"float": "gl_real", "bool": "_Bool"}.get(kind, "int64_t")
            less = _LESS_FLOAT.format("a", "b")
            less = less_member(members) if members else less if kind == "float" else "a < b"
            filled = template.replace("@LESS", less)
            filled = filled.replace("@OF", "gl_id_of" if storage == "id32" else "")
            filled = filled.replace("@AS", "gl_listed_id" if storage == "id32" else "")
            filled = filled.replace("@COUNTED", "" if kind == "float" or members else COUNTED)
            found.insert(0, filled.replace("@S", storage).replace("@T", c_type).replace("@E", wide))
    named = sorted(set(re.findall(r"\bgl_sort_(\w+)\b", text)) & t.TUPLES.keys())
    return "".join((*map(struct, named), *found)) + (MARKS if "gl_mark(" in text else "")


def struct(storage: str) -> str:
    """Return the C type of a tuple."""
    members = " ".join(f"{t.STORAGE[one][1]} m{k};" for k, one in enumerate(t.TUPLES[storage]))
    return f"typedef struct {{ {members} }} {t.STORAGE[storage][1]};\n"


def less_member(members: tuple[str, ...]) -> str:
    """Return the C test whether tuple ``a`` comes before ``b``: by the first member that differs."""
    test = "0"
    for k, member in reversed(list(enumerate(members))):
        less = _LESS_FLOAT if t.STORAGE[member][0] == "float" else "{0} < {1}"
        before, behind = less.format(f"a.m{k}", f"b.m{k}"), less.format(f"b.m{k}", f"a.m{k}")
        test = f"(({before}) || (!({behind}) && {test}))"
    return test


def size_of(kind: str) -> int:
    """Return the bytes of an element of a list type."""
    return t.STORAGE[t.element_storage(kind)][2]


def load(tree: t.Tree, k: int, vertex: str) -> str:
    """Return the statement that loads a list field into ``n``, with the place to which apply writes it."""
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    return (
        f"n->{name} = gl_row(c->{name}, {vertex}, {size}); "
        f"n->{name}_room = gl_room(c->{name}_next, {vertex}, {size});"
    )


def store(tree: t.Tree, k: int, into: str) -> str:
    """Return the statements that store a list field of ``n``, unless it is already in place."""
    if grown(tree, k) is not None:
        storage = t.element_storage(tree.vertex_fields[k].storage)
        return f"gl_put_{storage}(*(const gl_rows *)w->{into}[{k}], v, n->{field_name(tree, k)});"
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    return (
        f"{{ const gl_rows rows = *(const gl_rows *)w->{into}[{k}]; "
        f"rows.place[2 * v + 1] = gl_keep(gl_room(rows, v, {size}), n->{name}, {size}).length; }}"
    )


def grown(tree: t.Tree, k: int) -> int | None:
    """Return a field's number among the growing lists, None if it is not one."""
    names = [field.name for field in tree.vertex_fields if field.name in tree.growing]
    return names.index(tree.vertex_fields[k].name) if tree.vertex_fields[k].name in names else None


def append(tree: t.Tree, k: int, value: str, site: int) -> str:
    """Return the statement that appends a stored value to a list field of ``n``."""
    name, storage = field_name(tree, k), t.element_storage(tree.vertex_fields[k].storage)
    return f"n->{name} = gl_append_{storage}(c, {grown(tree, k)}, n->{name}, {value}, {site});"


def assign(tree: t.Tree, k: int, value: str, site: int) -> str:
    """Return the statement that assigns a list field of ``n`` its new value."""
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    if (place := grown(tree, k)) is not None:
        storage = t.element_storage(tree.vertex_fields[k].storage)
        return f"n->{name} = gl_take_{storage}(c, {place}, c->{name}, n->{name}_room, {value}, {site});"
    return f"n->{name} = gl_keep(n->{name}_room, {value}, {size});"


def read(tree: t.Tree, k: int, far: str) -> str:
    """Return the C expression of a far vertex's list field."""
    return f"gl_row(c->{field_name(tree, k)}, {far}, {size_of(tree.vertex_fields[k].storage)})"


def read_edge(tree: t.Tree, k: int) -> str:
    """Return the C expression of an edge's list field."""
    return f"gl_row(c->{edge_name(tree, k)}, e, {size_of(tree.edge_fields[k].storage)})"


def word(x: t.ListWord, arguments: list[str], marked: str | None) -> str:
    """Return the C expression of an operation on lists; *marked* is the list marked by gather, if any."""
    *others, last = arguments
    kind = x.arguments[-1].type
    storage = t.element_storage(kind)
    if x.function == "len":
        return f"({last}).length"
    if x.function == "item":
        return f"gl_item_{storage}(c, {others[0]}, {last}, {x.site})"
    if x.function == "member":
        (k, _, _), member = x.arguments, t.TUPLES[storage]
        assert isinstance(k, t.Const)
        at = f"gl_position_{storage}(c, {others[1]}, {last}, {x.site})"
        value = f"((const {t.STORAGE[storage][1]} *)({last}).at)[{at}].m{k.value}"
        return f"gl_id_of({value})" if member[int(k.value)] == "id32" else value
    if x.function == "in":
        return f"gl_{'has' if str(kind).startswith('set') else 'among'}_{storage}({others[0]}, {last})"
    if x.function == "common":
        if marked is not None and marked in arguments:
            other = arguments[1 - arguments.index(marked)]
            return f"gl_common_marked(c, {marked}, {other})"
        return f"gl_common_{storage}({others[0]}, {last})"
    if x.function == "mode":
        return f"gl_mode_{storage}(c, {last}, {x.site})"
    if x.function == "mex":
        return f"gl_mex_{storage}(c, {last})"
    raise unknown("emit", x)


def gather(tree: t.Tree, loops: str, head: str, loads: str) -> str:
    """``gl_gather_row``, ``gl_finished`` and ``gl_gather`` of a gather that collects.

    *loops* walk a vertex's edges and add their values ``at`` the end, *head* is the loop over vertices,
    *loads* loads the near vertex's values.
    """
    combiner = tree.gather
    assert combiner is not None
    storage, size = combiner.storage, t.STORAGE[combiner.storage][2]
    c_type = t.STORAGE[storage][1]
    narrow = "_narrow" * (size < 4 and t.STORAGE[storage][0] == "int")
    sort = f"gl_sort{narrow}_{storage}(at, c->scratch->work, x.length);"
    unique = f"x.length = gl_unique_{storage}(at, x.length);"
    is_set = combiner.op == "set"
    finish = f"    {sort}\n    {unique}\n" if is_set else f"    {sort}\n" if order_seen(tree) else ""
    return (
        f"\nGL_INLINE gl_list gl_gather_row(gl_context *c, const gl_view *w, const gl_vertex *n, int64_t v, "
        f"{c_type} *room) {{\n    {c_type} *at = room;\n{loops}"
        "    return (gl_list){room, at - room};\n}\n"
        "GL_INLINE gl_list gl_finished(gl_context *c, gl_list x) {\n"
        f"    {c_type} *at = ({c_type} *)x.at;\n    (void)at;\n{finish}    return x;\n}}\n"
        f"GL_RANGE(gl_gather) {{\n    const gl_rows rows = *(const gl_rows *)w->total;\n{head}{loads}"
        f"        gl_list x = gl_gather_row(c, w, n, v, gl_room(rows, i, {size}));\n"
        f"{'        x = gl_finished(c, x);' if is_set else ''}\n"
        f"        rows.place[2 * i + 1] = x.length;\n    }}\n}}\n"
    )


def received(tree: t.Tree) -> str:
    """Return ``gl_received``: the messages of a vertex, in order."""
    combiner = tree.message
    if combiner is None or not combiner.collects:
        return ""
    storage, (_, c_type, size) = combiner.storage, t.STORAGE[combiner.storage]
    unique = f"    x.length = gl_unique_{storage}(at, x.length);\n" * (combiner.op == "set")
    return (
        "\nGL_INLINE gl_list gl_received(gl_context *c, const gl_view *w, int64_t v) {\n"
        f"    gl_list x = gl_row(*(const gl_rows *)w->message, v, {size});\n"
        f"    {c_type} *at = ({c_type} *)x.at;\n"
        f"    gl_sort_{storage}(at, c->scratch->work, x.length);\n{unique}    return x;\n}}\n"
    )


def totals(tree: t.Tree) -> tuple[str, str]:
    """Return the C expressions of a materialised total and of one gathered on the spot."""
    assert tree.gather is not None
    size = t.STORAGE[tree.gather.storage][2]
    return (
        f"gl_finished(c, gl_row(*(const gl_rows *)w->total, i, {size}))",
        "gl_finished(c, gl_gather_row(c, w, n, v, c->scratch->list))",
    )
