"""The page of cuts: what it shows, and that it needs nothing else."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import gaslab as gl
from gaslab.cuts.figures import FIGURES
from gaslab.cuts.report import sweep
from tests.support.command_line import Run, gaslab, on_ranks

__all__ = ["gaslab"]  # a fixture

pictured = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "a <b> & c.txt"
    graph = gl.Graph.generate("rmat", scale=9, edge_factor=6)
    np.savetxt(path, np.stack(graph.edges(), axis=1), fmt="%d")
    return path


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.heads: list[str] = []
        self.cells: list[str] = []
        self.pictures: list[str] = []
        self.sources: list[str] = []
        self._tag = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        for name, value in attrs:
            if name in ("src", "href"):
                self.sources.append(value or "")
            if name == "src":
                self.pictures.append(base64.b64decode((value or "").partition(",")[2]).decode())

    def handle_data(self, data: str) -> None:
        {"h2": self.heads, "td": self.cells}.get(self._tag, []).append(data)

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""


@pictured
def test_the_page(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    done = gaslab("partition", edges, "-k", 6, "--compare", "random,2d", "--report", folder, "-q")
    assert done.code == 0, done.err
    assert [path.name for path in folder.iterdir()] == ["index.html"]
    text = (folder / "index.html").read_text()
    page = Page(text)
    assert page.heads == [
        "Figures",
        "Replication by the number of parts", "Replication and vertex balance", "Replicas by degree",
        "random: the parts", "random: traffic", "2d: the parts", "2d: traffic",
    ]  # fmt: skip
    assert len(page.pictures) == 7
    for picture in page.pictures:
        assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "http://" not in re.sub("data:[^\"']*", "", text)
    assert "Cuts of a &lt;b&gt; &amp; c.txt" in text
    assert len(page.cells) == 2 * len(FIGURES)
    table = done.out.splitlines()
    assert page.cells[:2] == [line.split()[1] for line in table[1:]]  # RF
    assert sweep(6) == [2, 4, 6]


@pictured
@pytest.mark.parametrize("k", [1, 1025])
def test_one_part_and_many(gaslab: Run, edges: Path, tmp_path: Path, k: int) -> None:
    words = ("-k", k, "--compare", "random,chunk", "--report", tmp_path / "page", "-q")
    done = gaslab("partition", edges, *words)
    assert done.code == 0, done.err
    page = Page((tmp_path / "page" / "index.html").read_text())
    assert ("random: traffic" in page.heads) == (k == 1)


@pictured
@pytest.mark.slow
def test_the_page_on_ranks(edges: Path, tmp_path: Path) -> None:
    words = ("partition", edges, "-k", 4, "--strategy", "dbh", "--report", tmp_path / "page", "-q")
    done = on_ranks(3, *words)
    assert done.code == 0, done.err
    assert len(Page((tmp_path / "page" / "index.html").read_text()).pictures) == 5


@pictured
def test_a_page_is_replaced_by_force_alone(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    words = ("partition", edges, "-k", 2, "--strategy", "2d", "-q", "--report", tmp_path / "page")
    assert gaslab(*words).code == 0
    done = gaslab(*words)
    assert (done.code, done.err) == (2, f"gaslab: {tmp_path}/page exists; --force replaces it\n")
    assert gaslab(*words, "--force").code == 0
    (tmp_path / "page" / "mine.txt").touch()
    done = gaslab(*words, "--force")
    assert (done.code, "holds other files, no page of cuts; it is not replaced" in done.err) == (2, True)


def test_without_matplotlib_nothing_is_read(
    gaslab: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: None)
    done = gaslab("partition", tmp_path / "missing.txt", "-k", 2, "--report", tmp_path / "page")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "gaslab: --report needs matplotlib, which is not installed: pip install 'gaslab[plot]'\n"
    )
    assert not (tmp_path / "page").exists()
