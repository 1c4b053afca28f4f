"""The manifest of a saved graph: what the graph is, and which arrays its parts are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.errors import InputError
from gaslab.ingest.edges import EdgeList
from gaslab.storage.files import Described
from gaslab.storage.ids import Side, sides_of
from gaslab.storage.part import Column
from gaslab.storage.sealed import sealed, unsealed

NAME = "gaslab-graph.json"
FORMAT, VERSION = "gaslab graph", 1


@dataclass
class PartEntry:
    """What the manifest says of one part; `arrays` are by the names of their files."""

    masters: int
    vertices: int
    edges: int
    arrays: dict[str, Described] = field(default_factory=dict)


@dataclass
class Manifest:
    """What is known of a saved graph; the attributes are as those of `gaslab.Graph`."""

    directed: bool
    num_vertices: int
    num_edges: int
    strategy: str
    source: str
    fingerprint: str
    counts: dict[str, int]
    left_out: dict[str, str]
    sides: list[Side]
    edge_columns: list[Column]
    vertex_columns: list[Column]
    parts: list[PartEntry] = field(default_factory=list)

    def folder(self, part: int) -> str:
        """Return the name of a part's folder."""
        return f"part-{part:05d}"

    def packed(self) -> bytes:
        """Return the bytes of the file."""
        return sealed(FORMAT, VERSION, asdict(self))


def manifest_of(edges: EdgeList, strategy: str) -> Manifest:
    """Return the manifest of a graph that is still without its parts (collective).

    Raises UsageError where its ids are neither integers nor text.
    """
    of_vertices = edges.vertices[1] if edges.vertices is not None else {}
    return Manifest(
        directed=edges.directed, num_vertices=edges.num_vertices, num_edges=edges.counts["edges"],
        strategy=strategy, source=edges.source, fingerprint=edges.fingerprint, counts=edges.counts,
        left_out=edges.left_out, sides=sides_of(edges.ids),
        edge_columns=[Column.of(name, values) for name, values in edges.columns.items()],
        vertex_columns=[Column.of(name, values) for name, values in of_vertices.items()],
    )  # fmt: skip


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Return whether *path* is a folder with a manifest (not collective)."""
    return os.path.isfile(os.path.join(path, NAME))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a saved graph.

    Raises InputError where the folder is none, or another version's, or its manifest is damaged.
    """
    path = folder / NAME
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{folder}: is not a saved graph, since it has no {NAME}; `gaslab convert GRAPH -o {folder}/` "
            "saves one"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    known = unsealed(path, content, FORMAT, VERSION, "save the graph again")
    try:
        return _manifest(known)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: is not a manifest of a graph ({type(error).__name__}: {error})") from None


def _manifest(known: Mapping[str, Any]) -> Manifest:
    nested: dict[str, Any] = {
        "sides": [Side(**one) for one in known["sides"]],
        "edge_columns": [Column(**one) for one in known["edge_columns"]],
        "vertex_columns": [Column(**one) for one in known["vertex_columns"]],
        "parts": [PartEntry(**one) for one in known["parts"]],
    }
    made = Manifest(**{name: nested.get(name, known[name]) for name in Manifest.__dataclass_fields__})
    columns = [*made.edge_columns, *made.vertex_columns]
    counts = [made.num_vertices, made.num_edges, *made.counts.values()]
    counts += [n for part in made.parts for n in (part.masters, part.vertices, part.edges)]
    counts += [side.num_vertices for side in made.sides] + [n for one in columns for n in one.shape]
    texts = [made.strategy, made.source, made.fingerprint]
    texts += [text for one in columns for text in (one.name, one.dtype)]
    whole = all(type(n) is int and 0 <= n < 1 << 62 for n in counts)
    if not whole or not all(type(text) is str for text in texts) or type(made.directed) is not bool:
        raise ValueError("a number, a text or a flag is of another type")
    if not made.parts or len(made.sides) not in (1, 2):
        raise ValueError("a graph has one part at least, and one side or two")
    if sum(side.num_vertices for side in made.sides) != made.num_vertices:
        raise ValueError("the sides do not have all vertices")
    if any(side.kind not in ("int", "str") for side in made.sides):
        raise ValueError("the ids are neither integers nor text")
    arrays = [described for part in made.parts for described in part.arrays.values()]
    dtypes = {*(one.dtype for one in columns), *(one["dtype"] for one in arrays)}
    if any(np.dtype(one).kind not in "biuf" for one in dtypes):
        raise ValueError("an array has no numbers")
    if any(type(n) is not int or n < 0 for one in arrays for n in (one["bytes"], *one["shape"])):
        raise ValueError("an array has a size that is none")
    if any(type(one["crc32"]) is not str for one in arrays):
        raise ValueError("an array has no checksum")
    return made
