"""What the package is built from: nothing is missing from its source distribution, nothing goes unnoticed."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "cython_kernels"


@pytest.mark.slow
def test_the_source_distribution_has_all_that_kernels_are_made_of(tmp_path: Path) -> None:
    egg = ["egg_info", "--egg-base", str(tmp_path)]
    command = [sys.executable, "setup.py", "--quiet", *egg, "sdist", "--dist-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    found = {name for name in names if name.startswith(KERNELS.name) and Path(name).suffix}
    written = (path for path in KERNELS.rglob("*.*") if path.suffix in (".pyx", ".pxi", ".h"))
    sources = {str(path.relative_to(ROOT)) for path in written}
    assert found == sources


@pytest.mark.slow
def test_a_kernel_is_built_anew_when_a_file_it_includes_changes() -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    found = {Path(name).name for name in setup["included"](KERNELS / "async" / "machine.pyx")}
    assert found >= {"serialisable.pxi", "declarations.pxi", "pace.h", "scheduler.h", "buckets.h"}
