"""A chain of samplers over the tokens of one corpus: one goes on from the topics that the other left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import gaslab as gl
from gaslab.programs._arguments import resumed_notes
from gaslab.programs._numpy import np
from gaslab.programs._samplers import Sampler, Settings
from gaslab.programs._sweeps import Earlier, run_sweeps


def check_one_run(options: Mapping[str, Any], settings: Settings) -> None:
    """Raise UsageError for options that follow one run, where a chain has two."""
    for name in ("timeline", "trace"):
        if settings.mh_sweeps and options.get(name) is not None:
            raise gl.UsageError(
                f"mh_sweeps={settings.mh_sweeps} makes two runs, and {name}={options[name]!r} follows one; "
                "leave one of them out"
            )


def run_chain(
    stages: Sequence[tuple[Sampler, Settings]],
    tokens: gl.Graph,
    topics: np.ndarray | None,
    options: Mapping[str, Any],
) -> tuple[gl.Result, Settings]:
    """Run samplers one after the other (collective); return the last one's result, with the sweeps of all.

    *topics* are those that tokens begin with, None: any; *options* are of `gaslab.run`, without ``strategy``
    where there are several: topics are in the order of one cut. The settings that are returned are the last
    one's: it began with the priors that the one before found, if that did not anneal.
    """
    sampler, settings = stages[0]
    if len(stages) == 1:
        return _run(sampler, settings, tokens, topics, **options), settings
    options, rest = dict(options), stages[1][1]
    first: dict[str, Any] | None = None  # what the first run says of its checkpoints
    handed = _resumed(tokens, options, settings.topics)
    if handed is None:
        run = {**options, "on": "local", "edges": False, "precision": None, "notes": {"run": 1}}
        result = _run(
            sampler, settings, tokens, topics, later=rest.iterations, handed=sampler.field, **run
        )
        assert result.handed is not None
        topics, result.handed = sampler.end(result.handed), None
        first = result.metrics.get("checkpoints")
        priors = result.aggregates["priors"]
        word = rest.word if settings.anneal_sweeps else priors.word
        handed = _Handed(Earlier.of(result), np.asarray(priors.document).tolist(), float(word))
        if options.get("checkpoint") is not None:
            options["resume"] = "auto"  # in a folder that holds checkpoints of the first run
        else:
            options.pop("resume", None)
    else:
        topics = None  # the checkpoint has those of the second run
    if (timeout := options.get("timeout")) is not None:
        from gaslab.cancellation import TimeLeft  # which loads numpy

        whole = getattr(timeout, "whole", timeout)
        options["timeout"] = TimeLeft(max(timeout - handed.earlier.costs["compute"], 0.0), whole)
    rest = replace(rest, document=np.array(handed.document), word=handed.word)
    result = _run(
        stages[1][0], rest, tokens, topics, before=handed.earlier, **options,
        notes={"run": 2, "handed": asdict(handed)},
        supersteps_before=sampler.supersteps * settings.iterations,
    )  # fmt: skip
    if first is not None:
        _add_checkpoints(result.metrics, first)
    return result, rest


def _add_checkpoints(metrics: dict[str, Any], first: Mapping[str, Any]) -> None:
    """Add the checkpoints of the first run to those of the second, which resumed none."""
    if "checkpoints" not in metrics:  # a run that resumes, and writes none
        metrics["checkpoints"] = dict(first)
        return
    found = metrics["checkpoints"]
    for name in ("resumed", "spent_before"):
        found[name] = first[name]
    for name in ("written", "failed", "seconds"):
        if name in found:
            found[name] += first[name]


@dataclass(frozen=True)
class _Handed:
    """What the first run of a chain hands to the second, beside the topics."""

    earlier: Earlier
    document: list[float]  # the priors
    word: float


def _resumed(tokens: gl.Graph, options: Mapping[str, Any], topics: int) -> _Handed | None:
    """Return what the second run began with, if a checkpoint of it is to be resumed (collective)."""
    known = resumed_notes(tokens, options)
    if known.get("run") != 2:
        return None
    try:
        return _handed(known["handed"], topics)
    except (LookupError, TypeError, ValueError, OverflowError):
        from gaslab.checkpoint.settings import AUTO

        where = options["checkpoint" if options["resume"] == AUTO else "resume"]
        raise gl.InputError(
            f"{where}: the checkpoint does not say what its first sampler left; start again "
            "without resume="
        ) from None


def _handed(known: Mapping[str, Any], topics: int) -> _Handed:
    """Return what a checkpoint's notes say; raises LookupError, TypeError or ValueError where they cannot."""
    earlier = Earlier(list(map(dict, known["earlier"]["history"])), dict(known["earlier"]["costs"]))
    priors = np.array([*known["document"], known["word"]], float)
    figures = np.array([earlier.costs[name] for name in Earlier.NAMES], float)
    if priors.size != topics + 1 or not (np.isfinite(priors).all() and priors.min() > 0):
        raise ValueError("the priors are none")
    if not (np.isfinite(figures).all() and figures.min() >= 0):
        raise ValueError("the costs are none")
    return _Handed(earlier, priors[:-1].tolist(), priors[-1].item())


def _run(
    sampler: Sampler, settings: Settings, tokens: gl.Graph, topics: np.ndarray | None, **options: Any
) -> gl.Result:
    """Run one sampler (collective)."""

    def measured(row: Any) -> dict[str, float]:
        if (row["superstep"] + 1) % (sampler.supersteps * settings.likelihood_every):
            return {}
        return {"log_likelihood_per_token": row["likelihood"] / tokens.num_edges}

    started = tokens
    if topics is not None:
        from gaslab.graph.operations import with_columns

        started = with_columns(tokens, edge={"start": sampler.start(settings, topics)})
        options["columns"] = {sampler.field: "start"}
    program = sampler.program(settings)
    return run_sweeps(program, started, sampler.supersteps, measured, unit="tokens", **options)
