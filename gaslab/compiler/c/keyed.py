"""Totals by key as C text: a vertex's keys and their sums, to which each edge adds.

Keys and sums are two arrays in order of arrival; an index finds a key's place in them by hashing to twice as
many entries as the vertex has edges. (An index with an entry for each vertex of the graph needs no hashing,
but is no faster: its entries miss the first cache. A linear search for few keys is no faster either; growing
the index with the keys, keeping a key beside its place in it, or adding a key without a branch gains at some
vertices what it costs at others.) Keys are sorted if a loop of apply needs their order, and then found by
binary search.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE, is_bounded, narrowed
from gaslab.compiler.tree.uses import keyed_words, keys_sorted
from gaslab.errors import unknown

# gl_keyed_room is the running thread's own.
TEXT = """
typedef @K gl_key;
typedef @V gl_sum;
typedef struct { gl_rows keys, values; } gl_keyed_rows;
typedef struct { void *keys, *values, *sorted, *moved; uint64_t *pairs; uint32_t *index; } gl_keyed_room;
typedef struct { gl_key *keys; gl_sum *values; int64_t length; uint32_t *index; int bits; } gl_total;
GL_INLINE void gl_begin_total(gl_context *c, gl_total *t, void *keys, void *values, int64_t edges) {
    const gl_keyed_room *room = c->scratch->list;
    *t = (gl_total){keys, values, 0, room->index, 64 - __builtin_clzll(2 * (uint64_t)(edges + !edges) - 1)};
    __builtin_memset(t->index, 0xFF, sizeof *t->index << t->bits);
}
GL_INLINE uint32_t *gl_entry(const gl_total *t, gl_key key) {   /* of the index: a key's, or a free one */
    const uint64_t last = (UINT64_C(1) << t->bits) - 1;
    uint64_t h = (uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - t->bits);
    while (t->index[h] != UINT32_MAX && t->keys[t->index[h]] != key) h = (h + 1) & last;
    return t->index + h;
}
GL_INLINE void gl_add_by_key(gl_context *c, gl_total *t, gl_key key, gl_sum value) {
    uint32_t *entry = gl_entry(t, key);
    gl_sum before = 0;
    int64_t p = *entry;
    (void)c;
    if (p == UINT32_MAX) {
        *entry = (uint32_t)(p = t->length++);
        t->keys[p] = key;
    } else {
        before = t->values[p];
    }
    t->values[p] = @ADDED;
}
"""
# Many keys are radix sorted, each with its place behind it; keys far apart are sorted by comparison.
SORT = """\
static uint64_t *gl_sort_pairs(uint64_t *x, uint64_t *y, int64_t n, uint64_t range) {
    int shift = 32;
    do {
        uint32_t begin[257] = {0};
        for (int64_t i = 0; i < n; i++) begin[(x[i] >> shift & 255) + 1]++;
        for (int digit = 0; digit < 256; digit++) begin[digit + 1] += begin[digit];
        for (int64_t i = 0; i < n; i++) y[begin[x[i] >> shift & 255]++] = x[i];
        uint64_t *other = x;
        x = y;
        y = other;
        shift += 8;
    } while (shift < 64 && range >> (shift - 32));
    return x;
}
static void gl_sort_total(gl_context *c, gl_total *t) {
    const gl_keyed_room *room = c->scratch->list;
    gl_key *sorted = room->sorted, least, most;
    gl_sum *moved = room->moved;
    const int64_t n = t->length;
    int64_t i = 1;
    while (i < n && t->keys[i - 1] < t->keys[i]) i++;
    if (i >= n) return;
    if (n <= 16) {   /* each to where the number of smaller keys says */
        for (i = 0; i < n; i++) {
            const gl_key key = t->keys[i];
            int64_t before = 0;
            for (int64_t k = 0; k < n; k++) before += t->keys[k] < key;
            sorted[before] = key;
            moved[before] = t->values[i];
        }
        t->keys = sorted;
        t->values = moved;
        return;
    }
    least = most = t->keys[0];
    for (i = 1; i < n; i++) {
        least = t->keys[i] < least ? t->keys[i] : least;
        most = t->keys[i] > most ? t->keys[i] : most;
    }
    const uint64_t range = (uint64_t)most - (uint64_t)least;
    if (range <= UINT32_MAX) {
        uint64_t *pairs = room->pairs;
        for (i = 0; i < n; i++) pairs[i] = ((uint64_t)t->keys[i] - (uint64_t)least) << 32 | (uint64_t)i;
        if (n > 128) pairs = gl_sort_pairs(pairs, c->scratch->work, n, range);
        else gl_sort_uint64(pairs, c->scratch->work, n);
        for (i = 0; i < n; i++) {
            sorted[i] = (gl_key)((pairs[i] >> 32) + (uint64_t)least);
            moved[i] = t->values[(uint32_t)pairs[i]];
        }
    } else {
        __builtin_memcpy(sorted, t->keys, (uint64_t)n * sizeof *sorted);
        gl_sort_@S(sorted, c->scratch->work, n);
        for (i = 0; i < n; i++) moved[i] = t->values[*gl_entry(t, sorted[i])];
    }
    t->keys = sorted;
    t->values = moved;
}
GL_INLINE int64_t gl_find_key(const gl_total *t, gl_key key) {
    const int64_t p = gl_find_@S(key, t->keys, t->length);
    return p < t->length && t->keys[p] == key ? p : -1;
}
"""
FIND = """\
GL_INLINE int64_t gl_find_key(const gl_total *t, gl_key key) {
    const uint32_t p = *gl_entry(t, key);
    return p == UINT32_MAX ? -1 : (int64_t)p;
}
"""
WORDS = {
    "in": """\
GL_INLINE _Bool gl_total_in(const gl_total *t, @EK y) {
    const gl_key key = @AS(y);
    return @OF(key) == y && gl_find_key(t, key) >= 0;
}
""",
    "at": """\
GL_INLINE @EV gl_total_at(const gl_total *t, @EK y) {
    const gl_key key = @AS(y);
    const int64_t p = @OF(key) == y ? gl_find_key(t, key) : -1;
    return p < 0 ? 0 : (@EV)t->values[p];
}
""",
    "argmax": """\
enum { GL_FAULT_NO_KEYS = 16 };   /* see gaslab/compiler/faults.py */
GL_INLINE @EK gl_total_argmax(gl_context *c, const gl_total *t, int64_t site) {
    int64_t best = 0;
    if (__builtin_expect(!t->length, 0)) gl_raise(c, GL_FAULT_NO_KEYS, site);
    gl_sum y = t->values[0];
    for (int64_t i = 1; i < t->length; i++) {
        const gl_sum x = t->values[i];
        if (x < y) continue;   /* as most are */
        const _Bool smaller = t->keys[i] < t->keys[best];
        if (x > y || (x == y && smaller) || (y != y && (x == x || smaller))) {
            best = i;
            y = x;
        }
    }
    return @OF(t->keys[best]);
}
""",
}
# The rows of masters hold the sums of several ranks, one after the other.
MERGE = """\
GL_INLINE void gl_merged_total(gl_context *c, const gl_view *w, int64_t i, gl_total *total) {
    gl_total made, *t = &made;
    const gl_keyed_rows rows = *(const gl_keyed_rows *)w->total;
    const int64_t n = rows.keys.place[2 * i + 1];
    const gl_key *keys = gl_room(rows.keys, i, sizeof *keys);
    const gl_sum *values = gl_room(rows.values, i, sizeof *values);
    gl_begin_total(c, t, (void *)keys, (void *)values, n);
    for (int64_t k = 0; k < n; k++) gl_add_by_key(c, t, keys[k], values[k]);
    rows.keys.place[2 * i + 1] = rows.values.place[2 * i + 1] = t->length;
    *total = made;
@FINISH}
"""


def helpers(tree: t.Tree) -> str:
    """Return ``gl_total`` and its operations; nothing for a program without totals by key."""
    combiner = tree.gather
    if not isinstance(combiner, t.KeyedCombiner):
        return ""
    words, key = keyed_words(tree), combiner.key
    sorts = keys_sorted(tree)
    kind = t.STORAGE[key][0]
    text = TEXT + (SORT if sorts else FIND if words & {"in", "at"} else "")
    text += "".join(x for word, x in WORDS.items() if word in words) + MERGE
    of, as_ = ("gl_id_of", "gl_listed_id") if key == "id32" else (f"({C_TYPE[kind]})", "(gl_key)")
    return (
        text.replace("@ADDED", _added(combiner.storage, tree.functions["gather"].site))
        .replace("@FINISH", "    gl_sort_total(c, total);\n" * sorts)
        .replace("@AS", as_)
        .replace("@OF", of)
        .replace("@EK", C_TYPE[kind])
        .replace("@EV", C_TYPE[combiner.value_type])
        .replace("@K", t.STORAGE[key][1])
        .replace("@V", t.STORAGE[combiner.storage][1])
        .replace("@S", key)
    )


def _added(storage: str, site: int) -> str:
    """Return a key's sum with one more value; overflow is a fault of gather as a whole."""
    if not is_bounded(storage):
        return "before + value"
    low, high = t.INTEGER_RANGE[storage]
    return f"(gl_sum)gl_within(c, (int64_t)before + (int64_t)value, {low}, {high}, {site})"


def word(x: t.KeyedWord, arguments: list[str], combiner: t.KeyedCombiner) -> str:
    """Return the C expression of an operation on apply's total."""
    key, value = C_TYPE[combiner.key_type], C_TYPE[combiner.value_type]
    if x.function == "len":
        return "l_total->length"
    if x.function in ("in", "at"):
        return f"gl_total_{x.function}(l_total, {arguments[0]})"
    if x.function == "argmax":
        return f"gl_total_argmax(c, l_total, {x.site})"
    if x.function == "key":
        listed = f"l_total->keys[{arguments[0]}]"
        return f"gl_id_of({listed})" if combiner.key == "id32" else f"(({key}){listed})"
    if x.function == "value":
        return f"(({value})l_total->values[{arguments[0]}])"
    raise unknown("emit", x)


def add(s: t.AddByKey, key: str, value: str, combiner: t.KeyedCombiner) -> str:
    """Return the statement by which gather adds to the total ``t``."""
    key, value = narrowed(combiner.key, key, s.site), narrowed(combiner.storage, value, s.site)
    return f"{{ const gl_key key = {key}; gl_add_by_key(c, t, key, {value}); }}"


def gather(tree: t.Tree, edges: str, loops: str, head: str, loads: str) -> str:
    """``gl_gather_row`` and ``gl_gather``.

    *edges* counts a vertex's edges, *loops* walk them and add to the total ``t``, *head* is the loop over
    vertices, *loads* loads the near vertex's values.
    """
    return (
        "\nGL_INLINE void gl_gather_row(gl_context *c, const gl_view *w, const gl_vertex *n, int64_t v, "
        "void *keys, void *values, gl_total *total) {\n"
        f"    gl_total made, *t = &made;   /* in registers */\n    int64_t edges = 0;\n{edges}"
        f"    gl_begin_total(c, t, keys, values, edges);\n{loops}    *total = made;\n}}\n"
        "GL_RANGE(gl_gather) {\n    const gl_keyed_rows rows = *(const gl_keyed_rows *)w->total;\n"
        f"{head}{loads}"
        "        gl_total total;\n"
        "        gl_gather_row(c, w, n, v, gl_room(rows.keys, i, sizeof(gl_key)), "
        "gl_room(rows.values, i, sizeof(gl_sum)), &total);\n"
        "        rows.keys.place[2 * i + 1] = rows.values.place[2 * i + 1] = total.length;\n    }\n}\n"
    )


def totals(tree: t.Tree) -> tuple[str, str]:
    """Return the statements that make ``total``: from a row filled by several ranks, or by gathering here."""
    begin = "        gl_total total;\n"
    room = "        const gl_keyed_room *room = c->scratch->list;\n"
    sort = "        gl_sort_total(c, &total);\n" * keys_sorted(tree)
    return (
        f"{begin}        gl_merged_total(c, w, i, &total);\n",
        f"{begin}{room}        gl_gather_row(c, w, n, v, room->keys, room->values, &total);\n{sort}",
    )
