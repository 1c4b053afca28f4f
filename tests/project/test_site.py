"""The documentation site: every page is in it, every public name is in its reference, and it builds."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import gaslab
from docs.site import reference
from gaslab import errors, topics
from gaslab.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.name for path in ROOT.glob("docs/*.md"))
NEEDS_MKDOCS = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="the extra `docs` brings mkdocs"
)


def test_every_page_is_in_the_navigation_and_in_the_index() -> None:
    nav = re.findall(r"^ +- (?:.+: )?([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {name for name in nav if (ROOT / "docs" / name).exists()} == set(PAGES)
    index = (ROOT / "docs" / "index.md").read_text()
    assert {"index.md", *re.findall(r"\]\(([\w-]+\.md)\)", index)} == set(PAGES)


def test_every_public_name_is_in_the_reference() -> None:
    reference.check()
    names = {name for page in reference.PAGES.values() for name in page.names()}
    assert set(errors.__all__) <= names
    assert {f"programs.{name}" for name in gaslab.programs.__all__} <= names
    functions = {name for name, value in vars(topics).items() if callable(value)}
    assert {f"topics.{name}" for name in functions} <= names


def test_a_name_that_no_page_has_is_an_error() -> None:
    names = [*gaslab.__all__, "novel"]
    with patch.object(gaslab, "__all__", names), pytest.raises(ValueError, match="novel"):
        reference.check()


def test_the_page_of_commands_has_every_command_with_its_options() -> None:
    page = reference.commands()
    assert re.findall(r"^## gaslab (.+)$", page, re.MULTILINE) == list(COMMANDS)
    assert page.count("usage: gaslab ") == len(COMMANDS) + 1
    assert "--damping" in page


def test_what_the_site_shows_needs_no_network() -> None:
    config = (ROOT / "mkdocs.yml").read_text()
    assert "font: false" in config
    local = [path for path in (ROOT / "docs" / "site").iterdir() if path.suffix in (".css", ".js")]
    assert len(local) == 2
    assert not any("http" in path.read_text() for path in local)


@NEEDS_MKDOCS
def test_docstrings_become_markdown() -> None:
    docstrings = importlib.import_module("docs.site.docstrings")
    text = (
        "Say so; see ``docs/visit.md``::\n\n``a(b)``\n    One\n    line.\n\n>>> 1\n1\n\n"
        "Raises\n------\nE\n    ``x``::"
    )
    assert docstrings.markdown(text) == (
        "Say so; see [visit.md](../visit.md):\n\n- ``a(b)``: One line.\n\n```pycon\n>>> 1\n1\n```\n\n"
        "Raises\n------\nE\n    ``x``::"
    )


@NEEDS_MKDOCS
@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        text = page.read_text()
        assert not re.search(r"""<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//""", text), page
        assert not re.search(r"""<link(?![^>]*rel="canonical")[^>]*\shref="(?:https?:)?//""", text), page
