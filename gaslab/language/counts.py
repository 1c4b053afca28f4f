"""Numbers written in a class, or left to a named int parameter: `repeat_phases = "rounds"`."""

from __future__ import annotations

from typing import Any

from gaslab import arguments


def count_of(program: Any, written: int | str | None, least: int = 0, most: int | None = None) -> int | None:
    """Return the number *written*, or *program*'s value of the parameter of that name.

    Raises UsageError for a value outside *least* to *most*.
    """
    if not isinstance(written, str):
        return written
    name = f"{type(program).__name__}.{written}"
    found: int = arguments.whole(name, program.parameters()[written], least, most)
    return found
