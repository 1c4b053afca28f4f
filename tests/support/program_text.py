"""Programs written as text in tests: loaded from a file of their own, as a user's would be."""

from __future__ import annotations

import re
import textwrap
import types
from pathlib import Path
from typing import Any

from gaslab.compiler.frontend import parse
from gaslab.compiler.tree import Tree

HEAD = "import math\nfrom gaslab import program as gl\n"
FIELDS = (
    "x: float = 0.0\n        n: int = 0\n        m: int = 0\n        b: bool = False\n        c: bool = True"
)
_CARET = re.compile(r"^( *)\^ (.*)$")


def load(folder: Path, text: str, name: str = "program.py") -> types.ModuleType:
    """Return the module made of HEAD and *text*, loaded by path and unknown to sys.modules."""
    file = folder / name
    file.write_text(HEAD + textwrap.dedent(text))
    module = types.ModuleType("loaded_by_path")
    module.__file__ = str(file)
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), vars(module))
    return module


def tree_of(folder: Path, text: str, name: str = "P") -> Tree:
    """Return the tree of class *name* in *text*."""
    return parse(getattr(load(folder, text), name))


def marked(text: str) -> tuple[str, str]:
    """Split *text* into the program and the error that each line ``  ^ message`` says of the line above.

    The errors are in program.py below the working directory.
    """
    lines: list[str] = []
    expected: list[str] = []
    for line in textwrap.dedent(text).splitlines():
        caret = _CARET.match(line)
        if caret:
            indent, message = caret.groups()
            number = HEAD.count("\n") + len(lines)
            expected.append(f"program.py:{number}:{len(indent) + 1}: {message}\n{lines[-1]}\n{indent}^")
        else:
            lines.append(line)
    assert expected, "no caret in the text"
    return "\n".join(lines) + "\n", "\n".join(expected)


def with_vertex(*body: str, fields: str = "score: float = 0.0\n        count: int = 0") -> str:
    """Return class P with some vertex fields and *body*."""
    parts = "".join(textwrap.indent(textwrap.dedent(part).strip("\n"), "    ") + "\n" for part in body)
    return f"class P(gl.VertexProgram):\n    class Vertex(gl.Vertex):\n        {fields}\n{parts}"


def only(values: Any) -> Any:
    """Return the one element of *values*."""
    (value,) = values
    return value
