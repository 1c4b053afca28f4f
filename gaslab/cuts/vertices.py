"""The table of a cut's vertices: where each has its master, and which parts it is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gaslab.partitioning.cut import Cut
from gaslab.ragged import RaggedColumn
from gaslab.results.collect import Collector, Values
from gaslab.results.tables import Table


def vertex_table(graph: Any, made: Cut, on: str) -> Table:
    """Return the table of the vertices of a cut, on the ranks of *on* (collective).

    *graph* is a Graph, or has its ``comm`` and ``ids``.
    """
    held = made.holders
    columns: dict[str, Values] = {
        "master": held.master,
        "replicas": held.counts,
        "parts": RaggedColumn(held.counts, held.parts),
    }
    return Collector(graph, storage_of(columns), on).vertices(held.gids, columns)


def storage_of(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return the storage types of columns, none of which holds ids."""
    return {name: str(values.dtype) for name, values in columns.items()}
