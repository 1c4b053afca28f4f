"""A folder that is torn, flipped, cut short, mixed or made up is refused, and never read as a graph."""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import InputError
from gaslab.parallel.comm import Comm
from gaslab.storage.manifest import NAME
from gaslab.storage.sealed import SEAL, TAIL
from tests.mpi.ranks import Ranks
from tests.storage.saved import folder, kinds
from tests.support.threadcomm import run_ranks

FAULTS = 500


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Graphs of all kinds, each saved in two parts."""
    place = tmp_path_factory.mktemp("saved")

    def save(comm: Comm) -> None:
        for number, graph in enumerate(kinds(comm).values()):
            graph.save(place / f"graph{number}")

    run_ranks(2, save)
    return place


def load(path: Path) -> str:
    """Load the graph in a folder on two ranks; return its fingerprint."""
    return run_ranks(2, lambda comm: gl.load_graph(path, comm=comm).fingerprint)[0]


def files(graph: Path) -> list[Path]:
    return sorted(path for path in graph.rglob("*") if path.is_file())


def test_500_damaged_folders_are_refused_each_by_its_file(saved: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    graphs = sorted(saved.iterdir())
    for number in range(FAULTS):
        source = graphs[rng.integers(len(graphs))]
        broken = tmp_path / f"broken{number}"
        shutil.copytree(source, broken)
        every = files(broken)
        path = every[rng.integers(len(every))]
        content = bytearray(path.read_bytes())
        kind = ("flipped", "cut", "torn", "longer", "missing", "mixed")[number % 6]
        at = int(rng.integers(len(content)))
        if kind == "flipped":
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == "cut":
            del content[at:]
        elif kind == "torn":  # a block that never reached the disk
            lo = at // 512 * 512
            hole = bytes(len(content[lo : lo + 512]))
            if content[lo : lo + 512] == hole:
                continue
            content[lo : lo + 512] = hole
        elif kind == "longer":
            content += bytes(rng.integers(1, 9))
        elif kind == "mixed":  # the same file of another graph
            other = graphs[(graphs.index(source) + 1) % len(graphs)] / path.relative_to(broken)
            if path.name == NAME or not other.exists() or other.read_bytes() == bytes(content):
                continue
            content[:] = other.read_bytes()
        if kind == "missing":
            path.unlink()
        else:
            path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            load(broken)
        assert str(path.parent if kind == "missing" else path) in str(caught.value), (kind, path)
        shutil.rmtree(broken)
    assert all(load(graph) for graph in graphs)


def test_folders_that_are_no_saved_graph_of_this_version(saved: Path, tmp_path: Path) -> None:
    cases = {
        "no file": (None, "is not a saved graph, since it has no gaslab-graph.json"),
        "other JSON": (b'{"a": 1}', "does not say that it is a gaslab graph"),
        "a list": (b"[1, 2]", "does not say that it is a gaslab graph"),
        "no JSON": (b"\x93NUMPY\xff", "is damaged or cut short"),
        "nothing": (b"", "is damaged or cut short"),
        "later": (
            b'{"format": "gaslab graph", "version": 2}',
            "has the version 2, and gaslab .* reads",
        ),
        "earlier": (
            b'{"format": "gaslab graph", "version": 0}',
            "has the version 0, .* save the graph",
        ),
    }
    for number, (content, message) in enumerate(cases.values()):
        place = tmp_path / str(number)
        place.mkdir()
        if content is not None:
            (place / NAME).write_bytes(content)
        with pytest.raises(InputError, match=message):
            gl.load_graph(place)
    with pytest.raises(InputError, match="is not a saved graph"):
        gl.load_graph(tmp_path / "nowhere")


def forged(graph: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest, and seal it as if gaslab had written it."""
    known = json.loads((graph / NAME).read_bytes())
    del known["sha256"]
    change(known)
    content = json.dumps(known, indent=1).encode().removesuffix(b"\n}") + b",\n"
    seal = SEAL + hashlib.sha256(content).hexdigest().encode() + b'"\n}\n'
    assert len(seal) == TAIL
    (graph / NAME).write_bytes(content + seal)


def with_array(graph: Path, part: int, name: str, values: np.ndarray) -> None:
    """Put another array into a part, with the right checksum."""
    path = graph / f"part-{part:05d}" / f"{name}.npy"
    np.save(path, values)
    content = path.read_bytes()

    def change(known: dict[str, Any]) -> None:
        known["parts"][part]["arrays"][name] = {
            "dtype": values.dtype.str, "shape": list(values.shape), "bytes": len(content),
            "crc32": f"{zlib.crc32(content):08x}",
        }  # fmt: skip

    forged(graph, change)


def lists_at(place: Path) -> Path:
    return place / f"graph{list(kinds(Comm())).index('columns')}"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("in_neighbor", lambda x: x + 1000, "in_neighbor has values outside of 0 to"),
        ("in_neighbor", lambda x: x - 1000, "in_neighbor has values outside of 0 to"),
        ("in_neighbor", lambda x: x.astype("i8"), "in_neighbor is int64"),
        ("in_neighbor", lambda x: x[:-1], "in_begin do not rise from 0"),
        ("in_begin", lambda x: x[::-1].copy(), "in_begin do not rise from 0"),
        ("in_begin", lambda x: x[:-1], "in_begin is int64 in shape"),
        ("gid", lambda x: x + 10**9, "gid has values outside of 0 to 59"),
        ("in_degree", lambda x: -x - 1, "in_degree has values outside of 0"),
        ("send_list", lambda x: x + 1000, "send_list has values outside of 0 to"),
        ("send_list", lambda x: x[:-1], "send_list is int32 in shape"),
        ("send_bounds", lambda x: x - 1, "send_list is int32 in shape"),
        ("send_bounds", lambda x: x - [[1, 0, 0, 0]], "send_bounds do not begin at 0"),
        ("mirror_bounds", lambda x: x[:1], "mirror_bounds is int64 in shape"),
        ("mirror_bounds", lambda x: x[::-1].copy(), "mirror_bounds"),
        ("edge-0", lambda x: x[:-1], "edge-0 has no value of column 'weight' for each of"),
        ("edge-0", lambda x: x.astype("f4"), "edge-0 has no value of column 'weight'"),
        ("edge-4-lengths", lambda x: x + 1, "edge-4-lengths are not those of edge-4-values"),
        ("edge-4-lengths", lambda x: -x, "edge-4-lengths has values outside"),
        ("vertex-0", lambda x: x[1:], "vertex-0 has no value of column 'degree' for each of"),
    ],
)
def test_arrays_that_fit_their_checksum_and_no_graph(
    name: str, change: Callable[[np.ndarray], np.ndarray], message: str, saved: Path, tmp_path: Path
) -> None:
    graph = tmp_path / "graph"
    shutil.copytree(lists_at(saved), graph)
    with_array(graph, 1, name, change(np.load(graph / "part-00001" / f"{name}.npy")))
    with pytest.raises(InputError, match=f"part-00001: .*{message}"):
        load(graph)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ids-0-starts", lambda x: x[:-1], "ids-0-starts has no id for each of"),
        ("ids-0-starts", lambda x: x[::-1].copy(), "ids-0-starts are no starts of names"),
        ("ids-0-text", lambda x: x[:-9], "ids-0-text is not as long as its names"),
    ],
)
def test_names_that_fit_their_checksum_and_no_graph(
    name: str, change: Callable[[np.ndarray], np.ndarray], message: str, saved: Path, tmp_path: Path
) -> None:
    graph = tmp_path / "graph"
    shutil.copytree(saved / f"graph{list(kinds(Comm())).index('text')}", graph)
    with_array(graph, 0, name, change(np.load(graph / "part-00000" / f"{name}.npy")))
    with pytest.raises(InputError, match=f"part-00000: .*{message}"):
        load(graph)


@pytest.mark.parametrize(
    "change",
    [
        lambda known: known.pop("counts"),
        lambda known: known.update(directed="yes"),
        lambda known: known.update(num_vertices=-1),
        lambda known: known.update(num_vertices="60"),
        lambda known: known.update(parts=[]),
        lambda known: known.update(sides=[]),
        lambda known: known["sides"][0].update(kind="object"),
        lambda known: known["sides"][0].update(num_vertices=7),
        lambda known: known["edge_columns"][0].update(dtype="O"),
        lambda known: known["edge_columns"][0].update(dtype="nonsense"),
        lambda known: known["parts"][0].update(arrays={"gid": {}}),
        lambda known: known["parts"][0].update(arrays=7),
        lambda known: known["parts"][0].pop("edges"),
        lambda known: known["parts"][0]["arrays"].pop("gid"),
        lambda known: known["parts"][0]["arrays"]["gid"].update(shape=["a"]),
        lambda known: known["parts"][0]["arrays"]["gid"].update(dtype="O"),
        lambda known: known["parts"][0]["arrays"].update({"../../gid": known["parts"][0]["arrays"]["gid"]}),
    ],
)
def test_manifests_that_are_sealed_and_no_graph(
    change: Callable[[dict[str, Any]], None], saved: Path, tmp_path: Path
) -> None:
    graph = tmp_path / "graph"
    shutil.copytree(lists_at(saved), graph)
    forged(graph, change)
    with pytest.raises(InputError, match=str(graph)):
        load(graph)


def test_parts_of_two_graphs_with_their_own_checksums(saved: Path, tmp_path: Path) -> None:
    graph, other = tmp_path / "graph", saved / "graph3"
    shutil.copytree(saved / "graph0", graph)
    shutil.rmtree(graph / "part-00001")
    shutil.copytree(other / "part-00001", graph / "part-00001")
    entry = json.loads((other / NAME).read_bytes())["parts"][1]
    forged(graph, lambda known: known["parts"].__setitem__(1, entry))
    with pytest.raises(InputError, match=str(graph)):
        load(graph)


def damaged_on_one_rank(comm: Comm) -> None:
    with folder(comm) as place:
        kinds(comm)["columns"].save(place / "graph")
        if comm.rank == comm.size - 1:
            path = place / "graph" / f"part-{comm.rank:05d}" / "gid.npy"
            content = bytearray(path.read_bytes())
            content[-1] ^= 1
            path.write_bytes(content)
        comm.barrier()
        with pytest.raises(InputError, match=r"gid.npy: its CRC-32 is not that of the manifest"):
            gl.load_graph(place / "graph", comm=comm)


def test_damage_that_one_rank_finds_ends_all(ranks: Ranks) -> None:
    ranks.run(damaged_on_one_rank)
