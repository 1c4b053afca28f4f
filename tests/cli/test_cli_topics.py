"""gaslab lda: topics judged, compared and shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from gaslab.topics.judging import judge, likeliest_words
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab

__all__ = ["gaslab"]

TALKS = ["cat dog cat", "dog cat mouse", "bank bond bank", "bond bank rate", "mouse cat", "rate bond"] * 3


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    path = tmp_path / "talks.txt"
    path.write_text("\n".join(TALKS) + "\n")
    return path


@pytest.mark.slow
def test_several_numbers_of_topics_are_compared(gaslab: Run, talks: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "run.json", tmp_path / "page"
    words = ("lda", talks, "--topics", "1,2,3", "--iterations", 30, "--threads", 1)
    done = gaslab(*words, "--json", out, "--report", page, "--topic-word", tmp_path / "words.tsv")
    assert done.code == 0, done.err
    head, *rows, best = done.out.splitlines()
    assert head.split() == ["topics", "log-likelihood", "coherence", "diversity", "seconds"]
    report = json.loads(out.read_text())
    assert (
        [int(row.split()[0]) for row in rows] == [row["topics"] for row in report["comparison"]] == [1, 2, 3]
    )
    chosen = max(report["comparison"], key=lambda row: row["coherence"])
    assert best == f"best by coherence: {chosen['topics']} topics"
    assert report["parameters"]["topics"] == chosen["topics"] == len(report["coherence_by_topic"])
    assert report["coherence"] == pytest.approx(np.mean(report["coherence_by_topic"])) == chosen["coherence"]
    assert report["diversity"] == chosen["diversity"]
    assert report["history"][-1]["log_likelihood_per_token"] == chosen["log_likelihood_per_token"]
    assert len((tmp_path / "words.tsv").read_text().splitlines()[0].split("\t")) == 1 + chosen["topics"]
    text = (page / "index.html").read_text("utf-8")
    assert text.count('name="topic" value=') == chosen["topics"]
    assert f"<dt>coherence</dt><dd>{report['coherence']:,.4g}</dd>".replace("-", "−") in text
    again = gaslab(*words[:2], "--report", page)
    assert again.code == 2
    assert "page exists; --force replaces it" in again.err
    assert gaslab(*words[:2], "--iterations", 1, "--report", page, "--force").code == 0


def test_what_cannot_be_is_said(gaslab: Run, talks: Path, tmp_path: Path) -> None:
    for options, said in (
        (("--coherence", "c_v"), "'c_v' is refused: it needs the order of words"),
        (("--topics", "5,5"), "'5,5' lists a number twice"),
        (("--topics", "5,0"), "0 is less than 1"),
        (("--topics", "2,3", "--timeline", tmp_path / "t.json"), "--timeline shows one run"),
        (("--report", tmp_path / "page", "-o", tmp_path / "page" / "x.tsv"), "there is no directory"),
    ):
        done = gaslab("lda", talks, *options)
        assert (done.code, said in done.err) == (2, True), done.err


def judged(comm: Comm) -> list[object]:
    graph = gl.corpus_from(TALKS, comm=comm, strategy="random")
    found: list[object] = []
    for on in ("all", "local"):
        result = gl.lda(graph, topics=3, iterations=10, on=on, sampler="metropolis-hastings")
        judge(graph, result, "umass")
        figures = result.metrics["figures"]
        found += [figures["coherence"], figures["diversity"], likeliest_words(graph, result, 4).tolist()]
    return found


@pytest.mark.slow
def test_ranks_judge_alike(ranks: Ranks) -> None:
    expected = judged(world())
    assert expected[:3] == expected[3:]
    for found in ranks.run(judged):
        assert found == expected
    graph = gl.corpus_from(TALKS)
    result = gl.lda(graph, topics=3, iterations=10, sampler="metropolis-hastings")
    probability = result.tables["topic_word"]["probability"]
    assert expected[2] == gl.topics.top_words(probability, 4).tolist()


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_progress_says_likelihood_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("tqdm.auto.tqdm.set_postfix_str", lambda self, words, **_: said.append(words))
    gl.lda(gl.corpus_from(TALKS), topics=2, iterations=4, evaluate_every=2, progress=True, threads=1)
    pattern = r"(log likelihood per token -\d\.\d+, )?[\d.]+[kM]? tokens/s"
    assert [re.fullmatch(pattern, words)[1] is None for words in said] == [True, False, False, False]  # type: ignore[index]
    bars: list[tuple[str, int, int]] = []
    monkeypatch.setattr("tqdm.auto.tqdm.close", lambda self: bars.append((self.desc, self.n, self.total)))
    for sampler in ("gibbs", "metropolis-hastings"):
        gl.lda(gl.corpus_from(TALKS), topics=2, iterations=4, sampler=sampler, progress=True)
    assert set(bars) == {("sweeps", 4, 4)}
    said.clear()
    rows: list[dict[str, float]] = []
    shown = {"progress": lambda row: rows.append(row) or f"sweep {row['iteration']}"}
    for asked in ({"mh_sweeps": 2}, {"sampler": "metropolis-hastings"}):
        result = gl.lda(
            gl.corpus_from(TALKS), topics=2, iterations=4, evaluate_every=1, threads=1, **asked, **shown
        )
        assert rows == result.history
        rows.clear()
    assert said == [f"sweep {k}" for k in (1, 2, 3, 4)] * 2
    said.clear()
    graph = gl.Graph.from_edges([0, 0, 1], [1, 2, 2])
    gl.run(gl.programs.PageRank(), graph, max_iterations=3, progress=lambda row: f"at {row['superstep']}")
    assert said == ["at 0", "at 1", "at 2"]
    with pytest.raises(gl.UsageError, match="progress='yes'"):
        gl.run(gl.programs.PageRank(), graph, max_iterations=3, progress="yes")  # type: ignore[arg-type]


def test_progress_is_lines_where_stderr_is_no_terminal(
    gaslab: Run, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("lda", talks, "--topics", 2, "--iterations", 4, "--evaluate-every", 2)
    monkeypatch.setattr("gaslab.engine.observe.progress.FIRST", 0.0)
    for sampler in ("gibbs", "metropolis-hastings"):
        lines = re.findall(r"^gaslab: sweeps: (.*)$", gaslab(*words, "--sampler", sampler).err, re.MULTILINE)
        assert [re.sub(r"-\d\.\d+|[\d.]+[kM]? tokens/s", "#", line) for line in lines] == [
            "1 of 4, #",
            *(f"{sweep} of 4, log likelihood per token #, #" for sweep in (2, 3, 4)),
        ]
        assert gaslab(*words, "--sampler", sampler, "--quiet").err == ""
    monkeypatch.setattr("gaslab.engine.observe.progress.FIRST", 600.0)
    assert "sweeps: " not in gaslab(*words).err
