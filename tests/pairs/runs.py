"""Drawn runs: a program on a graph, in every mode, on the ranks of a host."""

from __future__ import annotations

import hashlib
import linecache
import random
import shutil
import sys
import tempfile
import types
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import gaslab as gl
from gaslab.engine import delivery
from tests.pairs.features import ASYNC, BY_NAME, FIXED_POINT
from tests.pairs.graphs import Drawn, drawn_graph

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.parallel.comm import Comm

SECONDS = 20.0  # of one run; a run that takes longer hangs
OF_A_RANK = ("seconds", "bytes_sent", "delivery", "staleness_max", "staleness_mean", "waited")


@dataclass
class Task:
    """A program's text, a graph, and how to run the one on the other."""

    name: str
    text: str
    graph: Drawn
    features: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # of gl.run, in every mode
    engine: gl.Async | gl.Stale | None = None  # where another engine than that of supersteps runs it
    strategy: str | None = None
    limit: int | None = None
    right_source: bool = False

    @property
    def fixed(self) -> bool:
        return any(f in FIXED_POINT for f in self.features)


def drawn_task(draws: random.Random, name: str, text: str, features: Collection[str]) -> Task:
    """Return a run of the program *text* that has *features*."""
    graph = drawn_graph(draws, features)
    task = Task(name, text, graph, tuple(sorted(features)))
    every = [*graph.ids] or [0]
    if "id parameter" in features:
        task.right_source = bool(graph.right) and draws.random() < 0.5
        task.parameters["source"] = draws.choice(graph.right if task.right_source and graph.right else every)
    if "vector parameter" in features:
        task.parameters["steps"] = [draws.randrange(-8, 9) / 4 for _ in range(4)]
    if "matrix parameter" in features:
        task.parameters["grid"] = [[draws.randrange(-8, 9) / 4 for _ in range(3)] for _ in range(2)]
    some = draws.sample(graph.ids, min(len(graph.ids), 1 + draws.randrange(4)))
    if "start= ids" in features:
        task.options["start"] = some
    if "start= messages" in features:
        task.options["start"] = {v: _message(text, task.fixed) for v in some}
    if "init=" in features:
        task.options["init"] = {"n": {v: draws.randrange(9) for v in some}}
        if "id field" in features and graph.right is None and graph.ids and draws.random() < 0.5:
            task.options["init"]["least"] = {v: draws.choice(graph.ids) for v in graph.ids}
        if "list field" in features:
            task.options["init"]["some"] = {v: [draws.randrange(7) for _ in range(3)] for v in some}
        if "set field" in features:
            task.options["init"]["near"] = dict.fromkeys(some, some[:2])
        if "vector field" in features:
            task.options["init"]["z"] = {v: [0.5, 1.0, -2.0] for v in some}
    if "columns=" in features:
        task.options["columns"] = {"weight": "price"}
    if "precision float32" in features and "precision = " not in text:
        task.options["precision"] = "float32"
    if "seed=" in features:
        task.options["seed"] = draws.randrange(1000)
    task.strategy = next((f for f in features if BY_NAME[f].slot == "cut"), None)
    scheduler = next((f.split()[0] for f in features if BY_NAME[f].slot == "scheduler"), None)
    for f in features:
        slot = BY_NAME[f].slot
        if f in ASYNC:
            task.engine = gl.Async(scheduler, f.split()[1])
        elif slot == "engine":
            task.engine = gl.Stale(int(f[-1]))
    signals = "scatter" in features or "v.signal in apply" in features or "signal by id in apply" in features
    if not task.fixed or "active" in features or not signals or "phases" in features:
        task.limit = 40 if task.fixed else draws.randrange(1, 6)
    return task


def _message(text: str, fixed: bool) -> Any:
    """Return a message of the type that the program declares.

    On the way to one fixed point it is one of those that let a vertex fall: a greater one would hide others
    that wait beside it, which depends on the order.
    """
    declared = next(
        (x.split("message: ")[1] for x in text.splitlines() if "message: " in x and "def " in x), ""
    )
    declared = declared.rsplit(")", 1)[0]
    sign = -1 if fixed and "Max" in declared else 1
    if declared in ("Letter", "Own"):
        return f"P.{declared}()"
    if "Arg" in declared:
        key, other = declared.split("[")[1].rstrip("]").split(", ")
        rest = 0.5 if "float" in other else "an id" if "Id" in other else 2
        return sign * (0.5 if "float" in key else 2), rest
    if "Id" in declared:
        return "an id"
    return True if "bool" in declared or "Count" in declared else sign * (0.5 if "float" in declared else 2)


def script(task: Task, differs: str = "") -> str:
    """Return a file that runs a task alone, by its engine and by the reference."""
    graph, made = task.graph, [f"{k}={v!r}" for k, v in task.parameters.items()]
    if task.right_source:
        made = [f"source=gl.right({task.parameters['source']!r})"]
    lists = {k: v for k, v in graph.columns.items() if v}
    vertices = (
        f"({graph.ids!r}, {graph.right!r}), bipartite=True" if graph.right is not None else f"{graph.ids!r}"
    )
    limit = {"max_iterations": task.limit} if task.limit else {}
    runs = [task.options | limit | {"engine": engine} for engine in (task.engine or "sync", "reference")]
    if isinstance(task.engine, gl.Async):
        runs[0].pop("max_iterations", None)
    lines = [
        *(f"# {line}" for line in differs.splitlines()),
        task.text,
        'if __name__ == "__main__":',
        f"    edges = {graph.edges!r}",
        "    graph = gl.Graph.from_edges(",
        f"        [e[0] for e in edges], [e[1] for e in edges], columns={lists!r},",
        f"        vertices={vertices}, directed={graph.directed}, strategy={task.strategy!r})",
        *([f"    graph = graph.with_vertices({graph.vertex_table()!r})"] if graph.vertex_columns else []),
        f"    for options in {runs!r}:",
        f"        result = gl.run(P({', '.join(made)}), graph, **options)",
        "        print(result.vertices.to_dict(), result.history)",
    ]
    return "\n".join(lines) + "\n"


# ---- on the ranks ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mode:
    """One way to run a task: the engine of supersteps, the reference, or the task's own engine."""

    name: str
    compile: str = "require"
    threads: int = 1
    own: bool = False  # by the task's own engine


COMPILED, INTERPRETED = Mode("compiled"), Mode("interpreted", "never")
THREADS = Mode("2 threads", threads=2)  # by a job that has run once before
REFERENCE, OWN = Mode("reference"), Mode("engine", own=True)
OWN_INTERPRETED = Mode("engine interpreted", "never", own=True)
Answer = tuple[str, Any]  # ("answer", ...), ("fault", text), ("refused", text) or ("broken", text)


@contextmanager
def trees_remembered() -> Iterator[None]:
    """Let a program that runs in several modes be parsed once; that is what takes the time."""
    import gaslab.compiler as compiler
    from gaslab.engine import reference_run

    parse, trees = compiler.parse_phases, {}

    def remembered(cls: type, shapes: Any = None, debugging: bool = False) -> Any:
        key = (cls, debugging, tuple(sorted((shapes or {}).items())))
        if key not in trees:
            trees[key] = parse(cls, shapes, debugging)
        return trees[key]

    with (
        patch.object(compiler, "parse_phases", remembered),
        patch.object(reference_run, "parse_phases", remembered),
    ):
        yield


def module_of(name: str, text: str) -> types.ModuleType:
    """Return a module made of *text*, its source where tracebacks and the compiler look for it."""
    name = f"{name}_{short(text)[:8]}"
    filename = f"<{name}>"
    if name not in sys.modules:
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = filename
        exec(compile(text, filename, "exec"), vars(module))
    return sys.modules[name]


def answers(comm: Comm, task: Task, modes: list[Mode]) -> list[tuple[str, Any]]:
    """Return what each mode gives; beyond rank 0 a hash of it."""
    with trees_remembered():
        found = in_modes(comm, task, modes)
    if comm.rank:
        return [(kind, short(value)) for kind, value in found]
    return found


def in_modes(comm: Comm, task: Task, modes: list[Mode]) -> list[Answer]:
    """Return what each mode gives."""
    from gaslab.errors import GaslabError

    found: list[Answer] = []
    try:
        graph = task.graph.build(comm, task.strategy)
        module = module_of(task.name, task.text)
    except Exception as error:
        return [("broken", f"{type(error).__name__}: {error}")] * len(modes)
    for mode in modes:
        try:
            found.append(("answer", run(task, graph, module, mode)))
        except GaslabError as error:
            kind = "fault" if type(error).__name__ in ("ExecutionError", "TimeoutExpired") else "refused"
            found.append((kind, f"{type(error).__name__}: {error}"))
        except Exception as error:  # what the program's own Python raises, or a mistake of the engine
            found.append(("broken", f"{type(error).__name__}: {error}"))
    return found


def short(value: Any) -> str:
    """Return a hash of an answer."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def run(task: Task, graph: Graph, module: types.ModuleType, mode: Mode) -> dict[str, Any]:
    """Run a task in one mode; return all of its answer."""

    made = dict(task.parameters)
    if task.right_source:
        made["source"] = gl.right(made["source"])
    program = module.P(**made)
    options = dict(task.options)
    if isinstance(options.get("start"), dict):
        an_id = next(iter(options["start"]), 0)
        options["start"] = {v: _said(m, module, an_id) for v, m in options["start"].items()}
    if mode is REFERENCE or mode.name == "reference":
        options["engine"] = "reference"
    elif mode.own:
        options["engine"] = task.engine
    limit = {} if isinstance(options.get("engine"), gl.Async) else {"max_iterations": task.limit}
    warnings.simplefilter("ignore")
    how = {"threads": mode.threads, "compile": mode.compile, "timeout": SECONDS, "edges": True, **limit}
    if "resumed" in task.features and options.get("engine") != "reference":
        result = resumed(program, graph, how | options)
    elif mode.threads == 1:
        with patch.object(delivery, "ALWAYS_PUSHED", 0):  # small frontiers are pulled as on large graphs
            result = gl.run(program, graph, **how, **options)
    else:
        own = {name: options.pop(name) for name in ("init", "start") if name in options}
        with gl.prepare(program, graph, **how, **options) as job:
            job.run(**own)
            result = job.run(**own)
    vertices = {name: plain(list(result.vertices[name])) for name in result.vertices.columns}
    ids = [plain(list(x)) for x in result.edges.ids] if result.edges.columns else []
    edges = {
        name: sorted(zip(*ids, plain(list(result.edges[name])), strict=True), key=repr)
        for name in result.edges.columns
    }
    of_engine = mode.own and task.engine != gl.Stale(0)  # in an order of its own
    history = (
        []
        if of_engine
        else [{k: plain(x) for k, x in row.items() if k not in OF_A_RANK} for row in result.history]
    )
    return {
        "ids": plain(list(result.vertices.ids)),
        "vertices": vertices,
        "edges": edges,
        "history": history,
        "aggregates": plain(result.aggregates),
        "first": plain(result.initial_aggregates),
        "iterations": 0 if of_engine else int(result.iterations),
        "converged": bool(result.converged),
    }


def resumed(program: gl.VertexProgram, graph: Graph, options: dict[str, Any]) -> gl.Result:
    """Run some supersteps, and the rest from a checkpoint; without supersteps, from the last one."""
    comm = graph.comm
    folder = comm.bcast(tempfile.mkdtemp(prefix="gaslab-resumed-") if comm.rank == 0 else "")
    first: dict[str, Any] = {**options, "checkpoint": folder, "every": 1}
    if isinstance(options.get("engine"), gl.Async):
        first["every"] = "0s"
    else:
        limit = options["max_iterations"]
        first["max_iterations"] = 1 + graph.num_edges % 4 if limit is None else limit // 2
    try:
        gl.run(program, graph, **first)
        return gl.run(program, graph, **{**options, "checkpoint": folder, "resume": "auto"})
    finally:
        if comm.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)


def _said(message: Any, module: types.ModuleType, an_id: Any) -> Any:
    if isinstance(message, str) and message.startswith("P."):
        return getattr(module.P, message[2:-2])()
    if isinstance(message, tuple):
        return tuple(an_id if x == "an id" else x for x in message)
    return an_id if message == "an id" else message


def plain(value: Any) -> Any:
    """Return a value made of Python's own types."""
    if isinstance(value, dict):
        return {plain(k): plain(x) for k, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if type(value).__mro__[1:2] and type(value).__mro__[1].__name__ == "Accumulator":
        return [plain(np.asarray(part).tolist()) for part in vars(value).values()]
    if getattr(value, "ndim", 0):
        return [plain(x) for x in value.tolist()]
    return value.item() if hasattr(value, "item") else value
