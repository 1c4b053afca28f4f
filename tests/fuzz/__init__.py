"""Fuzzers: drawn inputs against a plain model, or against what every answer must be.

    python -m tests.fuzz text --seconds 60 --seed 7

A fuzzer is a class with the face of `tests.fuzz.fuzzer.Fuzzer`; `FUZZERS` names them all. What one has found
is kept, as small as it could be made, in ``corpus/NAME-*.json``, and is checked by every run of the tests.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

# name -> (module, class); one line makes a fuzzer known to the command, to `make fuzz` and to the tests
FUZZERS = {
    "kernels": ("tests.fuzz.kernels", "Kernels"),
    "text": ("tests.fuzz.text", "Text"),
    "reads": ("tests.fuzz.reads", "Reads"),
    "arrays": ("tests.fuzz.arrays", "Arrays"),
    "command": ("tests.fuzz.command", "Command"),
    "sources": ("tests.fuzz.sources", "Sources"),
    "faults": ("tests.fuzz.faults", "Faults"),
    "checkpoints": ("tests.fuzz.checkpoints", "Checkpoints"),
    "kills": ("tests.fuzz.kills", "Kills"),
}


def names() -> list[str]:
    """Return the fuzzers that are there."""
    return [name for name, (module, _) in FUZZERS.items() if importlib.util.find_spec(module)]


def make(name: str) -> Any:
    """Return the fuzzer of that name."""
    module, kind = FUZZERS[name]
    return getattr(importlib.import_module(module), kind)()
