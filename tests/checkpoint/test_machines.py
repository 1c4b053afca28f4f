"""Ranks on two machines whose link is cut: the run waits for it, or goes on from its checkpoint."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.mpi.launcher import command, environment
from tests.mpi.namespaces import machines
from tests.support.long_job import wait_for, words


@pytest.mark.slow
def test_a_link_that_is_cut_costs_time_and_no_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    graph, saved = tmp_path / "graph.tsv", tmp_path / "saved"
    np.savetxt(graph, rng.integers(0, 2000, (10000, 2)), "%d")
    whole, paused, alone = (tmp_path / f"{name}.tsv" for name in ("whole", "paused", "alone"))
    subprocess.run(
        command(2, *words(graph, "-o", whole)[1:]), env=environment(), check=True, capture_output=True
    )
    how = ("--checkpoint", saved, "--every", 20, "--resume", "auto")
    with machines(tmp_path) as pair:
        run = pair.command(*words(graph, *how, "-o", paused))
        with subprocess.Popen(run, env=environment(), stderr=subprocess.PIPE, text=True) as job:
            try:
                wait_for(saved, "superstep-00000040")
                pair.cut()
                time.sleep(1.0)
                before = sorted(path.name for path in saved.iterdir())
                time.sleep(1.0)
                assert sorted(path.name for path in saved.iterdir()) == before  # nothing goes on
                pair.mend()
                _, said = job.communicate(timeout=120)
            finally:
                job.kill()
        assert job.returncode == 0, said
    assert paused.read_bytes() == whole.read_bytes()
    # The other machine is gone for good: what is left goes on from what both have saved.
    subprocess.run(words(graph, *how, "-o", alone), env=environment(), check=True, capture_output=True)
    assert np.allclose(np.loadtxt(alone), np.loadtxt(whole), 0.0, 1e-9)
