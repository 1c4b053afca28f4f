"""Places in the user's files, as errors show them."""

from __future__ import annotations

import os

from gaslab.compiler.tree.declared import Site
from gaslab.errors import ProgramError


def shown(name: str) -> str:
    """Return a file's name as errors show it: relative if it is below the working directory."""
    try:
        relative = os.path.relpath(name)
    except (ValueError, OSError):  # another drive, or no working directory any more
        return name
    return name if relative.startswith(os.pardir) or not os.path.exists(name) else relative


def error_at(site: Site, message: str) -> ProgramError:
    """Return the error *message* at the start of a line: its file, its number, the line and a caret."""
    indent = site.text[: len(site.text) - len(site.text.lstrip())]
    place = f"{shown(site.file)}:{site.line}:{len(indent) + 1}"
    return ProgramError(f"{place}: {message}\n{site.text}\n{indent}^")
