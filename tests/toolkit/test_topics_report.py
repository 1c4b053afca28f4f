"""The page of topics: the same on any ranks, hostile words are text, a browser shows what the arrays say."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from gaslab.topics.report import data
from gaslab.topics.report.content import Content, Document
from gaslab.topics.report.layout import between, scale
from gaslab.topics.report.page import render
from tests.mpi.ranks import Ranks
from tests.support.browser import opened, visit

HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "&amp;", "\"'", "long" * 99]
WORDS = [*HOSTILE, "שלום", "東京都", *(f"word{k}" for k in range(13))]


def corpus(comm: Comm, documents: int = 30) -> gl.Graph:
    counts = np.random.default_rng(0).poisson(0.6, (documents, len(WORDS)))
    counts[3] = 0
    return gl.corpus_from(counts, vocabulary=WORDS, comm=comm, strategy="random")


def written(comm: Comm, folder: str) -> list[str]:
    """Return the pages of a whole corpus, and of a sample of it whose result each rank has a part of."""
    graph, pages = corpus(comm), []
    for on, documents in (("all", 200), ("local", 5)):
        result = gl.lda(graph, topics=4, iterations=4, evaluate_every=2, on=on, sampler="metropolis-hastings")
        path = f"{folder}/{comm.size}-{on}"
        gl.topics.write_report(path, graph, result, documents=documents, coherence=[0.1, -0.2, 0.0, np.nan])
        pages.append(Path(path, "index.html").read_text("utf-8") if comm.rank == 0 else "")
    return pages


@pytest.mark.slow
def test_the_page_is_the_same_on_any_ranks(ranks: Ranks, tmp_path: Path) -> None:
    whole, sample = ranks.run(written, str(tmp_path))[0]
    folder = tmp_path / "alone"
    folder.mkdir()
    assert [whole, sample] == written(world(), str(folder))
    assert whole.count('"distinct":') == 30
    assert 1 <= sample.count('"distinct":') <= 5


ACTIONS = """
const text = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
seen.topics = [...document.querySelectorAll(".list input[name=topic]")].map((one) => +one.value);
seen.bars = text("#bars bdi");
seen.near = text("#near button");
const weight = document.getElementById("weight");
weight.value = 0; weight.dispatchEvent(new Event("input"));
seen.relevant = text("#bars bdi");
document.querySelector(`.map g[data-topic="${seen.topics[1]}"]`).dispatchEvent(new Event("click"));
seen.title = text("#topic-title")[0];
seen.checked = document.querySelector(".list :checked").value;
seen.focused = document.activeElement.value;
const chosen = document.getElementById("document");
seen.documents = [...chosen.options].map((one) => one.text);
chosen.value = 0; chosen.dispatchEvent(new Event("change"));
seen.words = [...document.querySelectorAll("#text li")].map((one) => [
  one.querySelector("bdi").textContent, +(one.querySelector("b")?.textContent ?? "×1").slice(1),
  +one.querySelector("sub").textContent]);
chosen.value = 3; chosen.dispatchEvent(new Event("change"));
seen.empty = text("#document-note")[0];
const find = document.getElementById("find");
find.value = "ALERT(1)"; find.dispatchEvent(new Event("input"));
seen.found = [...document.querySelectorAll(".list li")].filter((one) => !one.hidden).length;
seen.wide = document.documentElement.scrollWidth <= innerWidth;
"""


@pytest.mark.slow
def test_a_browser_shows_what_the_arrays_say(tmp_path: Path) -> None:
    graph = corpus(world())
    result = gl.lda(graph, topics=4, iterations=4, evaluate_every=2)
    gl.topics.write_report(tmp_path / "page", graph, result)
    seen = visit(tmp_path / "page" / "index.html", ACTIONS, tmp_path)
    assert '<html lang="en" class="js">' in opened(tmp_path / "page" / "index.html", tmp_path)
    spread, mixes = (result.tables[name]["probability"] for name in ("topic_word", "document_topic"))
    words = result.tables["topic_word"].ids
    tokens = result.aggregates["tokens"].counts
    order = np.argsort(-tokens, kind="stable")
    assert seen["faults"] == []
    assert seen["topics"] == order.tolist()
    assert seen["bars"] == words[np.argsort(-spread[:, order[0]], kind="stable")].tolist()
    near = gl.topics.nearest(spread.T, order[:1], 3)[0]
    assert seen["near"] == [str(k) for k in near[0]]
    lift = spread[:, order[0]] / (spread @ (tokens / tokens.sum()))
    assert seen["relevant"][:3] == words[np.argsort(-lift)][:3].tolist()
    assert seen["title"] == f"Topic {order[1]}"
    assert seen["checked"] == seen["focused"] == str(order[1])
    assert seen["documents"] == [str(k) for k in range(30)]
    first = {words.tolist().index(word): (count, topic) for word, count, topic in seen["words"]}
    src, dst = graph.edges()
    expected = graph.edge_columns["count"][src == 0]
    assert {w: n for w, (n, _) in first.items()} == dict(
        zip((dst[src == 0] - 30).tolist(), expected.tolist(), strict=True)
    )
    assert all(topic == np.argmax(spread[w] * mixes[0]) for w, (_, topic) in first.items())
    assert "no words" in seen["empty"]
    holders = sum("alert(1)" in str(word) for word in words)
    assert holders == 1
    assert 1 <= seen["found"] <= 4
    assert seen["wide"]


def odd(topics: int) -> Content:
    rng = np.random.default_rng(0)
    spread = rng.dirichlet(np.full(40, 0.1), topics).T
    mixture = np.full(topics, 1 / topics)
    document = Document("d", np.arange(40), rng.integers(1, 4, 40), mixture)
    empty = Document("", np.empty(0, np.int64), np.empty(0, np.int64), mixture)
    return Content(spread, range(40), mixture, [document, empty], [{"iteration": 1}])


@pytest.mark.slow
@pytest.mark.parametrize("topics", [1, 500])
def test_one_topic_and_many_and_words_without_names(topics: int, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_bytes(render(odd(topics)))
    text = page.read_text("utf-8")
    assert "words are numbers" in text
    assert "No sweep measured the likelihood" in text
    seen = visit(page, "seen.bars = document.querySelectorAll('#bars li').length;", tmp_path)
    assert seen == {"bars": 30 if topics == 1 else 15, "faults": []}


def test_of_very_many_topics_the_largest_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gaslab.topics.report.page.MOST_TOPICS", 2)
    content = replace(odd(3), sizes=np.array([0.2, 0.5, 0.3]))
    text = render(content).decode()
    assert "The 2 largest of 3 topics" in text
    assert re.findall(r'name="topic" value="(\d)"', text) == ["1", "2"]


class Page(HTMLParser):
    """The names of all tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_page_loads_nothing_and_hostile_text_is_text() -> None:
    content = odd(2)
    named = Content(
        content.topic_word, HOSTILE * 8, content.sizes, [], [], {"<b>": "<i>"}, title="</title><u>"
    )
    text = render(named).decode()
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    page = Page(text)
    assert page.tags.isdisjoint({"img", "u", "b", "link", "iframe"})
    assert page.attributes.isdisjoint({"src", "href", "srcset", "data", "onerror"})
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in text


def test_of_equal_words_the_first_are_shown() -> None:
    spread = np.full(1000, 1e-3)
    assert data._candidates(spread, spread, 30) == list(range(30))


def test_the_map_keeps_distances() -> None:
    corners = np.array([[0.0, 3.0], [4.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    apart = np.linalg.norm(corners[:, None] - corners, axis=2)
    places, shown = scale(apart)
    np.testing.assert_allclose(np.linalg.norm(places[:, None] - places, axis=2), apart, atol=1e-12)
    assert shown == pytest.approx(1.0)
    assert scale(np.zeros((1, 1)))[0].tolist() == [[0.0, 0.0]]
    wide = (
        np.random.default_rng(0).dirichlet(np.full(40, 0.1), 2400).T
    )  # beyond what Jensen-Shannon's may take
    np.testing.assert_allclose(
        between(wide)[0, 1], gl.topics.nearest(wide[:, :2].T, measure="hellinger")[1][0, 0]
    )


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    graph = corpus(world())
    result = gl.lda(graph, topics=2, iterations=1)
    page = tmp_path / "page"
    gl.topics.write_report(page, graph, result)
    with pytest.raises(gl.UsageError, match="page exists; force=True replaces it"):
        gl.topics.write_report(page, graph, result)
    gl.topics.write_report(page, graph, result, force=True)
    (page / "letter.txt").touch()
    with pytest.raises(gl.UsageError, match="holds other files, no page of topics"):
        gl.topics.write_report(page, graph, result, force=True)
    other: Any = gl.pagerank(gl.Graph.from_edges([0], [1]))
    for bad in (other, gl.lda(corpus(world(), 20), topics=2, iterations=1)):
        with pytest.raises(gl.UsageError, match="result= is not what"):
            gl.topics.write_report(tmp_path / "new", graph, bad)
