"""Builds gaslab with sanitizers in a folder of its own and runs the tests there: ``make sanitize``.

    python -m tests.sanitizers [arguments of pytest]

``$GASLAB_SANITIZE`` names the sanitizers, AddressSanitizer and UndefinedBehaviorSanitizer by default. They
are in the kernels, in the programs that gaslab ships and in those that it compiles while tests run, on every
rank.
A report ends its process and stays as a file in the folder's ``reports``; any makes this end with 1.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from gaslab.compiler.toolchain import SANITIZE

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = ("build", "dist", "__pycache__", "_builtins")
BUILT = (".so", ".c", ".o")
# What these read first: the runtime of a sanitizer must come before all libraries, and finds the functions
# of C++ that others throw with only where libstdc++ comes at once.
RUNTIMES = {"address": "libasan.so", "thread": "libtsan.so", "undefined": "libubsan.so"}
OPENMP = Path("tests", "sanitizers", "openmp.c")  # in place of libgomp for ThreadSanitizer; it says why


def copied(folder: Path) -> None:
    """Make *folder* a copy of the source tree; what was built there stays, for what did not change."""

    def skipped(directory: str, names: list[str]) -> list[str]:
        return [n for n in names if n in SKIPPED or n.startswith(".") or n.endswith((".so", ".egg-info"))]

    shutil.copytree(ROOT, folder, ignore=skipped, dirs_exist_ok=True)
    for path in sorted(folder.rglob("*.py")):
        if "build" not in path.relative_to(folder).parts and not (ROOT / path.relative_to(folder)).exists():
            path.unlink()


def runtime(compiler: list[str], library: str) -> str:
    """Return the path of a library as the compiler knows it."""
    done = subprocess.run(
        [*compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def openmp(compiler: list[str], folder: Path) -> str:
    """Compile the OpenMP whose threads ThreadSanitizer sees and return its path."""
    output = folder / "libopenmp.so"
    flags = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=thread"]
    subprocess.run([*compiler, *flags, str(ROOT / OPENMP), "-o", str(output)], check=True)
    return str(output)


def environment(folder: Path, asked: str) -> dict[str, str]:
    """Return the environment of the tests."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    first = next(RUNTIMES[name] for name in asked.split(",") if name in RUNTIMES)
    before = [runtime(compiler, library) for library in (first, "libstdc++.so")]
    if first == RUNTIMES["thread"]:
        before.append(openmp(compiler, folder))
    reports = folder / "reports"
    common = f"halt_on_error=1:exitcode=86:log_path={reports}/report"
    return {
        **os.environ,
        SANITIZE: asked,
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",  # else the interpreter's own pools hide what lies beside an object
        "CC": shlex.join(["env", "-u", "LD_PRELOAD", *compiler]),  # the compiler itself is not looked at
        "LD_PRELOAD": " ".join(before),
        "ASAN_OPTIONS": f"{common}:allocator_may_return_null=1:detect_odr_violation=0",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "TSAN_OPTIONS": f"{common}:ignore_noninstrumented_modules=1",
        # Without use_tls=0 it reads what threads that have ended had to themselves, and crashes at times.
        "LSAN_OPTIONS": f"suppressions={folder}/tests/sanitizers/leaks.txt:print_suppressions=0:use_tls=0",
        "GASLAB_HYPOTHESIS": os.environ.get("GASLAB_HYPOTHESIS", "quick"),
    }  # fmt: skip


def main() -> int:
    asked = os.environ.get(SANITIZE) or "address,undefined"
    folder = ROOT / "build" / f"sanitized-{asked.replace(',', '-')}"
    copied(folder)
    python = [sys.executable]
    # The shipped programs are compiled by gaslab, which loads a kernel.
    build = {**environment(folder, asked), "ASAN_OPTIONS": "detect_leaks=0"}
    subprocess.run(
        [*python, "setup.py", "--quiet", "build_ext", "--inplace"], cwd=folder, env=build, check=True
    )
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    command = [*python, "-m", "pytest", "-p", "no:cacheprovider", *sys.argv[1:]]
    code = subprocess.run(command, cwd=folder, env=environment(folder, asked)).returncode
    found = sorted(reports.iterdir())
    for report in found:
        print(f"{report}:\n{report.read_text(errors='replace')[:4000]}")
    # That of UndefinedBehaviorSanitizer beside AddressSanitizer goes to stderr, and fails its test.
    print(f"{asked}: {len(found)} reports in {reports}; pytest ended with {code}")
    return 1 if found else code


if __name__ == "__main__":
    sys.exit(main())
