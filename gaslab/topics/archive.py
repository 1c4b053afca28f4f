"""The file of a topic model: an ``.npz`` archive of plain arrays, and a manifest that describes them.

The manifest, ``manifest.json``, names the format and its version, the settings of the model and, of each
array, its dtype, shape and SHA-256. What is read is held against it before memory is taken for it: a file may
come from anywhere. Nothing is pickled. The same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.system.memory import available_memory, human

FORMAT, VERSION, MANIFEST = "gaslab topic model", 1, "manifest.json"
MOST_MANIFEST = 1 << 26  # bytes
MOST_HEADER = 1 << 12  # bytes of an array's own header
DTYPES = {
    "counts": ("<i8", "<f8"),
    "doc_topic_prior": ("<f8",),
    "words": ("<i8", "|u1"),
    "word_ends": ("<i8",),
}
AXES = {"counts": 2, "doc_topic_prior": 1, "words": 1, "word_ends": 1}

Arrays = dict[str, np.ndarray]


def packed(arrays: Arrays, settings: Mapping[str, Any]) -> bytes:
    """Return the bytes of a file with these arrays and settings, which are what JSON can say."""
    members = {name: _plain(array) for name, array in arrays.items()}
    described = {
        name: {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": _digest(array)}
        for name, array in members.items()
    }
    manifest = {"format": FORMAT, "version": VERSION, "arrays": described, "settings": dict(settings)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, MANIFEST, (json.dumps(manifest, indent=1, allow_nan=False) + "\n").encode())
        for name, array in members.items():
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
            _add(archive, f"{name}.npy", header.getvalue(), array.data)
    return file.getvalue()


def unpacked(content: np.ndarray) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and settings in the bytes of a file; raises ValueError that says what is wrong."""
    try:
        with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
            return _checked(archive)
    except zipfile.BadZipFile as error:
        raise ValueError(f"it is not a complete .npz archive ({error})") from None
    except (KeyError, EOFError, RuntimeError, NotImplementedError, zlib.error, RecursionError) as error:
        raise ValueError(f"its archive is damaged ({error})") from None


def _checked(archive: zipfile.ZipFile) -> tuple[Arrays, dict[str, Any]]:
    members = {info.filename: info for info in archive.infolist()}
    if MANIFEST not in members:
        raise ValueError(f"it has no {MANIFEST}")
    if members[MANIFEST].file_size > MOST_MANIFEST:
        raise ValueError(
            f"{MANIFEST} has {members[MANIFEST].file_size:,} bytes, at most {MOST_MANIFEST:,} are read"
        )
    manifest = json.loads(archive.read(MANIFEST), parse_constant=_no_constant)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{MANIFEST} does not say that it is a {FORMAT}")
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"its format has the version {arguments.shown(manifest.get('version'))}, and this gaslab reads "
            f"version {VERSION}"
        )
    arrays, settings = manifest.get("arrays"), manifest.get("settings")
    if not isinstance(arrays, dict) or not isinstance(settings, dict):
        raise ValueError(f"{MANIFEST} lacks its arrays or its settings")
    expected = {"counts", "doc_topic_prior", "words"} | ({"word_ends"} & arrays.keys())
    for name in sorted(expected ^ arrays.keys()):
        raise ValueError(
            f"{MANIFEST} {'lacks' if name in expected else 'has'} the array {arguments.shown(name)}"
        )
    named = {MANIFEST, *(f"{name}.npy" for name in expected)}
    if len(archive.infolist()) != len(named) or members.keys() != named:
        raise ValueError(f"it holds {sorted(members)}, and {sorted(named)} are expected")
    for name, described in arrays.items():
        _check_description(name, described)
    need = sum(math.prod(described["shape"]) * 8 for described in arrays.values())
    room = available_memory()
    if 3 * need > room:
        raise ValueError(
            f"its arrays take {human(need)}, thrice while they are read, and {human(room)} are free"
        )
    return {name: _read_array(archive, members[f"{name}.npy"], arrays[name]) for name in arrays}, settings


def _check_description(name: str, described: Any) -> None:
    if not isinstance(described, dict) or not {"dtype", "shape", "sha256"} <= described.keys():
        raise ValueError(f"{MANIFEST} does not say dtype, shape and sha256 of {name}")
    dtype, shape = described["dtype"], described["shape"]
    if dtype not in DTYPES[name]:
        raise ValueError(
            f"{name} is of dtype {arguments.shown(dtype)}, and {' or '.join(DTYPES[name])} is expected"
        )
    whole = isinstance(shape, list) and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
    if not whole or len(shape) != AXES[name]:
        raise ValueError(
            f"{name} has the shape {arguments.shown(shape)}, and {AXES[name]} whole numbers are expected"
        )


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, described: Mapping[str, Any]) -> np.ndarray:
    dtype, shape = np.dtype(described["dtype"]), tuple(described["shape"])
    size = math.prod(shape) * dtype.itemsize
    if not size <= info.file_size <= size + MOST_HEADER:
        raise ValueError(
            f"{info.filename} has {info.file_size:,} bytes, and {size:,} and a header are expected"
        )
    with archive.open(info) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{info.filename} is of another version of the format of arrays")
        found = np.lib.format.read_array_header_1_0(file, max_header_size=MOST_HEADER)
        if found != (shape, False, dtype):
            raise ValueError(
                f"{info.filename} is {found[0]} of {found[2]}, and {shape} of {dtype} is expected"
            )
        content = file.read()
    if len(content) != size:
        raise ValueError(f"{info.filename} ends after {len(content):,} of {size:,} bytes")
    array = np.frombuffer(content, dtype).reshape(shape)
    if _digest(array) != described["sha256"]:
        raise ValueError(f"the SHA-256 of {info.filename} is not that of {MANIFEST}")
    return array


def _no_constant(word: str) -> Any:
    raise ValueError(f"{MANIFEST} holds {word}, and finite numbers are expected")


def _plain(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(array.data if array.size else b"").hexdigest()


def _add(archive: zipfile.ZipFile, name: str, *parts: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name)  # without a time
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    with archive.open(info, "w", force_zip64=True) as file:
        for part in parts:
            file.write(part)
