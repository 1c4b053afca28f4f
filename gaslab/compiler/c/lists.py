"""Lists and sorted sets as C text: their rows, the words on them, and the gathers that make them.

A list's value is a ``gl_list``: where it lies and how long it is. A field's rows have fixed room, so
nothing here allocates; `scratch` is the running thread's own. A gathered list is in ascending order
(floats: -0.0 before 0.0, nan last), so that it is the same on any ranks; it is left unsorted where
only words read it that do not see the order.
"""

from __future__ import annotations

import re

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import edge_name, field_name
from gaslab.compiler.tree import STORAGE, Tree, element_storage
from gaslab.compiler.tree.uses import order_seen
from gaslab.errors import unknown

HEAD = """
typedef struct { const void *at; int64_t length; } gl_list;
GL_INLINE gl_list gl_row(gl_rows rows, int64_t v, int64_t size) {
    return (gl_list){(const char *)rows.data + rows.place[2 * v] * size, rows.place[2 * v + 1]};
}
GL_INLINE void *gl_room(gl_rows rows, int64_t v, int64_t size) {
    return (char *)rows.data + rows.place[2 * v] * size;
}
GL_INLINE gl_list gl_keep(void *room, gl_list x, int64_t size) {
    if (room != x.at && x.length) __builtin_memmove(room, x.at, (uint64_t)(x.length * size));
    return (gl_list){room, x.length};
}
"""

# Of one storage type each (@S its name, @T its C type, @E the C type of its values); a template stands
# after those it uses.
TEMPLATES = {
    "gl_less": "GL_INLINE _Bool gl_less_@S(@T a, @T b) { return @LESS; }\n",
    # Runs of 16 by insertion, then merged between x and work; already ascending is seen first.
    "gl_sort": """\
static void gl_sort_@S(@T *x, @T *work, int64_t n) {
    int64_t i = 1;
    while (i < n && !gl_less_@S(x[i], x[i - 1])) i++;
    if (i >= n) return;
    for (int64_t first = 0; first < n; first += 16) {
        const int64_t end = first + 16 < n ? first + 16 : n;
        for (i = first + 1; i < end; i++) {
            const @T y = x[i];
            int64_t k = i;
            for (; k > first && gl_less_@S(y, x[k - 1]); k--) x[k] = x[k - 1];
            x[k] = y;
        }
    }
    @T *from = x, *to = work;
    for (int64_t width = 16; width < n; width *= 2) {
        for (int64_t first = 0; first < n; first += 2 * width) {
            const int64_t middle = first + width < n ? first + width : n;
            const int64_t end = first + 2 * width < n ? first + 2 * width : n;
            int64_t a = first, b = middle;
            for (i = first; a < middle && b < end; i++) {
                const _Bool second = gl_less_@S(from[b], from[a]);
                to[i] = second ? from[b] : from[a];
                b += second;
                a += !second;
            }
            for (; a < middle; i++) to[i] = from[a++];
            for (; b < end; i++) to[i] = from[b++];
        }
        @T *other = from;
        from = to;
        to = other;
    }
    if (from != x) __builtin_memcpy(x, from, (uint64_t)n * sizeof(@T));
}
""",
    "gl_unique": """\
GL_INLINE int64_t gl_unique_@S(@T *x, int64_t n) {
    int64_t kept = n > 0;
    for (int64_t i = 1; i < n; i++) {
        const @T y = x[i];
        x[kept] = y;
        kept += y != x[kept - 1];
    }
    return kept;
}
""",
    "gl_item": """\
GL_INLINE @E gl_item_@S(gl_context *c, int64_t i, gl_list x, int64_t site) {
    if (i < 0) i += x.length;
    if (__builtin_expect((uint64_t)i >= (uint64_t)x.length, 0)) {
        gl_raise(c, GL_FAULT_INDEX, site);
        return 0;
    }
    return ((const @T *)x.at)[i];
}
""",
    "gl_among": """\
GL_INLINE _Bool gl_among_@S(@E y, gl_list x) {
    const @T *at = x.at;
    for (int64_t i = 0; i < x.length; i++)
        if (at[i] == y) return 1;
    return 0;
}
""",
    "gl_find": """\
GL_INLINE int64_t gl_find_@S(@E y, const @T *at, int64_t n) {   /* values smaller than y */
    const @T *from = at;
    while (n > 1) {
        const int64_t half = n >> 1;
        from += from[half - 1] < y ? half : 0;
        n -= half;
    }
    return from - at + (n == 1 && *from < y);
}
""",
    "gl_has": """\
GL_INLINE _Bool gl_has_@S(@E y, gl_list x) {
    const int64_t i = gl_find_@S(y, x.at, x.length);
    return i < x.length && ((const @T *)x.at)[i] == y;
}
""",
    "gl_common": """\
static int64_t gl_common_@S(gl_list x, gl_list y) {
    if (x.length > y.length) { const gl_list z = x; x = y; y = z; }
    const @T *a = x.at, *b = y.at, *a_end = a + x.length, *b_end = b + y.length;
    int64_t n = 0;
    if (x.length * 32 < y.length) {      /* few against many: look each of them up in what is left */
        for (; a < a_end && b < b_end; a++) {
            b += gl_find_@S(*a, b, b_end - b);
            n += b < b_end && *b == *a;
        }
        return n;
    }
    while (a < a_end && b < b_end) {
        const @T p = *a, q = *b;
        n += p == q;
        a += p <= q;
        b += q <= p;
    }
    return n;
}
""",
    # Counts in a hash table in the thread's work space: keys, then their counts.
    "gl_mode": """\
static @E gl_mode_@S(gl_context *c, gl_list x, int64_t site) {
    const @T *at = x.at;
    if (__builtin_expect(x.length < 3, 0)) {
        if (!x.length) { gl_raise(c, GL_FAULT_EMPTY, site); return 0; }
        return x.length == 1 || at[0] < at[1] ? at[0] : at[1];
    }
    const int bits = 64 - __builtin_clzll((uint64_t)x.length * 2 - 1);
    const int64_t size = INT64_C(1) << bits;
    int32_t *count = (int32_t *)c->scratch->work;
    @T *key = (@T *)(count + size);
    __builtin_memset(count, 0, (uint64_t)size * sizeof(int32_t));
    @T best = at[0];
    int32_t most = 0;
    for (int64_t i = 0; i < x.length; i++) {
        const @T y = at[i];
        uint64_t k = (uint64_t)y * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
        while (count[k] && key[k] != y) k = (k + 1) & (uint64_t)(size - 1);
        key[k] = y;
        const int32_t n = ++count[k];
        if (n > most || (n == most && y < best)) { most = n; best = y; }
    }
    return best;
}
""",
    "gl_mex": """\
static int64_t gl_mex_@S(gl_context *c, gl_list x) {
    const @T *at = x.at;
    uint64_t *seen = (uint64_t *)c->scratch->work;
    const int64_t words = x.length / 64 + 1;
    __builtin_memset(seen, 0, (uint64_t)words * 8);
    for (int64_t i = 0; i < x.length; i++) {
        const int64_t y = (int64_t)at[i];
        if (y >= 0 && y < x.length) seen[y >> 6] |= UINT64_C(1) << (y & 63);
    }
    int64_t k = 0;
    while (!~seen[k]) k++;
    return k * 64 + __builtin_ctzll(~seen[k]);
}
""",
}

MARKS = """\
GL_INLINE void gl_mark(gl_context *c, gl_list x) {
    uint64_t *marks = c->scratch->marks;
    c->marked = marks != 0;
    if (c->marked)
        for (const int64_t *y = x.at, *end = y + x.length; y < end; y++)
            marks[*y >> 6] |= UINT64_C(1) << (*y & 63);
}
GL_INLINE void gl_unmark(gl_context *c, gl_list x) {
    if (c->marked)
        for (const int64_t *y = x.at, *end = y + x.length; y < end; y++) c->scratch->marks[*y >> 6] = 0;
    c->marked = 0;
}
static int64_t gl_common_marked(gl_context *c, gl_list mine, gl_list other) {
    if (!c->marked || mine.length * 32 < other.length) return gl_common_id(mine, other);
    const int64_t *y = other.at, *end = y + other.length;
    const uint64_t *marks = c->scratch->marks;
    int64_t n = 0;
    for (; y < end; y++) n += marks[*y >> 6] >> (*y & 63) & 1;
    return n;
}
"""

# ---- text ------------------------------------------------------------------------------------------


def helpers(text: str) -> str:
    """Return what *text* uses of the templates, each for its storage types."""
    found: list[str] = []
    for name, template in reversed(TEMPLATES.items()):
        later = "".join((text, *found, MARKS if "gl_mark(" in text else ""))
        if f"{name}_" not in later:
            continue
        for storage in sorted(set(re.findall(rf"\b{name}_(\w+)\b", later)) & STORAGE.keys()):
            kind, c_type, _ = STORAGE[storage]
            wide = {"float": "double", "bool": "_Bool"}.get(kind, "int64_t")
            less = "a < b || (a == b && __builtin_signbit(a) > __builtin_signbit(b)) || (b != b && a == a)"
            filled = template.replace("@LESS", less if kind == "float" else "a < b")
            found.insert(0, filled.replace("@S", storage).replace("@T", c_type).replace("@E", wide))
    return "".join(found) + (MARKS if "gl_mark(" in text else "")


def size_of(kind: str) -> int:
    """Return the bytes of an element of a list type."""
    return STORAGE[element_storage(kind)][2]


def load(tree: Tree, k: int, vertex: str) -> str:
    """Return the statement that brings a list field, and where apply would write it, into ``n``."""
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    return (
        f"n->{name} = gl_row(c->{name}, {vertex}, {size}); "
        f"n->{name}_room = gl_room(c->{name}_next, {vertex}, {size});"
    )


def store(tree: Tree, k: int, into: str) -> str:
    """Return the statements that store a list field of ``n``; most often it lies there already."""
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    return (
        f"{{ const gl_rows rows = *(const gl_rows *)w->{into}[{k}]; "
        f"rows.place[2 * v + 1] = gl_keep(gl_room(rows, v, {size}), n->{name}, {size}).length; }}"
    )


def assign(tree: Tree, k: int, value: str) -> str:
    """Return the statement that gives a list field of ``n`` its value; what it had is gone."""
    name, size = field_name(tree, k), size_of(tree.vertex_fields[k].storage)
    return f"n->{name} = gl_keep(n->{name}_room, {value}, {size});"


def read(tree: Tree, k: int, far: str) -> str:
    """Return the C expression of a far vertex's list field."""
    return f"gl_row(c->{field_name(tree, k)}, {far}, {size_of(tree.vertex_fields[k].storage)})"


def read_edge(tree: Tree, k: int) -> str:
    """Return the C expression of an edge's list field."""
    return f"gl_row(c->{edge_name(tree, k)}, e, {size_of(tree.edge_fields[k].storage)})"


def word(x: t.ListWord, arguments: list[str], marked: str | None) -> str:
    """Return the C expression of a word; *marked* is the list that gather has marked, if it has."""
    *others, last = arguments
    kind = x.arguments[-1].type
    storage = element_storage(kind)
    if x.function == "len":
        return f"({last}).length"
    if x.function == "item":
        return f"gl_item_{storage}(c, {others[0]}, {last}, {x.site})"
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


def head(function: t.Function, first: str) -> str:
    """Return the head of a gather that leaves its value, if it has one, at ``place``, and their number."""
    assert not function.parameters
    return f"GL_INLINE int64_t gl_do_gather({first})"


def gather(tree: Tree, loops: str, head: str, loads: str, check: str) -> str:
    """``gl_gather_row``, ``gl_finished`` and ``gl_gather`` of a gather that collects.

    *loops* walk a vertex's edges and add their values ``at`` the end, *head* is the loop over vertices,
    *loads* what brings the near vertex's values, *check* what looks for a fault.
    """
    combiner = tree.gather
    assert combiner is not None
    storage, size = combiner.storage, STORAGE[combiner.storage][2]
    c_type = STORAGE[storage][1]
    sort = f"gl_sort_{storage}(at, c->scratch->work, x.length);"
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
        f"        rows.place[2 * i + 1] = x.length;\n{check}    }}\n    return 0;\n}}\n"
    )


def totals(tree: Tree) -> tuple[str, str]:
    """Return the C expression of a materialised total, and of one gathered here and now."""
    assert tree.gather is not None
    size = STORAGE[tree.gather.storage][2]
    return (
        f"gl_finished(c, gl_row(*(const gl_rows *)w->total, i, {size}))",
        "gl_finished(c, gl_gather_row(c, w, n, v, c->scratch->list))",
    )
