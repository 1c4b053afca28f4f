"""The text of a main program without a file: from ``python -c`` or standard input.

Code objects call these "<string>" and "<stdin>", and `linecache` knows neither before Python 3.13.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from typing import Any


def main_text(name: str, module: Mapping[str, Any] | None) -> list[str]:
    """Return the main program's lines, if *module* and *name* are its own and its text was kept."""
    if module is None or module.get("__name__") != "__main__":
        return []
    found = {"<string>": _of_command, "<stdin>": _of_stdin}.get(name)
    return [] if found is None else found().splitlines(keepends=True)


def _of_command() -> str:
    """Return the text after -c, which Python keeps with the arguments."""
    whole, rest = sys.orig_argv, len(sys.argv)  # [..., "-c", text, *arguments] and ["-c", *arguments]
    is_command = sys.argv[:1] == ["-c"] and rest < len(whole) and whole[-rest - 1].endswith("c")
    return whole[-rest] if is_command else ""


def _of_stdin() -> str:
    """Return the text of the file on standard input; the content of a pipe is gone."""
    try:
        kind = os.fstat(0)
        text = os.pread(0, kind.st_size, 0) if stat.S_ISREG(kind.st_mode) else b""
        return text.decode()
    except (OSError, UnicodeDecodeError):
        return ""
