"""Files, arrays and generators to `EdgeList`: edges in global ids, spread over the ranks."""

from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.convert import (
    edges_from_networkx,
    edges_from_pandas,
    edges_from_scipy,
    vertices_from_networkx,
)
from gaslab.ingest.corpus import corpus_edges_from, read_corpus_edges
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.generate import generate
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.read import read_edges

__all__ = [
    "EdgeList",
    "VertexIds",
    "corpus_edges_from",
    "edges_from_arrays",
    "edges_from_networkx",
    "edges_from_pandas",
    "edges_from_scipy",
    "generate",
    "read_corpus_edges",
    "read_edges",
    "vertices_from_networkx",
]
