"""The built-in vertex programs, one page each, written in the public language.

The functions that run them (`gaslab.pagerank`, `gaslab.components`, …) stand beside them.
"""

from gaslab.programs.als import ALS
from gaslab.programs.bfs import Levels, Tree
from gaslab.programs.cdlp import LabelPropagation
from gaslab.programs.clustering import Clustering, DirectedClustering
from gaslab.programs.coloring import Coloring, SaturationColoring
from gaslab.programs.components import Components
from gaslab.programs.degrees import Degrees
from gaslab.programs.diameter import Reach
from gaslab.programs.directed_triangles import DirectedTriangles, LocalClustering
from gaslab.programs.distances import NearestSource
from gaslab.programs.hits import HITS
from gaslab.programs.jacobi import Jacobi
from gaslab.programs.kcore import Cores
from gaslab.programs.lbp import BeliefPropagation
from gaslab.programs.lda import LDA
from gaslab.programs.mis import IndependentSet
from gaslab.programs.pagerank import PageRank
from gaslab.programs.pagerank_variants import (
    OutWeight,
    PersonalizedPageRank,
    Scale,
    SignalPageRank,
    UnnormalizedPageRank,
)
from gaslab.programs.sgd import SGD
from gaslab.programs.sssp import DeltaStepping, ShortestPaths
from gaslab.programs.strong_components import StrongComponents
from gaslab.programs.triangles import TriangleCount, Triangles
from gaslab.programs.unordered import FallingCores, SmallestLabel

# Parameters that size fields are compiled in: the values, beside the default, for which programs are compiled
# when gaslab is built. For any other the C compiler of the user's machine runs once.
LENGTHS = {
    "ALS": {"factors": (8, 16, 64, 100, 128)},
    "LDA": {"topics": (5, 10, 50, 100, 200)},
    "SGD": {"factors": (8, 16, 64, 100, 128)},
}

__all__ = [
    "ALS",
    "HITS",
    "LDA",
    "SGD",
    "BeliefPropagation",
    "Clustering",
    "Coloring",
    "Components",
    "Cores",
    "Degrees",
    "DeltaStepping",
    "DirectedClustering",
    "DirectedTriangles",
    "FallingCores",
    "IndependentSet",
    "Jacobi",
    "LabelPropagation",
    "Levels",
    "LocalClustering",
    "NearestSource",
    "OutWeight",
    "PageRank",
    "PersonalizedPageRank",
    "Reach",
    "SaturationColoring",
    "Scale",
    "ShortestPaths",
    "SignalPageRank",
    "SmallestLabel",
    "StrongComponents",
    "Tree",
    "TriangleCount",
    "Triangles",
    "UnnormalizedPageRank",
]
