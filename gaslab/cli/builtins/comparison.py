"""How topics are judged at the command line: ``--coherence``, ``--report``, several ``--topics`` compared."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.streams import say

ORDER = "needs the order of words, which a corpus does not keep; gaslab.topics.coherence takes texts"
HELD_OUT = "held_out_log_likelihood_per_token"
BEST_BY = (HELD_OUT, "coherence")  # the first that was measured


def add_judging(group: Any) -> None:
    """Add how many topics there are, and how they are judged and shown."""
    group.add_argument("--topics", type=several_topics, metavar="K[,K...]",
                       help="how many (20); several are compared, and the best is kept")  # fmt: skip
    option.word(group, "--coherence", ("npmi", "umass"),
                "coherence measure over the ten likeliest words of each topic (npmi)",
                but=(("c_v",), f"refused: it {ORDER}"))  # fmt: skip
    option.text(group, "--report", "DIR", "write a web page of the topics, DIR/index.html")


def several_topics(word: str) -> list[int]:
    """Argparse type: numbers of topics, all different."""
    found = [option.at_least(1)(one) for one in word.split(",")]
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{word!r} lists a number twice")
    return found


def check_several(arguments: Any) -> None:
    """Raise UsageError, before the corpus is read, for what does not go with several numbers of topics."""
    numbers = arguments.topics or []
    if len(numbers) < 2:
        return
    if arguments.timeline is not None:
        raise gl.UsageError("--timeline shows one run; give one number to --topics, or leave it out")
    for name in ("checkpoint", "resume"):
        if getattr(arguments, name) is not None:
            raise gl.UsageError(f"--{name} is for one run; give one number to --topics, or leave it out")
    if arguments.model is not None:
        raise gl.UsageError("--model goes on with the topics of a model; leave --topics out")
    if isinstance(arguments.doc_topic_prior, list):
        raise gl.UsageError(
            "--doc-topic-prior has a number for each topic, and --topics compares several numbers of topics; "
            "give one number to either"
        )


def compared(graph: gl.Graph, arguments: Any, run: Callable[[int | None], gl.Result]) -> gl.Result:
    """Run each number of topics and return the best result, judged (collective).

    Several are printed as a table, a row as soon as it is known; ``metrics["comparison"]`` has the rows.
    """
    from gaslab.topics.judging import judge

    numbers = arguments.topics or [None]  # as many as gl.lda takes itself
    several = len(numbers) > 1
    best: gl.Result | None = None
    rows: list[dict[str, Any]] = []
    for topics in numbers:
        began = time.perf_counter()
        result = run(topics)
        seconds = float(graph.comm.allreduce(time.perf_counter() - began, "max"))
        judge(graph, result, arguments.coherence or "npmi")
        number = result.metrics["parameters"]["topics"]
        rows.append({"topics": number, **_numbers(result), "seconds": seconds})
        if several:
            say(graph.comm, _lines(rows)[0 if len(rows) == 1 else -1 :])
        if best is None or _score(result) > _score(best):
            best = result
    assert best is not None
    if several:
        name = _judged_by(best)
        chosen = best.metrics["parameters"]["topics"]
        say(graph.comm, [f"best by {name.replace('_', ' ')}: {chosen} topics"])
        best.metrics["comparison"] = rows
    return best


def _numbers(result: gl.Result) -> dict[str, float]:
    figures = result.metrics["figures"]
    names = ("log_likelihood_per_token", HELD_OUT, "coherence", "diversity")
    return {name: figures[name] for name in names if name in figures}


def _judged_by(result: gl.Result) -> str:
    return next(name for name in BEST_BY if name in result.metrics["figures"])


def _score(result: gl.Result) -> float:
    value = float(result.metrics["figures"][_judged_by(result)])
    return -math.inf if math.isnan(value) else value


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return the head and the rows of the table."""
    keys = [key for key in rows[0] if key != "topics"]
    titles = {"log_likelihood_per_token": "log-likelihood", HELD_OUT: "held out"}
    head = "topics  " + "  ".join(f"{titles.get(key, key):>14}" for key in keys)
    lines = [f"{row['topics']:>6}  " + "  ".join(f"{row[key]:>14.4g}" for key in keys) for row in rows]
    return [head, *lines]
