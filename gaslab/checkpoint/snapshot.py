"""`Snapshot`: the state of a run between two supersteps, as arrays; each rank has a part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Snapshot:
    """One rank's part of the state of a run.

    Attributes
    ----------
    numbers : dict
        The counters, the same on every rank.
    vertices : dict
        Values of the masters, an array or a `RaggedColumn` by name; by local id, or in the range of a
        checkpoint.
    edges : dict
        Values of the edges, likewise.
    whole : dict
        Arrays that are the same on every rank.
    history : dict
        The columns of the history until now, without the aggregates.
    own : dict
        Arrays that mean something on this rank and under this cut alone; None where the cut is another.
    """

    numbers: dict[str, int]
    vertices: dict[str, Any] = field(default_factory=dict)
    edges: dict[str, Any] = field(default_factory=dict)
    whole: dict[str, np.ndarray] = field(default_factory=dict)
    history: dict[str, np.ndarray] = field(default_factory=dict)
    own: dict[str, np.ndarray] | None = field(default_factory=dict)
