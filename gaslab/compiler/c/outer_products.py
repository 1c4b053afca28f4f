"""Sums of outer products of a vector with itself as C text: the vectors of several edges, added at once.

Adding edge by edge would load and store the whole matrix for each. So the vectors of up to `KEPT` edges wait,
and are added tile by tile: a tile stays in registers, and each element still gets its products one by one in
the order of the edges. The bits are therefore those of the plain loop.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr, part_place
from gaslab.compiler.c.names import narrowed, widened
from gaslab.compiler.c.records import part_name

KEPT = 16  # vectors
ADD = {"float64": "gl_add_outer", "float32": "gl_add_outer_single"}
PARAMETER = ", gl_vectors *kept"  # of gather, where vectors wait
BEGIN = "    gl_vectors vectors, *kept = &vectors;\n    gl_begin_vectors(kept);\n"  # of a vertex's edges
END = "    gl_end_vectors(kept, t);\n"


def waiting(tree: t.Tree) -> tuple[int, ...]:
    """Return the parts of gather's total whose vectors wait: floats, to which nothing else is added."""
    if not isinstance(tree.gather, t.RecordCombiner):
        return ()
    outer, others = set(), set()
    for s in t.statements(tree.functions["gather"].body):
        if isinstance(s, t.AddOuter):
            outer.add(s.target)
        elif isinstance(s, t.AddPart):
            others.add(s.target.array if isinstance(s.target, t.Element) else s.target)
    return tuple(sorted(x.index for x in outer - others if tree.part(x).combiner.storage == tree.precision))


def _names(tree: t.Tree) -> list[tuple[str, int]]:
    """Return the name and the length of each kind of vector that waits."""
    assert isinstance(tree.gather, t.RecordCombiner)
    return [(part_name(k, tree.gather.parts[k]), tree.gather.parts[k].shape[0]) for k in waiting(tree)]


def struct(tree: t.Tree) -> str:
    """Return ``gl_vectors``, its start, and the addition of the last vectors; nothing if none wait."""
    if not waiting(tree):
        return ""
    members = begin = end = ""
    for name, n in _names(tree):
        members += f"int64_t n_{name}; gl_real {name}[{KEPT} * {n}]; "
        begin += f"    kept->n_{name} = 0;\n"
        end += f"    {ADD[tree.precision]}(t->{name}, kept->{name}, {n}, kept->n_{name});\n"
    return (
        f"typedef struct {{ {members}}} gl_vectors;\n"
        f"GL_INLINE void gl_begin_vectors(gl_vectors *kept) {{\n{begin}}}\n"
        f"GL_INLINE void gl_end_vectors(gl_vectors *kept, gl_total *t) {{\n{end}}}\n"
    )


def add_outer(body: Body, s: t.AddOuter) -> None:
    """Let the vector wait, or add its products."""
    part, i = body.tree.part(s.target), f"l_{s.counter}"
    n, place = part.shape[0], part_place(body, s.target)
    value, each = expr(body, s.value), f"for (int64_t {i} = 0; {i} < {{end}}; {i}++)"
    if s.target.index in waiting(body.tree):
        name = part_name(s.target.index, part)
        body.put(f"{{ gl_real *vector = kept->{name} + kept->n_{name} * {n};")
        body.put(f"{each.format(end=n)} vector[{i}] = {value};")
        body.put(f"if (++kept->n_{name} == {KEPT}) {{")
        body.put(f"    {ADD[body.tree.precision]}({place}, kept->{name}, {n}, {KEPT});")
        body.put(f"    kept->n_{name} = 0;")
        body.put("} }")
        return
    storage, at = part.combiner.storage, f"{place}[row * {n} + {i}]"
    both = f"{widened(storage, at)} + left * {value}"
    body.put(f"{each.format(end=n)} {{")
    body.put(f"    const gl_real left = {value};")
    body.put(f"    const int64_t row = {i};")
    body.put(f"    {each.format(end='row + 1')} {at} = {narrowed(storage, both, s.site)};")
    body.put("}")


ROWS = range(4)  # of a tile


def _each_row(text: str) -> str:
    return " ".join(text.replace("{r}", str(r)) for r in ROWS)


def _helpers(real: str, size: int, suffix: str) -> dict[str, str]:
    """Return the helpers for vectors of *real*, of *size* bytes."""
    macro, lanes, outer = f"GL_LANES{suffix.upper()}", f"gl_lanes{suffix}", f"gl_outer{suffix}"
    return {
        # Lanes of the CPU level's widest register; the width changes no bit.
        macro: f"""\
#if defined __AVX512F__
#define {macro} {64 // size}
#elif defined __AVX__
#define {macro} {32 // size}
#else
#define {macro} {16 // size}
#endif
typedef {real} {lanes} __attribute__((vector_size({size} * {macro}), aligned({size}), may_alias));
""",
        # The lower half of `a`, of n rows in steps of `stride`, += (or, `less`, -=) the outer products of
        # `count` vectors; on the diagonal whole tiles, into the upper half.
        outer: f"""\
GL_INLINE void {outer}(
    {real} *restrict a, const int64_t stride, const {real} *restrict x, const int64_t next, const int64_t n,
    const int64_t count, const _Bool less) {{
    for (int64_t i = 0; i < n; i += {len(ROWS)})
        for (int64_t j = 0; j < n && j < i + {len(ROWS)}; j += {macro}) {{
            if (i + {len(ROWS)} <= n && j + {macro} <= n) {{
                {_each_row(f"{lanes} *const row{{r}} = ({lanes} *)(a + (i + {{r}}) * stride + j);")}
                {lanes} {", ".join(f"s{r} = *row{r}" for r in ROWS)};
                for (const {real} *v = x, *end = x + count * next; v < end; v += next) {{
                    const {lanes} y = *(const {lanes} *)(v + j);
                    if (less) {{ {_each_row("s{r} -= v[i + {r}] * y;")} }}
                    else {{ {_each_row("s{r} += v[i + {r}] * y;")} }}
                }}
                {_each_row("*row{r} = s{r};")}
                continue;
            }}
            for (int64_t row = i; row < n && row < i + {len(ROWS)}; row++)
                for (int64_t column = j; column <= row && column < j + {macro}; column++) {{
                    {real} s = a[row * stride + column];
                    for (const {real} *v = x, *end = x + count * next; v < end; v += next)
                        s = less ? s - v[row] * v[column] : s + v[row] * v[column];
                    a[row * stride + column] = s;
                }}
        }}
}}
""",
        f"gl_add_outer{suffix}": f"""\
static __attribute__((noinline)) void gl_add_outer{suffix}(
    {real} *a, const {real} *x, int64_t n, int64_t count) {{
    {outer}(a, n, x, n, n, count, 0);
}}
""",
    }


# Doubles have their own names, since solvers compute in double whatever the precision.
HELPERS = _helpers("double", 8, "") | _helpers("float", 4, "_single")
