"""The built-in programs as commands: what each takes, which function runs it, how its answer is shown.

The commands are gathered by what they answer: `ranking`, `paths`, `groups`, `local`,
`models`, `topics`, `factors`.
"""

from __future__ import annotations

from typing import Any

from gaslab.cli.arguments import Parser, add_input, add_output, add_running, read_options
from gaslab.cli.builtins import factors, groups, local, models, paths, ranking, topics
from gaslab.cli.corpus_options import add_corpus, corpus_options
from gaslab.errors import UsageError

BUILTINS = {
    **ranking.COMMANDS,
    **paths.COMMANDS,
    **groups.COMMANDS,
    **local.COMMANDS,
    **models.COMMANDS,
    **topics.COMMANDS,
    **factors.COMMANDS,
}


def parser(name: str) -> Parser:
    """Return the parser of a built-in's command."""
    builtin = BUILTINS[name]
    made = Parser(name, "CORPUS..." if builtin.corpus else "GRAPH...", builtin.description)
    if builtin.corpus:
        add_corpus(made)
    else:
        add_input(made, bipartite=builtin.defaults.get("bipartite", False))
    if builtin.add is not None:
        builtin.add(made)
    add_running(made, builtin.iterations, builtin.sweeps)
    add_output(made, tables=builtin.tables)
    made.set_defaults(**builtin.defaults)
    return made


def execute(arguments: Any) -> int:
    """Run a built-in on a graph and report."""
    from gaslab.cli.job import Job

    builtin = BUILTINS[arguments.command]
    if builtin.tables and arguments.fields and arguments.output is None:
        raise UsageError("--fields says what --output writes; give --output too, or leave --fields out")
    if builtin.execute is not None:
        return builtin.execute(builtin, arguments)
    if builtin.check is not None:
        builtin.check(arguments)
    corpus = builtin.corpus
    reading = corpus_options(arguments) if corpus else read_options(arguments, builtin.keep(arguments))
    job = Job(arguments, reading, builtin.names(), corpus)
    result = builtin.call(job.graph, arguments, job.options())
    known = builtin.fields(job.graph) if callable(builtin.fields) else builtin.fields
    return job.finish(result, list(arguments.fields or known), builtin.show, builtin.top)
