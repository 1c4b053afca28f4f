"""Corpora as tests see them: what every rank of several sizes reads, and the one error that all raise."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaslab.errors import InputError
from gaslab.ingest.corpus.files import read_corpus_edges
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm
from tests.support.threadcomm import run_ranks

SIZES = (1, 2, 3, 4, 9)


def written(folder: Path, text: str | bytes, name: str = "corpus.txt") -> Path:
    """Write a file, as gzip data if it is named so."""
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def contents(edges: EdgeList, comm: Comm) -> tuple[Any, ...]:
    """Return (sorted rows of document, word, count; ids of documents; of words; fingerprint) (collective)."""
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    assert list(edges.columns) == ["count"]
    assert edges.columns["count"].dtype == np.int64
    mine = list(zip(*ends, edges.columns["count"].tolist(), strict=True))
    rows = sorted(row for part in comm.allgather(mine) for row in part)
    left = edges.ids.num_left
    assert left is not None
    names = edges.ids.lookup(np.arange(edges.num_vertices)).tolist()
    return rows, names[:left], names[left:], edges.fingerprint


def on_all(path: Any, **options: Any) -> tuple[Any, ...]:
    """Return the contents of a corpus in files, which all ranks of all sizes read alike."""
    return on_every_size(lambda comm: contents(read_corpus_edges(path, comm, **options), comm))


def on_every_size(function: Callable[[Comm], Any]) -> Any:
    found = [part for size in SIZES for part in run_ranks(size, function)]
    assert all(part == found[0] for part in found)
    return found[0]


def error_on_all(path: Any, kind: type[Exception] = InputError, **options: Any) -> str:
    """Return the message that every rank of every size raises, without the path in front."""
    return error_on_every_size(lambda comm: read_corpus_edges(path, comm, **options), kind).removeprefix(
        str(path)
    )


def error_on_every_size(function: Callable[[Comm], Any], kind: type[Exception]) -> str:
    texts = set()
    for size in SIZES:
        with pytest.raises(kind) as error:
            run_ranks(size, function)
        texts.add(str(error.value))
    assert len(texts) == 1, texts
    return texts.pop()
