"""``gaslab supervise``: run a job on ranks, and restart it from its last checkpoint."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from gaslab.cli import COMMANDS, option
from gaslab.cli.arguments import Parser
from gaslab.errors import UsageError, nearest
from gaslab.parallel import launch

CHECKPOINT = "--checkpoint"
ABOUT = """Run a job under mpiexec, and restart it from its last checkpoint when a rank dies, hangs or aborts.

After -- comes a gaslab command with supersteps, which gets --checkpoint, --every, --keep and
--resume auto; or a script (SCRIPT.py, -m MODULE, -c CODE) with its arguments, which is run by
`python -m gaslab` and writes and resumes checkpoints in its own words.

Restarted: a rank ended by a signal, an MPI abort, a rank without a heartbeat, lack of memory, errors
of the disk or of MPI. Not restarted: usage errors (2), no convergence (3), --timeout (124), Ctrl-C
(130), wrong input, errors of the program. The first restart comes at once, later ones after 1, 2, 4,
up to 30 s while restarts do not help. SIGTERM, Ctrl-C and SIGUSR1 are passed on to each rank once.
The exit code is that of the last run; 128 + N if signal N ended it."""
EPILOG = """examples:
  gaslab supervise -n 4 --checkpoint ranks.ckpt -- pagerank GRAPH -o ranks.tsv
  gaslab supervise -n 64 --launcher srun --checkpoint DIR --every 5m -- components GRAPH -o DIR/
  gaslab supervise -n 4 --checkpoint DIR -- my_script.py GRAPH DIR"""


class _Supervise(Parser):
    """A parser that leaves alone all that stands behind ``--``."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(args or ())
        cut = words.index("--") if "--" in words else len(words)
        arguments = super().parse_args(words[:cut], namespace)
        arguments.job = words[cut + 1 :]
        return arguments


def parser(name: str) -> Parser:
    """Return the parser of ``supervise``."""
    made = _Supervise(name, "-n N --checkpoint DIR [options] -- COMMAND ...", ABOUT)
    made.usage = f"gaslab {name} -n N --checkpoint DIR [options] -- COMMAND ..."
    made.epilog = EPILOG
    option.whole(made, "-n", "N", "number of ranks", required=True)
    option.text(made, CHECKPOINT, "DIR", "folder of the checkpoints, the same for all ranks", required=True)
    option.text(made, "--every", "TIME", "time between checkpoints, as for the command")
    option.text(made, "--keep", "K", "how many checkpoints to keep, as for the command")
    option.whole(made, "--max-restarts", "M", "give up after M restarts (default 5)", least=0, default=5)
    option.number(
        made, "--heartbeat", "SECONDS", least=2.0, default=60.0,
        help="restart if a rank gives no sign of life, or stays in one superstep, for SECONDS (default 60)",
    )  # fmt: skip
    option.number(
        made, "--grace", "SECONDS", default=30.0,
        help="kill the ranks that are left SECONDS after a signal to end (default 30)",
    )  # fmt: skip
    option.flag(made, "--shrink", "restart with one rank fewer after a rank has died or was lost")
    option.text(
        made, "--launcher", "WORDS",
        "what starts the ranks, with its options (default: the mpiexec beside this Python, or on PATH)",
    )  # fmt: skip
    return made


def execute(arguments: Any) -> int:
    """Run the job, and return the exit code of its last attempt."""
    if launch.launcher().parallel:
        raise UsageError("supervise starts the ranks by itself; start it without mpiexec")
    job = arguments.job
    if not job:
        raise UsageError(
            "there is nothing to run: put a command after --, as in "
            "`gaslab supervise -n 4 --checkpoint DIR -- pagerank GRAPH`"
        )
    from gaslab.cli.supervise.attempt import Job
    from gaslab.cli.supervise.supervisor import Supervisor
    from gaslab.parallel import mpiexec

    words = [sys.executable, "-m", "gaslab", *_words(job, arguments)]
    started = Job(mpiexec.find(arguments.launcher), tuple(words), arguments.heartbeat, arguments.grace)
    supervisor = Supervisor(
        started, arguments.n, arguments.checkpoint, arguments.max_restarts, arguments.shrink
    )
    return supervisor.run()


def _words(job: Sequence[str], arguments: Any) -> list[str]:
    """Return the words of the job: a script's own, a command's with the options of its checkpoints."""
    if job[0] in ("-m", "-c") or job[0].endswith(".py"):
        for name in ("every", "keep"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name} is for commands; a script says it in its own words")
        return list(job)
    if job[0] not in COMMANDS:
        raise UsageError(f"there is no command {job[0]!r}{nearest(job[0], COMMANDS)}")
    command: Parser = importlib.import_module(COMMANDS[job[0]][0]).parser(job[0])
    if CHECKPOINT not in command.options:
        raise UsageError(f"{job[0]} writes no checkpoints to restart from; run it without supervise")
    for word in job:
        if word.split("=")[0] in (CHECKPOINT, "--resume"):
            raise UsageError(f"{word} stands after --; name the folder before --, and supervise adds both")
    given = {"every": arguments.every, "keep": arguments.keep}
    more = [f"--{name}={value}" for name, value in given.items() if value is not None]
    return [job[0], f"{CHECKPOINT}={arguments.checkpoint}", *more, "--resume=auto", *job[1:]]
