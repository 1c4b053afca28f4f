"""Parameters and fields: annotated attributes of a program class, its Vertex and its Edge."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_origin

from gaslab import program
from gaslab.arguments import ADDRESS, one_of, shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.annotations import dimensions_of, pair_operation, storage_of
from gaslab.compiler.frontend.convert import INT_MAX, constant, join, type_of
from gaslab.compiler.frontend.lists import refused_elements
from gaslab.compiler.frontend.precision import too_wide
from gaslab.compiler.frontend.source import ClassSource, class_source
from gaslab.errors import ProgramError, nearest
from gaslab.language.annotations import Unresolved, annotations_of, is_class_variable, own_annotations
from gaslab.language.fields import RANGES
from gaslab.language.rng import TYPES as TYPES_OF_DRAWS
from gaslab.language.rng import Draw

TYPES = "float, int, bool, gl.VertexId or a width such as gl.float32"
_ELEMENTS = "dtype=float, int, bool or a width such as gl.float32"
# may be annotated, and are no parameters
_DIRECTIONS = ("gather_edges", "scatter_edges", "visit_ways", "rng", "precision", "cache_rebuild")
_EXAMPLE = {"float": "a float such as 1.0", "int": "an int such as 1", "bool": "True or False"}
MAX_ELEMENTS = 1 << 16  # of an array: some lie on the stacks of threads


class Sizes:
    """The int parameters that shapes may name, with their values; `used` has the ones that a shape names."""

    def __init__(self, params: tuple[t.Variable, ...], arguments: Mapping[str, int]) -> None:
        self.values: dict[str, Any] = {
            p.name: arguments.get(p.name, p.default) for p in params if p.type == "int"
        }
        self.used: dict[str, int] = {}


def parameters(cls: type) -> tuple[t.Variable, ...]:
    """Return the parameters of program class *cls*."""
    return _Group(cls, program.VertexProgram, "parameter", cls, Sizes((), {})).variables()


def fields(cls: type, name: str, sizes: Sizes) -> tuple[t.Variable, ...]:
    """Return the fields of the nested class *name* (``Vertex`` or ``Edge``) of program class *cls*."""
    base = getattr(program, name)
    nested = getattr(cls, name, base)
    if not isinstance(nested, type) or not issubclass(nested, base):
        source = class_source(next(c for c in cls.__mro__ if name in vars(c)))
        raise source.error(
            source.declaration(name), f"{name} is not based on gl.{name}; write class {name}(gl.{name}):"
        )
    group = _Group(nested, base, name, cls, sizes)
    found = group.variables()
    group.refuse_untyped({variable.name for variable in found})
    return found


@dataclass(frozen=True)
class Declaration:
    """A part of an accumulator as it was declared; a pair's variable has no storage type yet."""

    variable: t.Variable
    op: str
    annotation: Any
    error: Callable[[str], ProgramError]  # at the part


def parts(cls: type, total: type, sizes: Sizes) -> list[Declaration]:
    """Return the parts of accumulator *total* of program class *cls*."""
    group = _Group(total, program.Accumulator, total.__name__, cls, sizes)
    found = []
    for name, annotation in annotations_of(total, program.Accumulator, cls).items():
        if is_class_variable(annotation):
            continue
        source, at = group.place(name)
        said, op = getattr(total, name, None), pair_operation(annotation)
        if op:
            variable = t.Variable(name, "", t.REQUIRED, source.site(at))
        else:
            variable = group.variable(name, annotation)
            marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Combine)]
            op = marks[0].op if marks else said.combine if isinstance(said, program.Field) else "sum"
        found.append(Declaration(variable, op, annotation, functools.partial(source.error, at)))
    return found


class _Group:
    """The annotated attributes of one class; `kind` is ``"parameter"``, ``"Vertex"`` or ``"Edge"``."""

    def __init__(self, cls: type, stop: type, kind: str, owner: type, sizes: Sizes) -> None:
        self.cls, self.stop, self.kind, self.owner, self.sizes = cls, stop, kind, owner, sizes
        self.is_parameter = kind == "parameter"

    def variables(self) -> tuple[t.Variable, ...]:
        """Return the declared variables; raises where a name, a type or a default is outside the language."""
        annotations = annotations_of(self.cls, self.stop, None if self.is_parameter else self.owner)
        return tuple(
            self.variable(name, annotation)
            for name, annotation in annotations.items()
            if not is_class_variable(annotation) and not (self.is_parameter and name in _DIRECTIONS)
        )

    def place(self, name: str) -> tuple[ClassSource, Any]:
        """Return where an attribute is declared; raises for a reserved name."""
        source = self.source(next(c for c in self.cls.__mro__ if name in own_annotations(c)))
        at = source.declaration(name)
        reserved = program.RESERVED_PARAMETERS if self.is_parameter else program.RESERVED_FIELDS
        if name in reserved or (self.kind == "Edge" and name == "forward"):
            raise source.error(at, f"{self.what(name)} has a reserved name; choose another")
        return source, at

    def what(self, name: str) -> str:
        return f"parameter {name!r}" if self.is_parameter else f"{self.kind} field {name!r}"

    def variable(self, name: str, annotation: Any) -> t.Variable:
        source, at = self.place(name)
        what = self.what(name)
        default = getattr(self.cls, name, t.REQUIRED)
        extra = default if isinstance(default, program.Field) else None
        rank = dimensions_of(annotation)
        if (rank or extra) and self.is_parameter:
            raise source.error(at, f"{what} is no number; a parameter is {TYPES}")
        if rank and extra is None:
            example = "shape=8" if rank == 1 else "shape=(3, 3)"
            raise source.error(at, f"{what} has no shape; write {name}: ... = gl.field({example})")
        storage = storage_of(annotation)
        if rank and extra:
            storage = storage_of(float if extra.dtype is None else extra.dtype)
            if storage is None or storage == "id":
                where = getattr(at, "value", at)
                raise source.error(where, f"{what} has the dtype {_said(extra.dtype)}; write {_ELEMENTS}")
        if storage is None:
            where = at.annotation if isinstance(at, ast.AnnAssign) else at
            raise source.error(where, f"{what} is {_text(annotation)}; write {_advice(annotation)}")
        said = (annotation, extra.dtype if extra else None)
        if not self.is_parameter and (wide := too_wide(self.owner, said, what)) is not None:
            raise source.error(at.annotation if isinstance(at, ast.AnnAssign) else at, wide)
        if t.is_list(storage):
            return self.list_variable(name, storage, what, source, at)
        sync = None
        shape = self.shape(extra, rank, what, source, at) if extra else ()
        if extra is not None:
            sync = self.sync(extra.sync, rank, storage, what, source, at)
            default = t.REQUIRED if storage == "id" and type(extra.init) is int else extra.init
            if storage == "bool" and type(default) is int and default == 0:
                default = False  # what gl.field starts from where nothing is said
        if default is not t.REQUIRED:
            there = self.source(next(c for c in self.cls.__mro__ if name in vars(c)))
            written = there.declaration(name)
            default = self.default(default, storage, what, there, getattr(written, "value", None) or written)
        return t.Variable(name, storage, default, source.site(at), shape, sync)

    def shape(
        self, extra: program.Field, rank: int, what: str, source: ClassSource, at: ast.AST | None
    ) -> tuple[int, ...]:
        """Return a field's shape with the values of the parameters it names."""
        at = getattr(at, "value", at)
        shape = extra.shape
        if len(shape) != rank:
            kind = ("a number", "a gl.Vector", "a gl.Matrix")[rank]
            raise source.error(at, f"{what} is {kind} but its shape is {shape}; make them agree")
        if not rank and extra.dtype is not None:
            raise source.error(at, f"{what} is a number, whose annotation says its type; leave out dtype")
        lengths = []
        for length in shape:
            if isinstance(length, str):
                if length not in self.sizes.values:
                    known = nearest(length, self.sizes.values) if self.sizes.values else ""
                    raise source.error(at, f"{what} has the shape {shown(length)}, no int parameter{known}")
                value = self.sizes.values[length]
                if value is t.REQUIRED:
                    raise source.error(
                        at, f"{what} has the shape {length!r}, a parameter without a value; give it a default"
                    )
                if value < 1:
                    raise source.error(
                        at, f"{what} has the length {length} = {value}; give {length} a value from 1 on"
                    )
                self.sizes.used[length] = length = value
            if type(length) is not int or length < 1:
                raise source.error(at, f"{what} has the length {shown(length)}; write an int from 1 on")
            lengths.append(length)
        if math.prod(lengths) > MAX_ELEMENTS:
            raise source.error(
                at, f"{what} has {math.prod(lengths)} elements; an array can have {MAX_ELEMENTS} at most"
            )
        return tuple(lengths)

    def sync(
        self, mark: Any, rank: int, storage: str, what: str, source: ClassSource, at: ast.AST | None
    ) -> str | None:
        """Return how contributions to a field combine, None if it takes none."""
        if mark is None:
            return None
        rows = [row for row in t.OPERATIONS.values() if row.sync]
        if mark not in [row.name for row in rows]:
            words = one_of(f"gl.{row.name.upper()}" for row in rows)
            raise source.error(at, f"sync of {what} is {shown(mark)}; write {words}")
        if rank and self.kind == "Edge":
            raise source.error(at, f"{what} is an array, which cannot be additive on edges; leave out sync=")
        if self.kind not in ("Vertex", "Edge"):
            raise source.error(at, f"{what} has sync=, which is for fields of Vertex and Edge; leave it out")
        kind = t.STORAGE[storage][0]
        if kind not in t.OPERATIONS[mark].types:
            words = one_of(f"gl.{row.name.upper()}" for row in rows if kind in row.types)
            raise source.error(at, f"{what} is {kind}, which has no {mark}; write sync={words}")
        return str(mark)

    def list_variable(
        self, name: str, storage: str, what: str, source: ClassSource, at: ast.stmt | None
    ) -> t.Variable:
        where = at.annotation if isinstance(at, ast.AnnAssign) else at
        if self.kind not in ("Vertex", "Edge"):
            raise source.error(
                where, f"{what} is {t.named(storage)}; only vertices and edges have such fields"
            )
        if (why := refused_elements(storage)) is not None:
            raise source.error(where, f"{what} is {t.named(storage)}; {why}")
        if self.kind == "Edge":
            if t.STORAGE[t.element_storage(storage)][0] == "id":
                raise source.error(
                    where, f"{what} is {t.named(storage)}; columns of edges hold numbers: write gl.List[int]"
                )
            if hasattr(self.cls, name):
                raise source.error(
                    getattr(at, "value", at),
                    f"{what} comes from a column of the graph; leave the default out",
                )
            return t.Variable(name, storage, t.REQUIRED, source.site(at))
        if hasattr(self.cls, name):
            raise source.error(getattr(at, "value", at), f"{what} starts empty; assign it in init")
        return t.Variable(name, storage, (), source.site(at))

    def source(self, home: type) -> ClassSource:
        """Return the source of *home*, the class or the base that an attribute is written in."""
        if not self.is_parameter:
            for program_class in self.owner.__mro__:
                if vars(program_class).get(self.kind) is home:
                    return class_source(program_class).nested(home, self.kind)
        return class_source(home)

    def default(self, value: Any, storage: str, what: str, source: ClassSource, at: ast.AST | None) -> Any:
        """Return a default as the plain number of its type; raises where it does not fit."""
        kind = t.STORAGE[storage][0]
        if isinstance(value, Draw):
            return self.random_start(value, kind, what, source, at)
        if kind == "id":
            if not self.is_parameter:
                if value is program.NOBODY:
                    return INT_MAX
                raise source.error(
                    at, f"{what} is a vertex id; its default can only be gl.NOBODY: assign it in init"
                )
            if isinstance(value, int | str) and not isinstance(value, bool):
                return value
            raise source.error(at, f"the default of {what} is no id; write an int or a str")
        number = constant(value)
        if number is None:
            raise source.error(at, f"the default of {what} is no number; write {_EXAMPLE[kind]}")
        found = type_of(number)
        if join(found, kind) != kind:
            raise source.error(
                at, f"{what} is {kind} but its default {number!r} is {found}; write {_EXAMPLE[kind]}"
            )
        if kind == "int":
            low, high = RANGES[storage]
            if not low <= number <= high:
                raise source.error(at, f"{what} holds {low} to {high}, not {number}; choose a wider type")
            return int(number)
        return float(number) if kind == "float" else number

    def random_start(self, draw: Draw, kind: str, what: str, source: ClassSource, at: ast.AST | None) -> Draw:
        """Return a random start of a field; raises where it does not fit."""
        if self.is_parameter:
            raise source.error(at, f"{what} is the same for all vertices; draw in a field: class Vertex")
        if join(TYPES_OF_DRAWS[draw.kind], kind) != kind:
            raise source.error(at, f"{what} is {kind} but {draw!r} is {TYPES_OF_DRAWS[draw.kind]}")
        names = [name for name in draw.arguments if isinstance(name, str)]
        known = program.parameter_annotations(self.owner)
        for name in names:
            if name not in known:
                raise source.error(at, f"{draw!r}: there is no parameter {name!r}{nearest(name, known)}")
        return draw

    def refuse_untyped(self, known: set[str]) -> None:
        """Raise for ``score = 0.0`` in a Vertex or Edge: a field whose type was forgotten."""
        for base in self.cls.__mro__:
            if base is object or base is self.stop or not issubclass(base, self.stop):
                continue
            for name, value in vars(base).items():
                number = constant(value)
                if not name.startswith("__") and name not in known and number is not None:
                    source = self.source(base)
                    write = f"write {name}: {type_of(number)} = {number!r}"
                    raise source.error(
                        source.declaration(name), f"{self.kind} field {name!r} has no type; {write}"
                    )


def _said(dtype: Any) -> str:
    """Return a dtype as it is written."""
    if storage_of(dtype) == "id":
        return "gl.VertexId"
    return str(getattr(dtype, "__name__", None) or repr(dtype))


def _text(annotation: Any) -> str:
    if isinstance(annotation, Unresolved):
        return f"of the unknown type {annotation.text}"
    return f"of type {_written(annotation)}, which is not in the language"


def _written(annotation: Any) -> str:
    """Return an annotation much as it is written: ``int | None``, ``(bool, int)``."""
    if isinstance(annotation, tuple):
        return f"({', '.join(map(_written, annotation))})"
    plain = isinstance(annotation, type) and get_origin(annotation) is None  # list[int] was a type once
    return annotation.__name__ if plain else ADDRESS.sub("", str(annotation)).replace("typing.", "")


def _advice(annotation: Any) -> str:
    name = getattr(annotation, "__name__", "")
    if getattr(annotation, "__module__", "") == "numpy" and name in t.STORAGE:
        return f"gl.{name}"
    if annotation is str:
        return "gl.VertexId for the id of a vertex"
    if isinstance(annotation, Unresolved):
        word = annotation.text.rpartition(".")[2]
        known = ["VertexId", *(name for name in t.STORAGE if name.isidentifier())]
        close = nearest(word, known).partition("did you mean ")[2]
        return f"{TYPES}; did you mean {close}" if close else TYPES
    return TYPES
