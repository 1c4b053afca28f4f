"""The compiled loops, built from ``cython_kernels/``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Say to type checkers that kernels carry no types."""
