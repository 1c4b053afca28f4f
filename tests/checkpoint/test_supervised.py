"""A command under ``gaslab supervise`` whose rank is killed goes on from its checkpoint, to the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import LONG
from tests.mpi.launcher import command, environment
from tests.support.long_job import wait_for, words


@pytest.mark.slow
@pytest.mark.parametrize("strikes", [1, 2] if LONG else [2])
def test_a_supervised_command_ends_with_the_same_bits(strikes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    graph, saved = tmp_path / "graph.tsv", tmp_path / "saved"
    np.savetxt(graph, rng.integers(0, 2000, (10000, 2)), "%d")
    whole, again = tmp_path / "whole.tsv", tmp_path / "again.tsv"
    subprocess.run(
        command(2, *words(graph, "-o", whole)[1:]), env=environment(), check=True, capture_output=True
    )
    job = [sys.executable, "-m", "gaslab", "supervise", "-n", "2", "--checkpoint", saved, "--every", "20"]
    job += ["--", *words(graph, "-o", again)[3:]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(job, env=environment(), text=True, **pipes) as supervisor:
        try:
            for strike in range(strikes):
                wait_for(saved, f"superstep-{40 + 80 * strike:08d}")
                (said,) = saved.glob(f".supervise-*/{strike}/rank-1")
                os.kill(json.loads(said.read_text())["pid"], signal.SIGKILL)
            out, err = supervisor.communicate(timeout=120)
        finally:
            supervisor.kill()
    assert (supervisor.returncode, out) == (0, ""), err
    assert err.count("was ended by SIGKILL in superstep") == strikes
    assert err.count(f"restarting 2 ranks from {saved}/superstep-") == strikes
    assert again.read_bytes() == whole.read_bytes()
    assert not [path.name for path in saved.iterdir() if path.name.startswith(".")]
