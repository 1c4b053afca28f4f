"""Starting from a saved graph: its parts as they are, several to a rank, or its edges to be cut anew."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.errors import InputError, UsageError, nearest
from gaslab.ingest.capacity import check_room
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.roles import Columns
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from gaslab.partitioning.build import Share, build_placed
from gaslab.replication.transfer import deliver_columns
from gaslab.storage.files import map_array
from gaslab.storage.ids import check_ids, gather_in
from gaslab.storage.manifest import Manifest, is_saved, read_manifest
from gaslab.storage.packing import pack
from gaslab.storage.part import (
    Arrays,
    Column,
    Part,
    check_columns,
    check_part,
    check_together,
    edge_column,
    edges_in,
    local_graph,
)

log = logging.getLogger("gaslab")


def open_saved(
    path: Any, comm: Comm, options: Mapping[str, Any], reader: Callable[..., Any]
) -> SavedGraph | None:
    """Return the saved graph that *path* is, or None if it is none (collective).

    Raises UsageError where other files are named beside it, or where one of the *options* of *reader*, which
    say how text is read, would be passed over.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    found = comm.on_root(lambda: next((os.fspath(one) for one in paths if is_saved(one)), None))
    if found is None:
        return None
    if len(paths) > 1:
        raise UsageError(f"{found} is a saved graph, and {len(paths)} paths were named; read it alone")
    saved = SavedGraph(comm, found, options.get("columns"))
    known, defaults = saved.manifest, signature(reader).parameters
    for name, value in options.items():
        if name == "columns" or value == defaults[name].default:
            continue
        if name == "directed" and value is known.directed:
            continue
        if name == "bipartite" and len(known.sides) == 2:
            continue
        said = "directed" if known.directed else "undirected"
        what = f"as {said}, " if name == "directed" else "not bipartite, " if name == "bipartite" else ""
        raise UsageError(
            f"{name}={value!r} is of text, and {found} is a saved graph, {what}which is read as it is; "
            f"pass {name} when the graph is saved"
        )
    return saved


class SavedGraph:
    """A saved graph, opened on all ranks; its methods are collective.

    *columns* are as of `gaslab.read_graph`: names, or a mapping from the names that the graph is to have to
    those that it was saved with.
    """

    def __init__(self, comm: Comm, folder: str, columns: Columns = None) -> None:
        self.comm, self.folder = comm, Path(folder)
        self.manifest: Manifest = comm.on_root(lambda: read_manifest(self.folder))
        self.columns = _chosen(columns, self.manifest.edge_columns, self.folder)  # name: number
        check_room(comm, self.manifest.num_vertices, f"{self.folder}: ")

    @property
    def parts(self) -> int:
        return len(self.manifest.parts)

    def is_ready(self, strategy: str | None) -> bool:
        """Return whether the graph starts from its parts; says in the log where its edges are cut anew."""
        known = self.manifest.strategy
        asked = None if strategy is None else strategies.find(strategy)[0]
        if asked in (None, known) and self.parts >= self.comm.size:
            return True
        if self.comm.rank == 0:
            why = f"strategy {asked}" if asked not in (None, known) else f"{self.comm.size} ranks"
            log.info(
                "%s is cut anew for %s; it was saved in %d part%s by %s",
                self.folder, why, self.parts, "s" * (self.parts != 1), known,
            )  # fmt: skip
        return False

    def start(self) -> tuple[EdgeList, Part]:
        """Return this rank's part of the graph, and what is known of the whole, as edges without any."""
        comm, known = self.comm, self.manifest
        threads = launch.threads_per_rank(comm.local_ranks)
        if self.parts == comm.size:
            (arrays,) = self._arrays([comm.rank])
            local = local_graph(arrays, comm.rank, comm.size, threads)
            check_together(comm, local, known.num_vertices, known.num_edges, str(self.folder))
            of_edges = {name: edge_column(arrays, number) for name, number in self.columns.items()}
            of_vertices = self._of_vertices([arrays])
            return self._edge_list([comm.rank], [arrays], {}), Part(local, of_edges, of_vertices)
        mine = self._packed()
        every = self._arrays(mine)
        edges = self._with_ends(mine, every)
        local, of_edges = build_placed(Share.of(edges), known.num_vertices, known.directed, comm, threads)
        wanted = local.gid[: local.num_masters]
        of_vertices = deliver_columns(comm, _masters(every), self._of_vertices(every), wanted)
        return edges, Part(local, of_edges, of_vertices)

    def edges(self) -> EdgeList:
        """Return the edges of every size-th part, with their columns and those of their masters."""
        mine = range(self.comm.rank, self.parts, self.comm.size)
        every = self._arrays(mine)
        edges = self._with_ends(mine, every)
        if self.manifest.vertex_columns:
            edges.vertices = _masters(every), self._of_vertices(every)
        return edges

    def _packed(self) -> list[int]:
        """Return the parts that are packed to this rank."""
        comm, entries = self.comm, self.manifest.parts
        first = range(comm.rank, self.parts, comm.size)

        def mirrors() -> dict[int, np.ndarray]:
            bounds = {p: self._array(p, "mirror_bounds") for p in first}
            if any(one.shape != (self.parts, 4) for one in bounds.values()):
                raise InputError(f"{self.folder}: mirror_bounds are not those of {self.parts} parts")
            return {p: one[:, 3] - one[:, 0] for p, one in bounds.items()}

        rows = {p: row for part in comm.allgather(comm.attempt(mirrors)) for p, row in part.items()}
        traffic = np.stack([rows[p] for p in range(self.parts)])
        rank = pack(np.array([one.edges for one in entries], np.int64), traffic, comm.size)
        return [int(part) for part in np.flatnonzero(rank == comm.rank)]

    def _arrays(self, parts: Sequence[int]) -> list[Arrays]:
        """Return the arrays of some parts, each checked."""
        known = self.manifest

        def load() -> list[Arrays]:
            found = []
            for part in parts:
                entry = known.parts[part]
                arrays = {name: self._array(part, name) for name in entry.arrays if self._is_read(name)}
                try:
                    check_part(arrays, self.parts, known.num_vertices, known.directed)
                    check_columns(
                        arrays, {number: known.edge_columns[number] for number in self.columns.values()},
                        dict(enumerate(known.vertex_columns)),
                    )  # fmt: skip
                    check_ids(arrays, known.sides, part, self.parts)
                except KeyError as error:
                    raise InputError(f"{self._place(part)}: has no array {error.args[0]}") from None
                except ValueError as error:
                    raise InputError(f"{self._place(part)}: {error}; it is damaged") from None
                found.append(arrays)
            return found

        return self.comm.attempt(load)

    def _array(self, part: int, name: str) -> np.ndarray:
        described = self.manifest.parts[part].arrays[name]
        return map_array(self._place(part) / f"{name}.npy", described)

    def _is_read(self, name: str) -> bool:
        """Return whether an array is needed: those of edge columns that nobody asked for are not."""
        kind, _, number = name.partition("-")
        return kind != "edge" or int(number.partition("-")[0]) in self.columns.values()

    def _place(self, part: int) -> Path:
        return self.folder / self.manifest.folder(part)

    def _of_vertices(self, every: Sequence[Arrays]) -> dict[str, np.ndarray]:
        columns = enumerate(self.manifest.vertex_columns)
        return {one.name: one.joined([arrays[f"vertex-{k}"] for arrays in every]) for k, one in columns}

    def _with_ends(self, mine: Sequence[int], every: Sequence[Arrays]) -> EdgeList:
        known = self.manifest.edge_columns
        made = self._edge_list(mine, every, {
            name: known[number].joined([edge_column(one, number) for one in every])
            for name, number in self.columns.items()
        })  # fmt: skip
        ends = [edges_in(arrays) for arrays in every]
        made.src = np.concatenate([made.src, *(src for src, _ in ends)])
        made.dst = np.concatenate([made.dst, *(dst for _, dst in ends)])
        return made

    def _edge_list(self, mine: Sequence[int], every: Sequence[Arrays], columns: dict[str, Any]) -> EdgeList:
        """Return what is known of the whole graph, with the ids, as edges that are still to come."""
        known, none = self.manifest, np.empty(0, np.int64)
        return EdgeList(
            src=none, dst=none, columns=columns,
            ids=gather_in(self.comm, known.sides, self.parts, mine, every),
            num_vertices=known.num_vertices, directed=known.directed, counts=dict(known.counts),
            source=str(self.folder), fingerprint=known.fingerprint, left_out=dict(known.left_out),
        )  # fmt: skip


def _masters(every: Sequence[Arrays]) -> np.ndarray:
    """Return the global ids of the masters of some parts."""
    gids = [arrays["gid"][: int(arrays["mirror_bounds"][0, 0])] for arrays in every]
    return np.concatenate([np.empty(0, np.int64), *gids])


def _chosen(columns: Columns, known: Sequence[Column], folder: Path) -> dict[str, int]:
    """Return which edge columns are read, as name to number; UsageError for one that was not saved."""
    names = [column.name for column in known]
    if columns is None:
        return {name: number for number, name in enumerate(names)}
    asked = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    bound = {name: str(field) for name, field in asked.items() if field is not None}
    for field in bound.values():
        if field not in names:
            hint = nearest(field, names)
            raise UsageError(f"columns: {folder} was saved without an edge column {field!r}{hint}")
    if not isinstance(columns, Mapping):
        return {name: names.index(name) for name in columns}
    # As of text: what a mapping does not name, or leave out, keeps its own name.
    others = [name for name in names if name not in asked and name not in bound.values()]
    return {**{name: names.index(name) for name in others}, **{n: names.index(f) for n, f in bound.items()}}
