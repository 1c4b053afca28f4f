"""Loops over vectors, of any length, take packed instructions: seen in the machine code."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gaslab.compiler import toolchain
from gaslab.compiler.c import emit
from tests.support.program_text import tree_of

pytestmark = [
    pytest.mark.skipif(
        platform.machine().lower() not in ("x86_64", "amd64") or shutil.which("objdump") is None,
        reason="reads x86-64's instructions by objdump",
    ),
    pytest.mark.skipif(toolchain.SANITIZE in os.environ, reason="sanitized programs are compiled at -O1"),
]

PROGRAM = """
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape={n})
        y: gl.Vector = gl.field(shape={n}, dtype=gl.int32)
        s: float = 0.0

    def apply(self, v: Vertex) -> None:
        {statement}
"""
LOOPS = {
    "v.x = v.x * 3.0 + v.s": "mulpd",
    "v.x = v.x - v.y": "subpd",
    "for k in range({n}): v.x[k] = v.x[k] * v.s": "mulpd",
    "v.s = np.dot(v.x, v.x)": "mulpd",
}


@pytest.mark.parametrize("n", [19, 32, 50])
def test_loops_over_vectors_are_packed(tmp_path: Path, n: int) -> None:
    for statement, instruction in LOOPS.items():
        tree = tree_of(
            tmp_path, "import numpy as np\n" + PROGRAM.format(n=n, statement=statement.format(n=n))
        )
        library = tmp_path / "library.so"
        toolchain.compile_text(emit(tree), toolchain.levels()[0], library)
        text = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True).stdout
        assert re.search(rf"\bv?{instruction}\b", text), f"{statement} of {n} elements"
