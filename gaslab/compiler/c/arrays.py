"""Arrays as C text: elements of fields and locals, loops over them, reductions, small linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE, MEMBER, constant, narrowed, widened
from gaslab.compiler.c.records import pair, part_name
from gaslab.errors import unknown


def declaration(kind: t.Type, name: str) -> str:
    """Return the declaration of a local; an array has no value before it is filled."""
    if isinstance(kind, t.Array):
        return f"{C_TYPE[kind.element]} {name}[{kind.size}];"
    return f"{C_TYPE[kind]} {name} = 0;"


def parameter(kind: t.Type, name: str) -> str:
    """Return a parameter of a function."""
    if isinstance(kind, t.Array):
        return f"const {C_TYPE[kind.element]} *{name}"
    if kind in (t.RECORD, t.PAIR):
        return f"const gl_{'message' if name == 'l_message' else 'total'} *{name}"
    return f"{C_TYPE[kind]} {name}"


def head(function: t.Function, name: str, first: str = "gl_context *c") -> str:
    """Return the head of a function whose parameters are the tree's; an array is returned in ``result``."""
    parameters = "".join(f", {parameter(k, f'l_{p}')}" for p, k in function.parameters)
    if isinstance(function.returns, t.Array):
        return f"GL_INLINE void {name}({first}{parameters}, {C_TYPE[function.returns.element]} *result)"
    kind = C_TYPE[function.returns] if function.returns else "void"
    return f"GL_INLINE {kind} {name}({first}{parameters})"


def member(field: t.Variable, name: str) -> str:
    """Return the member of ``gl_vertex`` for a field: its value, or where its elements are."""
    c_type = t.STORAGE[field.storage][1]
    return f"{c_type} *{name};" if field.shape else f"{c_type} {name};"


def row(field: t.Variable, place: str, index: str) -> str:
    """Return where the value of a field of vertex or edge *index* lies in its array."""
    kind = field.type
    return f"{place}[({index}) * {kind.size}]" if isinstance(kind, t.Array) else f"{place}[{index}]"


class ArrayBody:
    """Expressions and statements over elements; a part of `Body`."""

    tree: t.Tree
    lines: list[str]
    reductions = 0

    if TYPE_CHECKING:  # the rest of `Body`

        def expr(self, x: t.Expr) -> str: ...

        def put(self, line: str) -> None: ...

        def nested(self, head: str, statements: tuple[t.Stmt, ...]) -> None: ...

        def array(self, place: t.VertexField | t.EdgeField | t.Local | t.PartOf) -> str:
            """Return the C expression of an array's first element's address."""

        def block(self, statements: tuple[t.Stmt, ...]) -> None: ...

    def storage(self, place: t.VertexField | t.EdgeField | t.Local | t.PartOf) -> str:
        """Return the storage type of a place's elements."""
        if isinstance(place, t.VertexField):
            return self.tree.vertex_fields[place.index].storage
        if isinstance(place, t.EdgeField):
            return self.tree.edge_fields[place.index].storage
        if isinstance(place, t.PartOf):
            return self.tree.part(place).combiner.storage
        return t.WIDE[t.element_of(place.type)]

    def element(self, x: t.Element) -> str:
        return widened(self.storage(x.array), f"{self.array(x.array)}[{self.expr(x.index)}]")

    def part(self, x: t.PartOf) -> str:
        """Return where a part lies."""
        record, slot = self.tree.record(x)
        if slot is None:
            pointer = {"into": "t", "sent": "sent", "made": "made"}.get(x.record, f"l_{x.record}")
            return f"{pointer}->{part_name(x.index, record.parts[x.index])}"
        table = "t" if x.record.startswith("into") else "c->aggregate"
        if not isinstance(x.type, t.Array):
            return f"{table}[{slot}].{MEMBER[x.type]}"
        const = "" if table == "t" else "const "
        return f"(({const}{C_TYPE[x.type.element]} *)({table} + {slot}))"

    def add_part(self, s: t.AddPart) -> None:
        place = s.target.array if isinstance(s.target, t.Element) else s.target
        assert isinstance(place, t.PartOf)
        combiner, target = self.tree.part(place).combiner, self.part(place)
        value = self.expr(s.value)
        if isinstance(s.target, t.Element):
            index = self.expr(s.target.index)
            if isinstance(s.target.index, t.Index):
                self.put(f"{{ const int64_t at = {index};")
                index = "at"
            target = f"{target}[{index}]"
        both = combiner.c(widened(combiner.storage, target), value)
        end = " }" if isinstance(s.target, t.Element) and isinstance(s.target.index, t.Index) else ""
        self.put(f"{target} = {narrowed(combiner.storage, both, s.site)};{end}")

    def merge(self, s: t.Merge) -> None:
        """Fill a new record, and let the program merge it."""
        into = "sent" if s.into == "sent" else "t"
        self.put("{")
        self.put("    gl_own filled, *made = &filled;")
        self.put("    gl_begin_own(made);")
        self.block(s.body)
        self.put(f"    gl_add_one(c, {into}, made);")
        self.put("}")

    def add_pair(self, s: t.AddPair) -> None:
        key = s.target
        payload = self.tree.payload(key)
        parts = (self.tree.part(key), self.tree.part(payload))
        places, values = (self.part(key), self.part(payload)), (self.expr(s.key), self.expr(s.payload))
        self.put(pair(parts, places, values, s.site))

    def index(self, x: t.Index) -> str:
        return f"gl_index(c, {self.expr(x.value)}, {x.size}, {x.site})"

    def each(self, s: t.Each) -> None:
        i = f"l_{s.counter}"
        self.nested(f"for (int64_t {i} = 0; {i} < {self.expr(s.count)}; {i}++)", s.body)

    def solve(self, s: t.Solve) -> None:
        if s.method not in ("lu", "spd"):
            raise unknown("emit", s)
        assert isinstance(s.matrix.type, t.Array)
        assert isinstance(s.right.type, t.Array)
        n = s.matrix.type.shape[0]
        columns = s.right.type.size // n
        arguments = f"l_{s.matrix.name}, l_{s.right.name}, {n}, {columns}, {s.site}"
        self.put(f"gl_solve_{s.method}(c, {arguments});")

    def reduce(self, x: t.Reduce) -> str:
        """Return a reduction as a statement expression; its names are its own at every depth."""
        self.reductions += 1
        depth, i = self.reductions, f"l_{x.counter}"
        value = self.expr(x.value)
        kind, total = C_TYPE[t.element_of(x.value.type)], f"r{depth}"
        loop = f"for (int64_t {i} = {{first}}; {i} < {x.count}; {i}++)"
        if x.op == "sum" and x.type == "float" and x.count >= t.WIDE_SUM:
            whole, q = x.count - x.count % t.WAYS, f"q{depth}"
            rest = ""
            if whole < x.count:
                rest = f"{loop.format(first=whole)} {total}[0] += {value}; "
            return (
                f"({{ double {total}[4] = {{0}}; for (int64_t {q} = 0; {q} < {whole}; {q} += 4) "
                f"for (int64_t {i} = {q}; {i} < {q} + 4; {i}++) {total}[{i} - {q}] += {value}; {rest}"
                f"({total}[0] + {total}[1]) + ({total}[2] + {total}[3]); }})"
            )
        if x.op in ("sum", "prod"):
            sign = "+" if x.op == "sum" else "*"
            first = constant(0 if x.op == "sum" else 1, x.type)
            return (
                f"({{ {kind} {total} = {first}; {loop.format(first=0)} "
                f"{total} = {total} {sign} {value}; {total}; }})"
            )
        start = f"({{ const int64_t {i} = 0; {value}; }})"
        if x.op in ("min", "max"):
            both = f"gl_{x.op}_{MEMBER[t.element_of(x.value.type)]}({total}, {value})"
            return f"({{ {kind} {total} = {start}; {loop.format(first=1)} {total} = {both}; {total}; }})"
        if x.op not in ("argmin", "argmax"):
            raise unknown("emit", x)
        sign = "<" if x.op == "argmin" else ">"
        return (
            f"({{ {kind} {total} = {start}; int64_t at{depth} = 0; {loop.format(first=1)} "
            f"{{ const {kind} y{depth} = {value}; "
            f"if (y{depth} {sign} {total}) {{ {total} = y{depth}; at{depth} = {i}; }} }} at{depth}; }})"
        )


HELPERS = {
    "gl_index": """\
GL_INLINE int64_t gl_index(gl_context *c, int64_t i, int64_t n, int64_t site) {
    if (__builtin_expect((uint64_t)i >= (uint64_t)n, 0)) {
        if (i < 0 && i >= -n) return i + n;
        gl_raise(c, GL_FAULT_INDEX, site);
        return 0;
    }
    return i;
}
""",
    # Gauss with partial pivoting: the first of the largest. Every element is formed in one fixed order.
    "gl_solve_lu": """\
static __attribute__((noinline)) void gl_solve_lu(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[best * n + k])) best = i;
        if (a[best * n + k] == 0) { gl_raise(c, GL_FAULT_SINGULAR, site); return; }
        if (best != k) {
            for (int64_t j = k; j < n; j++) {
                const double x = a[k * n + j]; a[k * n + j] = a[best * n + j]; a[best * n + j] = x;
            }
            for (int64_t j = 0; j < m; j++) {
                const double x = b[k * m + j]; b[k * m + j] = b[best * m + j]; b[best * m + j] = x;
            }
        }
        for (int64_t i = k + 1; i < n; i++) {
            const double f = a[i * n + k] / a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            for (int64_t j = 0; j < m; j++) b[i * m + j] -= f * b[k * m + j];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < m; j++) {
            double x = b[i * m + j];
            for (int64_t k = i + 1; k < n; k++) x -= a[i * n + k] * b[k * m + j];
            b[i * m + j] = x / a[i * n + i];
        }
}
""",
    # Cholesky, column by column (right-looking), so that the inner loops have no chain of additions.
    "gl_solve_spd": """\
static __attribute__((noinline)) void gl_solve_spd(
    gl_context *c, double *restrict a, double *restrict b, const int64_t n, const int64_t m, int64_t site) {
    for (int64_t j = 0; j < n; j++)          /* the upper half becomes the factor's rows */
        for (int64_t i = 0; i < j; i++) a[i * n + j] = a[j * n + i];
    for (int64_t k = 0; k < n; k++) {
        if (!(a[k * n + k] > 0)) { gl_raise(c, GL_FAULT_SINGULAR, site); return; }
        const double d = __builtin_sqrt(a[k * n + k]);
        for (int64_t j = k; j < n; j++) a[k * n + j] /= d;
        for (int64_t i = k + 1; i < n; i++) {
            const double f = a[k * n + i];
            for (int64_t j = i; j < n; j++) a[i * n + j] -= f * a[k * n + j];
        }
        for (int64_t j = 0; j < m; j++) {
            b[k * m + j] /= a[k * n + k];
            for (int64_t i = k + 1; i < n; i++) b[i * m + j] -= a[k * n + i] * b[k * m + j];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < m; j++) {
            double x = b[i * m + j];
            for (int64_t k = i + 1; k < n; k++) x -= a[i * n + k] * b[k * m + j];
            b[i * m + j] = x / a[i * n + i];
        }
}
""",
}
