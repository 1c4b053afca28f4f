"""The compiled loops, built from ``cython_kernels/``."""

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaslab.parallel import polling

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Say to type checkers that kernels carry no types."""

else:
    try:
        import gaslab._kernels.views  # noqa: F401  what all kernels share: without it none is built
    except ModuleNotFoundError:
        tree, version = Path(__file__).parents[2], f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise ImportError(
            f"gaslab is imported from {tree}, where its kernels are not built for Python {version}; build "
            f"them with `python -m pip install --editable {tree}`, or start Python in another folder to use "
            "an installed gaslab"
        ) from None

if _wanted := polling.wanted_by_openmp():
    with polling.set_while_loading(_wanted):  # OpenMP's library reads them when this kernel loads it
        importlib.import_module("gaslab._kernels.frontier")
