"""``python -m tests.pairs --seconds 600 --seed 1``: draw programs and runs until the time is over."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.pairs import judge as judging
from tests.pairs import page
from tests.pairs.features import Choice
from tests.pairs.programs import drawn_program
from tests.pairs.reduce import reduced
from tests.pairs.runs import Answer, Mode, Task, answers, drawn_task, script
from tests.pairs.table import Table


class Hosts:
    """Hosts of ranks, each started when it is first asked and again when it broke."""

    def __init__(self) -> None:
        self._hosts: dict[int, Any] = {}

    def ask(self, size: int, task: Task, modes: list[Mode]) -> list[list[Answer]]:
        """Return what each rank says."""
        from tests.mpi.ranks import Host

        host = self._hosts.get(size)
        if host is None:
            host = self._hosts[size] = Host(size)
        try:
            return host.run(pickle.dumps((answers, (task, modes))), 1, 25.0 * len(modes))
        except BaseException:
            host.close()
            del self._hosts[size]
            raise

    def close(self) -> None:
        for host in self._hosts.values():
            host.close()


def drawn(seed: int, focus: tuple[str, ...] = (), graphs: int = 1) -> list[Task]:
    """Return the program of a seed, which has the features *focus* and others, on so many graphs."""
    draws = random.Random(seed)
    features = Choice(draws, focus).chosen
    text = drawn_program(draws, features)
    return [drawn_task(draws, f"drawn_{seed}", text, features) for _ in range(graphs)]


def shrink(path: Path) -> None:
    """Print the smallest program and graph on which what differed in a kept finding still does."""
    task, verdict = pickle.loads(path.read_bytes())
    hosts, wanted = Hosts(), kind_of(verdict.differs[0])
    sizes = (
        (1, *(n for n in verdict.sizes if n > 1)) if not verdict.differs[0].startswith("1 ranks") else (1,)
    )

    def differs(smaller: Task) -> bool:
        try:
            found = judging.judge(smaller, hosts.ask, sizes).differs
        except SyntaxError:
            return False
        return any(kind_of(one) == wanted for one in found)

    try:
        least = reduced(task, differs)
        text = "\n".join(judging.judge(least, hosts.ask, sizes).differs)
    finally:
        hosts.close()
    path.with_suffix(".small.py").write_text(script(least, text))
    print(script(least, text))


def kind_of(differs: str) -> str:
    """Return what differs without the values: the mode and the part of the answer, or the kind of error."""
    return re.sub(r"\[.*", "", re.sub(r"^\d ranks", "", differs)[:40].split(" is ")[0])


def keep(path: Path, task: Task, verdict: judging.Verdict) -> None:
    """Write a finding: as it is, for --shrink, and as a file that runs alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".pickle").write_bytes(pickle.dumps((task, verdict)))
    path.with_suffix(".py").write_text(script(task, "\n".join([*verdict.differs, repr(task.features)])))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pairs", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run the program of this number alone, and print it")
    parser.add_argument("--focus", default="", help="features that every program has, with commas")
    parser.add_argument("--table", type=Path, help="add what is found to this table (json)")
    parser.add_argument("--findings", type=Path, help="a folder for what differs")
    parser.add_argument("--graphs", type=int, default=3, help="of each program; on several ranks the first")
    parser.add_argument("--every-rank", action="store_true", help="run each graph on 1, 2, 3 and 4 ranks")
    parser.add_argument("--broad", type=float, default=0.5, help="share of programs without a pair to aim at")
    parser.add_argument("--page", nargs="*", help="write docs/pairs.md, with the counts of these tables")
    parser.add_argument("--more", action="store_true", help="with --page: beside what was counted before")
    parser.add_argument("--shrink", type=Path, help="make a kept finding small, and print it")
    options = parser.parse_args()
    os.environ["GASLAB_CACHE_DIR"] = tempfile.mkdtemp(prefix="gaslab-pairs-")
    if options.page is not None:
        tables = [json.loads(Path(name).read_text()) for name in options.page]
        tables += [page.kept()] if options.more else []
        if tables:
            page.write_counts(page.counted(tables))
        page.PAGE.write_text(page.page())
        return 0
    if options.shrink:
        shrink(options.shrink)
        return 0
    table = Table.read(options.table)
    hosts, began, programs, runs, found = Hosts(), time.monotonic(), 0, 0, 0
    focus = tuple(filter(None, options.focus.split(",")))
    number = options.seed * 1_000_000
    draws = random.Random(options.seed)
    try:
        while time.monotonic() - began < options.seconds:
            number += 1
            aim = focus or (() if draws.random() < options.broad else table.rarest(draws))
            if options.only is not None:
                number = options.only
            programs += 1
            for k, task in enumerate(drawn(number, aim, options.graphs)):
                sizes = (1, 2, 3, 4) if options.every_rank else (1, 2 + number % 3)[: 1 if k else 2]
                verdict = judging.judge(task, hosts.ask, sizes)
                runs += verdict.runs + verdict.engine_runs
                table.add(task, verdict, new=k == 0)
                if options.only is not None:
                    print(script(task, "\n".join(verdict.differs)))
                if verdict.differs:
                    found += 1
                    print(
                        f"--- program {number} {aim} after {programs} programs, {runs} runs, "
                        f"{time.monotonic() - began:.0f} s",
                        flush=True,
                    )
                    print(verdict.differs[0][:600], flush=True)
                    if options.findings:
                        keep(options.findings / f"{number}_{k}", task, verdict)
            if options.only is not None:
                break
            if programs % 50 == 0:
                table.write(options.table)
    finally:
        hosts.close()
        table.write(options.table)
    print(
        json.dumps(
            {"programs": programs, "runs": runs, "differ": found, "seconds": round(time.monotonic() - began)}
        )
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
