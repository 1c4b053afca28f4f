"""What a program class declares: parameters, fields, aggregators, directions, combiners."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, get_origin

from gaslab import program
from gaslab.annotations import (
    Namespace,
    Unresolved,
    annotations_of,
    closure_of,
    evaluate,
    is_class_variable,
    namespace_of,
)
from gaslab.compiler.convert import join, named
from gaslab.compiler.source import ClassSource, FunctionSource, class_source, function_source
from gaslab.compiler.tree import REQUIRED, STORAGE, Combiner, Variable
from gaslab.errors import nearest

PHASES = ("init", "start", "active", "gather", "apply", "scatter", "done")
MAX_VERTEX_FIELDS = 64  # bits of view.given
_PLAIN = {float: "float64", int: "int64", bool: "bool"}
_TYPES = "float, int, bool, gl.VertexId or a width such as gl.float32"
_RANGES = {
    f"{sign}int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if not sign else (0, (1 << bits) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True)
class Declared:
    """The declarations of a program class; `functions` has every method by name, inherited ones too."""

    cls: type
    params: tuple[Variable, ...]
    vertex_fields: tuple[Variable, ...]
    edge_fields: tuple[Variable, ...]
    aggregators: dict[str, Combiner]
    gather: Combiner | None
    message: Combiner | None
    gather_edges: int
    scatter_edges: int
    functions: dict[str, FunctionType]
    static: frozenset[str]

    def source(self, name: str) -> FunctionSource:
        """Return the source of method or aggregator *name*."""
        return function_source(self.functions[name])

    def fields(self, role: str) -> tuple[Variable, ...]:
        """Return the fields of ``e``, or of ``v`` and ``nbr``."""
        return self.edge_fields if role == "e" else self.vertex_fields


def declare(cls: type) -> Declared:
    """Return what program class *cls* and its bases declare; raises ProgramError."""
    functions: dict[str, FunctionType] = {}
    static = set()
    aggregators = []
    for base in reversed(cls.__mro__):
        if base is object or base is program.VertexProgram:
            continue
        for name, value in vars(base).items():
            functions.pop(name, None)
            if isinstance(value, program.Aggregator):
                aggregators.append(name)
                functions[name] = value.function
            elif isinstance(value, staticmethod):
                static.add(name)
                functions[name] = value.__func__  # type: ignore[assignment]
            elif isinstance(value, FunctionType):
                functions[name] = value
    aggregators = [n for n in dict.fromkeys(aggregators) if isinstance(getattr(cls, n), program.Aggregator)]
    params = _variables(cls, program.VertexProgram, "parameter", class_source(cls))
    vertex_fields = _nested(cls, "Vertex", program.Vertex)
    if len(vertex_fields) > MAX_VERTEX_FIELDS:
        raise class_source(cls).error(
            None,
            f"Vertex has {len(vertex_fields)} fields; {MAX_VERTEX_FIELDS} is the most a program can have",
        )
    _refuse_shadows(cls, {p.name for p in params}, aggregators)
    apply = functions.get("apply")
    return Declared(
        cls=cls,
        params=params,
        vertex_fields=vertex_fields,
        edge_fields=_nested(cls, "Edge", program.Edge),
        aggregators={n: combiner(cls, functions[n], "return") for n in aggregators},
        gather=combiner(cls, functions["gather"], "return") if "gather" in functions else None,
        message=combiner(cls, apply, "message") if apply and "message" in parameters_of(apply) else None,
        gather_edges=_direction(cls, "gather_edges") if "gather" in functions else 0,
        scatter_edges=_direction(cls, "scatter_edges") if "scatter" in functions else 0,
        functions=functions,
        static=frozenset(static),
    )


def parameters_of(function: FunctionType) -> tuple[str, ...]:
    """Return the names of the positional parameters of *function*."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


# ---- parameters and fields -------------------------------------------------------------------------


def _nested(cls: type, name: str, base: type) -> tuple[Variable, ...]:
    """Return the fields of the nested Vertex or Edge of *cls*."""
    nested = getattr(cls, name, base)
    owner = next((c for c in cls.__mro__ if name in vars(c)), cls)
    source = class_source(owner)
    if not isinstance(nested, type) or not issubclass(nested, base):
        raise source.error(
            source.declaration(name), f"{name} is not based on gl.{name}; write class {name}(gl.{name}):"
        )
    return _variables(nested, base, name, source, owner)


def _variables(
    cls: type, stop: type, kind: str, around: ClassSource, owner: type | None = None
) -> tuple[Variable, ...]:
    """Return the annotated attributes of *cls* as parameters (*kind* "parameter") or fields of *kind*."""
    found = []
    for name, annotation in annotations_of(cls, stop, owner).items():
        if is_class_variable(annotation):
            continue
        home = next(c for c in cls.__mro__ if name in getattr(c, "__annotations__", {}) and name in _own(c))
        source = around if home is around.cls else around.nested(home) if owner else class_source(home)
        at = source.declaration(name)
        _refuse_reserved(name, kind, source, at)
        storage = storage_of(annotation)
        if storage is None:
            where = at.annotation if isinstance(at, ast.AnnAssign) else at
            raise source.error(where, f"{kind} {name!r} is {_text(annotation)}; write {_advice(annotation)}")
        default = getattr(cls, name, REQUIRED)
        if default is not REQUIRED:
            where = at.value if isinstance(at, ast.AnnAssign) and at.value else at
            default = _default(default, storage, f"{kind} {name!r}", kind, source, where)
        found.append(Variable(name, storage, default, source.site(at)))
    if kind != "parameter":
        _refuse_untyped(cls, stop, kind, around, {v.name for v in found})
    return tuple(found)


def _own(cls: type) -> Iterable[str]:
    from gaslab.annotations import own_annotations

    return own_annotations(cls)


def storage_of(annotation: Any) -> str | None:
    """Return the storage type that *annotation* stands for, None if it is no scalar of the language."""
    if isinstance(annotation, type):
        return _PLAIN.get(annotation)
    if get_origin(annotation) is Annotated:
        marks = [m for m in annotation.__metadata__ if isinstance(m, program.Storage)]
        return marks[0].name if marks else storage_of(annotation.__origin__)
    return None


def _default(value: Any, storage: str, what: str, kind: str, source: ClassSource, at: ast.AST | None) -> Any:
    """Return a declared default as the number it is stored from; raises where it does not fit."""
    type = STORAGE[storage][0]
    if type == "id":
        if kind == "parameter" and isinstance(value, int | str) and not isinstance(value, bool):
            return value
        raise source.error(
            at, f"{what} is a vertex id and takes no default; assign it in init, as in v.x = v.id"
        )
    value = constant(value)
    if value is None:
        raise source.error(at, f"the default of {what} is no number; write {_TYPES_EXAMPLE[type]}")
    given = type_of(value)
    if join(given, type) != type:
        raise source.error(
            at, f"{what} is {type} but its default {value!r} is {given}; write {_TYPES_EXAMPLE[type]}"
        )
    if type == "float":
        return float(value)
    if type == "int":
        low, high = _RANGES[storage]
        if not low <= value <= high:
            raise source.error(
                at, f"the default {value} of {what} is outside {storage}; it holds {low} to {high}"
            )
        return int(value)
    return value


_TYPES_EXAMPLE = {"float": "a float such as 1.0", "int": "an int such as 1", "bool": "True or False"}


def constant(value: Any) -> float | int | bool | None:
    """Return a Python or numpy number as a plain one; None for anything else."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    for plain in (int, float):
        if isinstance(value, plain):
            return plain(value)
    return None


def type_of(value: float | int | bool) -> str:
    """Return the expression type of a plain number."""
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"


def _refuse_reserved(name: str, kind: str, source: ClassSource, at: ast.AST | None) -> None:
    reserved = program.RESERVED_PARAMETERS if kind == "parameter" else program.RESERVED_FIELDS
    if name in reserved:
        what = "parameter" if kind == "parameter" else f"field of {kind}"
        raise source.error(at, f"{name!r} is reserved and cannot be a {what}; choose another name")


def _refuse_untyped(cls: type, stop: type, kind: str, around: ClassSource, known: set[str]) -> None:
    """Raise for ``score = 0.0`` in a Vertex or Edge: a field whose type was forgotten."""
    for base in cls.__mro__:
        if base is object or base is stop or not issubclass(base, stop):
            continue
        source = around.nested(base)
        for name, value in vars(base).items():
            number = constant(value)
            if not name.startswith("__") and name not in known and number is not None:
                raise source.error(
                    source.declaration(name),
                    f"{kind} field {name!r} has no type; write {name}: {type_of(number)} = {value!r}",
                )


def _refuse_shadows(cls: type, params: set[str], aggregators: list[str]) -> None:
    for name in aggregators:
        if name in params or name in program.RESERVED_PARAMETERS:
            source = class_source(next(c for c in cls.__mro__ if name in vars(c)))
            why = "also a parameter" if name in params else "reserved"
            raise source.error(source.declaration(name), f"aggregator {name!r} is {why}; choose another name")


def _text(annotation: Any) -> str:
    """Return an annotation as errors show it."""
    if isinstance(annotation, Unresolved):
        return f"of an unknown type {annotation.text}"
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return f"of type {name}, which is not in the language"


def _advice(annotation: Any) -> str:
    name = getattr(annotation, "__name__", "")
    if getattr(annotation, "__module__", "") == "numpy" and name in STORAGE:
        return f"gl.{name}"
    if isinstance(annotation, Unresolved) and "." in annotation.text:
        word = annotation.text.rsplit(".", 1)[1]
        return (
            _TYPES + nearest(word, [s for s in STORAGE if s != "bool"] + ["VertexId"]).partition("; known")[0]
        )
    return "gl.VertexId for a vertex's id; text is not in the language" if annotation is str else _TYPES


# ---- combiners and directions ----------------------------------------------------------------------


def combiner(cls: type, function: FunctionType, name: str) -> Combiner:
    """Return the combiner that annotates parameter *name* of *function*, or its ``"return"``."""
    source = function_source(function)
    arguments = {a.arg: a for a in source.node.args.args}
    node = source.node.returns if name == "return" else arguments[name].annotation
    at = node or (source.node if name == "return" else arguments[name])
    annotation = annotation_value(cls, source, name, node)
    what = f"{function.__name__}'s message" if name == "message" else f"{function.__name__}'s value"
    write = "message: gl.Min[float]" if name == "message" else "-> gl.Sum[float]"
    choices = "gl.Sum[...], gl.Min[...] or gl.Max[...]"
    if node is None:
        raise source.error(at, f"{what} has no combiner; annotate it with {choices}, as in {write}")
    marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Combine)]
    if not marks:
        raise source.error(at, f"{what} is {ast.unparse(node)}, no combiner; write {choices}, as in {write}")
    storage = storage_of(annotation)
    word = f"gl.{marks[0].op.capitalize()}"
    if storage is None:
        raise source.error(at, f"{ast.unparse(node)} combines no scalar; write {write.split()[-1]}")
    if marks[0].op == "sum" and STORAGE[storage][0] in ("bool", "id"):
        better = "gl.Sum[int] to count" if storage == "bool" else "gl.Min[gl.VertexId] or gl.Max[gl.VertexId]"
        better += ", or gl.Max[bool] for any" if storage == "bool" else ""
        raise source.error(
            at,
            f"{word} cannot add {named(STORAGE[storage][0])}s; write {better}".replace(
                "a vertex id", "vertex id"
            ),
        )
    return Combiner(marks[0].op, storage)


def annotation_value(cls: type, source: FunctionSource, name: str, node: ast.expr | None) -> Any:
    """Return what the annotation *node* of parameter *name* (or ``"return"``) means."""
    if node is None:
        return None
    function = source.function
    try:
        written = function.__annotations__.get(name)
    except NameError:  # Python 3.14 evaluates it only now
        written = None
    if written is not None and not isinstance(written, str):
        return written
    scope = Namespace(closure_of(function), function.__globals__, *_scopes(cls))
    return evaluate(written or ast.unparse(node), scope)


def _scopes(cls: type) -> list[Any]:
    return [*(vars(c) for c in cls.__mro__), namespace_of(cls)]


def _direction(cls: type, name: str) -> int:
    value = getattr(cls, name)
    if type(value) is int and 0 <= value <= 3:
        return value
    source = class_source(next(c for c in cls.__mro__ if name in vars(c)))
    at = source.declaration(name)
    if isinstance(value, FunctionType):
        raise source.error(
            at, f"{name} is a method; one direction holds for all vertices: write {name} = gl.IN"
        )
    raise source.error(
        getattr(at, "value", at), f"{name} is {value!r}; write gl.IN, gl.OUT, gl.ALL or gl.NONE"
    )
