"""Command lines drawn from the parsers themselves: valid, nearly valid and hostile ones.

Each runs in a folder with small files, on one rank or two (`tests.fuzz.command_runs`). The exit code is one
of those that are documented, what is said is one message, and files are whole, and where they belong.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random as randoms
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.command_runs import SECONDS, Runs
from tests.fuzz.command_words import FILES, HOSTILE, NUMBERS, SIZES, WORDS
from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.text import MEMORY

CODES = (0, 1, 2, 3, 124, 130)


def parsers() -> dict[str, Any]:
    """Return the parser of every command."""
    from gaslab.cli import COMMANDS

    return {name: importlib.import_module(module).parser(name) for name, (module, _) in COMMANDS.items()}


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return the state of the files below *folder*: its inode, size and time, by name."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            status = os.lstat(path)
            found[path] = status.st_ino, status.st_size, status.st_mtime_ns
        found |= {os.path.join(place, name): (0, 0, 0) for name in folders}
    return found


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
        self.outside = self.folder / "outside"
        self._fill()
        self.parsers = parsers()
        self.codes: dict[int, int] = {}
        self.parallel = self.vanished = 0
        for module in (
            "numpy",
            "gaslab.cli.outcome",
            "gaslab.graph.reading",
            "gaslab.engine.run",
            "gaslab.programs",
            "gaslab.results.writers",
        ):
            importlib.import_module(module)
        self.runs = Runs(self.folder)

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
                often = 1.5 / len(self.parsers[name]._actions) + 0.5 * (action.dest in ("source", "output"))
                often = 0.97 if action.required else often
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
        ranks = 2 if random.random() < 0.05 else 1
        return {"words": [name, *words], "ranks": ranks, "start": random.random() < 0.02}

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
        shared = self.runs.shared(case)
        what = self._once(case)
        if what is None or not shared:
            return what
        self.runs.close()  # was it this command, or one before in the same process?
        again = self._once({**case, "start": True})
        self.vanished += again is None
        return again

    def _once(self, case: dict[str, Any]) -> str | None:
        words = case["words"]
        try:
            code, said, errors = self.runs.run(case, self.outside / "work")
            if code is None:
                return f"no end within {SECONDS:g} s: {errors[-1000:]}"
            self.codes[code] = self.codes.get(code, 0) + 1
            self.parallel += case["ranks"] > 1
            return self._judge(words, code, said, errors) or self._files(words, code)
        finally:
            if listing(self.outside) != self.pristine:
                self._fill()

    def _fill(self) -> None:
        """Put small files, and nothing else, into the folder where commands run."""
        shutil.rmtree(self.outside, ignore_errors=True)
        shutil.copytree(self.model, self.outside / "work")
        self.pristine = listing(self.outside)

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

    def _files(self, words: list[str], code: int) -> str | None:
        found = listing(self.outside)
        if found == self.pristine:
            return None
        text, work = " ".join(words), self.outside / "work"
        if [path.name for path in self.outside.iterdir()] != ["work"] and "../" not in text:
            return f"written outside of the folder: {sorted(path.name for path in self.outside.iterdir())}"
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
        once = f", {self.vanished} findings that a fresh process did not repeat" if self.vanished else ""
        return f"; exit codes {codes}; {self.parallel} on 2 ranks{once}"

    def close(self) -> None:
        self.runs.close()
        shutil.rmtree(self.folder, ignore_errors=True)
