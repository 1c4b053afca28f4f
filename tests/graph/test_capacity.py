"""Graphs whose number of vertices is only said: refused before memory is asked for that no machine has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab.ingest import capacity, generate
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

FREE = 10 << 20  # bytes, of a machine with little memory
MANY = 2 * capacity.FEW


def heads(folder: Path, count: int) -> dict[str, str]:
    """Return files whose heads say so many vertices, by what an error says in front."""
    texts = {
        "a.mtx": (f"%%MatrixMarket matrix coordinate pattern general\n% c\n{count} {count} 1\n1 2\n", ":3: "),
        "docword.a.txt": (f"{count}\n3\n1\n1 2 1\n", ": "),
        "docword.b.txt": (f"3\n{count}\n1\n1 2 1\n", ": "),
    }
    for name, (text, _) in texts.items():
        (folder / name).write_text(text)
    return {str(folder / name): f"{folder / name}{where}" for name, (_, where) in texts.items()}


def refused(comm: Comm, path: str) -> str:
    little = mock.patch.object(capacity, "available_memory", return_value=FREE * (1 + comm.rank))
    with little, pytest.raises(gl.InputError) as caught:
        gl.read_graph(path, comm=comm)
    return str(caught.value)


def test_a_head_that_says_more_than_there_is_room_for(ranks: Ranks, tmp_path: Path) -> None:
    for path, where in heads(tmp_path, MANY).items():
        said = ranks.run(refused, path)
        assert len({*said}) == 1
        assert said[0] == (
            f"{where}a graph of {MANY} vertices takes 134.2 MB of a machine at least, and 10.5 MB are free; "
            "is that number right? More machines hold more (mpiexec)"
        )


def test_a_head_that_says_more_than_any_rank_can_hold(tmp_path: Path) -> None:
    for path, where in heads(tmp_path, 3 * 10**11).items():
        with pytest.raises(gl.InputError) as caught:
            gl.read_graph(path)
        assert str(caught.value).startswith(
            f"{where}300000000000 vertices are more than the 2147483647 that "
        )


def _of_scipy() -> gl.Graph:
    sparse = pytest.importorskip("scipy.sparse")
    one = np.array([0])
    return gl.Graph.from_scipy(sparse.coo_array((np.ones(1), (one, one)), shape=(MANY, MANY)))


def _generated() -> gl.Graph:
    return gl.Graph.generate("erdos-renyi", vertices=MANY, edges=3)


@pytest.mark.parametrize("make", [_of_scipy, _generated])
def test_other_graphs_of_many_vertices(make: Callable[[], gl.Graph]) -> None:
    little = mock.patch.object(capacity, "available_memory", return_value=FREE)
    with little, pytest.raises(gl.InputError, match=f"a graph of {MANY} vertices takes 134.2 MB"):
        make()


SIZES: list[tuple[str, dict[str, int], int]] = [
    ("erdos-renyi", {"vertices": 5, "edges": 3 * 2**31}, 3 * 2**31),
    ("bipartite", {"left": 5, "right": 5, "edges": 3 * 2**31}, 3 * 2**31),
    ("rmat", {"scale": 20, "edge_factor": 3 * 2**11}, 3 * 2**31),
    ("grid", {"rows": 1 << 16, "columns": 1 << 16}, (1 << 33) - (1 << 17)),
]


def too_many(comm: Comm, kind: str, size: dict[str, int]) -> str:
    """Return the error for a graph that would not fit; no kernel may begin to make it."""
    with mock.patch.object(generate, "kernels"), pytest.raises(gl.InputError) as caught:
        gl.Graph.generate(kind, **size, comm=comm)
    return str(caught.value)


@pytest.mark.parametrize(("kind", "size", "edges"), SIZES)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_more_edges_than_ranks_can_number(ranks: Ranks, kind: str, size: dict[str, int], edges: int) -> None:
    holders = "1 rank" if ranks.size == 1 else "3 ranks"
    most = ranks.size * (2**31 - 1)
    said = f"{edges} edges are more than the {most} that {holders} can hold"
    assert ranks.run(too_many, kind, size) == [said] * ranks.size


def test_more_edges_than_there_is_memory_for() -> None:
    little = mock.patch.object(capacity, "available_memory", return_value=FREE)
    with little, pytest.raises(gl.InputError, match=f"a graph of {MANY} edges takes 33.6 MB of a machine"):
        gl.Graph.generate("erdos-renyi", vertices=5, edges=MANY)


def test_a_graph_of_which_there_is_room_is_read(tmp_path: Path) -> None:
    for path in heads(tmp_path, capacity.FEW + 5):
        assert gl.read_graph(path).num_vertices >= capacity.FEW + 5
