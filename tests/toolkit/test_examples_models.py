"""The examples of other models of computation, against plain Python."""

from __future__ import annotations

import gzip
import re
from collections import Counter

import pytest

from tests.mpi.launcher import ROOT
from tests.toolkit.test_examples import imports, on_ranks, output_of

DATA = ROOT / "datasets"


@pytest.mark.slow
@on_ranks
def test_mapreduce_script(ranks: int) -> None:
    words = (DATA / "vocab.stdlib-docstrings.txt").read_text().split()
    names = (DATA / "documents.stdlib-docstrings.txt").read_text().split()
    with gzip.open(DATA / "docword.stdlib-docstrings.txt.gz", "rt") as file:
        records = [tuple(map(int, line.split())) for line in file.readlines()[3:]]
    counts: Counter[int] = Counter()
    for _, word, times in records:
        counts[word] += times
    *shown, last = output_of(ranks, "examples/mapreduce.py").splitlines()
    assert [line.split() for line in shown] == [[words[w - 1], str(n)] for w, n in counts.most_common(10)]
    least: dict[int, int] = {}
    for document, word, _ in records:
        least[document] = min(least.get(document, counts[word]), counts[word])
    best = max(least.values())
    match = re.fullmatch(r"(\S+) uses no word that occurs less than (\d+) times", last)
    assert match is not None
    assert int(match[2]) == best
    assert match[1] in {names[d - 1] for d, n in least.items() if n == best}


@pytest.mark.slow
@on_ranks
def test_pregel_script(ranks: int) -> None:
    head, *shown = output_of(ranks, "examples/pregel.py").splitlines()
    assert head == "all halted after superstep 30"
    graph = imports()
    n, value = len(graph), dict.fromkeys(graph, 1 / len(graph))
    for _ in range(30):
        mass = dict.fromkeys(graph, 0.0)
        for source, target in graph.edges:
            mass[target] += value[source] / graph.out_degree(source)
        value = {v: 0.15 / n + 0.85 * x for v, x in mass.items()}
    best = sorted(value, key=lambda v: -value[v])[:5]
    assert [line.split()[0] for line in shown] == best
    assert [float(line.split()[1]) for line in shown] == pytest.approx([value[v] for v in best], abs=1e-6)
