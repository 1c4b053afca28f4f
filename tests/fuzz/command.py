"""Command lines drawn from the parsers themselves: valid, nearly valid and hostile ones.

Each runs in a process of its own (a fork, which costs little), in a folder with small files. The exit code is
one of those that are documented, what is said is one message, and files are whole, and where they belong.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random as randoms
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.command_words import FILES, HOSTILE, NUMBERS, SIZES, WORDS
from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.text import MEMORY
from tests.mpi.launcher import run_script

CODES = (0, 1, 2, 3, 124, 130)
SECONDS = 100.0
MEMORY_BYTES = 4 << 30


def parsers() -> dict[str, Any]:
    """Return the parser of every command."""
    from gaslab.cli import COMMANDS

    return {name: importlib.import_module(module).parser(name) for name, (module, _) in COMMANDS.items()}


class Command(Fuzzer):
    name = "command"
    batch = 8
    sample = 60

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-command-", dir=MEMORY))
        self.model = self.folder / "model"
        (self.model / "folder").mkdir(parents=True)
        for name, content in FILES.items():
            (self.model / name).write_bytes(content)
        (self.model / "folder" / "kept.txt").write_text("kept\n")
        (self.folder / "cache").mkdir()
        self.parsers = parsers()
        self.codes: dict[int, int] = {}
        self.slow = self.number = 0
        for module in (
            "numpy",
            "gaslab.cli.outcome",
            "gaslab.reading",
            "gaslab.engine.run",
            "gaslab.programs",
            "gaslab.writers",
        ):
            importlib.import_module(module)

    # ---- drawing ----------------------------------------------------------------------------------------

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        name = random.choice([*self.parsers, "pagerank", "run", "generate", "convert", "partition"])
        hostile = random.choice((0.0, 0.0, 0.0, 0.05, 0.3))
        words = []
        for action in self.parsers[name]._actions:
            if action.dest == "help":
                if random.random() < 0.003:
                    words.append("--help")
            elif not action.option_strings:
                words += [
                    self._value(random, action, hostile) for _ in range(random.choice((1,) * 25 + (0, 2)))
                ]
            else:
                often = 1.5 / len(self.parsers[name]._actions) + 0.5 * (
                    action.required or action.dest in ("source", "output")
                )
                for _ in range(int(random.random() < often) + int(random.random() < 0.01)):
                    option = random.choice(action.option_strings)
                    if action.nargs == 0:
                        words.append(option)
                        continue
                    value = self._value(random, action, hostile, option)
                    words += (
                        [f"{option}={value}"]
                        if option[:2] == "--" and random.random() < 0.3
                        else [option, value]
                    )
        if random.random() < 0.3 * (hostile > 0):
            words.insert(
                random.randrange(len(words) + 1),
                random.choice((*HOSTILE, "--topp", "--no", "-z", "--force=1", "--json")),
            )
        if random.random() < 0.02:
            name = random.choice(("", "pagernak", "-x", "--version", "-V", "help", "PAGERANK", "\udcff"))
        return {"words": [name, *words], "ranks": 2 if random.random() < 0.002 else 1}

    def _value(self, random: randoms.Random, action: Any, hostile: float, option: str = "") -> str:
        if option in SIZES:
            return random.choice(("1", "2", "3", "4", "7", "0", "-1", "x", "1.5", ""))
        if random.random() < hostile:
            return random.choice(HOSTILE)
        shown = action.metavar or ""
        if shown in WORDS:
            return random.choice(WORDS[shown])
        if "|" in shown:
            return random.choice(shown.split("|"))
        return random.choice(NUMBERS)

    # ---- running ----------------------------------------------------------------------------------------

    def check(self, case: dict[str, Any]) -> str | None:
        return self.check_all([case])[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        return [self._check(case) for case in cases]

    def _check(self, case: dict[str, Any]) -> str | None:
        self.number += 1
        outside = self.folder / f"run-{self.number}"
        work = outside / "work"
        shutil.copytree(self.model, work)
        try:
            if case["ranks"] > 1 and not any("\udcff" in word for word in case["words"]):
                done = run_script(
                    case["ranks"],
                    ["-m", "gaslab", *case["words"]],
                    cwd=work,
                    timeout=120,
                    GASLAB_CACHE_DIR=str(self.folder / "cache"),
                )
                code: int | None = done.returncode
                said, errors = done.stdout, done.stderr
            else:
                code = self._fork(case["words"], work, outside)
                said, errors = ((outside / name).read_text(errors="replace") for name in ("out", "err"))
                (outside / "out").unlink()
                (outside / "err").unlink()
            if code is None:
                self.slow += 1
                return f"no end within {SECONDS:g} s: {errors[-1000:]}"
            self.codes[code] = self.codes.get(code, 0) + 1
            return self._judge(case["words"], code, said, errors) or self._files(
                case["words"], code, work, outside
            )
        finally:
            shutil.rmtree(outside, ignore_errors=True)

    def _fork(self, words: list[str], work: Path, outside: Path) -> int | None:
        """Run a command in a child; return its exit code, minus a signal, None where it does not end."""
        child = os.fork()
        if child == 0:
            try:
                self._be(words, work, outside)
            finally:
                os._exit(99)
        until = time.monotonic() + SECONDS
        while True:
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
            time.sleep(0.001)

    def _be(self, words: list[str], work: Path, outside: Path) -> None:
        """Be the command (in a child); never return."""
        os.chdir(work)
        for name, number in (("out", 1), ("err", 2)):
            file = os.open(outside / name, os.O_WRONLY | os.O_CREAT)
            os.dup2(file, number)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as Python's own
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.environ["GASLAB_CACHE_DIR"] = str(self.folder / "cache")
        os.environ["OMP_NUM_THREADS"] = "1"
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        import logging

        logging.getLogger("gaslab").setLevel(logging.NOTSET)
        from gaslab.cli import main

        try:
            code = main(words)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            code = 98
        sys.stderr.flush()
        os._exit(code)

    def _judge(self, words: list[str], code: int, said: str, errors: str) -> str | None:
        if "MemoryError" in errors or "Unable to allocate" in errors:
            return None  # of what the limit here allows
        if code not in CODES:
            return f"exit code {code}: {errors[-1500:]}"
        if "Traceback" in errors:
            text = " ".join(words)
            users = words[0] in ("run", "explain", "compile") and any(
                name in text
                for name in ("Divides", "raises.py", "syntax.py", "bytes.bin", "edges.tsv:", ".tsv:")
            )
            if code != 1 or not users:
                return f"a traceback: {errors[-1500:]}"
        if code and not errors.strip():
            return f"exit code {code}, and nothing is said"
        if code == 2 and "gaslab" not in errors:
            return f"a usage error without a name: {errors[-500:]}"
        return None

    def _files(self, words: list[str], code: int, work: Path, outside: Path) -> str | None:
        text = " ".join(words)
        if [path.name for path in outside.iterdir()] != ["work"] and "../" not in text:
            return f"written outside of the folder: {sorted(path.name for path in outside.iterdir())}"
        left = [str(path) for path in work.rglob("*.incomplete")]
        if left:
            return f"left behind: {left}"
        for name, content in FILES.items():
            path = work / name
            if not path.is_file():
                return f"{name} is gone"
            if path.read_bytes() != content and not (name in text and ("--force" in words)):
                return f"{name} was changed"
        if (work / "folder" / "kept.txt").read_text() != "kept\n":
            return "a file of another's was changed"
        made = {path.name for path in work.iterdir()} - set(FILES) - {"folder", "__pycache__"}
        for name in made:
            if not any(name in word for word in words):
                return f"{name} was written, and was not asked for"
        # a timeline is written also of a run that failed
        if code == 2 and made and not any("--timeline" in word for word in words):
            return f"a usage error, and {made} was written"
        for path in work.glob("*.json"):
            with contextlib.suppress(UnicodeDecodeError):
                json.loads(path.read_text())
        return None

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        words = case["words"]
        for at in range(len(words) - 1, 0, -1):
            yield {**case, "words": words[:at] + words[at + 1 :]}
            yield {**case, "words": words[:at] + words[at + 2 :]}
        for at, word in enumerate(words):
            for one in ("1", "edges.tsv"):
                if at and word not in ("1", "edges.tsv"):
                    yield {**case, "words": [*words[:at], one, *words[at + 1 :]]}

    def summary(self) -> str:
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        return f"; exit codes {codes}"

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
