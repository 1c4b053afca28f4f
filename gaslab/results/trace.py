"""`Trace`: the course of chosen vertices through a run, method by method."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab import arguments
from gaslab.graph.graph import Graph

if TYPE_CHECKING:
    import pandas


COLUMNS = (
    *("superstep", "phase", "method", "vertex", "source", "target", "neighbor"),
    *("total", "message", "returned", "changed", "signals"),
)
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxarray = 8
_SHORT.maxstring = _SHORT.maxother = 200


class Vertex:
    """A vertex in an unfinished row: its global id; any other number is no vertex."""

    def __init__(self, gid: Any) -> None:
        self.gid = gid


class Trace:
    """What the methods did at the vertices chosen by ``gl.run(trace=...)``, as rows in order.

    Print it to read it; use ``rows`` and `to_pandas` in programs.

    Attributes
    ----------
    rows : list of dict
        superstep, phase : int
            When the call ran; phases count from 0, and the phase is 0 in a program without ``gl.Phase``.
        method : str
            ``init``, ``visit``, ``gather``, ``apply``, ``scatter``, or ``signal`` for a signal from another
            vertex.
        vertex
            The id of the chosen vertex.
        source, target, neighbor
            For a call with an edge: its ends, and the one that is not `vertex`. For ``signal``: the neighbour
            is the sender. Otherwise None.
        total, message
            Arguments of ``apply`` (or ``init``); the message of a ``signal``. None if there is none.
        returned
            What ``gather`` returned.
        changed : dict of name to (before, after)
            The fields whose values the call changed: ``heat``; for the edge ``e.flow``, and in ``visit`` for
            the other end ``nbr.heat``.
        signals : list of (id, message)
            The signals that the call sent.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2], [2, 3])
    >>> print(gl.run(gl.programs.Components(), graph, trace=[3], engine="reference").trace.at(1))
    superstep 1
      3 gather 2 -> 3: returned 1
      3 apply: total 1; component 2 -> 1
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = [dict(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def of(self, vertex: Any) -> Trace:
        """Return the rows of one vertex."""
        if not isinstance(vertex, Hashable):
            raise arguments.wrong("vertex", vertex, "a vertex id is needed")
        return Trace([row for row in self.rows if row["vertex"] == vertex])

    def at(self, superstep: int) -> Trace:
        """Return the rows of one superstep."""
        superstep = arguments.whole("superstep", superstep)
        return Trace([row for row in self.rows if row["superstep"] == superstep])

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with a row per call; ids, values and dicts are as in `rows`."""
        import pandas

        columns = {name: pandas.Series([row[name] for row in self.rows], dtype=object) for name in COLUMNS}
        frame = pandas.DataFrame(columns)
        return frame.astype({"superstep": "int64", "phase": "int64"})

    def __str__(self) -> str:
        lines, last = [], None
        several = any(row["phase"] for row in self.rows)
        for row in self.rows:
            when = (row["superstep"], row["phase"])
            if when != last:
                lines.append(f"superstep {when[0]}" + f", phase {when[1]}" * several)
            lines.append(f"  {row['vertex']} {_row_text(row)}")
            last = when
        return "\n".join(lines)

    def __repr__(self) -> str:
        ids = list(dict.fromkeys(row["vertex"] for row in self.rows))
        return f"<Trace: {len(self)} rows of {_SHORT.repr(ids)}>"


def _row_text(row: Mapping[str, Any]) -> str:
    head = row["method"]
    if row["source"] is not None:
        head += f" {row['source']} -> {row['target']}"
    elif row["method"] == "signal":
        head += f" from {row['neighbor']}"
    parts = [f"{name} {_SHORT.repr(row[name])}" for name in ("total", "message") if row[name] is not None]
    if row["method"] == "gather":
        parts.append(f"returned {_SHORT.repr(row['returned'])}")
    changes = [f"{name} {_SHORT.repr(a)} -> {_SHORT.repr(b)}" for name, (a, b) in row["changed"].items()]
    parts += [", ".join(changes)] if changes else []
    for vertex, message in row["signals"]:
        parts.append(f"signals {vertex}" + ("" if message is None else f" with {_SHORT.repr(message)}"))
    return f"{head}: {'; '.join(parts) or 'changed nothing'}" if parts or row["method"] != "signal" else head


def new_row(superstep: int, phase: int, method: str, vertex: Any) -> dict[str, Any]:
    """Return a row with its superstep, method and vertex alone."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row.update(superstep=superstep, phase=phase, method=method, vertex=vertex, changed={}, signals=[])
    return row


def differ(a: Any, b: Any) -> bool:
    """Return whether two values in a row are not the same; nan is the same as nan."""
    if isinstance(a, (list, tuple)):
        return len(a) != len(b) or any(map(differ, a, b))
    if isinstance(a, Vertex):
        return bool(a.gid != b.gid)
    return bool(a != b and (a == a or b == b))


def collect(graph: Graph, rows: Sequence[tuple[tuple[int, ...], Mapping[str, Any]]]) -> Trace:
    """Return the trace of all ranks' rows, each with its key to sort by (collective).

    Every `Vertex` in them becomes the user's id.
    """
    together = [pair for part in graph.comm.allgather(list(rows)) for pair in part]
    ordered = [row for _, row in sorted(together, key=lambda pair: pair[0])]
    found: set[int] = set()
    for row in ordered:
        _mapped(row, lambda vertex: found.add(vertex.gid))
    gids = [gid for gid in sorted(found) if 0 <= gid < graph.num_vertices]
    ids = graph.ids.marked(np.array(gids, np.int64))
    names = {gid: x.item() if isinstance(x, np.generic) else x for gid, x in zip(gids, ids, strict=True)}
    return Trace([_mapped(row, lambda vertex: names.get(vertex.gid)) for row in ordered])


def located(row: Mapping[str, Any], position: Mapping[Any, int]) -> dict[str, Any]:
    """Return a row with other keys for its vertices than the global id: the entry at that *position*."""
    return dict(_mapped(row, lambda vertex: Vertex(position.get(vertex.gid, -1))))


def _mapped(value: Any, name: Callable[[Vertex], Any]) -> Any:
    """Return *value* with every `Vertex` in it replaced."""
    if isinstance(value, Vertex):
        return name(value)
    if isinstance(value, dict):
        return {_mapped(key, name): _mapped(x, name) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(x, name) for x in value)
    return value
