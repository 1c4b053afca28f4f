"""What `make sanitize` builds on: a mistake in C is reported, and a sanitized library has its own name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gaslab.compiler import toolchain
from tests.mpi.launcher import ROOT
from tests.sanitizers.__main__ import RUNTIMES, copied, environment, runtime

MISTAKES = {
    "heap-buffer-overflow": "double *volatile a = malloc(8); double x = a[n]; free(a); return (int64_t)x;",
    "heap-use-after-free": "double *a = calloc(1, 8); free(a); return (int64_t)a[n - n];",
    "outside the range of representable values": "return (int64_t)(1e30 * (double)n);",
    "shift exponent": "return (int64_t)1 << (n + 63);",
    "misaligned address": "char *a = calloc(4, 8); return *(int64_t *)(a + n);",
    "out of bounds": "int64_t a[2] = {1, 2}; return a[n + 1];",
}
RUN = """
import ctypes, sys
from pathlib import Path
from gaslab.compiler import toolchain
output = Path(sys.argv[1])
text = "#include <stdlib.h>\\n#include <stdint.h>\\nint64_t f(int64_t n) {" + sys.argv[2] + "}"
toolchain.compile_text(text, toolchain.levels()[0], output)
ctypes.CDLL(str(output)).f(ctypes.c_int64(int(sys.argv[3])))
print("fine")
"""


def sanitized() -> dict[str, str]:
    """Return the environment of `make sanitize`, reports on standard error; skips without."""
    found = environment(ROOT, "address,undefined")
    if not all(Path(library).is_file() for library in found["LD_PRELOAD"].split()):
        pytest.skip("the C compiler has no AddressSanitizer")
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        found[name] = ":".join(x for x in found[name].split(":") if not x.startswith("log_path"))
    found["ASAN_OPTIONS"] += ":detect_leaks=0"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_compiled_code_ends_the_process(mistake: str, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", RUN, str(tmp_path / "f.so"), MISTAKES[mistake]]
    for size, code in ((0, 0), (1, 86)):
        if mistake == "heap-use-after-free" and not size:
            continue
        done = subprocess.run(
            [*arguments, str(size)], env=sanitized(), cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == code, done.stderr
        assert ("fine" in done.stdout) == (not code)
        assert (mistake in done.stderr) == bool(code)


FOR = "#pragma omp for\nfor (i = 0; i < N; i++) {"
LOOPS = {
    "apart": "a[i] = i;",
    "the same": "a[0] = i;",
    "the same, after a barrier": f"a[i] = i;\n}}\n{FOR} b[i] = a[N - 1 - i];",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_threads_of_a_loop_that_write_one_place_are_reported(loop: str, tmp_path: Path) -> None:
    if not Path(runtime(["cc"], RUNTIMES["thread"])).is_file():
        pytest.skip("the C compiler has no ThreadSanitizer")
    # Of a few writes by each thread ThreadSanitizer misses the race in one run of three.
    begin = "#include <stdint.h>\nenum { N = 100000 };\nint64_t a[N], b[N];\nvoid f(void) {\nint64_t i;\n"
    region = f"#pragma omp parallel num_threads(2) private(i)\n{{\n{FOR} "
    text = begin + region + LOOPS[loop] + " }\n}\n}\n"
    library = tmp_path / "f.so"
    flags = ["-x", "c", "-", "-shared", "-fPIC", "-fopenmp", "-fsanitize=thread", "-o", str(library)]
    subprocess.run(["cc", *flags], input=text, text=True, check=True)
    (tmp_path / "reports").mkdir()
    script = f"import ctypes; ctypes.CDLL({str(library)!r}).f()"
    done = subprocess.run([sys.executable, "-c", script], env=environment(tmp_path, "thread"))
    reports = [path.read_text() for path in (tmp_path / "reports").iterdir()]
    assert done.returncode == (86 if loop == "the same" else 0)
    assert ["data race" in report for report in reports] == [True] * (loop == "the same")


def test_integers_wrap_under_sanitizers_too() -> None:
    flags = toolchain.sanitizer_flags("address,undefined")
    text = (
        "#include <stdint.h>\nint main(int n, char **a) { return (int64_t)(INT64_MAX + n) != INT64_MIN; }\n"
    )
    command = [*(toolchain.compiler() or ()), *(f for f in toolchain.FLAGS if f != "-shared"), *flags]
    with toolchain.workplace("/tmp") as folder:
        done = subprocess.run([*command, "-x", "c", "-", "-o", str(folder / "a")], input=text, text=True)
        assert done.returncode == 0
        assert subprocess.run([str(folder / "a")], env={**os.environ, "LD_PRELOAD": ""}).returncode == 0


@pytest.mark.slow
def test_a_library_of_a_sanitized_build_has_a_name_of_its_own() -> None:
    script = "from gaslab.compiler import build, toolchain; print(build.key('x'), *toolchain.FLAGS)"
    keys, flags = set(), []
    for asked in ("", "address,undefined", "thread"):
        env = {**os.environ, "PYTHONPATH": str(ROOT), toolchain.SANITIZE: asked}
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        )
        key, *more = done.stdout.split()
        keys.add(key)
        flags.append(more)
    assert len(keys) == 3
    assert not any("sanitize" in flag for flag in flags[0])
    assert "-fsanitize=float-cast-overflow" in flags[1]
    assert "-fsanitize=thread" in flags[2]


def test_the_copy_follows_the_tree(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_of_old.py").write_text("")
    (folder / "gaslab" / "_kernels").mkdir(parents=True)
    (folder / "gaslab" / "_kernels" / "built.so").write_text("")
    copied(folder)
    assert (folder / "setup.py").read_bytes() == (ROOT / "setup.py").read_bytes()
    assert not (folder / "tests" / "test_of_old.py").exists()
    assert [path.name for path in (folder / "gaslab").rglob("*.so")] == ["built.so"]
