"""Checks the text of a program, in a process that may die of it: ``python -m tests.fuzz.source_check``.

A line of JSON comes in, ``[text, how deep]``, and one goes out, ``[kind, what]``: kind "python" where
Python itself refuses the text, "refused" where gaslab does as it should, "accepted", "ran", or "wrong",
with what is wrong.
Before it a line names each stage, so that a process that dies or hangs has said where.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import linecache
import os
import re
import resource
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gaslab
from gaslab.compiler import toolchain
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse_phases
from gaslab.compiler.tree.depth import TOO_DEEP
from gaslab.errors import ExecutionError, GaslabError, ProgramError, TimeoutExpired
from gaslab.program import VertexProgram

PACKAGE = str(Path(gaslab.__file__).resolve().parent)
NAME = "fuzzed_program"
PARSE, COMPILE, RUN = 1, 2, 3  # how deep
_PLACED = re.compile(r"([^\n]*?):(\d+):(\d+): (.+)\n([^\n]*)\n([ \t]*)\^", re.DOTALL)
_STRICT = (
    "-fsyntax-only", "-Werror=implicit", "-Werror=int-conversion", "-Werror=incompatible-pointer-types",
    "-Werror=return-type", "-Werror=discarded-qualifiers",
)  # fmt: skip
MEMORY = 6 << 30
LIMIT = 4  # supersteps of a run


class Wrong(Exception):
    """What is wrong with the answer to a text."""


def check(text: str, deep: int, say: Callable[[str], None]) -> list[str]:
    """Return [kind, what] of *text*."""
    lines = text.splitlines(keepends=True)
    file = str(Path(tempfile.gettempdir()) / f"{NAME}.py")  # never written: linecache has the text
    module = types.ModuleType(NAME)
    module.__file__ = file
    linecache.cache[file] = (len(text), None, lines, file)
    sys.modules[NAME] = module
    say("python")
    try:
        exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    except GaslabError as error:
        return ["refused", str(error)]
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1].filename
        no_such_word = isinstance(error, AttributeError | ImportError)
        if last.startswith(PACKAGE) and not no_such_word:
            raise Wrong(f"declaring: {_place(error)}") from error
        return ["python", type(error).__name__]
    classes = [x for x in vars(module).values() if isinstance(x, type) and issubclass(x, VertexProgram)]
    found = ["python", "no program"]
    for cls in [x for x in classes if x.__module__ == NAME or x.__name__ == "P"]:
        found = _check_class(cls, lines, file, deep, say)
    return found


def _check_class(cls: type, lines: list[str], file: str, deep: int, say: Callable[[str], None]) -> list[str]:
    say("parse")
    try:
        trees = parse_phases(cls)
    except ProgramError as error:
        _check_error(error, lines, file)
        return ["refused", str(error)]
    except Exception as error:
        raise Wrong(f"parse: {_place(error)}") from error
    say("emit")
    try:
        texts = [emit(tree) for tree in trees]
    except ProgramError as error:
        _check_error(error, lines, file)
        return ["refused", str(error)]
    except Exception as error:
        raise Wrong(f"emit: {_place(error)}") from error
    if deep >= COMPILE:
        say("compile")
        for text in texts:
            _check_c(text)
    if deep >= RUN:
        say("run")
        return _check_run(cls)
    return ["accepted", ""]


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)]
    at = frames[-1] if frames else None
    where = f" at {Path(at.filename).name}:{at.name}" if at and not isinstance(error, RecursionError) else ""
    return f"{type(error).__name__}{where}: {str(error)[:200]}"


def _hidden(lines: list[str]) -> bool:
    """Whether the text makes functions whose source nobody can find."""
    return any(word in line for line in lines for word in ("exec(", "__code__", "__name__ ="))


def _check_error(error: ProgramError, lines: list[str], file: str) -> None:
    """Raise Wrong unless each mistake has file, line, column, a message, the line itself and a caret."""
    if re.search(r"source of \S+ cannot be read|no longer at this line", str(error)) and _hidden(lines):
        return
    for mistake in error.args:
        _check_mistake(mistake, lines, file)


def _check_mistake(mistake: str, lines: list[str], file: str) -> None:
    found = _PLACED.fullmatch(mistake)
    if found is None:
        raise Wrong(f"an error without a place: {mistake[:300]}")
    name, line, column, message, shown, indent = found.groups()
    if os.path.basename(name) != os.path.basename(file) or not 0 < int(line) <= len(lines):
        raise Wrong(f"an error at no line of the file: {mistake[:300]}")
    there = lines[int(line) - 1].rstrip("\r\n")
    if shown != there or len(indent) != int(column) - 1 or len(indent) > len(shown):
        raise Wrong(f"an error whose caret is off: {mistake[:300]}")
    if re.search(r"<(ast|_ast)\.|object at 0x|\bast\.\w+\(|frozenset\(", message):
        raise Wrong(f"an error that shows our insides: {message[:300]}")


def _check_c(text: str) -> None:
    command = toolchain.compiler()
    if command is None:
        return
    flags = [flag for flag in toolchain.FLAGS if flag != "-w"]  # which turns errors of warnings off too
    done = subprocess.run(
        [*command, *flags, *_STRICT, "-x", "c", "-"], input=text.encode("utf-8", "surrogateescape"),
        capture_output=True, timeout=60, env={**os.environ, "LD_PRELOAD": ""},
    )  # fmt: skip
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace")
        first = next((x for x in words.splitlines() if "error" in x), words[:300])
        raise Wrong(f"C that does not compile: {first.split(': ', 1)[-1]}")


def _check_run(cls: type) -> list[str]:
    """Run a program on a small graph compiled and interpreted; both must end alike."""
    graph = _graph()
    outcomes = [_outcome(cls, graph, mode) for mode in ("require", "never")]
    (kind, first), (other, second) = outcomes
    if "late" in (kind, other):
        return ["accepted", "ran too long"]
    if TOO_DEEP in f"{first}{second}":
        return ["accepted", "nested too deeply to run both ways"]
    if kind != other:
        raise Wrong(f"compiled {kind} {str(first)[:200]} but interpreted {other} {str(second)[:200]}")
    if kind == "error" and first != second:
        raise Wrong(f"compiled raised {str(first)[:300]} but interpreted {str(second)[:300]}")
    if kind == "answer":
        from tests.support.agreement import assert_agree

        try:
            assert_agree(first, second, 1e-9)
        except (AssertionError, OverflowError) as error:
            raise Wrong(f"compiled and interpreted differ: {str(error)[:300]}") from error
    return ["ran", kind if kind == "answer" else str(first)]


def _graph() -> Any:
    from tests.support.graphs import Drawn, hubs

    drawn = hubs(9, 24)
    costs = [(k * 7) % 11 - 5 for k in range(len(drawn.edges))]
    return Drawn(drawn.ids, drawn.edges, {**drawn.columns, "cost": costs}, True)


def _outcome(cls: type, graph: Any, compiled: str) -> tuple[str, Any]:
    from gaslab.parallel.comm import Comm
    from tests.support.agreement import Task, run_task

    class One(Task):
        def instance(self) -> VertexProgram:
            needed = [n for n in program.parameter_annotations(cls) if not hasattr(cls, n)]
            return cls(**dict.fromkeys(needed, graph.ids[0]))

    program = importlib.import_module("gaslab.program")
    task = One("", graph, LIMIT)
    try:
        made = graph.build(Comm())
        return "answer", run_task(task, made, (compiled, 1), timeout=4.0)
    except TimeoutExpired:
        return "late", None
    except ExecutionError as error:
        return "error", str(error).split("\n")[0]
    except GaslabError as error:
        return "error", f"{type(error).__name__}: {error}"
    except MemoryError:
        return "late", None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = frames[-1].filename.endswith(f"{NAME}.py") or any(f.name == "done" for f in frames)
        if own:  # Python that the text brought
            return "error", f"{type(error).__name__}: {error}"
        raise Wrong(f"run ({compiled}): {_place(error)}") from error


def main() -> None:
    """Answer texts until there are no more; what they print is nobody's."""
    requests, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")

    def say(*words: str) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    for request in requests:
        text, deep = json.loads(request)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                found = check(text, deep, say)
        except Wrong as error:
            found = ["wrong", str(error)]
        except BaseException as error:  # the text's own, as it is declared: exit(), KeyboardInterrupt
            found = ["python", type(error).__name__]
        say("end", *found)


if __name__ == "__main__":
    main()
