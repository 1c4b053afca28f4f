"""MkDocs' hooks of the site: the pages that are made, and links to what is not in docs/.

A page of docs/ links to programs, notebooks and the files of the root by their place in the tree, as GitHub
wants it. Here each such file becomes a page of the site, and the link leads there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.site import reference  # noqa: E402  it imports gaslab of this tree

LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?\)")
ROOT_PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}
ASSETS = ("site.css", "iframe-worker.js")


def on_files(files: Files, config: Any) -> Files:
    """Add the reference, the pages of the root, and every file that a page links to."""
    reference.check()
    made = {f"api/{name}.md": page.text() for name, page in reference.PAGES.items()}
    made |= {"api/index.md": reference.index(), "commands.md": reference.commands()}
    for source, name in ROOT_PAGES.items():
        if source != "README.md":
            made[name] = _moved((ROOT / source).read_text(encoding="utf-8"))
    linked: set[str] = set()
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()} | made
    for name, text in pages.items():
        if "/" in name:
            continue  # of the site alone: its links lead to its pages
        linked |= {target for target in map(_outside, LINK.findall(text)) if target}
    for target in sorted(linked - set(ROOT_PAGES)):
        made |= _source(target)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for asset in ASSETS:
        text = (ROOT / "docs" / "site" / asset).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{asset}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to files outside docs/ lead to their pages; Python that raises is Python."""
    if "/" in page.file.src_uri:
        return markdown

    def moved(match: re.Match[str]) -> str:
        target = _outside(match.groups())
        if target is None:
            return match[0]
        goal = ROOT_PAGES.get(target) or _page(target)
        return f"{match[1]}{goal}{match[3] or ''})"

    return re.sub(r"^```python error$", "```python", LINK.sub(moved, markdown), flags=re.MULTILINE)


def _outside(link: tuple[str, ...]) -> str | None:
    """Return the path in the tree of what a link leads to, or None if that is in docs/ or on the web."""
    return link[1].removeprefix("../") if link[1].startswith("../") and link[1].count("..") == 1 else None


def _moved(text: str) -> str:
    """Return a page of the root with links as if it lay in docs/."""

    def link(match: re.Match[str]) -> str:
        target = match[2]
        if target.startswith("http"):
            return match[0]
        inner = target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"
        return f"{match[1]}{inner}{match[3] or ''})"

    return LINK.sub(link, text)


def _page(target: str) -> str:
    """Return the page of the site that shows a file of the tree."""
    return f"source/{target}" if target.endswith(".ipynb") else f"source/{target}.md"


def _source(target: str) -> dict[str, str]:
    """Return the page of a file: its text, highlighted; of a folder a list; a notebook as it is."""
    path = ROOT / target
    if path.is_dir():
        names = sorted(item.name for item in path.iterdir() if item.suffix in (".py", ".ipynb", ".tsv"))
        return {_page(target): f"# {target}\n\n" + "".join(f"- `{name}`\n" for name in names)}
    text = path.read_text(encoding="utf-8")
    if target.endswith(".ipynb"):
        return {_page(target): text}
    language = {".py": "python", ".md": "markdown"}.get(path.suffix, "text")
    return {_page(target): f"# {target}\n\n````{language}\n{text}````\n"}
