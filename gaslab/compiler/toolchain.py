"""The C compiler of this machine and the CPU levels that emitted programs are compiled for."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gaslab.errors import CompileError
from gaslab.system import leftovers

SANITIZE = "GASLAB_SANITIZE"  # the variable that asks for sanitizers, as in -fsanitize=


def sanitizer_flags(asked: str) -> tuple[str, ...]:
    """Return the flags for the sanitizers in *asked*, a list with commas; none for an empty one.

    A report ends the process. Casts of floats are checked too: emitted programs and kernels test the range
    before. Signed overflow is defined by -fwrapv. At -O1 the compiler takes a third of the time that it takes
    at -O3, and keeps more of the reads and writes to be checked.
    """
    if not asked:
        return ()
    casts = ("-fsanitize=float-cast-overflow",) if "undefined" in asked.split(",") else ()
    more = ("-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1", "-O1")
    return (f"-fsanitize={asked}", *casts, *more)


# Loops over vectors of any length: -O2 alone vectorises only multiples of the lanes.
VECTORISE = ("-ftree-vectorize", "-fvect-cost-model=dynamic")

# No fast-math: floats are IEEE, sums keep the order that emit chose, integers wrap. (Ignoring errno and the
# floating-point flags changes no result.)
FLAGS = (
    "-O2", *VECTORISE, "-fPIC", "-shared", "-std=gnu11", "-fwrapv", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-w", "-pipe", *sanitizer_flags(os.environ.get(SANITIZE, "")),
)  # fmt: skip

# The levels of the x86-64 psABI as single flags: gcc before 11 and clang before 12 lack -march=x86-64-v3.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86_LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64": (),
    "x86-64-v3": tuple(f"-m{name}" for name in _V3),
    "x86-64-v4": tuple(f"-m{name}" for name in _V3 + _V4),
}
_GONE_SECONDS = 1.0  # for the processes of a killed compiler to end
_V3_CPUINFO = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "popcnt", "sse4_2", "xsave"}


def levels() -> list[str]:
    """Return the CPU levels of this kind of machine, lowest first; its name alone if it has none."""
    machine = platform.machine().lower()
    return list(X86_LEVELS) if machine in ("x86_64", "amd64") else [machine]


@functools.cache
def cpu_level() -> int:
    """Return the position in `levels` of this CPU's level; the lowest if unknown."""
    if len(levels()) == 1:
        return 0
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    flags = next((set(line.split()) for line in text.splitlines() if line.startswith("flags")), set())
    if not flags >= _V3_CPUINFO:
        return 0
    return 2 if flags >= set(_V4) else 1


def level_flags(level: str) -> tuple[str, ...]:
    """Return the flags that *level* adds to `FLAGS`."""
    return X86_LEVELS.get(level, ())


@functools.cache
def _find(configured: str | None) -> tuple[str, ...] | None:
    for candidate in [configured] if configured else ["cc", "gcc", "clang"]:
        try:
            command = shlex.split(candidate)
        except ValueError as error:  # an unbalanced quote
            raise CompileError(f"CC={candidate!r} is not a command ({error}); fix it or unset it") from None
        if command and shutil.which(command[0]):
            return tuple(command)
    return None


def compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler: ``$CC``, else cc, gcc or clang; None without one."""
    return _find(os.environ.get("CC"))


@functools.cache
def version(command: tuple[str, ...]) -> str:
    """Return the compiler's own description, and the flags in ``$CC``."""
    done = _run([*command, "--version"])
    return " ".join([(done.stdout or done.stderr).decode("utf-8", "replace"), *command[1:]])


@contextlib.contextmanager
def workplace(parent: str) -> Iterator[Path]:
    """Make a folder in *parent* for a compilation; nothing of it remains, however the process ends."""
    path = tempfile.mkdtemp(prefix="gaslab-", dir=parent)
    leftovers.draft_made(path)
    with leftovers.undone(lambda: shutil.rmtree(path, ignore_errors=True)):
        yield Path(path)


def compile_text(text: str, level: str, output: Path) -> None:
    """Compile C *text* for a CPU level into the shared library *output*; raise `CompileError`.

    The compiler's own temporary files go beside *output*.
    """
    command = compiler()
    if command is None:
        raise CompileError("no C compiler was found: neither $CC nor cc, gcc or clang can be run")
    flags = [flag for flag in FLAGS if flag != "-shared" or sys.platform != "darwin"]
    if sys.platform == "darwin":
        flags.append("-dynamiclib")
    arguments = [*command, *flags, *level_flags(level), "-x", "c", "-", "-o", str(output), "-lm"]
    done = _run(arguments, text.encode("utf-8", "surrogateescape"), {"TMPDIR": str(output.parent)})
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        raise CompileError(
            f"{shlex.join(command)} refused the program (exit code {done.returncode}):\n{words}"
        )


def _run(
    arguments: list[str], source: bytes = b"", changes: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the compiler and its children in their own process group, which ends if this is interrupted."""
    pipe = subprocess.PIPE
    environment = {**os.environ, **(changes or {})}
    process = subprocess.Popen(
        arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
    )
    with process, leftovers.undone(lambda: _end_group(process)):
        out, err = process.communicate(source)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the remaining processes of an interrupted compiler, and wait until they are gone."""
    if process.returncode is not None:
        return
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_GONE_SECONDS)
        deadline = time.monotonic() + _GONE_SECONDS
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)  # fails once none is left
            time.sleep(0.005)
