"""Recommendations from factors: the items with the best predictions, of those that a user has not rated.

A user without ratings is offered the items that all users rate highly: the items of largest bias. The
commands that factorise ratings show them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gaslab as gl
from gaslab.programs._numpy import np
from gaslab.programs._ratings import vectors
from gaslab.programs._tool import Command, Option

USERS = 10  # that are shown recommendations
PER_LINE = 10  # iterations


class Offer(NamedTuple):
    """The items recommended to a user, with their scores, the best first."""

    user: Any
    has_ratings: bool
    items: list[tuple[Any, float]]


def recommend(graph: gl.Graph, result: gl.Result, users: int, count: int) -> list[Offer]:
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


def _rated(graph: gl.Graph, users: int, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of what the first *users* have rated among *items* here (collective)."""
    source, target = graph.edges()
    here = source < users
    user, item = (np.concatenate(graph.comm.allgather_array(ends[here])) for ends in (source, target))
    mine = np.isin(item, items)
    return user[mine], np.searchsorted(items, item[mine])


def _lines(graph: gl.Graph, result: gl.Result, count: int) -> list[str]:
    """Return the training RMSE by iteration, and the best items for the first users (collective)."""
    found = recommend(graph, result, USERS, count)
    errors = [f"{row['rmse']:.4f}" for row in result.history]
    width = len(str(len(errors)))
    lines = ["training RMSE by iteration:"]
    for first in range(0, len(errors), PER_LINE):
        lines.append(f"  {first + 1:{width}}: {' '.join(errors[first : first + PER_LINE])}")
    lines.append(f"recommendations for the first {len(found)} users, by prediction:")
    for offer in found:
        words = ", ".join(f"{item} ({score:.2f})" for item, score in offer.items)
        how = "" if offer.has_ratings else " (has no ratings, so by the items' biases)"
        lines.append(f"  {offer.user}{how}: {words or 'has rated every item'}")
    return lines


def factorisation(
    how: str, *, options: tuple[Option, ...], iterations: str, check: Callable[..., Any]
) -> Command:
    """Return the command of a factorisation; *options* are those that it does not share with others."""
    return Command(
        f"factors of users and items, {how}",
        f"Factors of users and items from ratings, {how}.\n"
        "GRAPH has a line for each rating: user, item, rating. The rating is the field called rating, else "
        "the\nthird; --column rating=NAME names another. --top N shows N items for each of the first "
        f"{USERS} users.",
        fields=("factors", "bias"), show=_lines,
        options=(
            Option("factors", "whole", "number of factors of each user and item (32)", "K"),
            Option("regularization", "number", "weight of the L2 penalty on factors and biases (0.1)", "R"),
            *options,
            Option("test", "graph", "file of test ratings to predict, in the format of GRAPH", "FILE"),
            Option("rating", "bound"),
        ),
        columns="all", tables=("user_factors", "item_factors"), iterations=iterations, sweeps=True,
        bipartite=True, check=check, top=5,
    )  # fmt: skip
