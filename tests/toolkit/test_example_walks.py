"""The example of random walks prints visits that are near to PageRank's scores, the same on any ranks."""

from __future__ import annotations

import re

import networkx as nx
import pytest

from tests.toolkit.test_examples import imports, on_ranks, output_of


@pytest.mark.slow
@on_ranks
def test_walks_script(ranks: int) -> None:
    head, *shown = output_of(ranks, "examples/walks.py").splitlines()
    assert head == "65806 visits in 19 steps"
    exact = nx.pagerank(imports(), personalization={"asyncio": 1.0}, weight=None, tol=1e-9)
    rows = [re.fullmatch(r"(\S+) +(\S+)  PageRank (\S+)", line) for line in shown]
    assert len(rows) == 8
    for row in rows:
        assert row is not None
        assert float(row[2]) == pytest.approx(exact[row[1]], abs=0.003)
        assert float(row[3]) == pytest.approx(exact[row[1]], abs=1e-4)
