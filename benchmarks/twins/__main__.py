"""Vertex programs beside the same loops written by hand in C: CPU-seconds of a superstep, in turn.

    python -m benchmarks.twins                       # all
    python -m benchmarks.twins lda gibbs --scale 18

One rank, one thread; graph and values are in memory. Each side takes the same supersteps from the same start
(`benchmarks/twins/measure.py`), and their answers are compared: to the bit where they are integers, minima or
maxima, within rounding where sums are added in another order. Samplers draw the same numbers, so topics are
the same, but for two whose twins make other things of them, which are compared by statistics: LDA's draws a
token from a list in another order, that of Gibbs sampling adds weights in another. The seconds are the least
of a superstep, with all that the engine does around the emitted C; the spread of the ratio is by superstep.
Where the parts of a cycle differ, ``all`` is a cycle: a sweep of a sampler or of least squares. Emitted C is
built with the flags of `gaslab/compiler/toolchain.py`, a twin with `measure.FLAGS`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.common import parser, row
from benchmarks.twins.inputs import Inputs
from benchmarks.twins.measure import Pair, Times, build, in_turn
from benchmarks.twins.pairs import PAIRS

HEADS = ["loop", "graph", "vertex program, s", "twin, s", "ratio", "by superstep", "M edges a CPU-s, twin's"]


def parts(pair: Pair, runs: list[Times]) -> dict[str, Times]:
    """Return the seconds of each part of a cycle, as often as it was run."""
    found: dict[str, Times] = {}
    for times in runs:
        assert len(times) == pair.supersteps, f"{pair.name} ran {len(times)} supersteps"
        for first in range(0, len(times), len(pair.parts)):
            cycle: dict[str, list[tuple[float, float]]] = {}
            for part, seconds in zip(pair.parts, times[first:], strict=False):
                cycle.setdefault(part, []).append(seconds)
            for part, each in cycle.items():
                ours, theirs = map(sum, zip(*each, strict=True))
                found.setdefault(part, []).append((ours, theirs))
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(pair.name for pair in PAIRS))
    arguments.set_defaults(repeats=3)
    options = arguments.parse_args()
    known = [pair.name for pair in PAIRS]
    if unknown := [name for name in options.names if name not in known]:
        sys.exit(f"there is no loop {unknown[0]!r}; there are {'; '.join(known)}")
    inputs = Inputs(options.scale, options.edge_factor)
    print(f"{row(*HEADS)}\n{row(*['---'] * len(HEADS))}")
    with tempfile.TemporaryDirectory() as folder:
        for pair in PAIRS:
            if options.names and pair.name not in options.names:
                continue
            step = build(pair, Path(folder))
            for graph in pair.graphs:
                runs = [in_turn(pair, getattr(inputs, graph), step) for _ in range(options.repeats)]
                found, edges = parts(pair, runs), getattr(inputs, graph).num_edges
                if 1 < len(pair.parts) == len(found):  # each has its turn: a cycle is the work of all
                    cycles = zip(*found.values(), strict=True)
                    found["all"] = [(sum(a for a, _ in one), sum(b for _, b in one)) for one in cycles]
                for part, times in found.items():
                    ours, theirs = (min(side) for side in zip(*times, strict=True))
                    ratios = sorted(a / b for a, b in times)
                    print(
                        row(
                            f"{pair.name}: {part}" if part else pair.name, graph, f"{ours:.4f}",
                            f"{theirs:.4f}", f"{ours / theirs:.2f}", f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
                            f"{edges / ours / 1e6:.1f}, {edges / theirs / 1e6:.1f}",
                        ),
                        flush=True,
                    )  # fmt: skip


if __name__ == "__main__":
    main()
