"""The C compiler of this machine and the CPU levels that emitted programs are compiled for."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from gaslab.errors import CompileError

# No fast-math: floats are IEEE, sums keep the order that emit chose, integers wrap. (That libm sets no
# errno and that nobody looks at the floating-point flags changes no result.)
FLAGS = (
    "-O2", "-fPIC", "-shared", "-std=gnu11", "-fwrapv", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-w", "-pipe",
)  # fmt: skip

# The levels of the x86-64 psABI, spelt as single flags: compilers before gcc 11 and clang 12 know
# no -march=x86-64-v3.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86_LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64": (),
    "x86-64-v3": tuple(f"-m{name}" for name in _V3),
    "x86-64-v4": tuple(f"-m{name}" for name in _V3 + _V4),
}
_V3_CPUINFO = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "popcnt", "sse4_2", "xsave"}


def levels() -> list[str]:
    """Return the CPU levels of this kind of machine, lowest first; one, its name, where there are none."""
    machine = platform.machine().lower()
    return list(X86_LEVELS) if machine in ("x86_64", "amd64") else [machine]


@functools.cache
def cpu_level() -> int:
    """Return the position in `levels` of what this CPU can run; the lowest where it does not say."""
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
        command = shlex.split(candidate)
        if command and shutil.which(command[0]):
            return tuple(command)
    return None


def compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler: ``$CC``, else cc, gcc or clang; None without one."""
    return _find(os.environ.get("CC"))


@functools.cache
def version(command: tuple[str, ...]) -> str:
    """Return what the compiler says it is, and the flags that stand in ``$CC``."""
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return " ".join([told.stdout or told.stderr, *command[1:]])


def compile_text(text: str, level: str, output: Path) -> None:
    """Compile C *text* for a CPU level into the shared library *output*; raise `CompileError`."""
    command = compiler()
    if command is None:
        raise CompileError("there is no C compiler: neither $CC nor cc, gcc or clang can be run")
    flags = [flag for flag in FLAGS if flag != "-shared" or sys.platform != "darwin"]
    if sys.platform == "darwin":
        flags.append("-dynamiclib")
    arguments = [*command, *flags, *level_flags(level), "-x", "c", "-", "-o", str(output), "-lm"]
    source = text.encode("utf-8", "surrogateescape")
    told = subprocess.run(arguments, input=source, capture_output=True, check=False)
    if told.returncode != 0:
        words = told.stderr.decode("utf-8", "replace").strip()
        raise CompileError(
            f"{shlex.join(command)} refused the program (exit code {told.returncode}):\n{words}"
        )
