"""The GraphSAGE example: on any ranks the embeddings that numpy computes of whole matrices."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from examples.graphsage import by_numpy, embed, problem
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab
from tests.toolkit.test_examples import on_ranks, output_of

__all__ = ["gaslab"]  # a fixture


def on_ranks_of(comm: Comm) -> np.ndarray:
    return embed(*problem(60), comm).vertices["embedding"]


def test_embeddings_are_those_of_numpy(ranks: Ranks) -> None:
    expected = by_numpy(*problem(60))
    assert np.abs(expected).max() > 0.5
    for found in ranks.run(on_ranks_of):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_weights_of_other_shapes_are_another_network() -> None:
    edges, x, weights = problem(40)
    narrow = weights | {"own2": weights["own2"][:, :2], "mean2": weights["mean2"][:, :2], "bias2": [0.0, 0.5]}
    found = embed(edges, x, narrow).vertices["embedding"]
    assert found.shape == (40, 2)
    np.testing.assert_allclose(found, by_numpy(edges, x, narrow), rtol=0, atol=1e-12)


def test_graphsage_by_the_command_line(gaslab: Run, tmp_path: Path) -> None:
    edges, x, weights = problem(30)
    np.savetxt(tmp_path / "graph.tsv", edges, "%d", "\t")
    np.savez(tmp_path / "features.npz", id=np.arange(30), x=x)
    given = []
    for name, values in weights.items():
        np.save(tmp_path / f"{name}.npy", values)
        given += ["-p", f"{name}={tmp_path}/{name}.npy"]
    done = gaslab(
        "run", "examples/graphsage.py:GraphSAGE", tmp_path / "graph.tsv", "--undirected", "--vertices",
        tmp_path / "features.npz", *given, "-o", tmp_path / "out.tsv", "--fields", "embedding",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    found = np.array([[float(x) for x in row[1:]] for row in rows if row[0].isdigit()])
    np.testing.assert_allclose(found, by_numpy(edges, x, weights), rtol=0, atol=1e-12)


@pytest.mark.slow
@on_ranks
def test_graphsage_script(ranks: int) -> None:
    printed = re.findall(
        r"^1000 embeddings, which are numpy's but for (\S+)$", output_of(ranks, "examples/graphsage.py"), re.M
    )
    assert len(printed) == 1
    assert float(printed[0]) < 1e-12
