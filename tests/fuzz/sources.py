"""The compiler against texts: an error of ours with its place, or one answer, compiled and interpreted.

``python -m tests.fuzz.sources SECONDS [SEED]`` draws texts (`tests.fuzz.source_texts`) and lets another
process look at each (`tests.fuzz.source_check`), so that a text that kills or hangs it is a finding as well.
"""

from __future__ import annotations

import ast
import collections
import json
import random
import re
import select
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.source_check import COMPILE, PARSE, RUN
from tests.fuzz.source_texts import ROOT, draw
from tests.mpi.launcher import environment

CORPUS = Path(__file__).with_name("corpus_sources")
SECONDS = 40.0  # for one text
SHRINK_SECONDS = 12.0


class Checker:
    """The process that looks at texts, started anew when one has ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.code = 0  # with which the last one ended

    def check(self, text: str, deep: int) -> tuple[str, str]:
        """Return (kind, what) of *text*; a dead or a late process is "wrong"."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([text, deep]).encode() + b"\n")
        process.stdin.flush()
        stage, until = "start", time.monotonic() + SECONDS
        while True:
            ready, _, _ = select.select([process.stdout], [], [], max(until - time.monotonic(), 0))
            line = process.stdout.readline() if ready else b""
            if not line:
                self.close()
                if stage == "python":  # the text's own code, which may do anything
                    return "python", "ended the process"
                end = f"the process died ({self.code})" if ready else "no answer"
                return "wrong", f"{stage}: {end}"
            word, *found = json.loads(line)
            if word == "end":
                return found[0], found[1]
            stage = word

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.source_check"], stdin=subprocess.PIPE, cwd=ROOT, bufsize=0,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(OMP_NUM_THREADS="1"),
            )  # fmt: skip
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGKILL)  # nothing where it has ended
            process.communicate()
            self.code = process.returncode


class Sources:
    """Texts of programs, with the face of a fuzzer: a case is a text."""

    name, batch, sample, share = "sources", 1, 60, 1.0

    def __init__(self) -> None:
        self.checker = Checker()
        self.kinds: collections.Counter[str] = collections.Counter()

    def draw(self, random: random.Random) -> str:
        """Return a text."""
        return draw(random)

    def check(self, case: str) -> str | None:
        """Return what is wrong with the answer to a text; one in eight is compiled, one in forty runs."""
        number = zlib.crc32(case.encode("utf-8", "surrogatepass"))
        return self.verdict(case, RUN if number % 40 == 0 else COMPILE if number % 8 == 0 else PARSE)

    def check_all(self, cases: list[str]) -> list[str | None]:
        """Return what is wrong with each."""
        return [self.check(case) for case in cases]

    def verdict(self, case: str, deep: int) -> str | None:
        """Return what is wrong with the answer to a text, looked at so deep."""
        kind, what = self.checker.check(case, deep)
        self.kinds[kind] += 1
        return what if kind == "wrong" else None

    def smaller(self, case: str) -> Iterator[str]:
        """Yield texts with a part less."""
        try:
            count = sum(1 for _ in ast.walk(ast.parse(case)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            lines = case.splitlines(keepends=True)
            yield from ("".join(lines[:k] + lines[k + 1 :]) for k in range(len(lines)))
            return
        for at in range(count):
            yield from _without(case, at)

    def shrunk(self, case: str, what: str) -> str:
        """Return the smallest text found that is wrong in the same way."""
        until, before = time.monotonic() + SHRINK_SECONDS, ""
        while case != before:
            before = case
            for one in self.smaller(case):
                if time.monotonic() > until:
                    return case
                if len(one) < len(case) and alike(self.verdict(one, RUN) or "") == alike(what):
                    case = one
                    break
        return case

    def summary(self) -> str:
        """Return how many texts came to which end."""
        return "; " + ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))

    def close(self) -> None:
        """End the checker."""
        self.checker.close()


def _without(case: str, at: int) -> Iterator[str]:
    """Yield the text without its *at*-th node, or with one of that node's parts in its place."""
    for choice in range(3):
        tree = ast.parse(case)
        node = next(node for k, node in enumerate(ast.walk(tree)) if k == at)
        changed = False
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and choice == 0:
                for k in range(len(value)):
                    one = ast.parse(case)
                    same = next(n for j, n in enumerate(ast.walk(one)) if j == at)
                    del getattr(same, name)[k]
                    if name == "body" and not getattr(same, name):
                        if isinstance(value[k], ast.Pass):
                            continue
                        same.body = [ast.Pass()]  # type: ignore[attr-defined]
                    yield from _text(one)
            elif isinstance(value, ast.expr) and choice == 1:
                for part in ast.iter_child_nodes(value):
                    if isinstance(part, ast.expr):
                        setattr(node, name, part)
                        yield from _text(tree)
                        setattr(node, name, value)
            elif isinstance(value, ast.expr) and choice == 2 and name in ("value", "returns", "annotation"):
                setattr(node, name, None if name != "value" else ast.Constant(1))
                changed = True
        if changed:
            yield from _text(tree)


def _text(tree: ast.AST) -> Iterator[str]:
    try:
        yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, TypeError, AttributeError, RecursionError, IndexError):
        return


def alike(what: str) -> str:
    """Return what findings of one cause have in common: no numbers, no names of the text."""
    return re.sub(r"['‘\"`][^'’\"`]*['’\"`]|\d+", "", what.split("\n")[0])[:70]


def fuzz(seconds: float, seed: int, runs: int | None = None) -> tuple[int, list[tuple[str, str]]]:
    """Check texts for so many seconds, or so many; return how many, and (what, smallest text) of findings."""
    fuzzer, found, done = Sources(), {}, 0
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until and (runs is None or done < runs):
            case = fuzzer.draw(random.Random(f"sources {seed} {done}"))
            what = fuzzer.check(case)
            done += 1
            if what is not None and alike(what) not in found:
                small = fuzzer.shrunk(case, what)
                found[alike(what)] = (what, small)
                print(f"seed {seed} run {done - 1}: {what}\n{small}\n", flush=True)
    finally:
        print(f"{done} texts of seed {seed}{fuzzer.summary()}; {len(found)} findings", flush=True)
        fuzzer.close()
    return done, list(found.values())


if __name__ == "__main__":
    sys.exit(bool(fuzz(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()))[1]))
