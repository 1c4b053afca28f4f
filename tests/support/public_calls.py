"""Every public call of gaslab, found by looking at its face, and arguments that each takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.convert import edges_from_networkx, edges_from_pandas, edges_from_scipy
from gaslab.ingest.generate import generate
from gaslab.ingest.read import read_edges
from gaslab.partitioning.cut import cut

# Words that mean something inside a program's methods, where the compiler checks them.
WORDS = {"at", "categorical", "common", "conjugate_gradient", "dirichlet", "mex", "mode", "right",
         "solve_spd", "stop"}  # fmt: skip
# Methods of public classes that only gaslab's own modules call.
INNER = {"Graph.from_edge_list", "Graph.first_edge", "Graph.check_column", "Graph.bounds_here",
         "VertexSet.of_ids", "Result.collect", "Result.replaced",
         "VertexIds.locate", "VertexIds.named", "VertexIds.named_alone", "VertexIds.marked",
         "VertexIds.begin_lookup", "VertexIds.begin_whole",
         "TopicModel.write", "TopicModel.recounted", "TopicModel.probabilities",
         "Job.ready", "Job.answer", "Job.close", "Job.run_many"}  # fmt: skip
OPTIONS = inspect.Parameter.VAR_KEYWORD
OPEN = (OPTIONS, inspect.Parameter.VAR_POSITIONAL)


def count(v: Any) -> Any:
    return v.degree


def many(v: Any) -> Any:
    return v.degree > 1


def weigh(source: Any, e: Any, target: Any) -> Any:
    return e.weight


def heavy(source: Any, e: Any, target: Any) -> Any:
    return e.weight > 1.0


def add(a: Any, b: Any) -> Any:
    return a + b


@dataclass
class Call:
    """A public call: its name, what to call, and good arguments for the parameters that it needs."""

    name: str
    function: Callable[..., Any]
    needed: dict[str, Any]

    def parameters(self) -> Iterator[str]:
        """Yield the names of all parameters that have one."""
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind not in OPEN and name != "self":
                yield name

    def make(self, **changed: Any) -> Any:
        """Call it with the arguments that it needs, some of them changed."""
        arguments = {**self.needed, **changed}
        positional = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(arguments.pop(name))
        return self.function(*positional, **arguments)


def examples(folder: Path) -> dict[str, Any]:
    """Return a good argument for every parameter without a default, by "call.parameter" or "parameter"."""
    import networkx as nx
    import pandas as pd
    import scipy.sparse as sp

    edges, table = folder / "edges.tsv", folder / "table.tsv"
    edges.write_text("0 1 1.5\n1 2 2\n2 0 1\n2 3 1\n")
    table.write_text("id\tage\n0\t1\n1\t2\n2\t3\n3\t4\n")
    bag = folder / "docword.txt"
    bag.write_text("2\n2\n2\n1 1 2\n2 2 1\n")
    matrix = sp.coo_array(np.array([[4.0, 1.0], [2.0, 5.0]]))
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 2], "km": [1.0, 2.0]})
    graph = gl.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], columns={"weight": [1.0, 2.0, 1.0, 3.0]})
    path = nx.path_graph(4)
    rated = gl.Graph.from_edges([0, 0, 1], [0, 1, 1], columns={"rating": [1.0, 2.0, 4.0]}, bipartite=True)
    corpus = gl.corpus_from(matrix)
    topics = gl.lda(corpus, topics=2, iterations=1)
    model = gl.TopicModel.of(corpus, topics)
    model.save(folder / "model.npz")
    graph.save(folder / "graph")
    return {
        "of.graph": corpus, "of.result": topics, "load.path": folder / "model.npz", "model": model,
        "save.path": folder / "other.npz", "save.force": True, "corpus": corpus, "tokens": corpus,
        "Graph.save.path": folder / "other", "load_graph.path": folder / "graph",
        "graph": graph, "edges": edges_from_arrays([0, 1], [1, 2]), "program": gl.programs.Components(),
        "jacobi.graph": gl.Graph.from_scipy(matrix), "jacobi.rhs": 1.0,
        "lda.graph": gl.Graph.from_edges([0, 1], [0, 1], bipartite=True), "repeat_edges.column": "weight",
        "als.graph": rated, "sgd.graph": rated,
        "triangles.graph": graph, "transitivity.graph": gl.Graph.from_networkx(path),
        "source": 0, "sources": [0], "prior": {0: [0.5, 0.5]}, "delta": 1.0,
        "path": edges, "read_vertices.path": table, "read_corpus.path": bag, "data": matrix,
        "src": [0, 1], "dst": [1, 2],
        "from_networkx.graph": path, "edges_from_networkx.graph": path, "matrix": matrix, "frame": frame,
        "kind": "erdos-renyi", "vertices": 5, "size": {"vertices": 5, "edges": 7}, "strategy": "2d", "k": 2,
        "table": {"id": [0, 1, 2, 3], "age": [1, 2, 3, 4]},
        "which": [0, 1], "function": count, "map_reduce_edges.function": weigh, "fold_edges.function": weigh,
        "merge": add, "name": "weight", "minimum": 0.0, "n": 3, "rows": np.array([0]), "side": 0,
        "user_ids": [0], "gids": [0], "text": "3", "vertex": 0, "superstep": 0, "direction": gl.OUT,
        "every": 1, "source.edges": "source", "factor": 1.0, "shape": 2.0, "mean": 3.0,
    }  # fmt: skip


def calls(folder: Path) -> list[Call]:
    """Return every public call with the arguments that it needs."""
    known = examples(folder)
    graph = known["graph"]
    result = gl.run(gl.programs.Components(), graph, trace=[0])
    sided = gl.Graph.from_edges([0, 1], [0, 1], bipartite=True)
    owners = {
        "Graph": graph, "Table": gl.degrees(sided).vertices, "VertexSet": graph.vertices([0]),
        "Result": result, "Trace": result.trace, "VertexIds": graph.ids, "TopicModel": known["model"],
        "Job": gl.prepare(gl.programs.Components(), graph, timeout=0.5),
    }  # fmt: skip
    found: list[Call] = []

    def add_call(name: str, function: Callable[..., Any]) -> None:
        needed = {}
        for parameter in inspect.signature(function).parameters.values():
            full, short = f"{name}.{parameter.name}", f"{name.rpartition('.')[2]}.{parameter.name}"
            if full in known or short in known:
                needed[parameter.name] = known.get(full, known.get(short))
            elif parameter.kind is OPTIONS and parameter.name == "size":
                needed.update(known["size"])
            elif parameter.default is parameter.empty and parameter.kind not in OPEN:
                assert parameter.name in known, f"tests/support/public_calls.py has no example of {short}"
                needed[parameter.name] = known[parameter.name]
            elif parameter.name in ("options", "timeout"):
                needed["timeout"] = 0.5  # a run of endless supersteps is no error of an argument
        found.append(Call(name, function, needed))

    for name in gl.__all__:
        thing = getattr(gl, name)
        if inspect.isfunction(thing) and name not in WORDS:
            add_call(name, thing)
    for owner, one in owners.items():
        for name, _ in inspect.getmembers(type(one), callable):
            if not name.startswith("_") and f"{owner}.{name}" not in INNER:
                add_call(f"{owner}.{name}", getattr(one, name))
    for function in (edges_from_arrays, edges_from_networkx, edges_from_pandas, edges_from_scipy, generate,
                     read_edges, cut):  # fmt: skip
        add_call(function.__name__, function)
    return found


def programs() -> list[tuple[type, str]]:
    """Return every parameter of every built-in program."""
    classes = [getattr(gl.programs, name) for name in gl.programs.__all__]
    return [(cls, name) for cls in classes for name in gl.program.parameter_annotations(cls)]
