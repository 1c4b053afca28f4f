"""`Deferred`: a module that is imported when a name of it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """Stands for the module of its name, which it imports when it is asked for an attribute.

    >>> Deferred("math").floor(2.5)
    2
    """

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(importlib.import_module(self.__name__), name)
        return value
