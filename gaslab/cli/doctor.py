"""``gaslab doctor``: one line per thing looked at, the way out below what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab.cli import option
from gaslab.cli.arguments import Parser, add_talk
from gaslab.cli.codes import DONE, FAILED
from gaslab.cli.streams import say, write
from gaslab.parallel import launch

if TYPE_CHECKING:
    from gaslab.doctor import Finding


def parser(name: str) -> Parser:
    """Return the parser of ``doctor``."""
    made = Parser(
        name, "", "Check MPI, compiler, threads and caches; exit code 1 if something is broken."
    )
    text = "remove shared memory left by your killed MPI jobs, on the machines of all ranks"
    option.flag(made, "--clean", text)
    add_talk(made)
    return made


def execute(arguments: Any) -> int:
    """Print what is here, or clean up."""
    return _clean() if arguments.clean else _examine()


def _clean() -> int:
    """Remove dead segments, by one rank of each machine; exit code 1 if some cannot be removed."""
    from gaslab.parallel.comm import world
    from gaslab.system import segments

    comm = world()

    def clean() -> tuple[int, int, int]:
        if launch.launcher().local_rank > 0:
            return 0, 0, 0
        found = segments.dead()
        gone = segments.remove(found)
        return len(found), len(gone), sum(segment.size for segment in gone)

    found, gone, size = (sum(column) for column in zip(*comm.allgather(comm.attempt(clean)), strict=True))
    lines = [f"removed {gone} segment{'s' * (gone != 1)} of killed jobs, {size / 1e6:.1f} MB"]
    if gone < found:
        lines.append(f"{found - gone} cannot be removed from {segments.FOLDER}")
    say(comm, lines)
    return DONE if gone == found else FAILED


def _examine() -> int:
    """Print the findings of rank 0; with several ranks also those of others that differ in being broken."""
    from gaslab.doctor import examine
    from gaslab.parallel import comm

    findings = examine()
    here = comm.current()
    every: list[list[Finding]] = here.allgather(findings) if here is not None else [findings]
    if launch.launcher().rank == 0:
        width = max(len(finding.name) for finding in findings)
        lines = [_line(finding, width, "") for finding in findings]
        for rank, others in enumerate(every[1:], 1):
            for finding in others:
                if not finding.good and finding not in findings:
                    lines.append(_line(finding, width, f"rank {rank}: "))
        write(lines)
    broken = any(not finding.good for part in every for finding in part)
    return FAILED if broken else DONE


def _line(finding: Finding, width: int, where: str) -> str:
    """Return the line of a finding, and below it the way out, if it has one."""
    line = f"{' ' if finding.good else '✗'} {finding.name:{width}}  {where}{finding.text}"
    return f"{line}\n  {'':{width}}  -> {finding.fix}" if finding.fix else line
