"""Streams of draws in dieharder's tests: what `rng = "hash"` mixes, along each of the things that it mixes.

    python benchmarks/randomness.py                  every stream, half an hour
    python benchmarks/randomness.py --only edges --tests 0 2 100

A stream has a word for each number of one vertex, for each vertex, edge or superstep, or for each seed: all
else is the same in it. The words are those of the text that programs are compiled from. It needs dieharder
(Brown, Eddelbuettel, Bauer: "Dieharder, a random number test suite", 3.31) and a C compiler. Of good words
one test in a hundred is weak (p below 0.005 or above 0.995); a failure (below 1e-6) is a fault.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gaslab.compiler.c import rng

ROOT = Path(__file__).resolve().parent.parent
TESTS = [0, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 17, 100, 101, 102, 204, 206, 207, 208, 209]
STREAMS = {
    "numbers": "if (!k) gl_draw_from(c, 3, gl_vertex_hash(12345));",
    "vertices": "gl_draw_from(c, 3, gl_vertex_hash(k));",
    "edges": "gl_draw_from(c, 3, gl_edge_hash(k >> 5, (k >> 5) * 7 + (k & 31), 0));",
    "parallel edges": "gl_draw_from(c, 3, gl_edge_hash(k >> 10, 77, k & 1023));",
    "supersteps": "c->superstep = k; gl_draw_from(c, 3, gl_vertex_hash(12345));",
    "seeds": "c->seed = k; gl_draw_from(c, 3, gl_edge_hash(12345, 678, 0));",
}
TEXT = """
#include <stdio.h>
#include "philox.h"
#define GL_INLINE static inline
typedef struct { uint64_t seed, stream; int64_t superstep; } gl_context;
%s
int main(void) {
    static uint64_t words[1 << 16];
    gl_context context = {1, 0, 0}, *c = &context;
    for (int64_t k = 0;;) {
        for (int i = 0; i < 1 << 16; i++, k++) { %s words[i] = gl_next_word(c); }
        if (fwrite(words, sizeof words, 1, stdout) != 1) return 0;
    }
}
"""


def assess(stream: str, tests: list[int], folder: Path) -> Counter[str]:
    """Run dieharder's *tests* over a stream; return how many p-values passed, are weak, failed."""
    source, program = folder / "words.c", folder / "words"
    source.write_text(TEXT % (rng.HASH, STREAMS[stream]))
    compiler = ["cc", "-O2", "-I", str(ROOT / "cython_kernels" / "random"), str(source), "-o", str(program)]
    subprocess.run(compiler, check=True)
    found: Counter[str] = Counter()
    for test in tests:
        words = subprocess.Popen([program], stdout=subprocess.PIPE)
        command = ["dieharder", "-g", "200", "-d", str(test), "-c", "|"]
        done = subprocess.run(command, stdin=words.stdout, capture_output=True, text=True, check=True)
        words.kill()
        words.wait()
        verdicts = re.findall(r"PASSED|WEAK|FAILED", done.stdout)
        found.update(verdicts)
        if set(verdicts) != {"PASSED"}:
            print(done.stdout, end="")
    return found


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--only", nargs="+", choices=STREAMS, default=list(STREAMS))
    made.add_argument("--tests", nargs="+", type=int, default=TESTS, help="dieharder's numbers")
    arguments = made.parse_args()
    if shutil.which("dieharder") is None:
        sys.exit("dieharder is missing; on Debian: apt install dieharder")
    with tempfile.TemporaryDirectory() as folder:
        for stream in arguments.only:
            found = assess(stream, arguments.tests, Path(folder))
            counts = [f"{found[word]:4} {word.lower()}" for word in ("PASSED", "WEAK", "FAILED")]
            print(f"{stream:15}", *counts, flush=True)


if __name__ == "__main__":
    main()
