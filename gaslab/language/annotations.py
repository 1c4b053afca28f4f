"""The annotations of a class, evaluated, including those that ``from __future__`` made strings."""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, NoneType, UnionType
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin

Mark = TypeVar("Mark")


class Unresolved:
    """An annotation that names something unknown; `text` is its source."""

    def __init__(self, text: str) -> None:
        self.text = text


class Namespace(Mapping[str, Any]):
    """The namespace of annotations: the given scopes in order, then the built-ins.

    A class made inside a function may use names that only that function had, such as its own ``import gaslab
    as gl``; nothing keeps them. So an unknown name stands for the language's word of that name if it exists,
    else for the module of words.
    """

    def __init__(self, *scopes: Mapping[str, Any]) -> None:
        self._scopes = (*scopes, vars(builtins))

    def __getitem__(self, name: str) -> Any:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        words = sys.modules["gaslab.program"]
        return getattr(words, name, words)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return len(self._scopes)


def evaluate(annotation: Any, namespace: Namespace) -> Any:
    """Return the meaning of *annotation*; strings are evaluated, `Unresolved` if that fails."""
    if not isinstance(annotation, str):
        return annotation
    try:
        value = eval(annotation, {}, namespace)
    except Exception:  # any text is possible; the caller reports the place
        return Unresolved(annotation)
    return Unresolved(annotation) if inspect.ismodule(value) else value


def functions_of(cls: type) -> dict[str, FunctionType]:
    """Return the functions defined by *cls* itself: methods, static methods, aggregators."""
    found = {}
    for name, value in vars(cls).items():
        for candidate in (value, getattr(value, "__func__", None), getattr(value, "function", None)):
            if isinstance(candidate, FunctionType):
                found[name] = candidate
                break
    return found


def namespace_of(cls: type, *inner: type) -> Namespace:
    """Return the namespace of annotations in the body of *cls* (or of a class *inner* to it)."""
    scopes: list[Mapping[str, Any]] = [vars(c) for c in (*inner, cls)]
    for function in functions_of(cls).values():
        scopes.append(closure_of(function))
        scopes.append(function.__globals__)
    module = sys.modules.get(cls.__module__)
    if module is not None:
        scopes.append(vars(module))
    return Namespace(*scopes)


def closure_of(function: FunctionType) -> dict[str, Any]:
    """Return the values of the enclosing functions' variables that *function* uses."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return values


def annotations_of(cls: type, stop: type, owner: type | None = None) -> dict[str, Any]:
    """Return the annotated attributes of *cls* and its bases below *stop*, evaluated, bases first.

    *owner* is the program class around a nested Vertex or Edge: its methods know names that the module of a
    notebook cell or of a program loaded from a file may not.
    """
    merged: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is object or not issubclass(base, stop) or base is stop:
            continue
        namespace = namespace_of(base) if owner is None else namespace_of(owner, base)
        for name, annotation in own_annotations(base).items():
            merged[name] = evaluate(annotation, namespace)
    return merged


def own_annotations(cls: type) -> dict[str, Any]:
    """Return the annotations in the body of *cls*, as written or as evaluated by Python."""
    try:
        return inspect.get_annotations(cls)
    except NameError:  # Python 3.14 evaluates them only now; a name is unknown
        from annotationlib import Format, get_annotations  # type: ignore[import-not-found, unused-ignore]

        return dict(get_annotations(cls, format=Format.STRING))


def mark_of(annotation: Any, kind: type[Mark]) -> Mark | None:
    """Return the first mark of a kind in an ``Annotated``, else None."""
    return next((mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, kind)), None)


def without_none(annotation: Any) -> Any:
    """Return X for ``X | None``, which tells type checkers that a method may return None; else unchanged."""
    arguments = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
    others = [one for one in arguments if one is not NoneType]
    return others[0] if len(arguments) == 2 and len(others) == 1 else annotation


def is_class_variable(annotation: Any) -> bool:
    """Return whether *annotation* is ``ClassVar`` or ``ClassVar[...]``."""
    return annotation is ClassVar or get_origin(annotation) is ClassVar
