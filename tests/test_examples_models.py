"""The examples of other models of computation, against plain Python."""

from __future__ import annotations

import gzip
import re
from collections import Counter

from tests.mpi.launcher import ROOT
from tests.test_examples import on_ranks, output_of

DATA = ROOT / "datasets"


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
    told = re.fullmatch(r"(\S+) uses no word that occurs less than (\d+) times", last)
    assert told is not None
    assert int(told[2]) == best
    assert told[1] in {names[d - 1] for d, n in least.items() if n == best}
