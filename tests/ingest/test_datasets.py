"""The files of datasets/ hold what their README states, and the script makes them."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import networkx as nx
import pytest

DATASETS = Path(__file__).resolve().parents[2] / "datasets"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("datasets_make", DATASETS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load_script()


def stated(figure: str) -> str:
    """Return what the README's tables say of *figure*."""
    text = (DATASETS / "README.md").read_text()
    found = re.findall(rf"^\| {re.escape(figure)} \| (.+?) \|$", text, re.MULTILINE)
    assert len(found) == 1, f"{figure!r} is stated {len(found)} times"
    return str(found[0]).replace("`", "")


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return list((DATASETS / make.IMPORTS).read_text().splitlines())


@pytest.fixture(scope="module")
def graph(lines: list[str]) -> nx.DiGraph:
    made = nx.DiGraph()
    for line in lines:
        if not line.startswith("#"):
            importer, imported, times = line.split("\t")
            assert not made.has_edge(importer, imported)
            made.add_edge(importer, imported, times=int(times))
    return made


def test_import_graph_has_the_stated_figures(lines: list[str], graph: nx.DiGraph) -> None:
    assert sum(line.startswith("#") for line in lines) == int(stated("lines that start with `#`"))
    assert len(lines) - 2 == graph.number_of_edges() == int(stated("edges"))
    assert graph.number_of_nodes() == int(stated("vertices"))
    statements = graph.size(weight="times")
    assert statements == int(stated("import statements (sum of the third column)"))
    dangling = sum(degree == 0 for _, degree in graph.out_degree())
    assert dangling == int(stated("modules that import nothing (dangling vertices)"))
    assert f"{nx.number_of_selfloops(graph)}, 0" == stated("self-loops, duplicates")
    components = nx.number_weakly_connected_components(graph)
    assert components == int(stated("weakly connected components"))
    name, degree = max(graph.in_degree(), key=lambda pair: pair[1])
    assert f"{name}, by {degree} modules" == stated("most imported module")
    name, degree = max(graph.out_degree(), key=lambda pair: pair[1])
    assert f"{name}, {degree} modules" == stated("module that imports most")


def test_corpus_has_the_stated_figures() -> None:
    rows = gzip.decompress((DATASETS / make.DOCWORD).read_bytes()).decode().splitlines()
    documents, words, pairs = (int(row) for row in rows[:3])
    cells = [tuple(map(int, row.split(" "))) for row in rows[3:]]
    assert documents == int(stated("documents"))
    assert words == int(stated("words"))
    assert pairs == len(cells) == len({cell[:2] for cell in cells}) == int(stated("document-word pairs"))
    assert sum(cell[2] for cell in cells) == int(stated("tokens (sum of the counts)"))
    assert {cell[0] for cell in cells} == set(range(1, documents + 1))
    assert {cell[1] for cell in cells} == set(range(1, words + 1))
    assert min(cell[2] for cell in cells) == 1
    vocabulary = (DATASETS / make.VOCABULARY).read_text().splitlines()
    assert len(vocabulary) == words
    assert vocabulary == sorted(set(vocabulary))
    names = (DATASETS / make.DOCUMENTS).read_text().splitlines()
    assert len(names) == len(set(names)) == documents
    assert "collections" in names


def test_ratings_have_the_stated_figures() -> None:
    lines = (DATASETS / make.CALLS).read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    modules, callees = (Counter(row[k] for row in rows) for k in (0, 1))
    assert len(rows) == len({tuple(row[:2]) for row in rows}) == int(stated("ratings"))
    assert len(modules) == int(stated("modules that rate"))
    assert len(callees) == int(stated("built-ins rated"))
    assert min(*modules.values(), *callees.values()) == make.FEWEST_CALLS
    assert {row[2] for row in rows} == set("12345")
    assert f"{sum(int(row[2]) for row in rows) / len(rows):.1f}" == stated("mean rating")
    assert "{}, {}".format(*callees.most_common(1)[0]) == stated("built-in with most ratings")


def test_a_rating_is_the_bits_of_the_calls() -> None:
    calls = Counter(make.called(ast.parse("len(x)\nx.len()\nfoo()\nlen(len(x))")))
    assert calls == {"len": 3}
    listed = [sys.executable, "-S", "-c", "import builtins; print(*dir(builtins))"]  # without the module site
    alone = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    assert set(alone) == make.BUILTINS
    names = ["a", "b", "c", "d", "e"]
    bags = {name: Counter(dict(zip(names, (1, 2, 7, 8, 40), strict=True))) for name in names}
    rated = make.ratings({**bags, "few": Counter(a=9)})
    assert [rated["a", name] for name in names] == [1, 2, 3, 4, 5]
    assert len(rated) == 25


def test_files_are_small() -> None:
    assert sum(path.stat().st_size for path in DATASETS.iterdir() if path.is_file()) < 1_000_000


def imports_of(
    name: str, source: str, *, package: bool = False, hidden: tuple[str, ...] = ()
) -> Counter[str]:
    known = frozenset({"os", "a", "a.b", "a.b.c", "a.d", "sys"})
    path = Path("a/__init__.py" if package else "a/x.py")
    return Counter(make.imported(name, path, ast.parse(source), known, frozenset(hidden)))


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("x", "import os, sys", {"os": 1, "sys": 1}),
        ("x", "import os.path\ndef f():\n    import os", {"os": 2}),
        ("x", "import numpy", {}),
        ("x", "from a import b, something", {"a.b": 1, "a": 1}),
        ("x", "from a.b import c, one, two", {"a.b.c": 1, "a.b": 1}),
        ("a.d", "from . import b", {"a.b": 1}),
        ("a.d", "from .b import c", {"a.b.c": 1}),
        ("a.b.c", "from .. import d", {"a.d": 1}),
        ("a.d", "from .d import me", {}),
    ],
)
def test_an_import_names_the_module_it_means(name: str, source: str, expected: dict[str, int]) -> None:
    assert imports_of(name, source) == expected


def test_relative_imports_of_a_package_start_at_itself() -> None:
    assert imports_of("a", "from . import b\nfrom .b import c", package=True) == {"a.b": 1, "a.b.c": 1}


def test_a_name_that_the_package_binds_hides_its_module() -> None:
    package = ast.parse("from .b import b\nfrom . import d")
    assert make.bound("a", package) == {"a.b"}
    assert imports_of("x", "from a import b, d", hidden=("a.b",)) == {"a": 1, "a.d": 1}
    assert imports_of("x", "from a.b import c", hidden=("a.b",)) == {"a.b.c": 1}


def test_words_come_from_docstrings_only() -> None:
    tree = ast.parse('"""Lazy Queues, 2 of them."""\nx = "ignored"\ndef f():\n    "Locks a queue."\n')
    assert list(make.words(tree)) == ["lazy", "queues", "locks", "queue"]


@pytest.mark.slow
def test_script_makes_all_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    subprocess.run([sys.executable, DATASETS / "make.py", out], check=True)
    made = {path.name: make.read(path) for path in out.iterdir()}
    assert set(made) == {make.IMPORTS, make.DOCWORD, make.VOCABULARY, make.DOCUMENTS, make.CALLS}
    assert b"\nasyncio.events\tsocket\t1\n" in made[make.IMPORTS]
    version = re.search(rb"Python ([0-9.]+)'s", make.read(DATASETS / make.IMPORTS))
    assert version is not None
    if version[1].decode() == ".".join(map(str, sys.version_info[:3])):
        assert made == {name: make.read(DATASETS / name) for name in made}
