"""How `lda` samples: its options, and what they mean to `gaslab.lda`, checked before the corpus is read."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser

NAMES = ("auto", "gibbs", "metropolis-hastings")
SAMPLING = (
    "evaluate_every", "sampler", "anneal_sweeps", "mh_sweeps", "mh_steps", "doc_topic_prior",
    "topic_word_prior", "optimise_priors", "burn_in", "sample_every",
)  # fmt: skip


def add_sampling(made: Parser) -> None:
    """Add the sampler, its priors and its sweeps."""
    group = made.add_argument_group("sampling")
    option.whole(group, "--evaluate-every", "N",
                 "compute the log-likelihood every N sweeps (10)", default=10)  # fmt: skip
    group.add_argument("--sampler", choices=NAMES, default="auto",
                       help="collapsed Gibbs, exact on one rank and thread, or delayed counts (auto), the "
                       "same on any ranks, whose time hardly grows with the topics")  # fmt: skip
    option.whole(group, "--anneal-sweeps", "N",
                 "make the first N of all sweeps with a wider prior of words in a topic: chains end at a "
                 "larger likelihood (half of all; 0 with --model, --optimise-priors)", least=0)  # fmt: skip
    option.whole(group, "--mh-sweeps", "N",
                 "make the first N of all sweeps by delayed counts, the rest by collapsed Gibbs: in a large "
                 "corpus less time for the same topics (0)", default=0, least=0)  # fmt: skip
    option.whole(group, "--mh-steps", "N",
                 "Metropolis-Hastings steps per token in each half of a sweep (1)", default=1)  # fmt: skip
    group.add_argument("--doc-topic-prior", type=_prior, metavar="A[,A...]",
                       help="prior of each topic in a document: one for all, or one for each (0.1)"
                       )  # fmt: skip
    option.number(group, "--topic-word-prior", "B", "prior of each word in a topic (0.01)")
    option.whole(group, "--optimise-priors", "N",
                 "optimise both priors every N sweeps (10), with one document prior per topic",
                 default=0, nargs="?", const=10)  # fmt: skip
    text = "average the counts over the sweeps after N (default: take the last sweep's)"
    option.whole(group, "--burn-in", "N", text, least=0)
    option.whole(group, "--sample-every", "N",
                 "with --burn-in: average every N-th sweep (1)", default=1)  # fmt: skip


def sampling(arguments: Any) -> dict[str, Any]:
    """Return the keyword arguments of `gaslab.lda` that the options mean."""
    return {"iterations": arguments.max_iterations, **{name: getattr(arguments, name) for name in SAMPLING}}


def check_sampling(arguments: Any, model: gl.TopicModel | None) -> None:
    """Raise UsageError for what `gaslab.lda` would refuse of any corpus; *model* is where it begins."""
    from gaslab.programs._lda_chain import check_one_run
    from gaslab.programs._lda_settings import sampler_and_settings

    asked = sampling(arguments)
    with option.named():
        for topics in arguments.topics or [None]:
            _, settings = sampler_and_settings(
                topics=topics, model=model, precision=arguments.precision, **asked
            )
            check_one_run({"timeline": arguments.timeline}, settings)


def _prior(text: str) -> float | list[float]:
    """Return a number, or several with commas between."""
    listed = [option.at_least(0.0, float)(one) for one in text.split(",")]
    return listed if "," in text else listed[0]
