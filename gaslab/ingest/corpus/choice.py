"""Which words of a corpus are kept: by stop words and by the number of documents that contain them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.ingest.corpus.stopwords import stop_words_of
from gaslab.ingest.duplicates import first_of_each
from gaslab.ingest.edges import Numbered
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.names import Names
from gaslab.ingest.sides import RIGHT, SidedIds
from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")


@dataclass(frozen=True)
class Choice:
    """Words left out, and in how many documents a word must be, as a number or a share."""

    stop_words: list[str]
    min_df: int | float
    max_df: int | float

    @classmethod
    def of(cls, stop_words: Any, min_df: Any, max_df: Any, comm: Comm) -> Choice:
        """Return the choice from checked arguments (collective)."""
        min_df, max_df = _frequency("min_df", min_df), _frequency("max_df", max_df)
        return cls(stop_words_of(stop_words, comm), min_df, max_df)

    @property
    def by_frequency(self) -> bool:
        """Whether a word's number of documents decides."""
        return (self.min_df, self.max_df) != (0, 1.0) or isinstance(self.max_df, int)


def _frequency(name: str, value: Any) -> int | float:
    """Return a document frequency: an int is a number of documents, a float a share."""
    if isinstance(value, Integral):
        return int(arguments.whole(name, value, 0))
    hint = "; a share of the documents, or a whole number of them as an int"
    return float(arguments.number(name, value, least=0.0, most=1.0, hint=hint))


def choose(corpus: Numbered, choice: Choice, source: str, comm: Comm, threads: int) -> Numbered:
    """Return the corpus with only the chosen words and all documents (collective).

    Raises UsageError if no word is left, and for stop words of a corpus whose words are numbers.
    """
    ids = corpus.ids
    assert isinstance(ids, SidedIds)
    left, words = ids.sides
    keep = np.ones(words.num_vertices, bool)
    said = []
    if choice.stop_words:
        if words.kind == "int":
            raise UsageError(
                f"stop_words= (--stop-words): the words of {source} are numbers; name them with vocabulary= "
                "(--vocabulary)"
            )
        found = words.locate(choice.stop_words)
        keep[found[found >= 0]] = False
        said.append(f"{np.count_nonzero(~keep):,} stop words")
    if choice.by_frequency:
        documents = left.num_vertices
        low, high = (
            one if isinstance(one, int) else one * documents for one in (choice.min_df, choice.max_df)
        )
        if high < low:
            raise UsageError(
                f"min_df={choice.min_df} (--min-df) is above max_df={choice.max_df} (--max-df): of "
                f"{documents} documents at least {low:g} and at most {high:g}"
            )
        first = first_of_each(comm, corpus.src, corpus.dst, ids.num_vertices, True, None, threads)
        here = np.bincount(corpus.dst[first] - left.num_vertices, minlength=keep.size)
        frequency = comm.allreduce(here.astype(np.int64))
        rare, common = frequency < low, frequency > high
        said += [f"{np.count_nonzero(keep & rare):,} in fewer than {low:g} documents"] * bool(low > 0)
        said += [f"{np.count_nonzero(keep & common):,} in more than {high:g}"] * bool(high < documents)
        keep &= ~(rare | common)
    if keep.all():
        return corpus
    kept = int(np.count_nonzero(keep))
    text = f"{kept:,} of {keep.size:,} words are kept; left out: {', '.join(said)}"
    if kept == 0:
        raise UsageError(
            f"{source}: {text}; choose other stop_words= (--stop-words), min_df= (--min-df) or max_df= "
            "(--max-df)"
        )
    if comm.rank == 0:
        log.info("%s: %s", source, text)
    rows = keep[corpus.dst - left.num_vertices]
    number = np.cumsum(keep) - 1
    dst = number[corpus.dst[rows] - left.num_vertices] + left.num_vertices
    columns = {name: column[rows] for name, column in corpus.columns.items()}
    chosen = SidedIds(comm, left, _kept(ids.sides[RIGHT], keep, comm))
    return Numbered(corpus.src[rows], dst, columns, chosen, corpus.directed, corpus.counts)


def _kept(words: VertexIds, keep: np.ndarray, comm: Comm) -> VertexIds:
    """Return the directory of some of the words, in their order (collective)."""
    gids = np.flatnonzero(keep)
    if words.kind == "object":
        return VertexIds(comm, "object", gids.size, objects=words.lookup(gids).tolist())
    mine = words.lookup(np.ascontiguousarray(gids[comm.rank :: comm.size]))
    made = VertexIds(comm, words.kind, gids.size, mine if words.kind == "int" else Names.of(mine.tolist()))
    made.negative = words.negative
    return made
