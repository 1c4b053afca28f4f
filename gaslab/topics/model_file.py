"""A topic model as the arrays and settings of its file, and back; `archive` has the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError
from gaslab.ingest.sidefile import check_side_file
from gaslab.parallel.comm import Comm
from gaslab.results.tables import objects
from gaslab.topics import archive
from gaslab.topics.counts import TopicCounts

Model = TypeVar("Model")
ENDING = ".npz"


def check_name(argument: str, path: str) -> None:
    """Raise UsageError for an argument, a file to write, whose name is not that of an archive."""
    if not path.endswith(ENDING):
        hint = f"a model is written as an {ENDING} archive; give it a name in {ENDING}"
        raise arguments.wrong(argument, path, hint)


def packed(model: TopicCounts, settings: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file of a model with these settings."""
    arrays = {"counts": model.counts, "doc_topic_prior": model.doc_topic_prior, "words": model.words}
    if model.words.dtype == object:
        texts = [word.encode() for word in model.words]
        arrays["words"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays["word_ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return archive.packed(arrays, settings)


def made(make: Callable[..., Model], path: str, content: np.ndarray, expected: Collection[str]) -> Model:
    """Return what *make* makes of the arrays and the *expected* settings in a file's bytes."""
    try:
        arrays, settings = archive.unpacked(content)
        if settings.keys() != set(expected):
            raise ValueError(f"its settings are {sorted(settings)}, and {sorted(expected)} are expected")
        words = arrays["words"]
        if ("word_ends" in arrays) != (words.dtype == np.uint8):
            raise ValueError("its words are neither numbers nor texts with their ends")
        if "word_ends" in arrays:
            words = _texts(words, arrays["word_ends"])
        return make(arrays["counts"], words, doc_topic_prior=arrays["doc_topic_prior"], **settings)
    except ValueError as error:
        raise InputError(f"{path} is not a topic model: {error}; save the model again") from None


def content(path: str, comm: Comm) -> np.ndarray:
    """Return the bytes of a file, which rank 0 reads, on every rank (collective)."""
    here = comm.attempt(lambda: _read(path) if comm.rank == 0 else np.zeros(0, np.uint8))
    return comm.allgather_array(here)[0]


def _read(path: str) -> np.ndarray:
    """Return the bytes of a file; raises InputError where that cannot be."""
    if not os.path.exists(path):
        raise InputError(
            f"{path}: there is no such model; gaslab lda CORPUS --save MODEL writes one (TopicModel.save)"
        )
    check_side_file(path)
    try:
        return np.frombuffer(Path(path).read_bytes(), np.uint8)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _texts(characters: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return words by the bytes of all and where each ends."""
    bounds = np.concatenate([[0], ends])
    if (np.diff(bounds) < 0).any() or bounds[-1] != characters.size:
        raise ValueError("the ends of its words are not within their text")
    text = characters.tobytes()
    return objects([text[a:b].decode() for a, b in zip(bounds.tolist(), ends.tolist(), strict=False)])
