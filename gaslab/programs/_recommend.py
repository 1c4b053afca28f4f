"""Recommendations from factors: the items with the best predictions, of those that a user has not rated.

To a user without ratings all that can be said is which items everybody rates highly: those of largest bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gaslab.programs._ratings import vectors

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.results.result import Result


class Offer(NamedTuple):
    """What is recommended to a user: items and their scores, the best first."""

    user: Any
    has_ratings: bool
    items: list[tuple[Any, float]]


def recommend(graph: Graph, result: Result, users: int, count: int) -> list[Offer]:
    """Return what is recommended to the first *users* by id: up to *count* items each (collective).

    The score of an item is its prediction; for a user without ratings it is mean + bias[item], which for an
    item without ratings is the mean. Of equal scores the smaller id comes first. The users' vectors go to
    every rank, which scores the items that it is master of.
    """
    comm, local = graph.comm, graph.local
    left = graph.ids.num_left or 0
    chosen = np.arange(min(users, left), dtype=np.int64)
    items = local.gid[: local.num_masters]
    items = np.sort(items[items >= left])
    user_known, user_factors, user_bias = vectors(result, graph, chosen)
    item_known, item_factors, item_bias = vectors(result, graph, items)
    mean = float(result.metrics["parameters"]["mean"])
    own = user_bias[:, None] + user_factors.astype(np.float64) @ item_factors.T
    own[~user_known] = 0.0  # what `init=` gave a user is not learned
    score = mean + item_bias + own
    score[:, ~item_known] = mean
    score[_rated(graph, chosen.size, items)] = -np.inf
    best = [_best(row, items, count) for row in score]
    found = comm.allgather(best)
    merged = []
    for user in range(chosen.size):
        gids, scores = (np.concatenate([part[user][k] for part in found]) for k in (0, 1))
        order = np.lexsort((gids, -scores))[:count]
        merged.append((gids[order], scores[order]))
    ids = graph.ids.lookup(np.concatenate([chosen, *(gids for gids, _ in merged)])).tolist()
    at, answer = chosen.size, []
    for user, (gids, scores) in enumerate(merged):
        offered = list(zip(ids[at : at + gids.size], scores.tolist(), strict=True))
        answer.append(Offer(ids[user], bool(user_known[user]), offered))
        at += gids.size
    return answer


def _best(score: np.ndarray, items: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.lexsort((items, -score))[:count]
    rows = rows[score[rows] > -np.inf]
    return items[rows], score[rows]


def _rated(graph: Graph, users: int, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of what the first *users* have rated among *items* here (collective)."""
    source, target = graph.edges()
    here = source < users
    user, item = (np.concatenate(graph.comm.allgather_array(ends[here])) for ends in (source, target))
    mine = np.isin(item, items)
    return user[mine], np.searchsorted(items, item[mine])
