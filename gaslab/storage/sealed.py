"""A manifest as JSON whose last member is the SHA-256 of the bytes before it, so that any damage shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gaslab import arguments
from gaslab.errors import InputError
from gaslab.version import __version__

SEAL = b' "sha256": "'
TAIL = len(SEAL) + 64 + len(b'"\n}\n')


def sealed(kind: str, version: int, content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest of a *kind* of folder and a *version* of its format."""
    known = {"format": kind, "version": version, "gaslab": __version__, **content}
    head = json.dumps(known, indent=1).encode().removesuffix(b"\n}") + b",\n"
    return head + SEAL + hashlib.sha256(head).hexdigest().encode() + b'"\n}\n'


def unsealed(path: Path, content: bytes, kind: str, version: int, way_out: str) -> dict[str, Any]:
    """Return what a manifest says; *way_out* follows the error of another version.

    Raises InputError where it is damaged, of another kind or of another version.
    """
    head, tail = content[:-TAIL], content[-TAIL:]
    try:
        known = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is damaged or cut short ({error})") from None
    if not isinstance(known, dict) or known.get("format") != kind:
        raise InputError(f"{path}: does not say that it is a {kind}")
    if known.get("version") != version:
        raise InputError(
            f"{path}: its format has the version {arguments.shown(known.get('version'))}, and gaslab "
            f"{__version__} reads version {version}; {way_out}"
        )
    if tail != SEAL + hashlib.sha256(head).hexdigest().encode() + b'"\n}\n':
        raise InputError(f"{path}: its SHA-256 is not that of its content; it is damaged or was changed")
    return known
