"""The last steps for every corpus: its words are chosen, its tokens and documents counted."""

from __future__ import annotations

import logging

import numpy as np

from gaslab.errors import InputError
from gaslab.ingest.corpus.choice import Choice, choose
from gaslab.ingest.edges import EdgeList, Numbered, assemble
from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")


def finish(corpus: Numbered, choice: Choice, source: str, comm: Comm, threads: int) -> EdgeList:
    """Return the edges of a corpus with the chosen words (collective).

    Documents without words stay, even if all are, and the log gives their number. ``counts`` gets
    ``tokens`` and ``empty_documents``. Raises InputError for a corpus without documents.
    """
    documents = corpus.ids.num_left or 0
    if not documents:
        raise InputError(f"{source}: the corpus has no documents")
    if comm.allreduce(corpus.src.size):
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
