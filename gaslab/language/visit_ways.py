"""How many pairs of blocks of vertices `visit` brings together at once, if the class does not say.

The number is part of the order of the edges, so it depends only on the graph and the program: the cache is
not this machine's, but one that most have. Two goals need more ways: the vertices of a pair of blocks should
fit that cache while the edges between them are visited; and a pair should be little work, so that threads and
ranks finish together.
"""

from __future__ import annotations

import math
from typing import Any

from gaslab.language.counts import count_of

LEAST, MOST = 16, 1024
CACHE_BYTES = 1 << 19  # half of a second-level cache of 1 MiB: edges and the next values also need room
PAIR_EDGES = 1 << 12


def choose_ways(num_vertices: int, num_edges: int, vertex_bytes: int) -> int:
    """Return a power of two; *vertex_bytes* are the bytes of a vertex's fields.

    >>> choose_ways(3, 4, 16), choose_ways(30_000, 2_000_000, 136), choose_ways(20_000, 10_000_000, 4104)
    (16, 32, 256)
    """
    ways = LEAST
    while ways < MOST and (
        num_edges > ways * ways * PAIR_EDGES
        or (num_vertices * vertex_bytes > ways * CACHE_BYTES and num_edges > ways * num_vertices)
    ):  # with less than one edge per vertex and round, the cache is used only once
        ways *= 2
    return ways


def field_bytes(storage: str, shape: tuple[int, ...]) -> int:
    """Return the bytes of a vertex's field; 0 for a list, which `visit` does not read.

    >>> field_bytes("float32", (4, 2)), field_bytes("id", ()), field_bytes("set:id32", ())
    (32, 8, 0)
    """
    if ":" in storage:
        return 0
    bits = {"bool": 8, "id": 64}.get(storage) or int(storage.lstrip("abcdefghijklmnopqrstuvwxyz"))
    return bits // 8 * math.prod(shape)


def ways_of(program: Any) -> int | None:
    """Return the ways that a program asks for, in its class or in the parameter that the class names."""
    return count_of(program, program.visit_ways, most=MOST) or None
