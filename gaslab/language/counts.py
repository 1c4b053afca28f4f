"""Numbers that a class writes, or leaves to an int parameter that it names: `repeat_phases = "rounds"`."""

from __future__ import annotations

from typing import Any

from gaslab import arguments


def count_of(program: Any, written: int | str | None, least: int = 0, most: int | None = None) -> int | None:
    """Return the number that is *written*, or the value that *program* has for the parameter of that name.

    Raises UsageError for a value outside *least* and *most*.
    """
    if not isinstance(written, str):
        return written
    name = f"{type(program).__name__}.{written}"
    found: int = arguments.whole(name, program.parameters()[written], least, most)
    return found
