"""One array in one ``.npy`` file: written with its checksum, mapped into memory and held against it."""

from __future__ import annotations

import io
import math
import mmap
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from gaslab.errors import InputError
from gaslab.parallel.folders import writing

Described = dict[str, Any]  # of an array, as the manifest has it


def write_array(path: Path, array: np.ndarray) -> Described:
    """Write an array, little-endian; return its dtype, shape, and the size and CRC-32 of the file."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    head, data = _header(plain.dtype, plain.shape), plain.reshape(-1).view(np.uint8).data
    with writing(path), open(path, "xb") as file:
        file.write(head)
        file.write(data)
    return {
        "dtype": plain.dtype.str,
        "shape": list(plain.shape),
        "bytes": len(head) + len(data),
        "crc32": f"{zlib.crc32(data, zlib.crc32(head)):08x}",
    }


def map_array(path: Path, described: Described) -> np.ndarray:
    """Return the array of a file, mapped: what is written to it stays in memory.

    Raises InputError where the file is not the one that was written.
    """
    content = _mapped(path)
    if content.size != described["bytes"]:
        raise InputError(
            f"{path}: has {content.size:,} bytes, and {described['bytes']:,} were saved; it is damaged"
        )
    if f"{zlib.crc32(content.data):08x}" != described["crc32"]:
        raise InputError(f"{path}: its CRC-32 is not that of the manifest; the file is damaged")
    dtype, shape = np.dtype(described["dtype"]), tuple(described["shape"])
    head = _header(dtype, shape)
    data = content[len(head) :]
    if content[: len(head)].tobytes() != head or data.size != dtype.itemsize * math.prod(shape):
        raise InputError(f"{path}: is not the array of {dtype} in shape {shape} of the manifest")
    return data.view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    """Return what an ``.npy`` file of version 1.0 begins with."""
    head = io.BytesIO()
    npy.write_array_header_1_0(head, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    return head.getvalue()


def _mapped(path: Path) -> np.ndarray:
    """Return the bytes of a file, mapped copy-on-write: a page is read when it is used."""
    try:
        with open(path, "rb") as file:
            if not file.seek(0, io.SEEK_END):
                return np.empty(0, np.uint8)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the graph was saved with it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return np.frombuffer(mapped, np.uint8)
