"""Every tag of a message between ranks comes from one table, in which no two are the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from gaslab.parallel.tags import Tag

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "gaslab").rglob("*.py"))


def test_each_purpose_has_a_tag_of_its_own() -> None:
    assert len({int(tag) for tag in Tag}) == len(Tag.__members__)  # an alias would be a member, too


def test_each_tag_is_used_by_one_module() -> None:
    users = {name: {p.name for p in MODULES if f"Tag.{name}" in p.read_text()} for name in Tag.__members__}
    assert all(len(modules) == 1 for modules in users.values()), users


def test_no_module_makes_a_tag_of_its_own() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "tag":
                assert not isinstance(node.value, ast.Constant), f"{path.name}:{node.value.lineno}"
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "begin":
                numbers = [a for a in node.args if isinstance(a, ast.Constant) and type(a.value) is int]
                assert not numbers, f"{path.name}:{node.lineno}"
        if path.name != "tags.py":
            assert not re.search(r"^_?\w*TAG\w*\b.*= *\d", path.read_text(), re.MULTILINE), path.name
