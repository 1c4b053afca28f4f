"""Wrong values at every parameter of every public call: it works, or an error names the parameter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.support.public_calls import calls, programs

ZOO: list[Any] = [
    None, "xyz", 1.5, float("nan"), float("inf"), [], {}, object(), -1, 0, True, b"x", np.array([1.5]),
    np.array([[1, 2], [3, 4]]), dict, 10**30, np.int64(2), np.array(["async", "sync"]),
]  # fmt: skip
CALLED = {"src": "source", "dst": "target"}  # what messages call ends of edges


def wrong_end(call: Callable[..., Any], name: str, value: Any) -> str | None:
    """Return what is wrong with how a call with this argument ends, None if it works or names it.

    It may name the vertex or the file that the argument means, instead.
    """
    try:
        call(**{name: value})
    except (gl.TimeoutExpired, gl.VertexNotFound):
        return None  # 10**30 supersteps are no wrong value
    except gl.GaslabError as error:
        text = str(error)
        named = name in text or CALLED.get(name, name) in text or isinstance(error, gl.InputError)
        named |= name == "path" and str(value) in text
        return None if named else text
    except Exception as error:
        return repr(error)
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_works_or_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # "xyz" is a path, too
    every = calls(tmp_path)
    known = {"run", "explain", "read_graph", "pagerank", "Graph.from_edges", "Table.take", "generate"}
    assert known <= {call.name for call in every}
    assert len(every) > 70
    bad = []
    for call in every:
        call.make(**dict.fromkeys({"timeout"} & call.needed.keys()))  # good arguments work, however long
        for name in call.parameters():
            for value in ZOO:
                if (end := wrong_end(call.make, name, value)) is not None:
                    bad.append(f"{call.name}({name}={value!r}): {end}")
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(("cls", "name"), programs(), ids=lambda one: getattr(one, "__name__", one))
def test_a_programs_parameter_is_of_its_type_or_named(cls: type, name: str) -> None:
    needed = {one: 1 for one in gl.program.parameter_annotations(cls) if not hasattr(cls, one)}
    for value in ZOO:
        said, made = None, None
        try:
            made = cls(**{**needed, name: value})
        except gl.UsageError as error:
            said = str(error)
        if said is not None:
            assert said.startswith(f"{cls.__name__}({name}=")
        else:
            assert name == "source" or type(getattr(made, name)) in (int, float, bool)


G = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"cost": [1.0, 2.0, 3.0]})
RUN = gl.programs.Components()
ERRORS: list[tuple[Any, str]] = [
    (lambda: gl.run(RUN, G, max_iterations="5"), "max_iterations='5': a whole number is needed, not str"),
    (lambda: gl.run(RUN, G, max_iterations=1.5), "max_iterations=1.5: a whole number is needed, not float"),
    (lambda: gl.run(RUN, G, max_iterations=True), "max_iterations=True: a whole number is needed, not bool"),
    (lambda: gl.run(RUN, G, max_iterations=-1), "max_iterations=-1: a whole number of at least 0 is needed"),
    (lambda: gl.run(RUN, G, threads=0), "threads=0: a whole number from 1 to 32768 is needed"),
    (lambda: gl.run(RUN, G, seed=1.5), "seed=1.5: a whole number is needed, not float"),
    (lambda: gl.run(RUN, G, timeout="x"), "timeout='x': a number is needed, not str"),
    (lambda: gl.run(RUN, G, timeout=float("nan")), "timeout=nan: a finite number is needed"),
    (lambda: gl.run(RUN, G, start=0),
     "start=0: an iterable of vertex ids, or a mapping from id to message, is needed, not int"),
    (lambda: gl.run(RUN, G, columns=["cost"]),
     "columns=['cost']: a mapping from field to column is needed, not list"),
    (lambda: gl.run(RUN, G, init=[1]), "init=[1]: a mapping from field to values is needed, not list"),
    (lambda: gl.run(RUN, G, engine=None), "engine=None is unknown; known: async, reference, sync"),
    (lambda: gl.run(RUN, G, engine="stlae"), "engine='stlae' is unknown; known: async, reference, sync"),
    (lambda: gl.run(RUN, G, engine="stale"),
     "engine='stale' does not say by how many supersteps values may lag; write "
     "engine=gl.Stale(staleness=2)"),
    (lambda: gl.run(RUN, G, engine=gl.Async),
     "engine= needs an instance: write gl.Async(), with its options if any"),
    (lambda: gl.Async(scheduler="lifo"), "Async(scheduler='lifo') is unknown; did you mean 'fifo'?"),
    (lambda: gl.Async(consistency="strict"),
     "Async(consistency='strict') is unknown; known: relaxed, serialisable"),
    (lambda: gl.Async(max_updates=-1), "Async(max_updates=-1): a whole number of at least 0 is needed"),
    (lambda: gl.Stale(staleness=-1), "Stale(staleness=-1): a whole number of at least 0 is needed"),
    (lambda: gl.Stale(staleness=1.5), "Stale(staleness=1.5): a whole number is needed, not float"),
    (lambda: gl.run(RUN, None), "graph=None: a gaslab.Graph is needed, not NoneType"),
    (lambda: gl.run(RUN, gl.Graph),
     "graph=<class 'gaslab.graph.graph.Graph'>: a gaslab.Graph is needed, not the class Graph"),
    (lambda: gl.run("RUN", G), "program='RUN': an instance of a VertexProgram is needed, not str"),
    (lambda: gl.read_graph(None), "path=None: a path, or a sequence of them, is needed, not NoneType"),
    (lambda: gl.pagerank(G, personalization=[1]),
     "personalization=[1]: a mapping to numbers is needed, not list"),
    (lambda: gl.pagerank(G, personalization={0: "x"}), "personalization[0]='x': a number is needed, not str"),
    (lambda: gl.pagerank(G, damping="x"), "damping='x': a number is needed, not str; 0.85 is usual"),
    (lambda: gl.pagerank(G, damping=1),
     "damping=1: a number of at least 0 and below 1 is needed; 0.85 is usual"),
    (lambda: gl.programs.PageRank(damping="x"),
     "PageRank(damping='x'): a number is needed, not str"),
    (lambda: gl.programs.Reach(registers=1.5), "Reach(registers=1.5): a whole number is needed, not float"),
    (lambda: gl.programs.Coloring(by_degree=1), "Coloring(by_degree=1): a bool is needed, not int"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors_say_name_value_and_what_is_needed(act: Any, text: str) -> None:
    with pytest.raises(gl.UsageError) as caught:
        act()
    assert str(caught.value) == text


def test_numpys_numbers_are_numbers_and_whole_floats_are_whole() -> None:
    assert arguments.whole("n", np.int64(5)) == arguments.whole("n", 5.0) == 5
    assert type(arguments.whole("n", np.uint8(5))) is int
    assert type(arguments.number("x", np.float32(0.5))) is float
    assert arguments.flag("f", np.bool_(False)) is False
    result = gl.run(RUN, G, max_iterations=np.int64(7), seed=np.uint32(3), timeout=np.float64(60))
    assert result.converged


class Broken:
    def __repr__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize("value", [Broken(), 10**5000, list(range(1000)), "a\nb" * 100],
                         ids=["broken", "huge", "long", "lines"])  # fmt: skip
def test_a_value_is_shown_on_one_short_line(value: Any) -> None:
    with pytest.raises(gl.UsageError) as caught:
        arguments.number("x", value, below=1)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def wrong_on_all(comm: Comm) -> list[str]:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], comm=comm)
    said = []
    for act in (
        lambda: gl.run(RUN, graph, max_iterations="5"),
        lambda: gl.run(RUN, graph, start=[[1]]),
        lambda: gl.pagerank(graph, damping="x"),
        lambda: graph.partitioned("3d"),
        lambda: graph.with_vertices({"id": [0]}, rows="some"),
        lambda: graph.ids.lookup([7 if comm.rank == comm.size - 1 else 0]),  # of one rank alone
        lambda: gl.Graph.from_edges([0], [1], comm=comm, directed="no"),
        lambda: gl.Graph.from_networkx(5, comm=comm),
        lambda: gl.Graph.from_networkx(5 if comm.rank else None, rows="root", comm=comm),
    ):
        with pytest.raises(gl.UsageError) as caught:
            act()
        said.append(str(caught.value))
    return said


def test_all_ranks_raise_the_same(ranks: Hosts) -> None:
    said = ranks.run(wrong_on_all)
    assert all(one == said[0] for one in said)


def test_the_door_is_quick_to_open() -> None:
    check = "import sys, gaslab.arguments; print('numpy' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", check], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
