"""The samplers of `gaslab.lda`, by name.

A sampler is a vertex program over the graph of documents and words, with an edge for every token. What it
leaves behind is the same for all: ``counts`` of every vertex by topic, summed over its samples, and the
priors at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gaslab as gl
from gaslab.language.precision import class_in
from gaslab.programs._numpy import np
from gaslab.programs.gibbs import NARROW, CollapsedGibbs, SampledGibbs, with_prior
from gaslab.programs.metropolis_hastings import LDA, NEVER

WIDE = 0.1  # the largest prior of each word in a topic that annealing sets


@dataclass(frozen=True)
class Settings:
    """What every sampler begins with."""

    topics: int
    document: np.ndarray  # priors of the topics in a document
    word: float  # prior of each word in a topic
    iterations: int
    evaluate_every: int
    anneal_sweeps: int  # of the iterations, the first, that have the prior `wide` in place of `word`
    mh_sweeps: int  # of the iterations, by Metropolis-Hastings before another sampler
    mh_steps: int
    optimise_priors: int
    burn_in: int | None
    sample_every: int
    workers: int  # ranks, times the threads of each
    wide: float = WIDE  # prior of each word in a topic in the annealed sweeps

    def annealed(self, tokens: int, words: int) -> Settings:
        """Return these settings with the wide prior of each word in a topic that suits a corpus.

        It is `WIDE`, but those of all words a third of a topic's tokens at most: KOS, with 1,000 topics, is
        predicted worse after sweeps with more.
        """
        third = tokens / max(3.0 * words * self.topics, 1.0)
        return replace(self, wide=max(self.word, min(WIDE, third)))

    @property
    def samples(self) -> int:
        """Return how many sweeps have counts in the answer."""
        return 1 if self.burn_in is None else -(-(self.iterations - self.burn_in) // self.sample_every)

    @property
    def likelihood_every(self) -> int:
        """Return the sweeps from one log-likelihood to the next: rounded up, so that the last has one."""
        seldom = min(self.evaluate_every, self.iterations)
        return next(n for n in range(seldom, self.iterations + 1) if self.iterations % n == 0)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the settings by the names and in the units of the arguments of `gaslab.lda`."""
        return {
            "topics": self.topics,
            "doc_topic_prior": float(self.document[0]) if self.alike else self.document.tolist(),
            "topic_word_prior": self.word,
            "iterations": self.iterations,
            "anneal_sweeps": self.anneal_sweeps,
            "mh_sweeps": self.mh_sweeps,
            "mh_steps": self.mh_steps,
            "optimise_priors": self.optimise_priors,
            "burn_in": self.burn_in,
            "sample_every": self.sample_every,
        }

    @property
    def alike(self) -> bool:
        """Return whether all topics have one prior in a document."""
        return bool((self.document == self.document[0]).all())

    @property
    def narrow(self) -> bool:
        """Return whether float32 holds what collapsed Gibbs sampling makes of the priors."""
        least, most = min(self.word, self.document.min()), max(self.word, self.document.max())
        return bool(NARROW[0] <= least and most <= NARROW[1])


@dataclass(frozen=True)
class Sampler:
    """A vertex program that draws the topics of tokens, and how many of its supersteps are a sweep.

    An edge field has the topics of tokens: *start* makes it of a topic for each, and *end* does the reverse.
    """

    program: Callable[[Settings], gl.VertexProgram]
    supersteps: int
    field: str
    start: Callable[[Settings, np.ndarray], np.ndarray]
    end: Callable[[np.ndarray], np.ndarray]


def _metropolis_hastings(of: Settings) -> gl.VertexProgram:
    kind: type[LDA] = LDA if of.alike else type("LDA", (LDA,), {"alphas": of.document})
    return kind(
        topics=of.topics, alpha=float(of.document[0]), beta=of.word, slots=1 + of.mh_steps,
        iterations=of.iterations, likelihood_every=2 * of.likelihood_every,
        priors_every=2 * (of.optimise_priors or of.anneal_sweeps) or NEVER,
        wide=of.wide if of.anneal_sweeps else 0.0,
        burn_in=NEVER if of.burn_in is None else 2 * of.burn_in, sample_every=2 * of.sample_every,
        uniform=of.alike and not of.optimise_priors,
    )  # fmt: skip


def _start_metropolis_hastings(of: Settings, topics: np.ndarray) -> np.ndarray:
    return np.repeat(topics.astype(np.uint16)[:, None], 1 + of.mh_steps, axis=1)


def _gibbs(of: Settings) -> gl.VertexProgram:
    kind: type[CollapsedGibbs] = CollapsedGibbs
    sampled: dict[str, int] = {}
    if of.burn_in is not None:
        kind, sampled = SampledGibbs, {"burn_in": of.burn_in, "sample_every": of.sample_every}
    if not of.alike:
        kind = with_prior(kind, of.document.tolist())
    return class_in(kind, None if of.narrow else "float64")(  # type: ignore[no-any-return]
        topics=of.topics, alpha=float(of.document[0]), beta=of.word, iterations=of.iterations,
        likelihood_every=of.likelihood_every, ways=_ways(of.workers),
        anneal=of.anneal_sweeps if of.anneal_sweeps > 1 else 0, wide=of.wide, **sampled,
    )  # fmt: skip


def _ways(workers: int) -> int:
    """Return one way for one worker, which then sees every draw, else a power of two that is enough for all.

    It is the same for few workers, so that they have one chain, and few: a document's tokens are then in
    few blocks, and its counts in the cache for more of them.
    """
    return 1 if workers == 1 else max(8, 1 << (workers - 1).bit_length())


SAMPLERS = {
    "gibbs": Sampler(_gibbs, 1, "_topic", lambda _, topics: topics.astype(np.int32), lambda values: values),
    "metropolis-hastings": Sampler(
        _metropolis_hastings, 2, "_topics", _start_metropolis_hastings, lambda values: values[:, 0]
    ),
}
NAMES = ("auto", *SAMPLERS)
FEW_TOPICS = 500  # of KOS, 300 are predicted better by the first after the same CPU time, 1,000 as well


def chosen_name(name: str, of: Settings) -> str:
    """Return the name of a sampler: "auto" is exact where topics are few and no setting asks for the other.

    Raises UsageError for settings that a sampler lacks.
    """
    only = {
        f"mh_steps={of.mh_steps}": of.mh_steps > 1 and not of.mh_sweeps,
        f"optimise_priors={of.optimise_priors}": of.optimise_priors > 0 and not of.mh_sweeps,
    }
    asked = next((text for text, found in only.items() if found), None)
    if of.mh_sweeps and name == "metropolis-hastings":
        raise gl.UsageError(f"mh_sweeps={of.mh_sweeps} is for sampler='gibbs', whose sweeps come after them")
    if name == "auto" and not of.mh_sweeps:
        return "gibbs" if asked is None and of.topics <= FEW_TOPICS else "metropolis-hastings"
    if asked is not None and name != "metropolis-hastings":
        raise gl.UsageError(f"{asked} is for sampler='metropolis-hastings', not for sampler='gibbs'")
    return "gibbs" if name == "auto" else name


def stages(name: str, of: Settings) -> list[tuple[Sampler, Settings]]:
    """Return the samplers of a chain in their order, each with the sweeps that it makes."""
    if not of.mh_sweeps:
        return [(SAMPLERS[name], of)]
    first = replace(
        of, iterations=of.mh_sweeps, anneal_sweeps=min(of.anneal_sweeps, of.mh_sweeps), burn_in=None
    )
    rest = replace(
        of, iterations=of.iterations - of.mh_sweeps, anneal_sweeps=max(of.anneal_sweeps - of.mh_sweeps, 0),
        burn_in=None if of.burn_in is None else of.burn_in - of.mh_sweeps, optimise_priors=0,
    )  # fmt: skip
    return [(SAMPLERS["metropolis-hastings"], first), (SAMPLERS[name], rest)]
