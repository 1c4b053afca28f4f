"""Which arrays a part of a graph is, and a part of such arrays, checked.

Kernels index memory by what is in these arrays, unchecked: what does not fit together is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab.errors import InputError
from gaslab.parallel.comm import Comm
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.ragged import RaggedColumn

Arrays = dict[str, np.ndarray]
WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)


@dataclass(frozen=True)
class Column:
    """What the values of a column are: rows of a dtype and a shape, or lists."""

    name: str
    dtype: str
    shape: list[int]
    lists: bool = False

    @classmethod
    def of(cls, name: str, values: Any) -> Column:
        """Describe a column."""
        dtype = values.dtype.newbyteorder("<").str
        lists = isinstance(values, RaggedColumn)
        return cls(name, dtype, [] if lists else list(values.shape[1:]), lists)

    def joined(self, every: Sequence[Any]) -> Any:
        """Return the rows of several parts, of which there may be none, one behind the other."""
        dtype = np.dtype(self.dtype).newbyteorder("=")
        if self.lists:
            none = RaggedColumn(np.empty(0, np.int64), np.empty(0, dtype))
            return RaggedColumn.joined([none, *every]) if len(every) != 1 else every[0]
        return np.concatenate([np.empty((0, *self.shape), dtype), *every]) if len(every) != 1 else every[0]


@dataclass
class Part:
    """A part of a graph, with the columns of its edges, by slot, and of its masters."""

    local: LocalGraph
    edge_columns: dict[str, Any]
    vertex_columns: dict[str, np.ndarray]


def arrays_of(part: Part, directed: bool) -> Arrays:
    """Return the arrays of a part by the names of their files; columns go by their number."""
    local = part.local
    degrees = {"in_degree": local.in_degree, "out_degree": local.out_degree}
    arrays = {
        "gid": local.gid,
        **(degrees if directed else {"degree": local.degree}),
        "in_begin": local.in_begin,
        "in_neighbor": local.in_neighbor,
        "mirror_bounds": local.mirror_bounds,
        "send_bounds": local.send_bounds,
        "send_list": np.concatenate([np.empty(0, NARROW), *local.send_list]),
    }
    for number, values in enumerate(part.edge_columns.values()):
        if isinstance(values, RaggedColumn):
            arrays[f"edge-{number}-lengths"], arrays[f"edge-{number}-values"] = values.lengths, values.values
        else:
            arrays[f"edge-{number}"] = values
    for number, values in enumerate(part.vertex_columns.values()):
        arrays[f"vertex-{number}"] = values
    return arrays


def edges_in(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the global ids of the sources and targets of a part's edges, by slot."""
    gid = arrays["gid"]
    return gid[arrays["in_neighbor"]], np.repeat(gid, np.diff(arrays["in_begin"]))


def edge_column(arrays: Mapping[str, np.ndarray], number: int) -> Any:
    """Return an edge column of a part by its number."""
    if f"edge-{number}" in arrays:
        return arrays[f"edge-{number}"]
    return RaggedColumn(arrays[f"edge-{number}-lengths"], arrays[f"edge-{number}-values"])


def local_graph(arrays: Mapping[str, np.ndarray], rank: int, size: int, threads: int) -> LocalGraph:
    """Return the local graph of arrays that `check_part` has seen."""
    gid, bounds, sent = arrays["gid"], arrays["mirror_bounds"], arrays["send_bounds"][:, 3]
    if "degree" in arrays:
        degree = in_degree = out_degree = arrays["degree"]
    else:
        in_degree, out_degree = arrays["in_degree"], arrays["out_degree"]
        degree = in_degree + out_degree
    return LocalGraph(
        num_masters=int(bounds[0, 0]), num_local=gid.size, size=size, rank=rank, gid=gid,
        degree=degree, in_degree=in_degree, out_degree=out_degree,
        in_begin=arrays["in_begin"], in_neighbor=arrays["in_neighbor"],
        mirror_bounds=bounds,
        send_list=np.split(arrays["send_list"], np.cumsum(sent)[:-1]),
        send_bounds=arrays["send_bounds"],
        threads=threads,
    )  # fmt: skip


def check_part(arrays: Mapping[str, np.ndarray], size: int, num_vertices: int, directed: bool) -> None:
    """Raise ValueError, with the array, where the arrays of a part of *size* are no such part."""
    degrees = ("in_degree", "out_degree") if directed else ("degree",)
    gid, begin, neighbor = (arrays[name] for name in ("gid", "in_begin", "in_neighbor"))
    bounds, sent = arrays["mirror_bounds"], arrays["send_bounds"]
    masters = int(bounds[0, 0]) if bounds.shape == (size, 4) else 0
    expected = {
        "gid": ((gid.size,), WIDE),
        **dict.fromkeys(degrees, ((gid.size,), WIDE)),
        "in_begin": ((gid.size + 1,), WIDE),
        "in_neighbor": ((neighbor.size,), NARROW),
        "mirror_bounds": ((size, 4), WIDE),
        "send_bounds": ((size, 4), WIDE),
        "send_list": ((int(sent[:, 3].sum()) if sent.shape == (size, 4) else -1,), NARROW),
    }
    for name, (shape, dtype) in expected.items():
        if arrays[name].shape != shape or arrays[name].dtype != dtype:
            raise ValueError(f"{name} is {arrays[name].dtype} in shape {arrays[name].shape}")
    _check_range("gid", gid, 0, num_vertices)
    for name in degrees:
        _check_range(name, arrays[name], 0, 1 << 62)
    _check_rising("in_begin", begin, 0, neighbor.size)
    if begin[0] != 0 or begin[-1] != neighbor.size:
        raise ValueError(f"in_begin does not lead from 0 to the {neighbor.size} edges")
    _check_range("in_neighbor", neighbor, 0, gid.size)
    _check_rising("mirror_bounds", bounds.reshape(-1), 0, gid.size)
    if bounds[-1, 3] != gid.size or (bounds[1:, 0] != bounds[:-1, 3]).any():
        raise ValueError("mirror_bounds are not those of all mirrors")
    if (sent[:, 0] != 0).any():
        raise ValueError("send_bounds do not begin at 0")
    for row in sent:
        _check_rising("send_bounds", row, 0, arrays["send_list"].size)
    _check_range("send_list", arrays["send_list"], 0, masters)


def check_columns(
    arrays: Mapping[str, np.ndarray], of_edges: Mapping[int, Column], of_vertices: Mapping[int, Column]
) -> None:
    """Raise ValueError, with the array, unless there are these columns, with a value for each row."""
    edges, masters = arrays["in_neighbor"].size, int(arrays["mirror_bounds"][0, 0])
    found = [(f"edge-{k}", edge_column(arrays, k), column, edges) for k, column in of_edges.items()]
    found += [(f"vertex-{k}", arrays[f"vertex-{k}"], one, masters) for k, one in of_vertices.items()]
    for name, values, column, rows in found:
        if isinstance(values, RaggedColumn):
            _check_range(f"{name}-lengths", values.lengths, 0, 1 << 31)
            if values.lengths.sum() != values.values.size or values.values.ndim != 1:
                raise ValueError(f"{name}-lengths are not those of {name}-values")
        if len(values) != rows or Column.of(column.name, values) != column:
            raise ValueError(f"{name} has no value of column {column.name!r} for each of {rows} rows")


def check_together(comm: Comm, local: LocalGraph, num_vertices: int, num_edges: int, where: str) -> None:
    """Raise InputError, on every rank, unless the parts of all ranks are those of one graph (collective)."""
    bounds = local.mirror_bounds
    asked = np.diff(bounds, axis=1)  # per rank and class
    table = np.array(comm.allgather((asked, np.diff(local.send_bounds, axis=1))))
    whole = comm.allreduce(np.array([local.num_masters, local.num_edges]))
    if (table[:, 0] != table[:, 1].swapaxes(0, 1)).any() or whole.tolist() != [num_vertices, num_edges]:
        raise InputError(f"{where}: its parts are not those of one graph; it is damaged")


def _check_range(name: str, values: np.ndarray, least: int, end: int) -> None:
    if values.size and not (values.min() >= least and values.max() < end):
        raise ValueError(f"{name} has values outside of {least} to {end - 1}")


def _check_rising(name: str, values: np.ndarray, least: int, most: int) -> None:
    if values.size and not (values[0] >= least and values[-1] <= most and (values[1:] >= values[:-1]).all()):
        raise ValueError(f"{name} do not rise from {least} to {most}")
