"""The strategies by name: registration, and the parsing of names with options."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.partitioning.context import Context, Strategy
from gaslab.partitioning.names import DEFAULT
from gaslab.partitioning.parts import parts_of
from gaslab.partitioning.refine import Refinement
from gaslab.partitioning.stateful import Stateful
from gaslab.partitioning.stream import place

REFINE = "refine"  # an option of every strategy: passes of refinement that follow
STRATEGIES: dict[str, Callable[..., Any]] = {}  # functions, and subclasses of `Stateful`

NEEDED = inspect.Parameter.empty  # marks an option without a default
KINDS = {int: "a whole number", float: "a number", str: "text"}  # of options

Registered = TypeVar("Registered", bound=Callable[..., Any])


def strategy(name: str) -> Callable[[Registered], Registered]:
    """Register a strategy under a name: a function of (src, dst, k, context), or a subclass of `Stateful`.

    ``docs/partitioning.md`` has what it gets and returns. Its keyword-only parameters, whose defaults are
    numbers or text, are options that may follow the name, as in ``"hdrf:balance=2"``. One without a default
    is text that must. Every strategy has the option *refine*: passes of refinement after it.

    Raises
    ------
    UsageError
        The name is not text or has a colon, or the registered object cannot be called.
    """
    if not isinstance(name, str) or not name or ":" in name:
        raise UsageError(
            f"strategy({name!r}): a name without a colon is needed, as in @strategy('by-source')"
        )

    def register(made: Registered) -> Registered:
        if not callable(made) or (isinstance(made, type) and not issubclass(made, Stateful)):
            raise UsageError(
                f"strategy {name!r} is {made!r}; a function of (src, dst, k, context) "
                "or a subclass of Stateful is needed"
            )
        STRATEGIES[name] = made
        return made

    return register


def find(name: str | None) -> tuple[str, Strategy]:
    """Return the name of a strategy, with the options that were given, and the strategy; None is the default.

    Raises
    ------
    UsageError
        The name or an option is unknown, or an option's value does not have its default's type.
    """
    if name is not None and not isinstance(name, str):
        needed = "a name is needed; register a function of your own with @strategy('NAME')"
        raise arguments.wrong("strategy", getattr(name, "__name__", name), needed)
    known, _, rest = (DEFAULT if name is None else name).partition(":")
    known = arguments.choice("strategy", known, STRATEGIES)
    made = STRATEGIES[known]
    options = _options(known, made, rest)
    passes = options.pop(REFINE, 0)
    if passes < 0:
        raise UsageError(f"strategy={name!r}: {REFINE} is {passes}; 0 or more passes are needed")
    plain = _named(known, options)
    with_options: Any = functools.partial(made, **options) if options else made
    function: Strategy = with_options
    if isinstance(made, type):
        if options:
            with_options()  # refuses values out of range
        function = functools.partial(place, with_options)
    if not passes:
        return plain, function
    first = functools.partial(parts_of, plain, function)

    def refined(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
        part = place(functools.partial(Refinement, passes), src, dst, k, context, first)
        context.chosen = context.chosen and with_passes(context.chosen, passes)
        return part

    return _named(known, {**options, REFINE: passes}), refined


def with_passes(name: str | None, passes: int) -> str:
    """Return the name of a strategy followed by this many passes of refinement."""
    known = find(name)[0]
    return f"{known}{',' if ':' in known else ':'}{REFINE}={passes}" if passes else known


def _named(name: str, options: dict[str, Any]) -> str:
    listed = ",".join(f"{option}={value}" for option, value in options.items())
    return f"{name}:{listed}" if listed else name


def needs_options(name: str) -> bool:
    """Return whether a strategy has an option that must be given."""
    return any(default is NEEDED for default in _defaults(STRATEGIES[name.partition(":")[0]]).values())


def _defaults(made: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a strategy, in the order of its parameters, with their defaults."""
    signature = inspect.signature(made).parameters.values()
    defaults = {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}
    defaults.setdefault(REFINE, 0)
    return defaults


def _options(name: str, made: Callable[..., Any], text: str) -> dict[str, Any]:
    """Return the options of ``option=value,option=value``, in the order of the strategy's parameters."""
    defaults = _defaults(made)
    given: dict[str, Any] = {}
    for item in re.split(r",(?=\w+=)", text) if text else []:
        option, equals, value = item.partition("=")
        if option not in defaults or not equals:
            has = ", ".join(map(_example, defaults.items())) or "none"
            raise UsageError(f"strategy={name + ':' + text!r}: {item!r} is not an option; {name} has {has}")
        kind = str if defaults[option] is NEEDED else type(defaults[option])
        try:
            given[option] = kind(value)
            if given[option] != given[option] or given[option] in (math.inf, -math.inf, ""):
                raise ValueError
        except ValueError:
            raise UsageError(
                f"strategy={name + ':' + text!r}: {option} is {value!r}; {KINDS[kind]} is needed, "
                f"as in {name}:{_example((option, defaults[option]))}"
            ) from None
    for option, default in defaults.items():
        if default is NEEDED and option not in given:
            example = f"{name}:{_example((option, default))}"
            raise UsageError(f"strategy={name!r}: {option} is needed, as in {example}")
    return {option: given[option] for option in defaults if option in given}


def _example(option: tuple[str, Any]) -> str:
    return f"{option[0]}={'...' if option[1] is NEEDED else option[1]}"
