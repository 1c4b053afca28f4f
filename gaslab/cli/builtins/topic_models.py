"""The command `lda`: it finds topics, saves them as a model, goes on from one, folds documents into one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaslab.arguments import number
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins.comparison import add_judging, check_several
from gaslab.cli.builtins.sampling import add_sampling, check_sampling
from gaslab.cli.builtins.topics import find_topics, top_words
from gaslab.cli.codes import DONE
from gaslab.cli.corpus_options import corpus_options
from gaslab.cli.streams import say
from gaslab.errors import UsageError
from gaslab.programs._arguments import RECOVERY
from gaslab.programs._lda_settings import SWEEPS
from gaslab.programs._tool import Command

if TYPE_CHECKING:
    import gaslab as gl
    from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")
LIKELIEST = 3  # topics of a document that are shown
SHARE = 0.05  # of the document, at least
# Options of all commands that are of learning, and their defaults.
LEARNING = {
    "max_iterations": SWEEPS, "topic_word": None, "fields": None, "timeline": None, "precision": None,
    **dict.fromkeys(RECOVERY),
}  # fmt: skip


def add_options(made: Parser) -> None:
    """Add how topics are found and judged, and the options that name models."""
    made.refused["--init"] = "it starts from topics that it draws"
    add_judging(made.add_argument_group("lda"))
    add_sampling(made)
    group = made.add_argument_group("models")
    option.text(group, "--save", "MODEL", "write the model to MODEL.npz")
    option.text(group, "--model", "MODEL", "continue from a model, with its priors")
    option.text(group, "--load", "MODEL", "with --transform, in place of CORPUS: the model to use")
    group.add_argument("--transform", nargs="+", metavar="NEW",
                       help="find the topics of new documents; -o writes them")  # fmt: skip
    option.number(group, "--held-out", "FRACTION",
                  "hold out this fraction of the documents; report their likelihood")  # fmt: skip


def execute(command: Command, arguments: Any) -> int:
    """Run the command: find topics in a corpus, or give those of a model to one."""
    from gaslab.cli.job import Job
    from gaslab.topics.holdout import hold_out

    _check(arguments)
    model = _loaded(arguments.load or arguments.model)
    if arguments.load is not None:
        arguments.input = arguments.transform
    else:
        check_sampling(arguments, model)
    job = Job(arguments, corpus_options(arguments), (*command.fields, *command.also), corpus=True)
    if arguments.load is not None:
        return _transform(job, model)
    holdout, corpus = None, job.graph
    if arguments.held_out is not None:
        if model is not None and job.comm.rank == 0:
            log.warning(
                "%s may have learnt from documents that --held-out keeps apart; these are predicted too well "
                "then. It has not if it learnt with the same --held-out and --seed",
                arguments.model,
            )
        holdout = hold_out(corpus, arguments.held_out, seed=arguments.seed)
        job.graph = holdout.train
    more = {} if model is None else {"model": model}
    result = find_topics(job.graph, arguments, {**job.options(), **more, "holdout": holdout})
    if holdout is not None:  # the command read all of the corpus
        result.metrics["source"] = corpus.source
        for stage, spent in corpus.seconds.items():
            result.metrics["seconds"][stage] += spent
            result.metrics["seconds"]["total"] += spent
    if arguments.save is not None:
        _save(job.comm, _model_of(job.graph, result), arguments)
    return job.finish(result, list(arguments.fields or command.fields), top_words, command.top)


def _check(arguments: Any) -> None:
    """Raise UsageError for options that do not go together."""
    from gaslab.topics.model_file import check_name

    if arguments.load is None:
        if arguments.transform is not None:
            raise UsageError("--transform needs the model: --load MODEL")
        if not arguments.input:
            raise UsageError("missing: CORPUS (or --load MODEL --transform NEW)")
        with option.named():
            number("held_out", arguments.held_out, above=0, below=1, optional=True)
            if arguments.save is not None:
                check_name("save", arguments.save)
        check_several(arguments)
        return
    if arguments.transform is None:
        raise UsageError(
            "--load needs the documents: --transform NEW (to learn on from a model: --model MODEL)"
        )
    if arguments.input:
        raise UsageError(f"--transform names the documents; leave {arguments.input[0]!r} out")
    for name, default in {**_own_options(), **LEARNING}.items():
        if name not in ("load", "transform") and getattr(arguments, name, default) != default:
            said = "iterations" if name == "max_iterations" else name.replace("_", "-")
            raise UsageError(
                f"--{said} applies only to training, and --load MODEL --transform NEW trains nothing"
            )


def _own_options() -> dict[str, Any]:
    """Return the options that the command alone has, each with its default."""
    made = Parser("lda", "CORPUS...", "")
    before = set(vars(made.parse_args([])))
    add_options(made)
    return {name: x for name, x in vars(made.parse_args([])).items() if name not in before}


def _loaded(path: str | None) -> Any:
    from gaslab.topics.model import TopicModel

    return None if path is None else TopicModel.load(path)


def _model_of(graph: gl.Graph, result: gl.Result) -> Any:
    from gaslab.topics.model import TopicModel

    return TopicModel.of(graph, result)


def _save(comm: Comm, model: Any, arguments: Any) -> None:
    from gaslab.system.outputs import Output

    comm.on_root(lambda: model.write(Output(arguments.save, arguments.force)))  # which was checked before
    _report_written(comm, arguments.save, "the model")


def _report_written(comm: Comm, path: str | Path, what: str) -> None:
    if comm.rank == 0:
        log.info("wrote %s (%s)", path, what)


def _transform(job: Any, model: Any) -> int:
    """Write and show the topics of documents by a model."""
    from gaslab.cli.report import document, write_json
    from gaslab.results.writers import write_table

    arguments, comm, graph = job.arguments, job.comm, job.graph
    table = model.transform(graph, threads=arguments.threads, on="local")
    tables = {
        target.path: target for target in (job.target, *job.outputs.tables.values()) if target is not None
    }
    for path, target in tables.items():
        write_table(comm, target, table, graph.num_left)
        _report_written(comm, path, f"{graph.num_left:,} rows")
    json = job.outputs.json
    if json is not None:
        report = {**document(arguments, graph, None), "documents": graph.num_left}
        comm.on_root(lambda: write_json(json, report))
        _report_written(comm, json.path, "the report")
    top = arguments.top or (0 if tables or json else 10)
    lines = [line for part in comm.allgather(_lines(table, top)) for line in part][:top]
    say(comm, lines)
    return DONE


def _lines(table: gl.Table, count: int) -> list[str]:
    """Return a line for each of the first documents: its likeliest topics."""
    import numpy as np

    lines = []
    for document, mix in zip(table.ids[:count].tolist(), table["probability"][:count], strict=True):
        best = [
            topic for topic in np.argsort(-mix, kind="stable")[:LIKELIEST].tolist() if mix[topic] >= SHARE
        ]
        lines.append(f"{document}  {', '.join(f'topic {topic} {mix[topic]:.1%}' for topic in best)}")
    return lines
