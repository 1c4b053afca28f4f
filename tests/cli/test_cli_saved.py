"""Commands write saved graphs and start from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import Run, edges, gaslab, on_ranks, rows, weighted

__all__ = ["edges", "gaslab", "weighted"]  # fixtures


def test_convert_writes_a_folder_that_commands_start_from(
    weighted: Path, tmp_path: Path, gaslab: Run
) -> None:
    folder = tmp_path / "graph"
    done = gaslab("convert", weighted, "-o", f"{folder}/")
    assert (done.code, done.out) == (0, "")
    assert f"gaslab: wrote {folder} (1 part by auto:stateful=0)" in done.err
    assert (folder / "gaslab-graph.json").is_file()
    partition = ("partition", "-k", 2, "--strategy", "1d")
    for words in (("pagerank",), ("sssp", "--source", 3), ("info",), partition, ("components",)):
        found = [gaslab(words[0], source, *words[1:]) for source in (weighted, folder)]
        assert found[0].code == found[1].code == 0, found[1].err
        timed = ("edges cut in", "pays against", "memory for an edge")
        lines = [[line for line in one.out.splitlines() if not line.startswith(timed)] for one in found]
        assert lines[0] == lines[1]
    back = gaslab("convert", folder)
    assert sorted(back.out.splitlines()) == sorted(gaslab("convert", weighted).out.splitlines())


@pytest.mark.parametrize("size", [2, 3])
def test_a_cut_is_saved_and_started_from(size: int, edges: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    done = on_ranks(size, "partition", edges, "-k", 3, "--strategy", "hdrf", "--save", folder)
    assert done.code == 0, done.err
    assert f"wrote {folder} (3 parts by hdrf)" in done.err
    expected = rows(on_ranks(1, "pagerank", edges, "--top", 20).out.split("\n", 1)[1])
    for ranks, said in (
        (1, ""),
        (2, ""),
        (3, ""),
        (4, "is cut anew for 4 ranks; it was saved in 3 parts by hdrf"),
    ):
        report = tmp_path / f"report{ranks}.json"
        found = on_ranks(ranks, "pagerank", folder, "--top", 20, "--json", report)
        assert found.code == 0, found.err
        assert said in found.err
        assert ("cut anew" in found.err) == bool(said)
        assert rows(found.out.split("\n", 1)[1]) == pytest.approx(expected)
        known = json.loads(report.read_text())
        assert known["strategy"] == "hdrf"
        assert known["input"] == str(folder)
    again = on_ranks(3, "pagerank", folder, "--strategy", "2d", "--top", 20)
    assert "is cut anew for strategy 2d; it was saved in 3 parts by hdrf" in again.err


def test_what_a_saved_graph_does_not_take(edges: Path, tmp_path: Path, gaslab: Run) -> None:
    folder, other = tmp_path / "graph", tmp_path / "other"
    assert gaslab("convert", edges, "-o", f"{folder}/").code == 0
    other.mkdir()
    (other / "letter.txt").write_text("dear\n")
    for words, code, message in (
        (("pagerank", folder, "--undirected"), 2, "directed=False is of text"),
        (("pagerank", folder, edges), 2, "is a saved graph, and 2 paths were named; read it alone"),
        (("convert", edges, "-o", f"{folder}/"), 2, "exists; --force (force=True) replaces it"),
        (("convert", edges, "-o", f"{other}/", "--force"), 2, "holds other files, no saved graph"),
        (("convert", edges, "-o", f"{tmp_path}/x/", "--relabel"), 2, "--relabel applies to text"),
        (
            ("partition", edges, "-k", "2", "--compare", "all", "--save", tmp_path / "x"),
            2,
            "--save writes one cut",
        ),
        (
            ("partition", edges, "-k", "2", "--strategy", "1d", "--save", folder),
            2,
            "exists; --force replaces it",
        ),
        (
            ("partition", edges, "-k", "2000", "--strategy", "1d", "--save", tmp_path / "x"),
            2,
            "--save writes up to",
        ),
        (("pagerank", tmp_path), 1, "is not a saved graph, and holds the folder"),
    ):
        done = gaslab(*words)
        assert done.code == code, done.err
        assert message in done.err
    assert gaslab("convert", edges, "-o", f"{folder}/", "--force").code == 0


def test_a_folder_is_read_if_its_files_are_of_one_kind(edges: Path, tmp_path: Path, gaslab: Run) -> None:
    folder = tmp_path / "several"
    folder.mkdir()
    lines = edges.read_text().splitlines(keepends=True)
    (folder / "a.tsv").write_text("".join(lines[:4]))
    (folder / "b.tsv").write_text("".join(lines[4:]))
    (folder / ".hidden").write_text("no edge")
    assert gaslab("pagerank", folder).out == gaslab("pagerank", edges).out
    (folder / "c.csv").write_text("1,2\n")
    done = gaslab("pagerank", folder)
    assert done.code == 1
    assert (
        "is a folder of several kinds of files, such as a.tsv and c.csv, and not a saved graph; name those"
        in done.err
    )
    (tmp_path / "empty").mkdir()
    assert "is an empty folder" in gaslab("pagerank", tmp_path / "empty").err


def test_a_saved_corpus_is_fitted(tmp_path: Path, gaslab: Run) -> None:
    texts = tmp_path / "docword.tiny.txt"
    texts.write_text("3\n4\n5\n1 1 4\n1 2 1\n2 2 6\n3 3 2\n3 4 1\n")
    assert gaslab("convert", texts, "-o", f"{tmp_path}/corpus/").code == 0
    words = ("--topics", 2, "--iterations", 5)
    found = [gaslab("lda", source, *words) for source in (texts, tmp_path / "corpus")]
    assert found[0].code == found[1].code == 0, found[1].err
    shown = [[line for line in one.out.splitlines() if "second" not in line] for one in found]
    assert shown[0] == shown[1]
