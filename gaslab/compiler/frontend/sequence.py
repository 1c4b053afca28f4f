"""Programs of several phases: the declarations of each, from the class attribute ``phases``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gaslab import program
from gaslab.arguments import shown
from gaslab.compiler.frontend.declare import Declared, class_direction, declare, methods_of, parameters_of
from gaslab.compiler.frontend.program_rules import check_done
from gaslab.compiler.frontend.source import declaring_source
from gaslab.errors import ProgramError, nearest
from gaslab.language.phases import DIRECTIONS, METHODS, OF_CLASS, phases_of


def declare_phases(cls: type, shapes: Mapping[str, int] | None = None) -> list[Declared]:
    """Return the declarations of each phase of *cls*; none for a program without phases."""
    if not isinstance(cls, type) or not issubclass(cls, program.VertexProgram):
        return []
    if phases_of(cls) == ():
        if cls.repeat_phases is not None:
            text = "repeat_phases has no phases to repeat; name the methods in phases = (gl.Phase(...),)"
            raise declaring_source(cls, "repeat_phases").error_at("repeat_phases", text)
        return []
    places, phases = _Places(cls), phases_of(cls)
    if not isinstance(phases, tuple) or not all(isinstance(phase, program.Phase) for phase in phases):
        raise places.error(None, "phases must be a tuple; write phases = (gl.Phase(...), gl.Phase(...))")
    named = [places.attempt(k, phase, cls) for k, phase in enumerate(phases)]
    functions, _, _ = methods_of(cls)
    if "visit" in functions:
        text = "visit cannot be in phases; write a separate program for it"
        raise declaring_source(cls, "visit").error_at("visit", text)
    if "init" in functions and "message" in parameters_of(functions["init"]):
        text = "init takes no message here; let each phase's apply take its own"
        raise declaring_source(cls, "init").error_at("init", text)
    used = {function for methods in named for function in methods.values()}
    for name in (*METHODS[:-1], *DIRECTIONS):
        if name in functions and functions[name] not in used:
            text = f"{name} is in no phase; write gl.Phase({name}={name}, ...), or remove it"
            raise declaring_source(cls, name).error_at(name, text)
    rest = {name: function for name, function in functions.items() if function not in used}
    done = rest.pop("done", None)
    found = []
    for k, (phase, methods) in enumerate(zip(phases, named, strict=True)):
        _check(cls, phase, methods, k, places)
        own = {n: f for n, f in rest.items() if n != "init" or k == 0} | methods
        declared = declare(cls, own, phase.directions(cls), shapes)
        if problem := _no_count("supersteps", phase.supersteps, declared):
            raise places.error(k, problem, "supersteps")
        found.append(replace(declared, supersteps=phase.supersteps, endless=_endless(phase, k, places)))
    if problem := _no_count("repeat_phases", cls.repeat_phases, found[0]):
        raise declaring_source(cls, "repeat_phases").error_at_value("repeat_phases", problem)
    if done is not None:
        check_done(replace(found[0], functions={**rest, "done": done}))
    return found


class _Places:
    """Where a class's phases are written."""

    def __init__(self, cls: type) -> None:
        self.source = declaring_source(cls, "phases")
        self.statement = self.source.declaration("phases")
        value = getattr(self.statement, "value", None)
        self.items = value.elts if isinstance(value, ast.Tuple) else []

    def error(self, k: int | None, message: str, word: str = "") -> ProgramError:
        """Return the error *message* at phase *k*, at its argument *word* if present."""
        at: ast.AST | None = self.statement
        if k is not None and k < len(self.items):
            at = self.items[k]
            for keyword in at.keywords if isinstance(at, ast.Call) else ():
                at = keyword.value if keyword.arg == word else at
        return self.source.error(at, message)

    def attempt(self, k: int, phase: Any, cls: type) -> dict[str, Any]:
        try:
            return dict(phase.methods(cls))
        except TypeError as error:
            raise self.error(k, str(error), str(error).partition("=")[0]) from None


def _check(cls: type, phase: program.Phase, methods: dict[str, Any], k: int, places: _Places) -> None:
    if not methods.keys() & {"gather", "apply", "scatter"}:
        raise places.error(k, "the phase does nothing; give it gather=, apply= or scatter=")
    for name in DIRECTIONS:
        value = getattr(phase, name)
        if value is OF_CLASS:
            value = class_direction(cls, name)
        if name not in methods and (type(value) is not int or not program.NONE <= value <= program.ALL):
            text = f"{name} is {shown(value)}; write gl.IN, gl.OUT, gl.ALL or gl.NONE"
            raise places.error(k, text, name)


def _no_count(name: str, value: Any, declared: Declared) -> str:
    """Return the error of a number of times, an int or an int parameter's name; "" if none."""
    named = isinstance(value, str)
    if value is None or (value in declared.whole if named else type(value) is int and value > 0):
        return ""
    near = nearest(value, declared.whole) if named else ""
    return f"{name} is {shown(value)}; write an int from 1 on, or an int parameter's name{near}"


def _endless(phase: program.Phase, k: int, places: _Places) -> ProgramError | None:
    if phase.supersteps or phase.active or phase.done:
        return None
    return places.error(k, "the phase would never end; give it supersteps=, or scatter=, active= or done=")
