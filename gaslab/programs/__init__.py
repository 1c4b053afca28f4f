"""The built-in vertex programs, one page each, written in the public language.

The functions that run them (`gaslab.pagerank`, `gaslab.components`, …) stand beside them. A program is loaded
when it is first asked for: a command needs one of them.
"""

import importlib
from typing import TYPE_CHECKING
from typing import Any as Anything

if TYPE_CHECKING:
    from gaslab.programs.als import ALS as ALS
    from gaslab.programs.bfs import Levels as Levels
    from gaslab.programs.bfs import Tree as Tree
    from gaslab.programs.cdlp import LabelPropagation as LabelPropagation
    from gaslab.programs.clustering import Clustering as Clustering
    from gaslab.programs.clustering import DirectedClustering as DirectedClustering
    from gaslab.programs.coloring import Coloring as Coloring
    from gaslab.programs.coloring import SaturationColoring as SaturationColoring
    from gaslab.programs.components import Components as Components
    from gaslab.programs.degrees import Degrees as Degrees
    from gaslab.programs.diameter import Reach as Reach
    from gaslab.programs.directed_triangles import DirectedTriangles as DirectedTriangles
    from gaslab.programs.directed_triangles import LocalClustering as LocalClustering
    from gaslab.programs.distances import NearestSource as NearestSource
    from gaslab.programs.gibbs import CollapsedGibbs as CollapsedGibbs
    from gaslab.programs.hits import HITS as HITS
    from gaslab.programs.hits import UndirectedHITS as UndirectedHITS
    from gaslab.programs.jacobi import Jacobi as Jacobi
    from gaslab.programs.kcore import Cores as Cores
    from gaslab.programs.lbp import BeliefPropagation as BeliefPropagation
    from gaslab.programs.metropolis_hastings import LDA as LDA
    from gaslab.programs.mis import IndependentSet as IndependentSet
    from gaslab.programs.pagerank import PageRank as PageRank
    from gaslab.programs.pagerank import UndirectedPageRank as UndirectedPageRank
    from gaslab.programs.pagerank_variants import LoopWeight as LoopWeight
    from gaslab.programs.pagerank_variants import OutWeight as OutWeight
    from gaslab.programs.pagerank_variants import PersonalizedPageRank as PersonalizedPageRank
    from gaslab.programs.pagerank_variants import Scale as Scale
    from gaslab.programs.pagerank_variants import SignalPageRank as SignalPageRank
    from gaslab.programs.pagerank_variants import UnnormalizedPageRank as UnnormalizedPageRank
    from gaslab.programs.sgd import SGD as SGD
    from gaslab.programs.sssp import DeltaStepping as DeltaStepping
    from gaslab.programs.sssp import ShortestPaths as ShortestPaths
    from gaslab.programs.sssp import UnitPaths as UnitPaths
    from gaslab.programs.strong_components import StrongComponents as StrongComponents
    from gaslab.programs.triangles import TriangleCount as TriangleCount
    from gaslab.programs.triangles import Triangles as Triangles
    from gaslab.programs.unordered import FallingCores as FallingCores
    from gaslab.programs.unordered import SmallestLabel as SmallestLabel

# Parameters that size fields are compiled in: the values, beside the default, for which programs are compiled
# when gaslab is built. For any other the C compiler of the user's machine runs once.
LENGTHS = {
    "ALS": {"factors": (8, 16, 64, 100, 128)},
    "CollapsedGibbs": {"topics": (5, 10, 50, 100, 200)},
    "LDA": {"topics": (5, 10, 50, 100, 200)},
    "SGD": {"factors": (8, 16, 64, 100, 128)},
}

# The modules, and what is in each. A type checker reads the imports above; a test keeps the two the same.
CLASSES = {
    "als": ("ALS",),
    "bfs": ("Levels", "Tree"),
    "cdlp": ("LabelPropagation",),
    "clustering": ("Clustering", "DirectedClustering"),
    "coloring": ("Coloring", "SaturationColoring"),
    "components": ("Components",),
    "degrees": ("Degrees",),
    "diameter": ("Reach",),
    "directed_triangles": ("DirectedTriangles", "LocalClustering"),
    "distances": ("NearestSource",),
    "gibbs": ("CollapsedGibbs",),
    "hits": ("HITS", "UndirectedHITS"),
    "jacobi": ("Jacobi",),
    "kcore": ("Cores",),
    "lbp": ("BeliefPropagation",),
    "metropolis_hastings": ("LDA",),
    "mis": ("IndependentSet",),
    "pagerank": ("PageRank", "UndirectedPageRank"),
    "pagerank_variants": (
        "LoopWeight",
        "OutWeight",
        "PersonalizedPageRank",
        "Scale",
        "SignalPageRank",
        "UnnormalizedPageRank",
    ),
    "sgd": ("SGD",),
    "sssp": ("DeltaStepping", "ShortestPaths", "UnitPaths"),
    "strong_components": ("StrongComponents",),
    "triangles": ("TriangleCount", "Triangles"),
    "unordered": ("FallingCores", "SmallestLabel"),
}
_HOME = {name: module for module, names in CLASSES.items() for name in names}

__all__ = [*_HOME]


def __getattr__(name: str) -> Anything:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
