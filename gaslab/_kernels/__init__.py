"""The compiled loops, built from ``cython_kernels/``."""

import importlib
from typing import TYPE_CHECKING, Any

from gaslab.parallel import polling

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Say to type checkers that kernels carry no types."""


if _wanted := polling.wanted_by_openmp():
    with polling.set_while_loading(_wanted):  # OpenMP's library reads them when this kernel loads it
        importlib.import_module("gaslab._kernels.frontier")
