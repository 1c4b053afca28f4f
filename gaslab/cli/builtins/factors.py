"""Commands that factorise ratings: als, sgd; shown by what they recommend."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser, read_options
from gaslab.cli.builtins.entry import Builtin, all_columns, options_named

USERS = 10  # that are shown recommendations
PER_LINE = 10  # iterations
OWN = {"als": ("solver", "steps"), "sgd": ("learning_rate", "decay")}  # options of one alone


def _add(made: Parser, command: str) -> None:
    group = made.add_argument_group(command)
    option.whole(group, "--factors", "K", "length of the vectors of users and items (32)", default=32)
    option.number(group, "--regularization", "R",
                  "weight of the squares of factors and biases (0.1)", default=0.1)  # fmt: skip
    if command == "als":
        group.add_argument("--solver", choices=("cholesky", "conjugate_gradient"), default="cholesky",
                           help="how each vertex solves its system (cholesky)")  # fmt: skip
        option.whole(group, "--steps", "N", "of conjugate_gradient, for each vertex (3)")
    if command == "sgd":
        option.number(group, "--learning-rate", "S", "the first step (0.05)", default=0.05)
        option.number(group, "--decay", "D",
                      "in sweep t, from 0, the step is S / (1 + D * t) (0.2)", default=0.2)  # fmt: skip
    option.text(group, "--test", "FILE", "further ratings, read as GRAPH is, to be predicted")


def _asked(arguments: Any) -> dict[str, Any]:
    """Return the keyword arguments of the function that its options mean."""
    from gaslab.programs._ratings import SWEEPS

    sweeps = arguments.max_iterations
    own = options_named(arguments, "factors", "regularization", *OWN[arguments.command])
    return {"iterations": SWEEPS if sweeps is None else sweeps, **own}


def _check(arguments: Any) -> None:
    with option.named():
        _module(arguments).checked(**_asked(arguments))


def _factorise(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.graph.reading import read_graph

    options.pop("max_iterations", None)  # the sweeps
    bound = dict(arguments.column).get("rating", "none")
    test = None if arguments.test is None else read_graph(arguments.test, **read_options(arguments))
    rating = None if bound == "none" else "rating"
    function = getattr(_module(arguments), arguments.command)
    result: gl.Result = function(graph, **_asked(arguments), rating=rating, test=test, **options)
    return result


def _module(arguments: Any) -> Any:
    """Return the module of the command's function, which has its name."""
    return importlib.import_module(f"gaslab.programs.{arguments.command}")


def _show(graph: gl.Graph, result: gl.Result, count: int) -> list[str]:
    """Return the training RMSE by iteration, and the best items for the first users."""
    from gaslab.programs._recommend import recommend

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


FIELDS = ("factors", "bias")
TABLES = ("user_factors", "item_factors")
INPUT = (
    "GRAPH has a line for each rating: user, item, rating. The rating is the field called rating, else the\n"
    "third; --column rating=NAME names another. --top N shows N items for each of the first 10 users."
)

COMMANDS = {
    "als": Builtin(
        f"Factors of users and items from ratings, by alternating least squares.\n{INPUT}",
        FIELDS, _factorise, _show, partial(_add, command="als"), all_columns,
        {"bipartite": True}, tables=TABLES, top=5, sweeps=True, check=_check,
        iterations="sweeps, each over all users, then all items (20)",
    ),
    "sgd": Builtin(
        f"Factors of users and items from ratings, by stochastic gradient descent.\n{INPUT}",
        FIELDS, _factorise, _show, partial(_add, command="sgd"), all_columns,
        {"bipartite": True}, tables=TABLES, top=5, sweeps=True, check=_check,
        iterations="sweeps over all ratings (20)",
    ),
}  # fmt: skip
