"""Whom a run starts with: ``gaslab.run(start=...)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler.tree import REQUIRED, Site, Tree, Variable
from gaslab.engine.bind import converted
from gaslab.errors import UsageError

if TYPE_CHECKING:
    from gaslab.graph import Graph

Start = Iterable[Any] | Mapping[Any, Any]


@dataclass(frozen=True)
class Beginners:
    """Who runs in superstep 0, by global id, each once and ascending; and the message each finds, if any."""

    gids: np.ndarray
    messages: np.ndarray | None

    def local(self, masters: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return which of this rank's *masters* (global ids) begin, as ascending local ids, and messages."""
        ids = np.flatnonzero(np.isin(masters, self.gids)).astype(np.int32)
        if self.messages is None:
            return ids, None
        return ids, self.messages[np.searchsorted(self.gids, masters[ids])]


def bind_start(tree: Tree, graph: Graph, start: Start | None) -> Beginners | None:
    """Return *start*, which every rank gives alike, as global ids and messages (collective)."""
    if start is None:
        return None
    if not tree.by_signal:
        raise UsageError(
            f"start= has no say in {tree.name}, where signals do not decide who runs; write a scatter"
        )
    given = list(start)
    gids = np.asarray(graph.ids.find(given), np.int64)
    if not isinstance(start, Mapping):
        return Beginners(np.unique(gids), None)
    if tree.message is None:
        raise UsageError(f"start= has messages but {tree.name} takes none; give the ids alone")
    messages: Any = list(start.values())
    if tree.message.storage == "id":
        messages = graph.ids.find(messages)
    variable = Variable("message", tree.message.storage, REQUIRED, Site("", 0, ""))
    order = np.argsort(gids)
    values = converted(np.asarray(messages), variable, "start")
    return Beginners(gids[order], values[order])
