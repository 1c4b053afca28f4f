"""The edge columns that functions of the toolkit take by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gaslab as gl

if TYPE_CHECKING:
    from gaslab.graph import Graph


def lengths(graph: Graph, name: str | None) -> str | None:
    """Return the column of edge lengths; None where every edge has length 1 (collective).

    That is without a name, and by the usual name "weight" in a graph without that column.
    """
    return None if name == "weight" and name not in graph.edge_columns else weights(graph, name)


def weights(graph: Graph, name: str | None) -> str | None:
    """Return the column *name* after a look at it; raises UsageError for none such, or one below 0."""
    if name is None:
        return None
    if name not in graph.edge_columns:
        raise gl.UsageError(
            f"the graph has no edge column {name!r}{gl.errors.nearest(name, graph.edge_columns)}"
        )
    graph.check_column(name, minimum=0.0)
    return name
