"""What functions of the toolkit are called with: edge columns by name, and numbers that sums can bear.

A sum that is infinite, or a number that is not one, makes answers that look done and mean nothing: so these
are looked at before a program runs.
"""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.graph.absent import no_edge_column, warn_of_default
from gaslab.programs._arguments import check_graph
from gaslab.programs._numpy import np

LARGEST = sys.float_info.max


class Usual(str):
    """The column that a function takes where the caller names none: that one may be absent."""

    __slots__ = ()


WEIGHT = Usual("weight")


def lengths(graph: gl.Graph, name: str | None) -> str | None:
    """Return the column of edge lengths; None where every edge has length 1 (collective).

    That is without a name, and by the `Usual` name in a graph without that column, with a warning where the
    input has it. A length may be infinite, which no path takes; raises UsageError for a column that is named
    and not there, for a length below 0, and for lengths that a path could sum to infinity.
    """
    name = arguments.text("weight", name, optional=True)
    if isinstance(name, Usual) and name not in graph.edge_columns:
        warn_of_default(graph, name, "every edge has length 1")
        return None
    if name is None:
        return None
    graph.check_column(_known(graph, name), minimum=0.0)
    longest = _largest(graph, name)
    if not math.isfinite(longest * max(graph.num_vertices - 1, 1)):
        raise gl.UsageError(
            f"edge column {name!r} has lengths up to {longest:g}, of which a path of {graph.num_vertices} "
            f"vertices may sum to more than a float64 holds, {LARGEST:g}; scale the column down"
        )
    return name


def weights(graph: gl.Graph, name: str | None, least: float = 0.0) -> str | None:
    """Return the column *name* after a look at it (collective).

    Raises UsageError for none such, and for a value below *least* or infinite.
    """
    name = arguments.text("weight", name, optional=True)
    if name is not None:
        graph.check_column(_known(graph, name), least, finite=True)
    return name  # type: ignore[no-any-return]


def check_scale(graph: gl.Graph, name: str | None, why: str, least: float, most: float) -> None:
    """Raise UsageError where the largest value of a column is outside of these bounds (collective)."""
    largest = 0.0 if name is None else _largest(graph, name)
    if largest and not least <= largest <= most:
        raise gl.UsageError(
            f"the largest value of the edge column {name!r} is {largest:g}, and {why}; "
            f"scale the column, so that it is {least:g} to {most:g}"
        )


def _known(graph: gl.Graph, name: str) -> str:
    if name not in graph.edge_columns:
        raise no_edge_column(graph, name)
    return name


def bounds(graph: gl.Graph, name: str) -> tuple[float, float]:
    """Return the least and the largest value of a column (collective); inf and -inf of no edges."""
    least, most = graph.bounds_here(name)
    return float(graph.comm.allreduce(least, "min")), float(graph.comm.allreduce(most, "max"))


def mean(graph: gl.Graph, name: str) -> float:
    """Return the mean of the finite values of a column (collective), 0.0 of none."""
    values = graph.edge_columns[name]

    def sums() -> tuple[float, int]:
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        return float(finite.sum(dtype=np.float64)), finite.size

    total, count = graph.comm.allreduce(np.array(graph.local.derived(values, "sums", sums)))
    return float(total / max(count, 1.0))


def _largest(graph: gl.Graph, name: str) -> float:
    """Return the largest finite magnitude in a column, 0.0 of no edges (collective)."""
    least, most = graph.bounds_here(name)
    if math.isfinite(least) and math.isfinite(most):
        mine = max(-least, most)
    else:
        size = np.abs(graph.edge_columns[name].astype(np.float64, copy=False))
        mine = float(size[size <= LARGEST].max(initial=0.0))
    return float(graph.comm.allreduce(mine, "max"))


def check_values(what: str, data: Any, wrong: str, least: float = -LARGEST) -> None:
    """Raise UsageError where vertex values have one below *least*, infinite or no number.

    So it does for a row that has such a one or, of weights, is all 0.

    *data* is a number, a mapping by vertex id (or a Series), or an array by sorted id; a `Result` has been
    checked where it was made, and values of no numbers are for the program to refuse.
    """
    if isinstance(data, gl.Result):
        return
    if hasattr(data, "to_dict"):  # a pandas Series
        data = data.to_dict()
    named = list(data) if hasattr(data, "keys") else None
    values: Any = list(data.values()) if named is not None else data
    try:
        array = np.ma.filled(np.ma.asarray(values).astype(np.float64), math.nan)
    except OverflowError:
        raise gl.UsageError(f"{what} has an integer that is larger than a float64 holds; {wrong}") from None
    except (TypeError, ValueError):  # of no numbers, or of rows that differ in length
        return
    unfit = np.atleast_1d(~((array >= least) & (array <= LARGEST)))
    array = np.atleast_1d(array)
    if array.ndim > 1 and least == 0.0:
        unfit |= ~array.any(axis=-1, keepdims=True)  # a row of weights that are all 0
    bad = np.argwhere(unfit)
    if len(bad):
        at = tuple(bad[0].tolist())
        where = f" of vertex {named[at[0]]!r}" if named is not None else f" at position {at[0]}"
        raise gl.UsageError(f"{what}{where} is {array[at].item()!r}; {wrong}")


def run(program: gl.VertexProgram, graph: gl.Graph, **options: Any) -> gl.Result:
    """Run a program of the toolkit (collective), whose fields start from its own defaults.

    A vertex column that happens to have the name of a field, such as ``level`` of an earlier answer, is
    bound by ``columns=`` alone; so is an edge column with that of a field that is the program's own affair.
    """
    from gaslab.engine.options import Options
    from gaslab.engine.run import run_by

    check_graph(graph)
    kind = type(program)
    fields, of_edges = (
        {name for cls in getattr(kind, ends, object).__mro__ for name in inspect.get_annotations(cls)}
        for ends in ("Vertex", "Edge")
    )
    own = {name for name in of_edges if name.startswith("_")}
    same = dict.fromkeys((fields & graph.vertex_columns.keys()) | (own & graph.edge_columns.keys()))
    if same:
        options["columns"] = {**same, **(arguments.bound_columns(options.get("columns")) or {})}
    return run_by(Options(**options), program, graph)
