"""Which words of a corpus are kept: by stop words and by the number of documents that have them.

Stop words say nothing of a topic. Those of English are the list of the Snowball stemmer (Porter, 2001,
snowballstem.org/algorithms/english/stop.txt) without those with an apostrophe, of which the tokeniser leaves
the parts of two and more letters.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError
from gaslab.ingest.edges import EdgeList, Numbered, assemble, first_of_each
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.names import Names
from gaslab.ingest.sidefile import side_file
from gaslab.ingest.sides import RIGHT, SidedIds
from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")


@dataclass(frozen=True)
class Choice:
    """Words that are left out, and in how many documents a word must be, as a number or a share of them."""

    stop_words: list[str]
    min_df: int | float
    max_df: int | float

    @classmethod
    def of(cls, stop_words: Any, min_df: Any, max_df: Any, comm: Comm) -> Choice:
        """Return the choice of arguments, checked (collective)."""
        min_df, max_df = _frequency("min_df", min_df), _frequency("max_df", max_df)
        return cls(stop_words_of(stop_words, comm), min_df, max_df)

    @property
    def by_frequency(self) -> bool:
        """Whether the number of documents of a word decides."""
        return (self.min_df, self.max_df) != (0, 1.0) or isinstance(self.max_df, int)


def _frequency(name: str, value: Any) -> int | float:
    """Return a document frequency: an int is a number of documents, a float a share of them."""
    if isinstance(value, Integral):
        return int(arguments.whole(name, value, 0))
    hint = "; a share of the documents, or a whole number of them as an int"
    return float(arguments.number(name, value, least=0.0, most=1.0, hint=hint))


def choose(corpus: Numbered, choice: Choice, source: str, comm: Comm, threads: int) -> Numbered:
    """Return the corpus with the words that are chosen alone, all documents kept (collective).

    Raises UsageError where no word is left, and for stop words of a corpus whose words are numbers.
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
    return VertexIds(comm, words.kind, gids.size, mine if words.kind == "int" else Names.of(mine.tolist()))


ENGLISH = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is are
was were be been being have has had having do does did doing would should could ought cannot a an the and
but if or because as until while of at by for with about against between into through during before after
above below to from up down in out on off over under again further then once here there when where why how
all any both each few more most other some such no nor not only own same so than too very can will just don
isn aren wasn weren hasn haven hadn doesn didn won wouldn shan shouldn couldn mustn ll re ve let
"""
LISTS = {"english": ENGLISH.split()}


def stop_words_of(words: Any, comm: Comm) -> list[str]:
    """Return the stop words of a list by its name, of a file with a word a line, or given (collective)."""
    if words is None:
        return []
    if not isinstance(words, (str, os.PathLike)):
        return list(arguments.texts("stop_words", words))
    if words in LISTS:
        return LISTS[str(words)]
    path = arguments.path("stop_words", words)
    found: list[str] = comm.on_root(lambda: _read(path))
    return found


def _read(path: str) -> list[str]:
    if not os.path.exists(path):
        raise UsageError(
            f"stop_words={path!r} (--stop-words) is neither {' nor '.join(LISTS)} nor a file; name a file "
            "with a word a line"
        )
    with side_file(path) as (_, file):
        return [word for word in map(str.strip, file) if word]


def finish(corpus: Numbered, choice: Choice, source: str, comm: Comm, threads: int) -> EdgeList:
    """Return the edges of a corpus with the words that are chosen (collective).

    Documents without words stay, and the log says how many there are. ``counts`` gets ``tokens`` and
    ``empty_documents``. Raises InputError for a corpus without tokens.
    """
    documents = corpus.ids.num_left or 0
    if not comm.allreduce(corpus.src.size):
        raise InputError(f"{source}: the corpus has no tokens: {documents:,} documents without words")
    corpus = choose(corpus, choice, source, comm, threads)
    counts = dict(corpus.counts)
    counts["tokens"] = int(comm.allreduce(int(corpus.columns["count"].sum())))
    full = np.zeros(documents, bool)
    full[corpus.src] = True
    counts["empty_documents"] = documents - int(np.count_nonzero(comm.allreduce(full, "max")))
    if counts["empty_documents"] and comm.rank == 0:
        log.info(
            "%s: %s of %s documents are empty", source, f"{counts['empty_documents']:,}", f"{documents:,}"
        )
    return assemble(
        comm, corpus.src, corpus.dst, corpus.columns, corpus.ids, directed=True, counts=counts, source=source,
        threads=threads,
    )  # fmt: skip
