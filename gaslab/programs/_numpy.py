"""numpy for the programs: it is imported when a name of it is first used.

setup.py imports the programs to compile them and calls none of their methods, so that it needs no numpy.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class _Deferred(ModuleType):
    """Stands for the module of its name, which it imports when it is asked for an attribute."""

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(importlib.import_module(self.__name__), name)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Deferred("numpy")
