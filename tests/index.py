"""``make index``: write down what the pages of ``gaslab/programs`` define, so that a name needs no page.

From the program classes and the rows of all pages follow the names of `gaslab` and `gaslab.programs`, for
Python and for type checkers, the commands, and the table of docs/toolkit.md.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from gaslab.program import VertexProgram
from gaslab.programs._tool import Command, Tool, tools_of

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = Path("gaslab", "programs")
TOOLKIT = Path("docs", "toolkit.md")
BEGIN = "<!-- `make index` writes this table from the rows of gaslab/programs -->\n"
END = "<!-- end of the table -->\n"
HEAD = "| function | command | answer | definition | source | NetworkX |\n|---|---|---|---|---|---|\n"


def pages() -> list[ModuleType]:
    """Return the modules of the built-in programs."""
    names = sorted(path.stem for path in (ROOT / PROGRAMS).glob("[!_]*.py"))
    return [importlib.import_module(f"gaslab.programs.{name}") for name in names]


def tools() -> list[Tool]:
    """Return the rows of all pages, in their order."""
    return sorted((tool for page in pages() for tool in tools_of(page)), key=lambda tool: tool.order)


def files() -> dict[Path, str]:
    """Return the text of each file that `make index` writes."""
    functions = {tool.function.__name__: _page(tool.function) for tool in tools()}
    classes = {n: _page(cls) for page in pages() for n, cls in vars(page).items() if _is_public(cls, page)}
    commands = {tool.name: tool.command.line for tool in tools() if isinstance(tool.command, Command)}
    tables = {"FUNCTIONS": _sorted(functions), "CLASSES": _sorted(classes), "COMMANDS": commands}
    dicts = [f"\n{name} = {json.dumps(x, indent=4, ensure_ascii=False)}\n" for name, x in tables.items()]
    head = '"""What `make index` found: the page of each name, and what each command does."""\n'
    return {
        PROGRAMS / "_names.py": "".join([head, *dicts]),
        PROGRAMS / "_functions.py": _imports("functions", functions),
        PROGRAMS / "_classes.py": _imports("program classes", classes),
        TOOLKIT: _with_table((ROOT / TOOLKIT).read_text(encoding="utf-8")),
    }


def _is_public(value: Any, page: ModuleType) -> bool:
    """Return whether *value* is a program that the page defines."""
    is_program = isinstance(value, type) and issubclass(value, VertexProgram)
    return is_program and value.__module__ == page.__name__ and not value.__name__.startswith("_")


def _page(value: Any) -> str:
    return str(value.__module__).rpartition(".")[2]


def _sorted(names: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(names.items()))


def _imports(what: str, names: Mapping[str, str]) -> str:
    """Return a module that imports each name from its page."""
    lines = sorted(f"from gaslab.programs.{page} import {name} as {name}\n" for name, page in names.items())
    head = f'"""The {what} for type checkers, by `make index`; nothing loads it."""\n\n'
    return "".join([head, *lines])


def _with_table(text: str) -> str:
    """Return the documentation with the table made anew."""
    before, _, rest = text.partition(BEGIN)
    return "".join([before, BEGIN, HEAD, *map(_line, tools()), END, rest.partition(END)[2]])


def _line(tool: Tool) -> str:
    how = tool.command if isinstance(tool.command, str) else f"`gaslab {tool.name}`"
    cells = (f"`{tool.function.__name__}`", how, tool.answer, tool.definition, tool.source, tool.networkx)
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|\n"


if __name__ == "__main__":
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="utf-8")
