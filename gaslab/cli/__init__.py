"""The command line: ``gaslab COMMAND ...``, the same on one rank and under ``mpiexec -n N``.

Answers go to stdout, logs and progress to stderr, both from rank 0 alone. What each command does is
in the module that `COMMANDS` names, loaded only when it is asked for.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Sequence

from gaslab.cli import streams
from gaslab.cli.codes import DONE, FAILED, INTERRUPTED, USAGE
from gaslab.errors import GaslabError
from gaslab.parallel import failure, heartbeat, launch
from gaslab.programs import _names
from gaslab.version import __version__

# command -> (module with parser(name) and execute(arguments), what it does)
COMMANDS = {
    **{name: ("gaslab.cli.builtins", line) for name, line in _names.COMMANDS.items()},
    "run": ("gaslab.cli.custom", "a vertex program of your own: FILE.py:Class"),
    "info": ("gaslab.cli.info", "describe a graph"),
    "partition": ("gaslab.cli.partition", "cut a graph into k parts and measure the cut"),
    "generate": ("gaslab.cli.edgelists", "write a random graph"),
    "convert": ("gaslab.cli.edgelists", "rewrite an edge list: TSV, CSV, .gz, numbered ids"),
    "compile": ("gaslab.cli.custom", "compile a vertex program ahead of its first run"),
    "explain": ("gaslab.cli.custom", "show what a program stores, what it sends, and its generated C"),
    "supervise": ("gaslab.cli.supervise", "run a job on ranks, and restart it from its last checkpoint"),
    "doctor": ("gaslab.cli.doctor", "check MPI, compiler, threads and caches"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 usage, 3 not converged, 124, 130."""
    began = time.perf_counter()
    words = list(sys.argv[1:] if argv is None else argv)
    heartbeat.begin()
    code = _main(words, began)
    heartbeat.ended(code)
    return code


def _main(words: list[str], began: float) -> int:
    is_script = bool(words) and (words[0] in ("-m", "-c") or words[0].endswith(".py"))
    if not is_script:  # which has its streams as Python makes them
        streams.reopen()
    if not words:
        return _usage(_help())
    if words[0] in ("-h", "--help", "help"):
        return _answer(_help())
    if words[0] in ("-V", "--version"):
        return _answer(f"gaslab {__version__}")
    if launch.launcher().parallel:
        failure.install()  # before the first collective call: a rank may fail while it loads or reads
    if is_script:
        from gaslab.cli.script import execute

        return execute(words)
    if words[0] not in COMMANDS:
        from gaslab.errors import nearest

        kind = "option" if words[0].startswith("-") else "command"
        return _usage(f"gaslab: there is no {kind} {words[0]!r}{nearest(words[0], COMMANDS)}")
    if "--allow-singleton" in words:
        os.environ[launch.ALLOW_SINGLETON] = "1"
    try:
        from gaslab.cli.outcome import guarded

        module = importlib.import_module(COMMANDS[words[0]][0])
    except KeyboardInterrupt:  # while it loads
        print("interrupted", file=sys.stderr, flush=True)
        failure.end_all(INTERRUPTED)
        return INTERRUPTED
    return guarded(module, words[0], words[1:], began)


def _usage(text: str) -> int:
    failure.disarm()  # every rank was given the same words
    if launch.launcher().rank == 0:
        print(text, file=sys.stderr)
    return USAGE


def _answer(text: str) -> int:
    """Print *text* on rank 0 and return the exit code."""
    if launch.launcher().rank == 0:
        try:
            streams.write([text])
        except GaslabError as error:
            print(f"gaslab: {error}", file=sys.stderr)
            return FAILED
    return DONE


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items())
    return f"""usage: gaslab COMMAND ... [options]        the same under: mpiexec -n N gaslab COMMAND ...

{commands}

gaslab COMMAND --help lists a command's options.
python -m gaslab SCRIPT.py ... runs a script of your own, in which a rank that fails ends all ranks.
exit codes: 0 done, 1 failed, 2 usage, 3 not converged (--require-converged), 124 timeout, 130 interrupted

  gaslab pagerank GRAPH --top 10
  mpiexec -n 4 gaslab pagerank GRAPH -o ranks.tsv --json run.json
  gaslab run my.py:MyProgram GRAPH -p speed=2.5 --max-iterations 20"""
