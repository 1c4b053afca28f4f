"""The built-ins: what `make index` writes is that of their pages, and each row is about its function."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from gaslab.programs._tool import Command, Tool
from tests import index

TOOLS = {tool.function.__name__: tool for tool in index.tools()}


@pytest.mark.parametrize("path", index.files(), ids=str)
def test_the_index_is_that_of_the_pages(path: Path) -> None:
    assert (index.ROOT / path).read_text(encoding="utf-8") == index.files()[path], f"{path}: run make index"


def test_every_tool_has_a_place_of_its_own() -> None:
    assert len({tool.order for tool in TOOLS.values()}) == len(TOOLS)


def test_a_page_has_a_row_for_each_of_its_functions() -> None:
    for page in index.pages():
        names = {n for n, f in vars(page).items() if inspect.isfunction(f) and hasattr(f, "__wrapped__")}
        own = {n for n in names if getattr(page, n).__module__ == page.__name__}
        assert own == {n for n, tool in TOOLS.items() if tool.function.__module__ == page.__name__}, page


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_options_are_arguments(tool: Tool) -> None:
    if isinstance(tool.command, Command):
        run = tool.command.run or tool.function
        known = {*inspect.signature(run).parameters, *inspect.signature(tool.function).parameters}
        assert {own.name for own in tool.command.options} <= known
