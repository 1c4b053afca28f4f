"""A chain of samplers over the tokens of one corpus: one goes on from the topics that the other left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gaslab as gl
from gaslab.programs._numpy import np
from gaslab.programs._samplers import Sampler, Settings
from gaslab.programs._sweeps import run_sweeps


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
    options = dict(options)
    rest = stages[1][1]
    first = _run(
        sampler, settings, tokens, topics, later=rest.iterations, handed=sampler.field,
        **{**options, "on": "local", "edges": False, "precision": None},
    )  # fmt: skip
    assert first.handed is not None
    topics, first.handed = sampler.end(first.handed), None
    priors = first.aggregates["priors"]
    if (timeout := options.get("timeout")) is not None:
        from gaslab.cancellation import TimeLeft  # which loads numpy

        whole = getattr(timeout, "whole", timeout)
        options["timeout"] = TimeLeft(max(timeout - first.metrics["seconds"]["compute"], 0.0), whole)
    word = rest.word if settings.anneal_sweeps else priors.word
    rest = replace(rest, document=priors.document, word=word)
    return _run(stages[1][0], rest, tokens, topics, before=first, **options), rest


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
