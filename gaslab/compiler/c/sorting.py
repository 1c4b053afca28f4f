"""``np.sort`` as C text: short runs by insertion, merged in pairs; equal elements keep their order."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE

_TEXT = """\
GL_INLINE _Bool gl_before_{name}({type} a, {type} b) { return {before}; }
static __attribute__((noinline)) void gl_sort_all_{name}({type} *x, {type} *room, const int64_t n) {
    enum { RUN = 16 };   /* elements that are sorted by insertion */
    for (int64_t first = 0; first < n; first += RUN) {
        const int64_t end = n - first < RUN ? n : first + RUN;
        for (int64_t i = first + 1; i < end; i++) {
            const {type} one = x[i];
            int64_t at = i;
            for (; at > first && gl_before_{name}(one, x[at - 1]); at--) x[at] = x[at - 1];
            x[at] = one;
        }
    }
    {type} *from = x, *to = room;
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t first = 0; first < n; first += 2 * run) {
            const int64_t half = n - first < run ? n : first + run, end = n - half < run ? n : half + run;
            for (int64_t a = first, b = half, at = first; at < end; at++)
                to[at] = a == half || (b < end && gl_before_{name}(from[b], from[a])) ? from[b++] : from[a++];
        }
        {type} *const sorted = to; to = from; from = sorted;
    }
    if (from != x) __builtin_memcpy(x, from, n * sizeof *x);
}
"""
_BEFORE = {"float": "a < b || (b != b && a == a)", "int": "a < b", "bool": "a < b"}  # nan comes last

HELPERS = {
    f"gl_sort_all_{name}": _TEXT.replace("{before}", before)
    .replace("{name}", name)
    .replace("{type}", C_TYPE[name])
    for name, before in _BEFORE.items()
}


def sort(s: t.Sort) -> str:
    """Return the statement that sorts a local."""
    assert isinstance(s.array.type, t.Array)
    kind, n = s.array.type.element, s.array.type.size
    return f"{{ {C_TYPE[kind]} room[{n}]; gl_sort_all_{kind}(l_{s.array.name}, room, {n}); }}"
