"""The built-in vertex programs, one page each, written in the public language."""

from gaslab.programs.components import Components, components
from gaslab.programs.degrees import Degrees, degrees
from gaslab.programs.pagerank import (
    OutWeight,
    PageRank,
    PersonalizedPageRank,
    Scale,
    SignalPageRank,
    UnnormalizedPageRank,
    pagerank,
)
from gaslab.programs.shortest_paths import ShortestPaths, sssp

__all__ = [
    "Components",
    "Degrees",
    "OutWeight",
    "PageRank",
    "PersonalizedPageRank",
    "Scale",
    "ShortestPaths",
    "SignalPageRank",
    "UnnormalizedPageRank",
    "components",
    "degrees",
    "pagerank",
    "sssp",
]
