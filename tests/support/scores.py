"""Scores of vertices in the answers of the toolkit, and how they are compared."""

from __future__ import annotations

from typing import Any

import pytest

import gaslab as gl

Scores = dict[Any, float]


def of_vertices(result: gl.Result, field: str) -> Scores:
    return dict(zip(result.vertices.ids.tolist(), result.vertices[field].tolist(), strict=True))


def close(scores: Scores) -> Any:
    return pytest.approx(scores, rel=1e-9, abs=1e-12, nan_ok=True)
