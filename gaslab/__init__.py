"""gaslab: graph-parallel vertex programs at C speed, on a laptop or across MPI ranks.

>>> import gaslab as gl
>>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
>>> gl.pagerank(graph).vertices.to_dict()["score"]
[0.3333333333333333, 0.3333333333333333, 0.3333333333333333]

Names are loaded when first used: ``import gaslab`` loads no numpy, kernel or MPI, and changes nothing in
the process. What ranks need to fail together is set up by their first collective call
(`gaslab.parallel.failure`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING
from typing import Any as Anything

from gaslab.programs._names import FUNCTIONS
from gaslab.version import __version__

if TYPE_CHECKING:
    from gaslab import errors as errors
    from gaslab import programs as programs
    from gaslab import topics as topics
    from gaslab.cuts.partition import Partition as Partition
    from gaslab.cuts.partition import partition as partition
    from gaslab.engine.engines import Async as Async
    from gaslab.engine.engines import Stale as Stale
    from gaslab.engine.engines import Sync as Sync
    from gaslab.engine.explain import explain as explain
    from gaslab.engine.job import Job as Job
    from gaslab.engine.run import prepare as prepare
    from gaslab.engine.run import run as run
    from gaslab.errors import *  # noqa: F403  those of `gaslab.errors.__all__`
    from gaslab.graph.corpus import corpus_from as corpus_from
    from gaslab.graph.corpus import read_corpus as read_corpus
    from gaslab.graph.graph import Graph as Graph
    from gaslab.graph.reading import load_graph as load_graph
    from gaslab.graph.reading import read_graph as read_graph
    from gaslab.graph.vertexset import VertexSet as VertexSet
    from gaslab.graph.vertextable import read_vertices as read_vertices
    from gaslab.ingest.sides import right as right
    from gaslab.program import *  # noqa: F403  the words of `gaslab.program.__all__`
    from gaslab.programs._functions import *  # noqa: F403
    from gaslab.results.result import Result as Result
    from gaslab.results.tables import Table as Table
    from gaslab.results.trace import Trace as Trace
    from gaslab.topics.estimator import LDA as LDA
    from gaslab.topics.model import TopicModel as TopicModel

# Where each name lives. A type checker reads the imports above; a test keeps the two the same.
_HOME = {
    **dict.fromkeys(
        [
            "AbandonedError", "CheckpointWarning", "CompileError", "ConvergenceWarning", "ExecutionError",
            "GaslabError", "InputError", "LaunchError", "PerformanceWarning", "ProgramError", "Terminated",
            "TimeoutExpired", "UsageError", "VertexNotFound",
        ],
        "gaslab.errors",
    ),
    **dict.fromkeys(
        [
            "ALL", "BITOR", "IN", "MAX", "MIN", "NOBODY", "NONE", "OUT", "PROD", "SUM", "Accumulator", "All",
            "Any", "ArgMax", "ArgMin", "BitOr", "Count", "Edge", "List", "Matrix", "Max", "Min", "Phase",
            "Prod", "SortedSet", "Sum", "SumBy", "Vector", "Vertex", "VertexId", "VertexProgram",
            "aggregator", "at", "categorical", "common", "conjugate_gradient", "dirichlet", "exponential",
            "field", "float32", "float64", "gamma", "int8", "int16", "int32", "int64", "integers", "lookup",
            "mex", "mode", "normal", "poisson", "solve_spd", "stop", "uint8", "uint16", "uint32", "uint64",
            "uniform",
        ],
        "gaslab.program",
    ),
    "Graph": "gaslab.graph.graph",
    **dict.fromkeys(["load_graph", "read_graph"], "gaslab.graph.reading"),
    **dict.fromkeys(["corpus_from", "read_corpus"], "gaslab.graph.corpus"),
    "right": "gaslab.ingest.sides",
    **dict.fromkeys(["Partition", "partition"], "gaslab.cuts.partition"),
    "Result": "gaslab.results.result",
    "Table": "gaslab.results.tables",
    "Trace": "gaslab.results.trace",
    "explain": "gaslab.engine.explain",
    "VertexSet": "gaslab.graph.vertexset",
    "read_vertices": "gaslab.graph.vertextable",
    "Job": "gaslab.engine.job",
    **dict.fromkeys(["prepare", "run"], "gaslab.engine.run"),
    **dict.fromkeys(["Async", "Stale", "Sync"], "gaslab.engine.engines"),
    **{name: f"gaslab.programs.{page}" for name, page in FUNCTIONS.items()},
    "LDA": "gaslab.topics.estimator",
    "TopicModel": "gaslab.topics.model",
}  # fmt: skip
_MODULES = ("errors", "programs", "topics")

__all__ = ["__version__", *_MODULES, *_HOME]


def __getattr__(name: str) -> Anything:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"gaslab.{name}")
    else:
        hint = ""
        if not name.startswith("_"):
            from gaslab.errors import nearest

            hint = nearest(name, __all__)
        raise AttributeError(f"module 'gaslab' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
