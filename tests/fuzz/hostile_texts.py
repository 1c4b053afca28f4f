"""Texts made to break a parser: nesting, size, names, words of C, and Python that the language has not."""

# ruff: noqa: E501 - tables of texts, many a line

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

C_WORDS = (
    "auto", "break_", "case", "char", "const", "default", "do", "double", "enum", "extern", "float", "goto", "int",
    "inline", "long", "register", "restrict", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "typeof", "union", "unsigned", "void", "volatile", "_Bool", "_Complex", "asm", "NULL", "NAN", "INFINITY",
    "true", "false", "bool", "errno", "stdin", "EOF", "INT_MAX", "int64_t", "size_t", "main", "exit", "abs", "fabs",
    "sin", "y0", "j1", "gamma", "signbit", "isnan", "I", "unix", "linux", "__LINE__", "__func__", "__x__",
    "memcpy", "malloc", "printf", "div", "index", "time", "signal", "gl_context", "gl_vertex", "gl_abi", "GL_FAULT",
    "c", "n", "t", "k", "e", "lo", "hi", "view", "total", "defined", "near", "far", "min", "max", "pow", "log",
    "__attribute__", "__builtin_trap", "_Generic", "_Static_assert", "alignof", "constexpr", "nullptr", "isinf",
)  # fmt: skip
STRANGE = (
    "é",
    "变量",
    "ﬁ",
    "ª",
    "µ",
    "𝐱",
    "Ⅷ",
    "_",
    "__",
    "___a",
    "__a__",
    "𝕏1",
    "x" * 5000,
    "l" * 70 + "é" * 70,
    "ſ",
)
LITERALS = (
    "1_000", "0xFFFFFFFFFFFFFFFF", "0o777", "0b1", "1e400", "-1e400", "1e-400", "9" * 4000, "1" + "0" * 400 + ".5",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1j", "0x" + "f" * 3000,
    '"??/"', r'"\x00"', r'"\"; exit(1); //"', '"*/ /*"', '"%d%s%n"', r"'\\'", '"""a\nb"""', 'f"{v.n!r:>{v.m}}"', 'b"\\xff"',
    "...", "None", "NotImplemented", "__debug__", "math.inf", "-math.nan", "math.pi", "(1, 2)", "[]", "{}", "()", "{1}",
)  # fmt: skip
STATEMENTS = (
    "async with v: pass", "await v", "async for i in v: pass", "yield v", "yield from v", "return (yield)",
    "match v.n:\n            case 1: v.n = 2\n            case _: v.n = 3", "match v:\n            case {'a': b, **c}: pass",
    "with open('x') as f: pass", "try: v.n = 1\n        except* E: pass", "del v.n", "del v", "global v", "nonlocal v",
    "raise", "raise v from v", "assert v.n, 'x'", "import os, sys", "from math import *", "class v: pass",
    "def v(): return v", "lambda v: v", "v = v", "v = 1", "self = v", "v.n = v.n = v.n = 1", "*v.n, v.m = 1, 2",
    "(v.n, (v.m, v.x)) = 1, (2, 3)", "v.n: int = 3", "v.n: 'x' * 3 = 3", "x: int", "x: gl.Vector = v.n",
    "v.n[0] = 1", "v.n[0:2] = v.m", "v['n'] = 1", "v().n = 1", "v.n.m = 1", "self.p = 1", "self.p += 1", "v.id = 1",
    "v.degree += 1", "for v in range(3): pass", "for v.n in range(3): pass", "for i, j in range(3): pass",
    "for i in range(v.n): i = 3", "for i in range(1, 2, 0): pass", "for i in range(): pass", "for i in range(*v): pass",
    "for i in range(10**30): pass", "for i in 'abc': pass", "for i in (1, 2, 3): v.n += i", "for i in []: pass",
    "while v.n: v.n -= 1\n        else: v.n = 3", "while (y := v.n) > 3: v.n -= 1", "if (v.n := 3): pass",
    "x = [i for i in range(3)]", "x = {i: i for i in range(3)}", "x = (i for i in range(3))", "v.n = sum(range(3))",
    "v.n = (lambda a: a)(3)", "v.n = int('3')", "v.n = int(v.x, 10)", "v.n = max()", "v.n = max(v.n)", "v.n = max(*v)",
    "v.n = max(v.n, key=abs)", "v.n = abs(x=3)", "v.n = math.sin(1)", "v.x = math.sin()", "v.x = math.sin(1, 2)",
    "v.x = math", "v.x = gl", "v.x = gl.Sum", "v.x = self", "v.x = P", "v.x = P.p", "v.x = v.init", "v.x = self.init(v)",
    "v.x = self.__class__", "v.x = v.__dict__", "v.x = __name__", "v.x = exit", "v.x = exit()", "v.x = eval('1')",
    "v.n = v.n if v.n else v.b", "v.b = v.n < v.m < v.x != v.b", "v.n = v.n << 64", "v.n = 1 << -1", "v.n = v.n ** -1",
    "v.x = 2 ** 0.5 ** 3", "v.n = 0 ** 0", "v.n = 2 ** 10000", "v.n = 1 // 0", "v.x = 1 / 0", "v.n = 5 % 0", "v.x = 5.0 % 0",
    "v.n = int(math.inf)", "v.n = int(1e300)", "v.n = -(-9223372036854775808)", "v.n = ~True", "v.n = -True", "v.n = +v.b",
    "v.b = not v", "v.b = v is v", "v.b = v == v", "v.b = v.n in v", "v.b = v.n in ()", "v.b = 1 in (1,)", "v.n = v.n @ v.n",
    "print(v.n)", "print(f'{v.n}')", "breakpoint()", "gl.stop()", "gl.stop(1)", "v.signal()", "self.signal()",
    "self.signal(v)", "self.signal(v.id, 1, 2)", "self.signal(v.id, priority=v)", "gl.random(v)", "v.x = gl.random()",
    "v.x = gl.normal(0)", "v.x = gl.uniform()", "v.n = gl.integers(0)", "v.x = gl.uniform(1, 0)", "v.n = gl.poisson(v.x)",
    "v.n = v.n;;", "v.n = 0777", "v.n = 1if v.n else 2", "v.n = \\\n            3", "\tv.n = 3", "v.n = (\n3\n)", "v.n = 3 # é\0",
)  # fmt: skip
BODIES = (
    "Vertex = 3", "Vertex = None", "Vertex = gl.Vertex", "Edge = gl.Vertex", "class Edge(gl.Vertex): w: float = 1.0",
    "class Edge(gl.Edge): w: float = 1.0\n    class Vertex(Edge): y: int = 2", "class Vertex: x: int = 1",
    "class Vertex(gl.Vertex):\n        class Vertex(gl.Vertex): x: int = 1", "gather_edges = 7", "gather_edges = None",
    "gather_edges = 'IN'", "scatter_edges = gl.IN | gl.OUT", "scatter_edges = lambda self, v: gl.IN", "phases = ()",
    "phases = (1, 2)", "phases = [gl.Phase()]", "phases = 'ab'", "phases = (gl.Phase(),)", "phases = gl.Phase", "rng = 3",
    "rng = 'x'", "rng = None", "precision = gl.int32", "precision = 3", "precision = gl.float32", "visit_ways = -1",
    "cache_rebuild = -1", "cache_rebuild = 1.5", "p: str = 'x'", "p: gl.Vector = 3", "p: gl.Vector", "p: int = 1.5",
    "p: gl.VertexId", "p: gl.VertexId = 'é'", "p: int = 2**70", "p: bool = 2", "p: float = 'nan'", "p: 'undefined' = 1",
    "p: gl.int8 = 300", "__p: int = 1", "init = None", "init = 3", "init = abs", "init = lambda self, v: None",
    "init = property(lambda self: 1)", "from math import sin as init", "gather = staticmethod(abs)", "done = True",
    "def __init__(self): pass", "def __getattr__(self, name): raise KeyError", "def __init_subclass__(cls): pass",
    "def done(self, v): return v", "def done(): return True", "async def apply(self, v): pass", "def apply(*a): pass",
    "def apply(self, v, /): pass", "def apply(self, *, v): pass", "def apply(self, v, **k): pass", "def apply(v): pass",
    "def apply(): pass", "def apply(self, v, v2): pass", "def apply(self, self2): pass", "def apply(v, self): v.x = 1.0",
    "def gather(self, v, e, nbr): return 1", "def gather(self, v, e, nbr) -> gl.Sum: return 1",
    "def gather(self, v, e, nbr) -> gl.Sum[str]: return 1", "def gather(self, v, e, nbr) -> gl.Sum[gl.Sum[int]]: return 1",
    "def gather(self, v, e, nbr) -> 'gl.Sum[int': return 1", "def gather(self, v, e, nbr) -> gl.ArgMin[int]: return 1",
    "def gather(self, v, e, nbr) -> float: return 1", "def gather(self, v, e, nbr) -> gl.List[int]: return v.n",
    "def gather(self, v, e, nbr) -> gl.Set[gl.VertexId]: return nbr.id", "def gather(self, v, e, nbr) -> None: pass",
    "class Total(gl.Accumulator): pass\n    def gather(self, v, e, nbr) -> Total: return self.Total()",
    "class Total(gl.Accumulator): a: str\n    def gather(self, v, e, nbr) -> Total: return self.Total(a='x')",
    "class Total(gl.Accumulator): a: int = 1\n    def gather(self, v, e, nbr) -> Total: return self.Total(b=1)",
    "class Total(gl.Accumulator): a: Total\n    def gather(self, v, e, nbr) -> Total: return 1",
    "def merge(self, a, b): return a", "def scatter(self, v, e, nbr): nbr.signal(v)", "def scatter(self, v): pass",
    "def apply(self, v, message): v.n = message", "def apply(self, v, total): v.n = total",
    "def apply(self, v, message: gl.Min[float]): v.x = message", "def apply(self, v, message: 3): v.n = message",
    "def start(self, v): return 1", "def start(self, v): pass", "def active(self, v): return 'x'",
    "@gl.aggregator\n    def a(self, v): return 1", "@gl.aggregator\n    def a(self): return 1", "a = gl.aggregator(3)",
    "@gl.aggregator\n    def a(self, v) -> gl.Sum[int]: return self.a", "a = gl.aggregator(lambda self, v: 1)",
    "@gl.aggregator(every='x')\n    def a(self, v) -> gl.Sum[int]: return 1", "a = gl.aggregator(None)", "a = gl.aggregator()",
    "@gl.aggregator\n    @gl.aggregator\n    def a(self, v) -> gl.Sum[int]: return 1", "gl.aggregator(abs)",
    "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=-1)", "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape='q')",
    "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=10**12)", "class Vertex(gl.Vertex): x: gl.Vector = gl.field()",
    "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=(2, 3))", "class Vertex(gl.Vertex): x: gl.Vector = [1.0]",
    "class Vertex(gl.Vertex): x: gl.Matrix = gl.field(shape=2)", "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=0)",
    "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=True)", "class Vertex(gl.Vertex): x: gl.Vector = gl.field(shape=2, dtype=3)",
    "class Vertex(gl.Vertex): x: int = gl.field(init=1.5)", "class Vertex(gl.Vertex): x: int = gl.field(sync=3)",
    "class Vertex(gl.Vertex): x: float = gl.field(init=gl.normal(-1))", "class Vertex(gl.Vertex): x: gl.List[int] = [1]",
    "class Vertex(gl.Vertex): x: gl.int8 = 1000", "class Vertex(gl.Vertex): id: int = 1", "class Vertex(gl.Vertex): x = 1",
    "class Vertex(gl.Vertex): x: float = 'a'", "class Vertex(gl.Vertex): x: bool = 3", "class Vertex(gl.Vertex): x: int = None",
    "class Vertex(gl.Vertex):\n        def f(self): return 1", "class Vertex(gl.Vertex): __slots__ = ()",
)  # fmt: skip


def program(body: str, more: str = "", before: str = "") -> str:
    """Return a program P whose apply is *body*."""
    return (
        f"{before}class P(gl.VertexProgram):\n    p: int = 1\n    class Vertex(gl.Vertex):\n        n: int = 0\n"
        f"        m: int = 0\n        x: float = 0.0\n        b: bool = False\n{more}"
        f"    def apply(self, v: Vertex) -> None:\n        {body}\n"
    )


def _nested(generator: random.Random) -> str:
    depth = generator.choice((5, 20, 60, 90, 150, 400, 900, 3000))
    one = "\n        "
    forms = (
        f"v.x = {'(' * depth}v.x{')' * depth}", f"v.x = {'-' * depth}v.x", f"v.b = {'not ' * depth}v.b",
        f"v.x = v.x{' + 1.0' * depth}", f"v.b = v.b{' and v.b' * depth}", f"v.b = v.n{' < v.n' * depth}",
        f"v.n = {'v.n if v.b else ' * depth}v.n", f"v.x = {'abs(' * depth}v.x{')' * depth}",
        f"v.x = v{'.x' * depth}", f"v.x = v.x{'[0]' * depth}", f"v.x = {'max(1.0, ' * depth}v.x{')' * depth}",
        "if v.b: v.n = 0" + "".join(f"{one}elif v.n == {k}: v.n = {k}" for k in range(depth)),
        one.join("    " * k + "if v.b:" for k in range(min(depth, 95))) + " v.n = 1",
        one.join("    " * k + f"for i{k} in range(2):" for k in range(min(depth, 19))) + " v.n += 1",
        one.join(f"x{k} = v.n" for k in range(depth)), "v.n = " + "v.m = " * depth + "1",
        f"v.n = max({', '.join(['v.n'] * depth)})", f"v.b = v.n in ({'1, ' * depth})", f"x = {'[' * min(depth, 90)}{']' * min(depth, 90)}",
        f"v.n = {'lambda: ' * depth}1", f"v.x = v.x{' ** 1.0' * depth}", f"{'v.n, ' * depth} = {'1, ' * depth}",
    )  # fmt: skip
    return program(generator.choice(forms))


def _helpers(generator: random.Random) -> str:
    """A chain of helpers, or a ring."""
    depth = generator.choice((2, 30, 200, 600))
    ring = generator.random() < 0.3
    names = [f"h{k}" for k in range(depth)]
    parts = [f"def {a}(x):\n    return {b}(x) + 1.0\n" for a, b in itertools.pairwise(names)]
    parts.append(f"def {names[-1]}(x):\n    return {names[0] + '(x)' if ring else 'x'}\n")
    return program("v.x = h0(v.x)", before="".join(parts))


def _c_names(generator: random.Random) -> str:
    """Words of C and of the emitted text as the names of everything."""
    a, b, c, d, e = generator.sample(C_WORDS + STRANGE, 5)
    call = f"{c}(v.{a}, {b})" if generator.random() < 0.7 else f"{c}(v, {b})"
    argument = f"{d}.{a}" if call.startswith(f"{c}(v, ") else d
    return (
        f"def {c}({d}, {e}):\n    {b} = {argument} + {e}\n    return {b} * 2\n"
        f"class {generator.choice(('P', a, e))}(gl.VertexProgram):\n    {e}: int = 1\n"
        f"    class Vertex(gl.Vertex):\n        {a}: int = 1\n    class Edge(gl.Edge):\n        {b}: float = 1.0\n"
        f"    @gl.aggregator\n    def {d}(self, v) -> gl.Sum[int]:\n        return v.{a}\n"
        f"    def gather(self, v, {c}x, nbr) -> gl.Sum[int]:\n        {d}y = nbr.{a}\n        return {d}y\n"
        f"    def apply(self, v, {generator.choice((c, b, 'total'))}):\n        {b} = v.{a} + self.{e} + self.{d}\n"
        f"        for {d} in range(2):\n            {b} += {d}\n        v.{a} = {call} % 97\n"
    )


def _literal(generator: random.Random) -> str:
    text = generator.choice(LITERALS)
    target = generator.choice(("v.n", "v.x", "v.b", "y"))
    form = generator.choice((f"{target} = {text}", f"{target} = {text} + 1", f"{target} += {text}", f"{text}",
                          f"{target} = v.n == {text}", f"{target} = int({text})", f"return {text}", f"{text}.x",
                          f"for i in range({text}): break", f"{target} = max({text}, v.n)"))  # fmt: skip
    return program(form)


def _statement(generator: random.Random) -> str:
    lines = "\n        ".join(generator.choice(STATEMENTS) for _ in range(generator.choice((1, 1, 1, 2, 3))))
    return program(lines)


def _body(generator: random.Random) -> str:
    return program(
        "v.n = 1",
        more="".join(f"    {generator.choice(BODIES)}\n" for _ in range(generator.choice((1, 1, 2)))),
    )


def _only_body(generator: random.Random) -> str:
    return f"class P(gl.VertexProgram):\n    {generator.choice(BODIES)}\n    {generator.choice(BODIES)}\n"


def _global(generator: random.Random) -> str:
    """A value of the module that a method reads."""
    value = generator.choice((*LITERALS, "object()", "type", "abs", "range(3)", "float('nan')", "__import__('numpy').float32(1)",
                           "__import__('numpy').zeros(3)", "__import__('numpy').int64(5)", "True", "gl.NOBODY", "print"))  # fmt: skip
    use = generator.choice(("v.x = G", "v.n = G", "v.x = G + 1", "v.n = G[0]", "v.x = G.x", "v.b = v.n == G", "v.n = G(1)",
                         "for i in range(G): break", "v.b = v.n in G"))  # fmt: skip
    return program(use, before=f"G = {value}\n")


def _class(generator: random.Random) -> str:
    """Odd ways to make a class."""
    made = program("v.n = 1")
    return generator.choice((
        made + "class Q(P):\n    def apply(self, v):\n        super().apply(v)\n", made + "P.apply = abs\n",
        made + "P = type('P', (P,), {})\n", made + "P.p = 'x'\n", made + "class P(P, P): pass\n", made + "P = P()\n",
        made + "class Q(P, gl.Vertex): pass\n", made + "class Q(P):\n    Vertex = P.Vertex\n    p = 3\n", made + "del P.apply\n",
        made + "class Q(P):\n    class Vertex(P.Vertex):\n        n: float = 1.0\n", made + "P.Vertex.n = 'x'\n",
        made + "class Q(P):\n    class Vertex(P.Vertex):\n        k: int = 1\n    def init(self, v): v.k = v.n\n",
        made + "exec('class R(gl.VertexProgram):\\n    def apply(self, v): v.n = 1')\n",
        made + "P.apply.__annotations__['v'] = 7\n", made + "P.apply.__code__ = (lambda self, v: None).__code__\n",
        made + "P.apply.__name__ = 'é'\n", made + "P.__qualname__ = 'Z'\n", made + "P.__module__ = 'nowhere'\n",
        "def make():\n    k = 3\n" + "\n".join("    " + x for x in program("v.n = k").splitlines()) + "\n    return P\nP = make()\n",
        "for k in range(2):\n" + "\n".join("    " + x for x in made.splitlines()) + "\n", "if True: pass\n" + made.replace("    ", "\t"),
        made.replace("\n", "\r\n"), made + "\f\n", "# -*- coding: latin-1 -*-\n" + made, made.replace("v.n = 1", "v.n = 1 \\\n + 2"),
    ))  # fmt: skip


HOSTILE: tuple[Callable[[random.Random], str], ...] = (
    _nested, _helpers, _c_names, _c_names, _literal, _statement, _statement, _body, _only_body, _global, _class,
)  # fmt: skip
