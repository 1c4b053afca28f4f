"""The vertices that run in superstep 0: ``gaslab.run(start=...)``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.compiler.tree import REQUIRED, Combiner, RecordCombiner, Site, Tree, Variable
from gaslab.engine.bind import converted
from gaslab.engine.storage import identity, total_dtype
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.program import NOBODY, Accumulator

Start = Iterable[Any] | Mapping[Any, Any]


@dataclass(frozen=True)
class InitialFrontier:
    """The vertices of superstep 0, by global id, distinct and ascending; and their messages, if any."""

    gids: np.ndarray
    messages: np.ndarray | None

    def local(self, masters: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return this rank's *masters* (global ids) that start, as ascending local ids, and messages."""
        ids = np.flatnonzero(np.isin(masters, self.gids)).astype(np.int32)
        if self.messages is None:
            return ids, None
        return ids, self.messages[np.searchsorted(self.gids, masters[ids])]


def check_start(start: Any) -> Start | None:
    """Return ``start=`` as a mapping or as a list of ids; raises UsageError for anything else."""
    if start is None or isinstance(start, Mapping):
        return start
    return arguments.ids("start", start, "an iterable of vertex ids, or a mapping from id to message,")


def bind_initial_frontier(tree: Tree, graph: Graph, start: Start | None) -> InitialFrontier | None:
    """Return *start*, equal on every rank, as global ids and messages (collective)."""
    if start is None:
        return None
    if not tree.by_signal:
        raise UsageError(
            f"start= has no effect in {tree.name}, where signals do not decide which vertices run; "
            "write a scatter"
        )
    named = list(start)
    gids = np.asarray(graph.ids.find(named), np.int64)
    if not isinstance(start, Mapping):
        return InitialFrontier(np.unique(gids), None)
    if tree.message is None:
        raise UsageError(f"start= has messages but {tree.name} takes none; give only the ids")
    if tree.collects_messages:
        raise UsageError(
            f"start= has messages, but those of {tree.name} are lists, which only its methods send; give "
            "only the ids, and let apply do the messages' work in superstep 0"
        )
    values = _messages(tree.message, list(start.values()), graph)
    order = np.argsort(gids)
    return InitialFrontier(gids[order], values[order])


def _messages(combiner: Combiner, messages: list[Any], graph: Graph) -> np.ndarray:
    """Return messages as an array: numbers, or rows of parts (collective for vertex ids)."""
    if not isinstance(combiner, RecordCombiner):
        return _column(combiner.storage, messages, graph)
    rows = np.full(len(messages), identity(combiner), total_dtype(combiner))
    named = [_parts(combiner, one) for one in messages]
    for part in combiner.parts:
        at = [k for k, parts in enumerate(named) if part.name in parts]
        if at:
            values = [named[k][part.name] for k in at]
            for shape in map(np.shape, values):
                if shape != part.shape and part.combiner.storage != "id":
                    raise UsageError(f"start= gives {part.name!r} the shape {shape}; {part.shape} is needed")
            rows[part.name][at] = _column(part.combiner.storage, values, graph, part.shape)
    return rows


def _parts(combiner: RecordCombiner, message: Any) -> dict[str, Any]:
    """Return the parts of one message by name; raises UsageError for anything else."""
    named = {"key": message} if combiner.is_pair else dict(getattr(message, "__dict__", {"": 0}))
    for key, payload in itertools.pairwise(combiner.parts):
        pair = named.get(key.name)
        if key.combiner.is_key and pair is not None:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise UsageError(f"start= gives {pair!r}; a key and its payload are needed")
            named[key.name], named[payload.name] = pair
    if not named.keys() <= {part.name for part in combiner.parts}:
        raise UsageError(f"start= gives {message!r}; a {combiner.name} is needed, with its parts by name")
    return named


def _column(storage: str, elements: list[Any], graph: Graph, shape: tuple[int, ...] = ()) -> np.ndarray:
    values: Any = graph.ids.find(elements) if storage == "id" else elements
    variable = Variable("message", storage, REQUIRED, Site("", 0, ""), shape)
    return converted(np.asarray(values), variable, "start")


def to_user_ids(values: np.ndarray, storage: str, ids: Sequence[Any]) -> list[Any]:
    """Return values with the user's *ids* in place of vertex ids."""
    if values.ndim > 1 and storage == "id":
        return [to_user_ids(row, storage, ids) for row in values]
    if storage != "id":
        return list(values) if values.ndim > 1 else values.tolist()
    return [ids[g] if 0 <= g < len(ids) else NOBODY for g in values.tolist()]


def to_user_messages(combiner: Combiner, messages: np.ndarray, ids: Sequence[Any]) -> list[Any]:
    """Return messages in the form of ``start=``, with the user's *ids* for vertex ids."""
    if not isinstance(combiner, RecordCombiner):
        return to_user_ids(messages, combiner.storage, ids)
    columns = {
        part.name: to_user_ids(messages[part.name], part.combiner.storage, ids) for part in combiner.parts
    }
    for key, payload in itertools.pairwise(combiner.parts):
        if key.combiner.is_key:
            columns[key.name] = list(zip(columns[key.name], columns.pop(payload.name), strict=True))
    if combiner.is_pair:
        return columns["key"]
    return [
        Accumulator(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)
    ]
