"""Graphs to folders and back."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from gaslab import arguments
from gaslab.graph.stored import StoredGraph
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.collective import collective
from gaslab.storage.load import SavedGraph
from gaslab.storage.manifest import manifest_of
from gaslab.storage.part import Part
from gaslab.storage.write import graph_folder, save

if TYPE_CHECKING:
    from typing_extensions import Self


class Saving(StoredGraph):
    """Write a `gaslab.Graph` to a folder, and make one from a folder."""

    @collective()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the graph to a folder that `gaslab.load_graph` loads quickly (collective).

        Everything is kept: vertices, ids, sides, direction, columns, and the cut, with a part for each rank.
        ``docs/files.md`` has the format. The folder appears only when it is complete.

        Parameters
        ----------
        path : path
            The folder, in a directory that all ranks can access.
        force : bool
            Whether to replace a graph that was saved there.

        Raises
        ------
        UsageError
            The folder exists, or cannot be written; the ids are neither integers nor text.
        GaslabError
            Writing failed, for example on a full disk.

        Examples
        --------
        >>> import gaslab as gl, os, tempfile
        >>> graph = gl.Graph.from_edges(["a", "b"], ["b", "c"], columns={"km": [3.5, 4.0]})
        >>> folder = os.path.join(tempfile.mkdtemp(), "roads")
        >>> graph.save(folder)
        >>> gl.load_graph(folder).edge_columns["km"].tolist()
        [3.5, 4.0]
        """
        name, force = arguments.path("path", path), arguments.flag("force", force)
        output = self.comm.on_root(lambda: graph_folder(name, force))
        known = EdgeList(
            src=self.local.gid[:0], dst=self.local.gid[:0], columns=self.edge_columns, ids=self.ids,
            num_vertices=self.num_vertices, directed=self.directed, counts=self.counts, source=self.source,
            fingerprint=self.fingerprint, left_out=self.left_out,
            vertices=(self.local.gid[:0], self.vertex_columns),
        )  # fmt: skip
        manifest = manifest_of(known, self.strategy)
        part = Part(self.local, self.edge_columns, self.vertex_columns)
        save(self.comm, output, manifest, self.ids, {self.comm.rank: part}, self.comm.size)

    @classmethod
    def _from_saved(cls, saved: SavedGraph, strategy: str | None, started: float) -> Self:
        """Return the graph in a folder, cut as it was saved or by *strategy* (collective).

        *started* is when the folder was opened, by `time.perf_counter`.
        """
        if saved.is_ready(strategy):
            edges, part = saved.start()
            seconds = {"load": time.perf_counter() - started, "partition": 0.0}
            known = saved.manifest.strategy
            return cls(edges, part.local, part.edge_columns, known, seconds, saved.comm, part.vertex_columns)
        edges = saved.edges()
        return cls.from_edge_list(
            edges, strategy=saved.manifest.strategy if strategy is None else strategy, comm=saved.comm,
            load_seconds=time.perf_counter() - started, vertices=edges.vertices,
        )  # fmt: skip
