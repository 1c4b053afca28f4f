"""``gaslab doctor``: one line per thing looked at, the way out below what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab import launch
from gaslab.cli import DONE, FAILED
from gaslab.cli.arguments import Parser, add_talk

if TYPE_CHECKING:
    from gaslab.doctor import Finding


def parser(name: str) -> Parser:
    """Return the parser of ``doctor``."""
    made = Parser(
        name, "", "What MPI, compiler, threads and caches are here; exit code 1 if something is broken."
    )
    add_talk(made)
    return made


def execute(arguments: Any) -> int:
    """Print the findings of rank 0; with several ranks also those of others that differ in being broken."""
    from gaslab import comm
    from gaslab.doctor import examine

    findings = examine()
    here = comm.current()
    every: list[list[Finding]] = here.allgather(findings) if here is not None else [findings]
    if launch.launcher().rank == 0:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            _tell(finding, width, "")
        for rank, others in enumerate(every[1:], 1):
            for finding in others:
                if not finding.good and finding not in findings:
                    _tell(finding, width, f"rank {rank}: ")
    broken = any(not finding.good for part in every for finding in part)
    return FAILED if broken else DONE


def _tell(finding: Finding, width: int, where: str) -> None:
    print(f"{' ' if finding.good else '✗'} {finding.name:{width}}  {where}{finding.text}")
    if finding.fix:
        print(f"  {'':{width}}  -> {finding.fix}")
