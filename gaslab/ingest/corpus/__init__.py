"""Corpora: how often each word is in each document, as edges from documents to words."""

from gaslab.ingest.corpus.files import read_corpus_edges
from gaslab.ingest.corpus.memory import corpus_edges_from

__all__ = ["corpus_edges_from", "read_corpus_edges"]
