"""Edge columns missing from a graph: the error for a named one, the warning for a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gaslab.errors import UsageError, nearest, warn_user

if TYPE_CHECKING:  # the built-in programs are compiled without numpy
    from gaslab.graph.stored import StoredGraph


def no_edge_column(graph: StoredGraph, name: str, hint: str = "") -> UsageError:
    """Return the error for a named but missing edge column; *hint* ends the message."""
    return UsageError(f"the graph has no edge column {name!r}{why_absent(graph, name)}{hint}")


def why_absent(graph: StoredGraph, name: str) -> str:
    """Return a message's text about a missing column: why it was left out, or the nearest name."""
    if name in graph.left_out:
        return f": it was left out of the input ({graph.left_out[name]}); make it numbers on every edge"
    return nearest(name, graph.edge_columns)


def warn_of_default(graph: StoredGraph, name: str, instead: str) -> None:
    """Warn that a default replaces a column which the input has, or nearly has (collective).

    *instead* describes the default. There is no warning if the input has no such column.
    """
    alike = [one for one in graph.edge_columns if one.casefold() == name.casefold()]
    if name in graph.left_out or alike:
        why = why_absent(graph, name)
        text = f"{instead}, as the graph has no edge column {name!r}{why}"
        warn_user(text, UserWarning, graph.comm.rank)
