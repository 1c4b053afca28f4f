"""Files, arrays and generators to `EdgeList`: edges in global ids, spread over the ranks."""

from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.generate import generate
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.read import read_edges

__all__ = ["EdgeList", "VertexIds", "edges_from_arrays", "generate", "read_edges"]
