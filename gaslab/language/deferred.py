"""`Deferred`: a module imported when one of its names is first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """Stands for the module of its name, imported at the first attribute access.

    >>> Deferred("math").floor(2.5)
    2
    """

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(importlib.import_module(self.__name__), name)
        return value
