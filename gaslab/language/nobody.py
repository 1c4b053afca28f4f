"""No vertex, in the order of vertex ids: the identity of their combiners."""

from __future__ import annotations

from typing import Any


class Nobody:
    """No vertex: after all vertices if `last`, else before all of them."""

    def __init__(self, last: bool) -> None:
        self.last = last

    def __repr__(self) -> str:
        return "gl.NOBODY" if self.last else "nobody, before all vertices"

    def __lt__(self, other: Any) -> bool:
        return other is not self and not self.last

    def __gt__(self, other: Any) -> bool:
        return other is not self and self.last

    def __le__(self, other: Any) -> bool:
        return other is self or not self.last

    def __ge__(self, other: Any) -> bool:
        return other is self or self.last
