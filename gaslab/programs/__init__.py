"""The built-in vertex programs, one page each, written in the public language.

The functions that run them (`gaslab.pagerank`, `gaslab.components`, …) are on the same pages. A program is
loaded when it is first used, since a command needs only one. A page ends with its row
(`gaslab.programs._tool`); ``make index`` records where each name is.
"""

import importlib
from typing import TYPE_CHECKING
from typing import Any as Anything

from gaslab.programs._names import CLASSES

if TYPE_CHECKING:
    from gaslab.programs._classes import *  # noqa: F403

__all__ = list(CLASSES)


def __getattr__(name: str) -> Anything:
    if name not in CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{CLASSES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
