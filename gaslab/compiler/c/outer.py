"""Sums of outer products of a vector with itself as C text: the vectors of several edges, added at once.

One edge after the other would load and store the whole matrix for each. So the vectors of up to `KEPT` edges
wait, and are added tile by tile: the tile's elements stay in registers, and each still gets its products in
the order of the edges, one by one. Its bits are therefore those of the plain loop.
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
    """Return the parts of gather's total whose vectors wait: floats, and nothing else is added to them."""
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
    """Return ``gl_vectors``, how it begins and how the last vectors are added; nothing where none wait."""
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


# Lanes of a register: the widest that the CPU level has; which one makes no difference to any bit.
HELPERS = {
    "GL_LANES": """\
#if defined __AVX512F__
#define GL_LANES 8
#elif defined __AVX__
#define GL_LANES 4
#else
#define GL_LANES 2
#endif
typedef double gl_lanes __attribute__((vector_size(8 * GL_LANES), aligned(8), may_alias));
""",
    # The lower half of `a`, of n rows in steps of `stride`, += (or, `less`, -=) the outer products of `count`
    # vectors; on the diagonal whole tiles, into the upper half.
    "gl_outer": f"""\
GL_INLINE void gl_outer(
    double *restrict a, const int64_t stride, const double *restrict x, const int64_t next, const int64_t n,
    const int64_t count, const _Bool less) {{
    for (int64_t i = 0; i < n; i += {len(ROWS)})
        for (int64_t j = 0; j < n && j < i + {len(ROWS)}; j += GL_LANES) {{
            if (i + {len(ROWS)} <= n && j + GL_LANES <= n) {{
                {_each_row("gl_lanes *const row{r} = (gl_lanes *)(a + (i + {r}) * stride + j);")}
                gl_lanes {", ".join(f"s{r} = *row{r}" for r in ROWS)};
                for (const double *v = x, *end = x + count * next; v < end; v += next) {{
                    const gl_lanes y = *(const gl_lanes *)(v + j);
                    if (less) {{ {_each_row("s{r} -= v[i + {r}] * y;")} }}
                    else {{ {_each_row("s{r} += v[i + {r}] * y;")} }}
                }}
                {_each_row("*row{r} = s{r};")}
                continue;
            }}
            for (int64_t row = i; row < n && row < i + {len(ROWS)}; row++)
                for (int64_t column = j; column <= row && column < j + GL_LANES; column++) {{
                    double s = a[row * stride + column];
                    for (const double *v = x, *end = x + count * next; v < end; v += next)
                        s = less ? s - v[row] * v[column] : s + v[row] * v[column];
                    a[row * stride + column] = s;
                }}
        }}
}}
""",
    "gl_add_outer": """\
static __attribute__((noinline)) void gl_add_outer(double *a, const double *x, int64_t n, int64_t count) {
    gl_outer(a, n, x, n, n, count, 0);
}
""",
}
# The same of floats, of which a register has twice as many; names are apart, for solvers compute in double.
HELPERS |= {
    f"{name}_single" if name[:2] == "gl" else "GL_LANES_SINGLE": text.replace("gl_lanes", "gl_lanes_single")
    .replace("GL_LANES", "GL_LANES_SINGLE")
    .replace("GL_LANES_SINGLE 8", "GL_LANES_SINGLE 16")
    .replace("GL_LANES_SINGLE 4", "GL_LANES_SINGLE 8")
    .replace("GL_LANES_SINGLE 2", "GL_LANES_SINGLE 4")
    .replace("8 * GL_LANES_SINGLE), aligned(8)", "4 * GL_LANES_SINGLE), aligned(4)")
    .replace("gl_outer(", "gl_outer_single(")
    .replace("gl_add_outer(", "gl_add_outer_single(")
    .replace("double", "float")
    for name, text in HELPERS.items()
}
