"""What the arrays of a checkpoint must be for a run to go on from them, whatever its manifest says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gaslab.checkpoint.history import unpacked
from gaslab.checkpoint.manifest import LENGTHS, NAME, VALUES, Manifest
from gaslab.checkpoint.pieces import Described, stored_dtype
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.errors import InputError
from gaslab.ragged import RaggedColumn

# Returns, of a phase, a snapshot whose vertices and edges have no rows; raises IndexError for no phase.
Layout = Callable[[int], Snapshot]
Kind = tuple[str, tuple[int, ...]]  # the stored dtype, and the shape of a row
OTHERS = ("whole", "own", "history")  # arrays without rows of vertices and edges


def check_layout(path: Path, manifest: Manifest, layout: Layout) -> Snapshot:
    """Return the layout of a checkpoint; raises InputError where its arrays or counters are others."""
    try:
        expected = layout(manifest.numbers["phase"])
        _check_numbers(manifest, expected)
        rows = dict(_kinds("vertices", expected.vertices)) | dict(_kinds("edges", expected.edges))
        for entry in manifest.pieces:
            found = {name: _kind(x) for name, x in entry.arrays.items() if name.split("/")[0] not in OTHERS}
            _compare(found, rows)
        arrays = manifest.pieces[0].arrays
        whole = {name: x for name, x in arrays.items() if name.startswith("whole/")}
        _compare({name: _kind(x) for name, x in whole.items()}, dict(_kinds("whole", expected.whole)))
        for word, values in expected.whole.items():
            if values.ndim == 1 and whole[f"whole/{word}"].shape[0] != len(values):
                raise ValueError(f"{word!r} has another length")
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path / NAME}: is not a manifest of this run ({error})") from None
    return expected


def check_history(path: Path, found: Snapshot) -> None:
    """Raise InputError where the columns of the history, or arrays beside it, make no rows."""
    try:
        count = len(unpacked(found.history))
        for word, values in found.whole.items():
            if values.ndim == 2 and values.shape[0] != (count if values.shape[1] else 0):
                raise ValueError(f"{word!r} has not one row for each superstep")
    except ValueError as error:
        raise InputError(f"{path}: is not a checkpoint of this run ({error})") from None


def check_own(path: Path, found: Snapshot, expected: Snapshot) -> None:
    """Raise InputError where the arrays of this rank alone are not those of its cut."""
    if found.own is None:
        return
    mine, wanted = (
        {name: (stored_dtype(x.dtype), x.shape) for name, x in (one or {}).items()}
        for one in (found.own, expected.own)
    )
    if mine != wanted:
        raise InputError(f"{path}: its arrays of one rank are not those of this cut")


def _compare(found: dict[str, Kind], wanted: dict[str, Kind]) -> None:
    for name in {**wanted, **found}:
        if found.get(name) != wanted.get(name):
            raise ValueError(f"the array {name!r} is {found.get(name)}, not {wanted.get(name)}")


def _kind(described: Described) -> Kind:
    return described.dtype, tuple(described.shape[1:])


def _kinds(kind: str, arrays: dict[str, Any]) -> Iterator[tuple[str, Kind]]:
    for word, values in arrays.items():
        if isinstance(values, RaggedColumn):
            yield f"{LENGTHS}{kind}/{word}", (stored_dtype(values.lengths.dtype), ())
            yield f"{VALUES}{kind}/{word}", (stored_dtype(values.values.dtype), ())
        else:
            yield f"{kind}/{word}", (stored_dtype(values.dtype), values.shape[1:])


def _check_numbers(manifest: Manifest, expected: Snapshot) -> None:
    if manifest.numbers.keys() != expected.numbers.keys():
        raise ValueError("it has other counters")
    for name in ("entered", "ran", "cycle"):
        if manifest.numbers[name] > manifest.numbers["superstep"]:
            raise ValueError(f"{name!r} is beyond the superstep")
