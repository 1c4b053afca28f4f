"""The emitted gather loop against the same loop written by hand in C, and scipy's product.

    python benchmarks/gather.py                 # R-MAT scale 20
    python benchmarks/gather.py --scale 22

One rank, one thread; every side sums one float64 per in-edge into each vertex. The emitted loop is run
as it is, and once more without prefetching (`gaslab/compiler/c/gather.py`), by what it gains or
costs at a size.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse

import gaslab as gl
from common import in_turn, parser, report, rmat, timed
from gaslab._kernels import phase_runner
from gaslab.compiler import build, toolchain
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.engine.state import RunState
from gaslab.engine.view import make_view

BY_HAND = """
#include <stdint.h>
void gather(const int64_t *begin, const int32_t *neighbor, const double *x, double *total, int64_t n) {
    for (int64_t v = 0; v < n; v++) {
        double sum = 0.0;
        for (int64_t p = begin[v]; p < begin[v + 1]; p++) sum += x[neighbor[p]];
        total[v] = sum;
    }
}
void gather_in_four(const int64_t *begin, const int32_t *neighbor, const double *x, double *total,
                    int64_t n) {
    for (int64_t v = 0; v < n; v++) {
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        int64_t p = begin[v], end = begin[v + 1];
        for (; p + 4 <= end; p += 4) {
            a += x[neighbor[p]]; b += x[neighbor[p + 1]]; c += x[neighbor[p + 2]]; d += x[neighbor[p + 3]];
        }
        for (; p < end; p++) a += x[neighbor[p]];
        total[v] = (a + b) + (c + d);
    }
}
"""


def main() -> None:
    options = parser(__doc__).parse_args()
    graph = rmat(options)
    local, tree = graph.local, parse(gl.programs.PageRank)
    n = local.num_masters
    state = RunState.create(tree, graph, [])
    share = next(k for k, field in enumerate(tree.vertex_fields) if field.name == "share")
    x, total = state.fields[share], np.zeros(n)
    x[:] = np.random.default_rng(1).random(n)
    view = make_view(state, graph, [p.default for p in tree.params])
    view.total = total
    everyone = np.array([0, n], np.int64)
    level = toolchain.levels()[toolchain.cpu_level()]
    text = emit(tree)

    def emitted(text: str) -> Callable[[], float]:
        library = build.open_bytes(build.compiled(text, level), cached=False)
        address = library.function("gl_gather")
        return lambda: timed(lambda: phase_runner.run(view, address, everyone, None, None, 1))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "by_hand.so"
        toolchain.compile_text(BY_HAND, level, path)
        hand = ctypes.CDLL(str(path))
    arrays = [ctypes.c_void_p(a.ctypes.data) for a in (local.in_begin, local.in_neighbor, x, total)]
    matrix = scipy.sparse.csr_matrix(
        (np.ones(local.in_neighbor.size), local.in_neighbor, local.in_begin), shape=(n, n)
    )
    sides = {
        "emitted": emitted(text),
        "by hand": lambda: timed(lambda: hand.gather(*arrays, ctypes.c_int64(n))),
        "by hand, four sums": lambda: timed(lambda: hand.gather_in_four(*arrays, ctypes.c_int64(n))),
        "emitted, no prefetch": emitted(text.replace("FAR_VERTICES = 1 << 19", "FAR_VERTICES = 1 << 30")),
        "scipy CSR @ x": lambda: timed(lambda: matrix @ x),
    }
    print(f"{n:,} vertices, {local.in_neighbor.size:,} edges")
    report(in_turn(sides, options.repeats), target=1.03)


if __name__ == "__main__":
    main()
