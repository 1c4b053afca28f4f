"""numpy for the programs: it is imported when a name of it is first used.

setup.py imports the programs to compile them and calls none of their methods, so that it needs no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gaslab.language.deferred import Deferred

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")
