"""Pieces: the arrays of one rank in one file, each block of them with a checksum, and ranges of rows of them.

A file is the arrays one behind the other, little-endian, without any header; the manifest says where each
begins. Booleans take a bit each. A block is checked when any row in it is read, so a rank reads and checks no
more than it needs.
"""

from __future__ import annotations

import math
import os
import re
import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.errors import InputError

BLOCK = 1 << 22  # bytes with one checksum
ALIGNED = 64
BITS = "bits"  # what the manifest calls booleans
DTYPE = re.compile(r"[<|](?:[iuf][1248]|V\d{1,6})")  # of numbers; records are bytes


@dataclass(frozen=True)
class Described:
    """What the manifest says of one array in a piece."""

    dtype: str
    shape: list[int]
    at: int  # byte of the file
    crc32: list[int]  # of each block

    @property
    def numpy(self) -> np.dtype:
        """The dtype; raises ValueError or TypeError where it is none of numbers."""
        if self.dtype == BITS:
            return np.dtype(bool)
        if DTYPE.fullmatch(self.dtype) is None:
            raise ValueError(f"an array of {self.dtype!r} holds no numbers")
        return np.dtype(self.dtype)

    @property
    def row_bits(self) -> int:
        """The bits of a row."""
        bits = 1 if self.dtype == BITS else 8 * self.numpy.itemsize
        return bits * math.prod(self.shape[1:])

    @property
    def bytes(self) -> int:
        return -(-self.row_bits * self.shape[0] // 8)


def stored_dtype(dtype: np.dtype) -> str:
    """Return what the manifest says of arrays of a dtype."""
    if dtype.kind == "b":
        return BITS
    return dtype.newbyteorder("<").str if dtype.fields is None else f"|V{dtype.itemsize}"


def check_regular(path: Path) -> os.stat_result:
    """Return the figures of a file; raises OSError or InputError where there is none that can be read.

    To open a pipe or a device might never return.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path}: is not a regular file")
    return found


def write_piece(path: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, Described]:
    """Write arrays into a new file and flush it to the disk; raises OSError."""
    found: dict[str, Described] = {}
    at = 0
    with open(path, "xb", buffering=0) as file:
        for name, array in arrays.items():
            plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
            data = _bytes(plain)
            pad = -at % ALIGNED
            _write(file, memoryview(bytes(pad)))
            at += pad
            blocks = [data[lo : lo + BLOCK] for lo in range(0, len(data), BLOCK)]
            for block in blocks:
                _write(file, block)
            crc32 = [zlib.crc32(block) for block in blocks]
            found[name] = Described(stored_dtype(plain.dtype), list(plain.shape), at, crc32)
            at += len(data)
        os.fsync(file.fileno())
    return found


def _bytes(plain: np.ndarray) -> memoryview:
    flat = plain.reshape(-1)
    if flat.dtype.kind == "b":
        flat = np.packbits(flat, bitorder="little")
    return flat.view(np.uint8).data if flat.size else memoryview(b"")


def _write(file: Any, data: memoryview) -> None:
    while len(data):  # a pipe, a signal or a full disk may take less than all
        data = data[file.write(data) :]


class Piece:
    """One rank's file of a checkpoint, of which rows are read."""

    def __init__(self, path: Path, arrays: Mapping[str, Described]) -> None:
        self.path, self.arrays = path, arrays

    def check_size(self) -> None:
        """Raise InputError where the file is missing or has another size."""
        try:
            size = check_regular(self.path).st_size
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None
        needed = max((one.at + one.bytes for one in self.arrays.values()), default=0)
        if size != needed:
            raise InputError(f"{self.path}: has {size:,} bytes, and {needed:,} were written; it is damaged")

    def rows(self, name: str, low: int = 0, high: int | None = None) -> np.ndarray:
        """Return a new array of the rows *low* to *high* of an array; raises InputError if it is damaged."""
        described = self.arrays[name]
        dtype, (count, *row) = described.numpy, described.shape
        high = count if high is None else high
        first, last = low * described.row_bits // 8, -(-high * described.row_bits // 8)  # bytes
        begin = first // BLOCK * BLOCK
        end = min(-(-last // BLOCK) * BLOCK, described.bytes)
        content = np.empty(max(end - begin, 0), np.uint8)
        if content.size:
            self._read(described.at + begin, content)
        for lo in range(0, content.size, BLOCK):
            if zlib.crc32(content[lo : lo + BLOCK].data) != described.crc32[(begin + lo) // BLOCK]:
                raise InputError(f"{self.path}: the CRC-32 of {name!r} is wrong; the file is damaged")
        stored = content[first - begin : last - begin]
        if dtype.kind == "b":
            skipped, bits = low * described.row_bits - 8 * first, (high - low) * described.row_bits
            stored = np.unpackbits(stored, bitorder="little")[skipped : skipped + bits]
        stored = stored.view(dtype.newbyteorder("<"))
        found: np.ndarray = stored.reshape(high - low, *row).astype(dtype.newbyteorder("="))
        return found

    def _read(self, at: int, into: np.ndarray) -> None:
        try:
            with open(self.path, "rb", buffering=0) as file:
                file.seek(at)
                view = into.data
                while len(view):
                    got = file.readinto(view)
                    if not got:
                        raise InputError(f"{self.path}: is cut short; it is damaged")
                    view = view[got:]
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None
