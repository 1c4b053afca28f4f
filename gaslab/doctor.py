"""What gaslab finds on this machine, and what to do where something is wrong."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from gaslab.errors import CompileError, LaunchError
from gaslab.parallel import launch
from gaslab.version import __version__

KERNELS = ("csr", "frontier", "pack", "parser", "partition", "phase_runner")


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `fix` says what to do if it is not `good`; a hint if it is."""

    name: str
    text: str
    good: bool = True
    fix: str = ""


def _wrong(name: str, text: str, fix: str) -> list[Finding]:
    return [Finding(name, text, False, fix)]


def examine() -> list[Finding]:
    """Look at everything; nothing here raises, and MPI is started only under a launcher."""
    checks: list[Callable[[], list[Finding]]] = [
        _python, _kernels, _compiler, _cache, _cpu, _threads, _launcher, _mpi, _shared_memory
    ]  # fmt: skip
    findings = []
    for check in checks:
        try:
            findings += check()
        except Exception as error:  # a doctor that dies of the illness helps nobody
            findings.append(Finding(check.__name__.strip("_"), f"{type(error).__name__}: {error}", False))
    return findings


def _python() -> list[Finding]:
    where = Path(__file__).parent
    return [
        Finding("gaslab", f"{__version__}  ({where})"),
        Finding("python", f"{platform.python_version()}  ({sys.executable})"),
        Finding("numpy", metadata.version("numpy")),
    ]


def _kernels() -> list[Finding]:
    missing: dict[str, list[str]] = {}  # an error, and the kernels that have it
    for name in KERNELS:
        try:
            importlib.import_module(f"gaslab._kernels.{name}")
        except ImportError as error:
            missing.setdefault(str(error), []).append(name)
    if missing:
        text = "; ".join(f"{', '.join(names)} ({error})" for error, names in missing.items())
        fix = "build them: `pip install .`, or `python setup.py build_ext --inplace` in a checkout"
        return _wrong("kernels", f"cannot be loaded: {text}", fix)
    return [Finding("kernels", f"{len(KERNELS)} loaded")]


def _compiler() -> list[Finding]:
    from gaslab.compiler import build, toolchain

    try:
        command = toolchain.compiler()
    except CompileError as error:
        return _wrong("compiler", str(error), "set CC to a compiler that works")
    if command is None:
        return [Finding("compiler", "none", True, "only programs of your own need one: install gcc or clang, "
                        "or compile them elsewhere with `gaslab compile`")]  # fmt: skip
    text = f"{' '.join(command)}: {toolchain.version(command).splitlines()[0]}"
    try:
        build.compiled("int gaslab_doctor(void) { return 1; }\n", toolchain.levels()[toolchain.cpu_level()])
    except Exception as error:  # whatever it is, that is the finding
        return _wrong("compiler", f"{text}; cannot compile: {error}", "set CC to a compiler that works")
    return [Finding("compiler", text)]


def _cache() -> list[Finding]:
    from gaslab.compiler.build import cache_directory
    from gaslab.compiler.cache import Cache, Untrusted

    path = cache_directory()
    try:
        Cache(path).prepare()
        with tempfile.NamedTemporaryFile(dir=path):
            pass
    except Untrusted as error:
        return _wrong("cache", f"{error.what}, so nothing in it is used", error.fix)
    except OSError as error:
        return _wrong("cache", f"{path}: {error.strerror}", "set GASLAB_CACHE_DIR to a directory of yours")
    programs = list(path.glob("*.so"))
    return [Finding("cache", f"{path} ({len(programs)} program{'s' * (len(programs) != 1)})")]


def _cpu() -> list[Finding]:
    from gaslab.compiler.toolchain import cpu_level, levels

    cores = launch.usable_cores()
    bound = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    binding = f"; this process may use {_ranges(bound)}" if bound else ""
    return [Finding("cpu", f"{levels()[cpu_level()]}, {cores} core{'s' * (cores != 1)} for the job{binding}")]


def _ranges(cores: list[int]) -> str:
    parts: list[list[int]] = []
    for core in cores:
        if parts and core == parts[-1][-1] + 1:
            parts[-1][1:] = [core]
        else:
            parts.append([core])
    return ",".join("-".join(map(str, part)) for part in parts)


def _threads() -> list[Finding]:
    job = launch.launcher()
    try:
        count, rule = launch.threads_per_rank(job.local_size), launch.threads_rule(job.local_size)
    except LaunchError as error:
        return _wrong("threads", str(error), "set it to a number of threads, or unset it")
    policy = os.environ.get("OMP_WAIT_POLICY")
    text = f"{count} a rank ({rule})" + (f"; OMP_WAIT_POLICY={policy}" if policy else "")
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    if bound < count:
        text += f", but the rank is bound to {bound} core{'s' * (bound != 1)}"
        return _wrong(
            "threads", text, "start with --bind-to none (Open MPI, MPICH) or --cpus-per-task (Slurm)"
        )
    return [Finding("threads", text)]


def _launcher() -> list[Finding]:
    job = launch.launcher()
    if not job.parallel:
        found = shutil.which("mpiexec")
        return [Finding("launcher", f"none: one rank; mpiexec on PATH is {found or 'not there'}")]
    size = job.size or "several"
    return [Finding("launcher", f"{job.name}: {size} processes, {job.local_size} of them on this machine")]


def _mpi() -> list[Finding]:
    from gaslab.parallel.comm import world

    try:
        version = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        return _wrong("mpi4py", "not installed", "pip install mpi4py")
    findings = [Finding("mpi4py", version)]
    if not launch.launcher().parallel:
        return [*findings, *_library_elsewhere()]
    try:
        size = world().size
    except LaunchError as error:
        return [*findings, Finding("mpi", str(error), False, "start with the mpiexec of the MPI named above")]
    return [*findings, Finding("mpi", f"{_library_here()}; world of {size}")]


def _library_here() -> str:
    mpi = sys.modules["mpi4py.MPI"]
    version = str(mpi.Get_library_version()).rstrip("\0").splitlines()[0]
    return " ".join(version.split())


def _library_elsewhere() -> list[Finding]:
    """Ask another process which MPI library mpi4py loads, so that none is started in this one."""
    import subprocess

    code = "from mpi4py import MPI; print(MPI.Get_library_version().rstrip(chr(0)).splitlines()[0])"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return _wrong("mpi", "starting it takes more than 30 s", "look at the network settings of the MPI")
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        hint = "only several ranks need one: `pip install gaslab[mpich]`, or load the site's module"
        return [Finding("mpi", f"cannot be loaded: {last}", fix=hint)]
    return [Finding("mpi", " ".join(done.stdout.split()))]


def _shared_memory() -> list[Finding]:
    from gaslab.system import segments

    found = segments.dead()
    if not found:
        return []
    size = sum(segment.size for segment in found) / 1e6
    text = f"{len(found)} segments of killed jobs hold {size:.1f} MB in {segments.FOLDER}"
    return [Finding("memory", text, True, "`gaslab doctor --clean` removes them")]
