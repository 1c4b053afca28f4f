"""Draws the texts of programs: valid, changed in a few places, and hostile.

A changed text is a program of the zoo, the examples or the library, with what it needs of its module, after
one to four changes of its syntax tree.
"""

# ruff: noqa: E501 - tables of texts, many a line

from __future__ import annotations

import ast
import copy
import functools
import keyword
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.hostile_texts import HOSTILE
from tests.support.program_text import HEAD
from tests.support.random_programs import random_program

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/programs", "examples", "gaslab/programs")
BASES = ("VertexProgram", "Phase")
NAMES = (
    "v", "e", "nbr", "self", "u", "w", "total", "message", "x", "gl", "math", "np", "id", "degree", "signal",
    "superstep", "side", "int", "float", "double", "register", "NAN", "errno", "main", "gl_vertex", "c", "n",
    "len", "range", "print", "None_", "__x", "_", "é", "변수", "init", "apply", "gather", "scatter", "done",
)  # fmt: skip
CONSTANTS: tuple[Any, ...] = (
    0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**40, 1e308, 1e-320, 1e999, 0.0, -0.0, True, None,
    "", "a\0b", "%s%n", "??/", '"\\', b"x", 1j, ..., "é", "float", "gl.Sum[float]", "x" * 300,
)  # fmt: skip
ANNOTATIONS = (
    "int", "float", "bool", "str", "None", "gl.int8", "gl.uint64", "gl.float32", "gl.VertexId", "gl.Vector",
    "gl.Matrix", "gl.List[int]", "gl.List[gl.VertexId]", "gl.Set[int]", "gl.Sum[float]", "gl.Min[int]",
    "gl.Max[bool]", "gl.ArgMin[float, int]", "gl.List", "gl.Sum", "list[int]", "'int'", "Vertex", "object",
    "int | None", "gl.Any", "gl.All", "gl.Sum[gl.Vector]", "gl.Product[float]", "tuple[int, int]", "1",
)  # fmt: skip
DECORATORS = ("gl.aggregator", "gl.aggregator(every=2)", "staticmethod", "property", "classmethod", "abs",
              "gl.aggregator(every=0)", "gl.combiner", "lambda f: f", "print")  # fmt: skip
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift,
             ast.BitOr, ast.BitAnd, ast.BitXor, ast.MatMult)  # fmt: skip
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn)
LINES = (
    "pass", "break", "continue", "return", "return v", "return 1", "del v", "global x", "nonlocal x", "v.x = v",
    "assert v", "raise v", "import os", "x: int", "x: int = 1.5", "(x := 1)", "x = yield", "v.signal()",
    "self.x = 1", "v, e = e, v", "a = b = 1", "x += 1", "for i in range(3): pass", "while True: break",
    "with v: pass", "try: pass\nexcept E: pass", "def f(): pass", "class C: pass", "lambda: 0", "*a, b = v",
    "match v:\n    case _: pass", "nbr.signal(1)", "self.signal(v.id)", "gl.stop()", "print(v.x)", "v[0] = 1",
    "async def f(): pass", "if v: pass\nelse: pass", "f'{v}'", "...", "v.x: float = 1.0", "gl.clear_cache(v)",
)  # fmt: skip


@functools.cache
def seeds() -> tuple[tuple[ast.Module, str], ...]:
    """Return (module that stands alone, name of its program) of each program that the project has."""
    found = []
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).glob("[!_]*.py")):
            module = ast.parse(file.read_text(encoding="utf-8"))
            for statement in module.body:
                if isinstance(statement, ast.ClassDef) and _is_program(statement):
                    found.append((_alone(module, statement), statement.name))
    return tuple(found)


def _is_program(statement: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split(".")[-1] in BASES for base in statement.bases)


def _alone(module: ast.Module, program: ast.ClassDef) -> ast.Module:
    """Return *program* and what it needs of its module, in the order of the file."""
    wanted, kept, before = {program.name}, set(), 0
    while len(wanted) != before:
        before = len(wanted)
        for k, statement in enumerate(module.body):
            if k not in kept and wanted & set(_binds(statement)):
                kept.add(k)
                wanted |= {x.id for x in ast.walk(statement) if isinstance(x, ast.Name)}
    body = [copy.deepcopy(statement) for k, statement in enumerate(module.body) if k in kept]
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            statement.decorator_list = []
    future = [s for s in module.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    return ast.Module([*future, *body], [])


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        yield from (x.id for x in ast.walk(statement) if isinstance(x, ast.Name))


def _copied(module: ast.Module) -> ast.Module:
    """Return a copy of one of `seeds`, as `copy.deepcopy` would make it, in a tenth of the time."""
    copied: ast.Module = pickle.loads(_pickled(module))
    return copied


@functools.cache
def _pickled(module: ast.Module) -> bytes:
    return pickle.dumps(module)


@functools.cache
def expressions() -> tuple[ast.expr, ...]:
    """Return every expression of the programs that is read, in their order."""
    return tuple(
        node
        for module, _ in seeds()
        for node in ast.walk(module)
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    )


def draw(rng: random.Random) -> str:
    """Return the text of a module with a program in it."""
    kind = rng.random()
    if kind < 0.15:
        return HEAD + HOSTILE[rng.randrange(len(HOSTILE))](rng)
    if kind < 0.2:
        return HEAD + random_program(rng.randrange(10**6))
    if kind < 0.35:
        module, name = ast.parse(HEAD + random_program(rng.randrange(10**6))), "P"
    else:
        module, name = rng.choice(seeds())
        module = _copied(module)
    target = next(s for s in module.body if isinstance(s, ast.ClassDef) and s.name == name)
    if rng.random() < 0.1:  # a helper of the program
        target = rng.choice([s for s in module.body if isinstance(s, ast.FunctionDef | ast.ClassDef)])
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        rng.choice(CHANGES)(rng, target)
    try:
        return ast.unparse(ast.fix_missing_locations(module)) + "\n"
    except (ValueError, TypeError, RecursionError, AttributeError):  # no text is this tree
        return draw(rng)


def _blocks(target: ast.AST) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(target)
        for name in ("body", "orelse")
        if isinstance(block := getattr(node, name, None), list) and block
    ]


def _delete(rng: random.Random, target: ast.AST) -> None:
    block = rng.choice(_blocks(target))
    block.pop(rng.randrange(len(block)))
    if not block:
        block.append(ast.Pass())


def _duplicate(rng: random.Random, target: ast.AST) -> None:
    block = rng.choice(_blocks(target))
    block.insert(rng.randrange(len(block) + 1), copy.deepcopy(rng.choice(block)))


def _swap(rng: random.Random, target: ast.AST) -> None:
    block = rng.choice(_blocks(target))
    a, b = rng.randrange(len(block)), rng.randrange(len(block))
    block[a], block[b] = block[b], block[a]


def _transplant(rng: random.Random, target: ast.AST) -> None:
    """A statement of one block or one program in another."""
    source = target if rng.random() < 0.5 else rng.choice(seeds())[0]
    line = copy.deepcopy(rng.choice(rng.choice(_blocks(source))))
    block = rng.choice(_blocks(target))
    block.insert(rng.randrange(len(block) + 1), line)


def _insert(rng: random.Random, target: ast.AST) -> None:
    block = rng.choice(_blocks(target))
    block[(k := rng.randrange(len(block) + 1)) : k] = ast.parse(rng.choice(LINES)).body


def _places(target: ast.AST) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    """Return where expressions that are read stand: node, field, position in it, expression."""
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for node in ast.walk(target):
        for name, value in ast.iter_fields(node):
            items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for k, item in items:
                if isinstance(item, ast.expr) and isinstance(getattr(item, "ctx", ast.Load()), ast.Load):
                    found.append((node, name, k, item))
    return found


def _put(place: tuple[ast.AST, str, int | None, ast.expr], new: ast.expr) -> None:
    node, name, k, _ = place
    if k is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[k] = new


def _replace(rng: random.Random, target: ast.AST) -> None:
    places = _places(target)
    if places:
        other = rng.choice(places)[3] if rng.random() < 0.5 else rng.choice(expressions())
        _put(rng.choice(places), copy.deepcopy(other))


def _wrap(rng: random.Random, target: ast.AST) -> None:
    """An expression inside another of a kind that the language has or has not."""
    places = _places(target)
    if not places:
        return
    place = rng.choice(places)
    x = ast.unparse(place[3])
    form = rng.choice((
        "not ({x})", "-({x})", "~({x})", "({x}) if ({x}) else 0", "({x}) + 1", "abs({x})", "int({x})",
        "float({x})", "bool({x})", "({x})[0]", "({x}).x", "({x})()", "min({x}, 1)", "len({x})", "[{x}]", "({x},)",
        "{{ {x} }}", "(q := ({x}))", "lambda: ({x})", "math.sqrt({x})", "({x}) ** 2", "({x}) // 3", "({x}) % 0",
        "({x}) and 1", "({x}) == ({x})", "({x}) in ({x}, 1)", "[i for i in {x}]", "f'{{ {x} }}'", "({x}) << 70",
        "str({x})", "sum({x})", "max({x})", "np.sum({x})", "({x}) @ ({x})", "{x} is None", "self.{x}", "gl.{x}",
        "({x})[1:]", "gl.int8({x})", "round({x})", "pow({x}, 2)", "*({x}),", "await ({x})", "gl.random()",
    )).format(x=x)  # fmt: skip
    try:
        _put(place, ast.parse(form, mode="eval").body)
    except (SyntaxError, RecursionError, ValueError):
        return


def _constant(rng: random.Random, target: ast.AST) -> None:
    constants = [node for node in ast.walk(target) if isinstance(node, ast.Constant)]
    if constants:
        rng.choice(constants).value = rng.choice(CONSTANTS)


def _operator(rng: random.Random, target: ast.AST) -> None:
    nodes = [x for x in ast.walk(target) if isinstance(x, ast.BinOp | ast.AugAssign | ast.Compare)]
    if nodes and isinstance(node := rng.choice(nodes), ast.Compare):
        node.ops[0] = rng.choice(COMPARISONS)()
    elif nodes:
        node.op = rng.choice(OPERATORS)()


def _rename(rng: random.Random, target: ast.AST) -> None:
    """One name, in one place or in all."""
    nodes = [(x, name) for x in ast.walk(target) for name in ("id", "attr", "arg", "name")
             if isinstance(getattr(x, name, None), str)]  # fmt: skip
    if not nodes:
        return
    node, name = rng.choice(nodes)
    old = getattr(node, name)
    near = [getattr(x, n) for x, n in nodes]
    new = rng.choice((*NAMES, *near, old + "_", rng.choice(keyword.softkwlist)))
    for other, field in nodes if rng.random() < 0.5 else [(node, name)]:
        if getattr(other, field) == old:
            setattr(other, field, new)


def _annotation(rng: random.Random, target: ast.AST) -> None:
    nodes = [x for x in ast.walk(target) if isinstance(x, ast.AnnAssign | ast.arg | ast.FunctionDef)]
    if nodes:
        node = rng.choice(nodes)
        new = ast.parse(rng.choice(ANNOTATIONS), mode="eval").body
        if isinstance(node, ast.FunctionDef):
            node.returns = None if rng.random() < 0.2 else new
        else:
            node.annotation = new


def _decorate(rng: random.Random, target: ast.AST) -> None:
    nodes = [x for x in ast.walk(target) if isinstance(x, ast.FunctionDef | ast.ClassDef)]
    node = rng.choice(nodes)
    if node.decorator_list and rng.random() < 0.5:
        node.decorator_list.pop(rng.randrange(len(node.decorator_list)))
    else:
        node.decorator_list.append(ast.parse(rng.choice(DECORATORS), mode="eval").body)


def _signature(rng: random.Random, target: ast.AST) -> None:
    nodes = [x for x in ast.walk(target) if isinstance(x, ast.FunctionDef)]
    if not nodes:
        return
    a = rng.choice(nodes).args
    change = rng.randrange(6)
    if change == 0 and a.args:
        a.args.pop(rng.randrange(len(a.args)))
    elif change == 1:
        a.args.append(ast.arg(rng.choice(NAMES)))
    elif change == 2:
        a.vararg = ast.arg("rest")
    elif change == 3:
        a.kwonlyargs, a.kw_defaults = [ast.arg("key")], [None]
    elif change == 4 and a.args:
        a.posonlyargs = [a.args.pop(0)]
    elif a.args and not a.defaults:
        a.defaults = [ast.Constant(rng.choice(CONSTANTS))]


CHANGES = (
    _delete, _duplicate, _swap, _transplant, _insert, _replace, _replace, _wrap, _wrap, _constant, _operator,
    _rename, _rename, _annotation, _decorate, _signature,
)  # fmt: skip
