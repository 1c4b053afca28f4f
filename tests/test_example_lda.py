"""The LDA example: counts that are the tokens', the topics of the corpus, the same on any ranks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from examples.lda import LDA, corpus
from gaslab.cli import main
from gaslab.comm import Comm
from tests.mpi.ranks import Ranks

TOPICS = 4
TURNS = 40
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "lda.py"

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


def _graph(comm: Comm | None = None) -> gl.Graph:
    document, word, _ = corpus(documents=60, words=40, length=50, topics=TOPICS)
    return gl.Graph.from_edges(document, word, bipartite=True, strategy="random", comm=comm)


def _topics(comm: Comm, threads: int = 1) -> dict[str, Any]:
    graph = _graph(comm)
    result = gl.run(LDA(topics=TOPICS), graph, max_iterations=TURNS, seed=3, threads=threads)
    return {
        "document": result.vertices.side(0)["counts"],
        "word": result.vertices.side(1)["counts"],
        "shares": result.vertices.side(1)["share"],
        "edges": np.stack([result.edges["topic"], result.edges["proposal"]]),
        "counted": [row["tokens"].counts.tolist() for row in result.history],
        "likelihood": [row["likelihood"] / graph.num_edges for row in result.history[1::2]],
    }


@functools.cache
def _alone() -> dict[str, Any]:
    return _topics(Comm())


def _both_threads(comm: Comm) -> list[dict[str, Any]]:
    return [_topics(comm, threads=threads) for threads in (1, 2)]


def test_lda_is_the_same_on_any_ranks_and_threads(ranks: Ranks) -> None:
    alone = _alone()
    document, word, topic = corpus(documents=60, words=40, length=50, topics=TOPICS)
    for got in ranks.run(_both_threads)[0]:
        assert [sum(row) for row in got["counted"]] == [topic.size] * TURNS
        assert got["document"].sum(axis=1).tolist() == np.bincount(document).tolist()
        assert got["word"].sum(axis=1).tolist() == np.bincount(word).tolist()
        assert got["word"].sum(axis=0).tolist() == got["counted"][-1]
        for name in ("document", "word", "shares", "edges"):
            assert np.array_equal(got[name], alone[name]), name
        assert got["counted"] == alone["counted"]
        assert got["likelihood"] == pytest.approx(alone["likelihood"], rel=1e-12)


def test_lda_finds_the_topics_of_the_corpus() -> None:
    got = _alone()
    document, _, topic = corpus(documents=60, words=40, length=50, topics=TOPICS)
    first, *_, last = got["likelihood"]
    mixes = np.zeros((60, TOPICS))
    np.add.at(mixes, (document, topic), 1 / 50)
    known = np.log(mixes[document, topic] * TOPICS / 40).mean()
    assert last > first + 0.3
    assert last == pytest.approx(known, abs=0.05)
    owner = got["word"].argmax(axis=1)
    assert len({int(owner[k]) for k in range(TOPICS)}) == TOPICS
    assert owner.tolist() == [owner[w % TOPICS] for w in range(40)]


def test_lda_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, word, _ = corpus(documents=10, words=8, length=20, topics=2)
    rows = [f"{d}\t{w}\n" for d, w in zip(document, word, strict=True)]
    (tmp_path / "tokens.tsv").write_text("".join(rows))
    code = main([
        "run", f"{EXAMPLE}:LDA", str(tmp_path / "tokens.tsv"), "--bipartite", "-p", "topics=2",
        "--max-iterations", "6", "--seed", "5", "--threads", "1", "--quiet",
        "-o", str(tmp_path / "topics.tsv"),
    ])  # fmt: skip
    assert code == 0
    graph = gl.Graph.from_edges(document, word, bipartite=True)
    expected = gl.run(LDA(topics=2), graph, max_iterations=6, seed=5, threads=1).vertices["counts"]
    lines = [line.split("\t") for line in (tmp_path / "topics.tsv").read_text().splitlines()]
    assert [[int(number) for number in line[2:4]] for line in lines] == expected.tolist()
