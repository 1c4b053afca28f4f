"""The arguments of `gaslab.lda`, checked without a graph: the sampler and the settings that they mean."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.programs._numpy import np
from gaslab.programs._samplers import NAMES, Settings, chosen_name
from gaslab.programs.gibbs import NARROW

SWEEPS = 200
MOST_TOPICS = 1 << 16  # elements that a vector field may have
MOST_STEPS = 64  # of Metropolis-Hastings in a half of a sweep: two bytes of a token each
LEAST, MOST = 1e-100, 1e9  # a prior: the products of two shares, and its sum over the topics, are in range
LEAST_MOVED = 1e-30  # a prior that steps of the priors begin with: their sums over topics are float32


def sampler_and_settings(
    *, topics: Any, doc_topic_prior: Any, topic_word_prior: Any, iterations: Any, sampler: Any,
    anneal_sweeps: Any, mh_sweeps: Any, mh_steps: Any, optimise_priors: Any, burn_in: Any, sample_every: Any,
    evaluate_every: Any, model: gl.TopicModel | None = None, precision: str | None = None, workers: int = 1,
) -> tuple[str, Settings]:  # fmt: skip
    """Return the sampler and the settings that arguments of `lda` mean; UsageError where they cannot be."""
    topics, document, word = _start(model, topics, doc_topic_prior, topic_word_prior)
    topics = arguments.whole("topics", topics, 1, MOST_TOPICS)
    iterations = arguments.whole("iterations", iterations, 1)
    mh_sweeps = arguments.whole("mh_sweeps", mh_sweeps, 0, iterations - 1)
    optimise_priors = arguments.whole("optimise_priors", optimise_priors, 0, iterations)
    if 0 < mh_sweeps < optimise_priors:
        needed = (
            f"the first mh_sweeps={mh_sweeps} sweeps alone improve them; take a step at least once in so many"
        )
        raise arguments.wrong("optimise_priors", optimise_priors, needed)
    sample_every = arguments.whole("sample_every", sample_every, 1)
    if burn_in is None and sample_every > 1:
        needed = "without burn_in=N no sweeps are averaged; add it"
        raise arguments.wrong("sample_every", sample_every, needed)
    burn_in = arguments.whole("burn_in", burn_in, mh_sweeps, iterations - 1, optional=True)
    most = iterations if burn_in is None else burn_in
    if anneal_sweeps is None:
        goes_on = optimise_priors > 0 or model is not None
        anneal_sweeps = 0 if goes_on else min(max(iterations // 2, mh_sweeps), most)
    anneal_sweeps = _anneal_sweeps(anneal_sweeps, iterations, optimise_priors, most)
    least = LEAST_MOVED if optimise_priors else LEAST
    settings = Settings(
        topics=topics,
        document=_document_prior(document, topics, least),
        word=arguments.number("topic_word_prior", word, least=least, most=MOST, hint="; 0.01 is usual"),
        iterations=iterations,
        evaluate_every=arguments.whole("evaluate_every", evaluate_every, 1),
        anneal_sweeps=anneal_sweeps,
        mh_sweeps=mh_sweeps,
        mh_steps=arguments.whole("mh_steps", mh_steps, 1, MOST_STEPS),
        optimise_priors=optimise_priors,
        burn_in=burn_in,
        sample_every=sample_every,
        workers=workers,
    )
    name = chosen_name(arguments.choice("sampler", sampler, NAMES), settings)
    if precision == "float32":
        _check_narrow(name, settings)
    return name, settings


def _anneal_sweeps(asked: Any, iterations: int, optimise_priors: int, most: int) -> int:
    """Return how many sweeps are annealed; UsageError where another setting needs the prior as given."""
    sweeps: int = arguments.whole("anneal_sweeps", asked, 0, iterations - 1)
    if sweeps and optimise_priors:
        needed = f"optimise_priors={optimise_priors} moves the same prior; leave one of them out"
        raise arguments.wrong("anneal_sweeps", sweeps, needed)
    if sweeps > most:
        needed = f"counts are averaged after burn_in={most} sweeps, and by then the prior is as given"
        raise arguments.wrong("anneal_sweeps", sweeps, needed)
    return sweeps


def _start(model: gl.TopicModel | None, *asked: Any) -> tuple[Any, Any, Any]:
    """Return the number of topics and the priors: as asked, else those of the model, else the defaults."""
    usual: tuple[Any, Any, Any] = (20, 0.1, 0.01)
    if model is not None:
        arguments.instance("model", model, gl.TopicModel, "a gaslab.TopicModel")
        if asked[0] not in (None, model.num_topics):
            raise arguments.wrong("topics", asked[0], f"the model has {model.num_topics}")
        usual = (model.num_topics, model.doc_topic_prior, model.topic_word_prior)
    topics, document, word = (
        one if value is None else value for value, one in zip(asked, usual, strict=True)
    )  # fmt: skip
    return topics, document, word


def _check_narrow(name: str, settings: Settings) -> None:
    """Raise UsageError unless the sampler can compute in float32."""
    why = None
    if name != "gibbs":
        why = f"sampler={name!r} draws single tokens of a word, more than a float32 can tell apart"
        why += "; say sampler='gibbs'"
    elif not settings.narrow:
        why = "priors below {:g} or above {:g} leave the range of a float32; take others".format(*NARROW)
    if why is not None:
        raise gl.UsageError(f"{why}, or leave precision= out")


def _document_prior(prior: Any, topics: int, least: float) -> np.ndarray:
    """Return the prior of each topic in a document, of one number or of as many as there are topics."""

    def checked(name: str, value: Any) -> Any:
        return arguments.number(name, value, least=least, most=MOST, hint="; 0.1 is usual")

    if np.ndim(prior) == 0:
        return np.full(topics, checked("doc_topic_prior", prior))
    listed = arguments.several("doc_topic_prior", prior, "a number, or one for each topic,")
    if len(listed) != topics:
        raise arguments.wrong("doc_topic_prior", prior, f"{topics} numbers are needed, one for each topic")
    return np.array([checked(f"doc_topic_prior[{k}]", x) for k, x in enumerate(listed)])
