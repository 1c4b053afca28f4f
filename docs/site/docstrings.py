"""Docstrings as Markdown: what numpydoc takes from reStructuredText, and mkdocstrings leaves as it is.

Sections such as *Parameters* and *Examples* are the business of mkdocstrings; this is for the text before.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^[A-Z][\w ]*\n-{3,}$", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
PAGE = re.compile(r"`{1,2}docs/([\w-]+\.md)`{1,2}")  # the reference is in a folder beside it
TERM = re.compile(r"^(``.+``)\n((?: {4}.+(?:\n|$))+)", re.MULTILINE)


def markdown(text: str) -> str:
    """Return a docstring with examples as code, terms and their definitions as a list, and links to pages."""
    first = SECTION.search(text)
    end = first.start() if first else len(text)
    before = TERM.sub(lambda m: f"- {m[1]}: {' '.join(m[2].split())}\n", text[:end])
    before = EXAMPLE.sub(lambda m: f"```pycon\n{m[0]}\n```", before)
    before = re.sub(r"::$", ":", before, flags=re.MULTILINE)
    return PAGE.sub(r"[\1](../\1)", before + text[end:])


class Markdown(griffe.Extension):
    """Turns the docstring of every object that is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)
