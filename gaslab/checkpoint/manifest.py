"""The manifest of a checkpoint: which run it is of, how far that was, and what the pieces hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gaslab.checkpoint.pieces import ALIGNED, BLOCK, Described, Piece, check_regular
from gaslab.checkpoint.settings import Spent
from gaslab.errors import InputError, UsageError
from gaslab.storage.sealed import sealed, unsealed

NAME = "manifest.json"
FORMAT, VERSION = "gaslab checkpoint", 1
LENGTHS, VALUES = "lengths of ", "values of "  # of lists: two arrays


@dataclass
class PieceEntry:
    """What the manifest says of one rank's piece: its ranges of rows, and its arrays."""

    vertices: list[int]
    edges: list[int]
    arrays: dict[str, Described] = field(default_factory=dict)


@dataclass
class Manifest:
    """What is known of a checkpoint.

    Attributes
    ----------
    identity : dict
        What a run must have in common with the one that was saved, each as a pair: the words that errors
        show, and a digest.
    cut : str
        A digest of the ranks' vertices: the arrays of single ranks belong to this cut alone.
    numbers : dict
        The counters of the state.
    spent : dict
        The seconds and bytes of the run until then.
    notes : dict
        What the caller of the run saves along.
    """

    identity: dict[str, list[str]]
    cut: str
    ranks: int
    numbers: dict[str, int]
    spent: dict[str, float]
    notes: dict[str, Any]
    pieces: list[PieceEntry] = field(default_factory=list)

    def packed(self) -> bytes:
        """Return the bytes of the file."""
        return sealed(FORMAT, VERSION, asdict(self))


def piece_name(rank: int) -> str:
    """Return the file name of a rank's piece."""
    return f"rank-{rank:05d}.bin"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a checkpoint, whose pieces have the right size; raises InputError."""
    path = folder / NAME
    try:
        check_regular(path)
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    known = unsealed(path, content, FORMAT, VERSION, "start the run again without resume=")
    try:
        manifest = _manifest(known)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: is not a manifest of a checkpoint ({type(error).__name__}: {error})"
        ) from None
    for rank, entry in enumerate(manifest.pieces):
        Piece(folder / piece_name(rank), entry.arrays).check_size()
    return manifest


def _manifest(known: Mapping[str, Any]) -> Manifest:
    pieces = []
    for one in known["pieces"]:
        arrays = {name: Described(**described) for name, described in one["arrays"].items()}
        pieces.append(PieceEntry(one["vertices"], one["edges"], arrays))
    said: dict[str, Any] = {**{name: known[name] for name in Manifest.__dataclass_fields__}, "pieces": pieces}
    made = Manifest(**said)
    _check_members(made)
    if not pieces or len(pieces) != made.ranks:
        raise ValueError("a checkpoint has a piece for each rank")
    for entry in pieces:
        _check_arrays(entry, pieces[0])
    for bounds in ([entry.vertices for entry in pieces], [entry.edges for entry in pieces]):
        end = 0
        for low, high in bounds:
            if type(low) is not int or type(high) is not int or low != end or high < low:
                raise ValueError("the ranges of the pieces are not one behind the other")
            end = high
    return made


def _check_members(made: Manifest) -> None:
    """Raise ValueError or TypeError where a member is not of its type."""
    kinds = {
        "identity": dict,
        "cut": str,
        "ranks": int,
        "numbers": dict,
        "spent": dict,
        "notes": dict,
    }
    for name, kind in kinds.items():
        if type(getattr(made, name)) is not kind:
            raise TypeError(f"{name} has another type")
    for words in made.identity.values():
        if not isinstance(words, list) or [type(word) for word in words] != [str, str]:
            raise TypeError("a run is described by two texts")
    if not all(map(_is_size, made.numbers.values())):
        raise ValueError("a counter is no number")
    spent = Spent(**made.spent)
    if not all(type(x) in (int, float) and 0 <= float(x) < math.inf for x in asdict(spent).values()):
        raise ValueError("the time spent is no number")


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _check_arrays(entry: PieceEntry, first: PieceEntry) -> None:
    """Raise ValueError where a piece cannot hold its range of rows of the same arrays as the *first*."""
    end = 0
    for described in entry.arrays.values():
        sizes = [described.at, *described.shape, *described.crc32]
        if not described.shape or not all(map(_is_size, sizes)) or not _is_size(described.bytes):
            raise ValueError("an array has a size that is none")
        if described.at != end + -end % ALIGNED:
            raise ValueError("the arrays are not one behind the other")
        end = described.at + described.bytes
        if len(described.crc32) != -(-described.bytes // BLOCK):
            raise ValueError("an array has a block without a checksum")
    for kind, (low, high) in (("vertices", entry.vertices), ("edges", entry.edges)):
        names = [{name for name in one.arrays if f"{kind}/" in name} for one in (entry, first)]
        if names[0] != names[1]:
            raise ValueError("the pieces hold different arrays")
        for name in names[0]:
            if not name.startswith(VALUES) and entry.arrays[name].shape[0] != high - low:
                raise ValueError("an array has not the rows of its piece")


def check_same(folder: Path, manifest: Manifest, identity: Mapping[str, list[str]]) -> None:
    """Raise UsageError, with the first difference, where a checkpoint is not of the run *identity*."""
    for name in dict.fromkeys([*identity, *manifest.identity]):
        saved, here = manifest.identity.get(name), identity.get(name)
        if saved is None or here is None or saved[1] != here[1]:
            words = [("nothing" if one is None else one[0]) for one in (saved, here)]
            same = words[0] == words[1]
            what = f"another {name}" if same else f"{name} {words[0]}, and this run has {words[1]}"
            if same:
                what += f" of the same name ({words[0]})"
            raise UsageError(
                f"{folder} is a checkpoint of a run with {what}; resume the same run, or name another folder"
            )
