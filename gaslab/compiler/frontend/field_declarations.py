"""Parameters and fields: annotated attributes of a program class, its Vertex and its Edge.

Their errors are raised here, but for types wider than the class's precision (`precision`) and for elements of
lists (`lists`).
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_origin

from gaslab import program
from gaslab.arguments import ADDRESS, one_of, shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.annotations import is_by_key, pair_operation, storage_of
from gaslab.compiler.frontend.convert import INT_MAX, constant, join, type_of
from gaslab.compiler.frontend.lists import of_tuples, refused_elements
from gaslab.compiler.frontend.precision import too_wide
from gaslab.compiler.frontend.source import ClassSource, class_source, declaring_source
from gaslab.errors import ProgramError, nearest
from gaslab.language.annotations import (
    Unresolved,
    annotations_of,
    is_class_variable,
    mark_of,
    own_annotations,
)
from gaslab.language.arrays import dimensions_of
from gaslab.language.fields import RANGES
from gaslab.language.rng import TYPES as TYPES_OF_DRAWS
from gaslab.language.rng import Draw

TYPES = "float, int, bool, gl.VertexId or a width such as gl.float32"
_ELEMENTS = "dtype=float, int, bool or a width such as gl.float32"
# may be annotated, but are not parameters
_DIRECTIONS = ("gather_edges", "scatter_edges", "visit_ways", "rng", "precision", "cache_rebuild")
_EXAMPLE = {"float": "a float such as 1.0", "int": "an int such as 1", "bool": "True or False"}
MAX_ELEMENTS = 1 << 16  # of an array: some are on the threads' stacks


class Sizes:
    """The int parameters that shapes may name, with their values; `used` holds those that a shape names."""

    def __init__(self, params: tuple[t.Variable, ...], arguments: Mapping[str, int]) -> None:
        self.values: dict[str, Any] = {
            p.name: arguments.get(p.name, p.default) for p in params if p.type == "int"
        }
        self.used: dict[str, int] = {}


def parameters(cls: type) -> tuple[t.Variable, ...]:
    """Return the parameters of program class *cls* that are numbers or ids."""
    return _Group(cls, program.VertexProgram, "parameter", cls, Sizes((), {})).variables()


def array_parameters(cls: type, sizes: Sizes) -> tuple[t.Variable, ...]:
    """Return the parameters of program class *cls* that are vectors or matrices."""
    return _Group(cls, program.VertexProgram, "parameter", cls, sizes).variables(arrays=True)


def fields(cls: type, name: str, sizes: Sizes) -> tuple[t.Variable, ...]:
    """Return the fields of the nested class *name* (``Vertex`` or ``Edge``) of program class *cls*."""
    base = getattr(program, name)
    nested = getattr(cls, name, base)
    if not isinstance(nested, type) or not issubclass(nested, base):
        text = f"{name} is not based on gl.{name}; write class {name}(gl.{name}):"
        raise declaring_source(cls, name).error_at(name, text)
    group = _Group(nested, base, name, cls, sizes)
    found = group.variables()
    group.refuse_untyped({variable.name for variable in found})
    return found


@dataclass(frozen=True)
class Declaration:
    """A part of an accumulator as declared; a pair's variable has no storage type yet."""

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
        place = group.place(name)
        said, op = getattr(total, name, None), pair_operation(annotation)
        if op:
            variable = t.Variable(name, "", t.REQUIRED, place.site)
        else:
            variable = group.variable(name, annotation)
            mark = mark_of(annotation, program.Combine)
            op = mark.op if mark else said.combine if isinstance(said, program.Field) else "sum"
        found.append(Declaration(variable, op, annotation, functools.partial(place.source.error, place.at)))
    return found


@dataclass(frozen=True)
class _Place:
    """Where an attribute is declared; *what* names it in errors."""

    what: str
    source: ClassSource
    at: Any

    @property
    def site(self) -> t.Site:
        return self.source.site(self.at)

    def error(self, text: str) -> ProgramError:
        """Return the error about *what*, at the declaration."""
        return self.source.error(self.at, f"{self.what} {text}")

    def value_error(self, text: str) -> ProgramError:
        """As `error`, at the assigned value."""
        return self.source.error(getattr(self.at, "value", self.at), f"{self.what} {text}")

    def type_error(self, text: str) -> ProgramError:
        """As `error`, at the annotation."""
        return self.source.error(self.annotation, f"{self.what} {text}")

    @property
    def annotation(self) -> ast.AST | None:
        return self.at.annotation if isinstance(self.at, ast.AnnAssign) else self.at


class _Group:
    """The annotated attributes of one class; `kind` is ``"parameter"``, ``"Vertex"`` or ``"Edge"``."""

    def __init__(self, cls: type, stop: type, kind: str, owner: type, sizes: Sizes) -> None:
        self.cls, self.stop, self.kind, self.owner, self.sizes = cls, stop, kind, owner, sizes
        self.is_parameter = kind == "parameter"

    def variables(self, arrays: bool = False) -> tuple[t.Variable, ...]:
        """Return the declared variables; raises if a name, a type or a default is outside the language.

        For parameters, either the *arrays* or the others.
        """
        annotations = annotations_of(self.cls, self.stop, None if self.is_parameter else self.owner)
        found = {
            name: self.variable(name, annotation)
            for name, annotation in annotations.items()
            if not is_class_variable(annotation)
            and not (self.is_parameter and (name in _DIRECTIONS or arrays != bool(dimensions_of(annotation))))
        }
        return tuple(self.looked_up(one, found) if one.lookup else one for one in found.values())

    def looked_up(self, field: t.Variable, known: Mapping[str, t.Variable]) -> t.Variable:
        """Return a complete looked-up field; raises if its path leads nowhere."""
        assert field.lookup is not None
        names = field.lookup.link, field.lookup.field
        place, path = self.place(field.name), ".".join(names)
        for name in names:
            if name not in known:
                raise place.value_error(f"looks up {path!r}, with no field {name!r}{nearest(name, known)}")
            if known[name].lookup:
                raise place.value_error(f"looks up {path!r}, and {name!r} is looked up itself; copy it first")
        link, target = (known[name] for name in names)
        if link.storage != "id":
            raise place.value_error(
                f"looks up {path!r}, and {link.name!r} is {t.named(link.type)}; declare it gl.VertexId"
            )
        if target.shape or t.is_list(target.storage):
            raise place.value_error(
                f"looks up {path!r}, which is {t.named(target.type)}; only numbers and ids can be looked up"
            )
        if target.storage != field.storage:
            raise place.type_error(f"is not of the type of {target.name!r}; declare both the same")
        nobody = INT_MAX if target.storage == "id" else constant(target.default)
        return replace(field, lookup=replace(field.lookup, nobody=0 if nobody is None else nobody))

    def place(self, name: str) -> _Place:
        """Return the place where an attribute is declared; raises for a reserved name."""
        source = self.source(next(c for c in self.cls.__mro__ if name in own_annotations(c)))
        what = f"parameter {name!r}" if self.is_parameter else f"{self.kind} field {name!r}"
        place = _Place(what, source, source.declaration(name))
        reserved = program.RESERVED_PARAMETERS if self.is_parameter else program.RESERVED_FIELDS
        if name in reserved or (self.kind == "Edge" and name == "forward"):
            raise place.error("has a reserved name; choose another")
        return place

    def variable(self, name: str, annotation: Any) -> t.Variable:
        place = self.place(name)
        default = getattr(self.cls, name, t.REQUIRED)
        extra = default if isinstance(default, program.Field) else None
        rank = dimensions_of(annotation)
        if extra and not rank and self.is_parameter:
            raise place.error("is gl.field(...), which is for fields and arrays; write a number, or nothing")
        if rank and extra is None:
            example = "shape=8" if rank == 1 else "shape=(3, 3)"
            raise place.error(f"has no shape; write {name}: ... = gl.field({example})")
        storage = storage_of(annotation)
        if rank and extra:
            storage = storage_of(float if extra.dtype is None else extra.dtype)
            if storage is None or (storage == "id" and self.kind != "Vertex"):
                raise place.value_error(f"has the dtype {_said(extra.dtype)}; write {_ELEMENTS}")
        if is_by_key(annotation):
            raise place.type_error("is a total by key, which only gather makes; keep its argmax or a sum")
        if storage is None and (why := of_tuples(annotation)) is not None:
            raise place.type_error(f"is {why}")
        if storage is None:
            raise place.type_error(f"is {_text(annotation)}; write {_advice(annotation)}")
        if extra is not None and extra.lookup is not None:
            return t.Variable(name, storage, t.REQUIRED, place.site, lookup=self.path(extra.lookup, place))
        said = (annotation, extra.dtype if extra else None)
        if (rank or not self.is_parameter) and (wide := too_wide(self.owner, said, place.what)) is not None:
            raise place.source.error(place.annotation, wide)
        if t.is_list(storage):
            return self.list_variable(name, storage, place)
        sync = None
        shape = self.shape(extra, rank, place) if extra else ()
        if extra is not None:
            sync = self.sync(extra.sync, rank, storage, place)
            default = extra.init
            if self.is_parameter and not extra.has_init:
                default = t.REQUIRED
            elif storage == "id" and type(extra.init) is int:  # unspecified
                default = program.NOBODY if shape else t.REQUIRED
            if storage == "bool" and type(default) is int and default == 0:
                default = False  # gl.field's start if unspecified
        if default is not t.REQUIRED:
            there = self.source(next(c for c in self.cls.__mro__ if name in vars(c)))
            written = there.declaration(name)
            value_place = _Place(place.what, there, getattr(written, "value", None) or written)
            default = self.default(default, storage, value_place)
        return t.Variable(name, storage, default, place.site, shape, sync)

    def path(self, path: Any, place: _Place) -> t.Lookup:
        """Return a lookup by its two names."""
        names = path.split(".") if isinstance(path, str) else []
        if self.kind != "Vertex":
            raise place.value_error("is looked up by id; only fields of Vertex can be")
        if len(names) != 2:
            raise place.value_error(f'looks up {shown(path)}; write gl.lookup("ID.FIELD")')
        return t.Lookup(names[0], names[1])

    def shape(self, extra: program.Field, rank: int, place: _Place) -> tuple[int, ...]:
        """Return a field's shape with the values of the parameters it names."""
        shape = extra.shape
        if len(shape) != rank:
            kind = ("a number", "a gl.Vector", "a gl.Matrix")[rank]
            raise place.value_error(f"is {kind} but its shape is {shape}; make them agree")
        if not rank and extra.dtype is not None:
            raise place.value_error("is a number, typed by its annotation; leave out dtype")
        lengths = []
        for length in shape:
            if isinstance(length, str):
                if length not in self.sizes.values:
                    known = nearest(length, self.sizes.values) if self.sizes.values else ""
                    raise place.value_error(f"has the shape {shown(length)}, no int parameter{known}")
                value = self.sizes.values[length]
                if value is t.REQUIRED:
                    raise place.value_error(
                        f"has the shape {length!r}, a parameter without a value; give it a default"
                    )
                if value < 1:
                    raise place.value_error(
                        f"has the length {length} = {value}; give {length} a value from 1 on"
                    )
                self.sizes.used[length] = length = value
            if type(length) is not int or length < 1:
                raise place.value_error(f"has the length {shown(length)}; write an int from 1 on")
            lengths.append(length)
        if math.prod(lengths) > MAX_ELEMENTS and not self.is_parameter:
            raise place.value_error(
                f"has {math.prod(lengths)} elements; an array can have {MAX_ELEMENTS} at most"
            )
        return tuple(lengths)

    def sync(self, mark: Any, rank: int, storage: str, place: _Place) -> str | None:
        """Return how contributions to a field combine, None if it has none."""
        if mark is None:
            return None
        rows = [row for row in t.OPERATIONS.values() if row.sync]
        if mark not in [row.name for row in rows]:
            words = one_of(f"gl.{row.name.upper()}" for row in rows)
            raise place.source.error(place.at, f"sync of {place.what} is {shown(mark)}; write {words}")
        if rank and storage == "id":
            raise place.error("is an array of vertex ids, which cannot be additive; leave out sync=")
        if rank and self.kind == "Edge":
            raise place.error("is an array, which cannot be additive on edges; leave out sync=")
        if self.kind not in ("Vertex", "Edge"):
            raise place.error("has sync=, which is for fields of Vertex and Edge; leave it out")
        kind = t.STORAGE[storage][0]
        if kind not in t.OPERATIONS[mark].types:
            words = one_of(f"gl.{row.name.upper()}" for row in rows if kind in row.types)
            raise place.error(f"is {kind}, which has no {mark}; write sync={words}")
        return str(mark)

    def list_variable(self, name: str, storage: str, place: _Place) -> t.Variable:
        if self.kind not in ("Vertex", "Edge"):
            raise place.type_error(f"is {t.named(storage)}; only vertices and edges have such fields")
        if t.element_storage(storage) in t.TUPLES:
            text = "is a list of tuples, which only messages are; write a list for each member"
            raise place.type_error(text)
        if (why := refused_elements(storage)) is not None:
            raise place.type_error(f"is {t.named(storage)}; {why}")
        if self.kind == "Edge":
            if t.STORAGE[t.element_storage(storage)][0] == "id":
                text = "columns of edges hold numbers: write gl.List[int]"
                raise place.type_error(f"is {t.named(storage)}; {text}")
            if hasattr(self.cls, name):
                raise place.value_error("comes from a column of the graph; leave the default out")
            return t.Variable(name, storage, t.REQUIRED, place.site)
        if hasattr(self.cls, name):
            raise place.value_error("starts empty; assign it in init")
        return t.Variable(name, storage, (), place.site)

    def source(self, home: type) -> ClassSource:
        """Return the source of *home*, the class or base that defines an attribute."""
        if not self.is_parameter:
            for program_class in self.owner.__mro__:
                if vars(program_class).get(self.kind) is home:
                    return class_source(program_class).nested(home, self.kind)
        return class_source(home)

    def default(self, value: Any, storage: str, place: _Place) -> Any:
        """Return a default as a plain number of its type; raises if it does not fit."""
        kind = t.STORAGE[storage][0]
        if isinstance(value, Draw):
            return self.random_start(value, kind, place)
        if kind == "id":
            if not self.is_parameter:
                if value is program.NOBODY:
                    return INT_MAX
                raise place.error("is a vertex id; its default can only be gl.NOBODY: assign it in init")
            if isinstance(value, int | str) and not isinstance(value, bool):
                return value
            text = f"the default of {place.what} is not an id; write an int or a str"
            raise place.source.error(place.at, text)
        number = constant(value)
        if number is None:
            text = f"the default of {place.what} is not a number; write {_EXAMPLE[kind]}"
            raise place.source.error(place.at, text)
        found = type_of(number)
        if join(found, kind) != kind:
            raise place.error(f"is {kind} but its default {number!r} is {found}; write {_EXAMPLE[kind]}")
        if kind == "int":
            low, high = RANGES[storage]
            if not low <= number <= high:
                raise place.error(f"holds {low} to {high}, not {number}; choose a wider type")
            return int(number)
        return float(number) if kind == "float" else number

    def random_start(self, draw: Draw, kind: str, place: _Place) -> Draw:
        """Return a field's random start; raises if it does not fit."""
        if self.is_parameter:
            raise place.error("is the same for all vertices; draw in a field: class Vertex")
        if join(TYPES_OF_DRAWS[draw.kind], kind) != kind:
            raise place.error(f"is {kind} but {draw!r} is {TYPES_OF_DRAWS[draw.kind]}")
        names = [name for name in draw.arguments if isinstance(name, str)]
        known = program.parameter_annotations(self.owner)
        for name in names:
            if name not in known:
                text = f"{draw!r}: there is no parameter {name!r}{nearest(name, known)}"
                raise place.source.error(place.at, text)
        return draw

    def refuse_untyped(self, known: set[str]) -> None:
        """Raise for ``score = 0.0`` in a Vertex or Edge: a field whose type was forgotten."""
        for base in self.cls.__mro__:
            if base is object or base is self.stop or not issubclass(base, self.stop):
                continue
            for name, value in vars(base).items():
                number = constant(value)
                if not name.startswith("__") and name not in known and number is not None:
                    write = f"write {name}: {type_of(number)} = {number!r}"
                    text = f"{self.kind} field {name!r} has no type; {write}"
                    raise self.source(base).error_at(name, text)


def _said(dtype: Any) -> str:
    """Return a dtype as written."""
    if storage_of(dtype) == "id":
        return "gl.VertexId"
    return str(getattr(dtype, "__name__", None) or repr(dtype))


def _text(annotation: Any) -> str:
    if isinstance(annotation, Unresolved):
        return f"of the unknown type {annotation.text}"
    return f"of type {_written(annotation)}, which is not in the language"


def _written(annotation: Any) -> str:
    """Return an annotation nearly as written: ``int | None``, ``(bool, int)``."""
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
        known = ["VertexId", *(x for x in t.STORAGE if x.isidentifier() and x not in t.TUPLES)]
        close = nearest(word, known).partition("did you mean ")[2]
        return f"{TYPES}; did you mean {close}" if close else TYPES
    return TYPES
