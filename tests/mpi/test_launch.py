"""What the environment says of the launcher, cores, threads and polling."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import gaslab as gl
from gaslab.errors import LaunchError
from gaslab.parallel import launch, polling
from gaslab.parallel.comm import Comm
from gaslab.parallel.launch import Launcher
from tests.mpi.launcher import environment
from tests.mpi.ranks import Ranks

ENVIRONMENTS = [
    ({}, Launcher("none", 1, 0, 1, 0)),
    (
        {"PMI_SIZE": "4", "PMI_RANK": "3", "MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "1"},
        Launcher("Hydra (MPICH)", 4, 3, 2, 1),
    ),
    (
        {"PMI_SIZE": "4", "PMI_RANK": "1", "I_MPI_HYDRA_DEBUG": "0", "MPI_LOCALNRANKS": "4"},
        Launcher("Hydra (Intel MPI)", 4, 1, 4, 0),
    ),
    (
        {
            "OMPI_COMM_WORLD_SIZE": "8",
            "OMPI_COMM_WORLD_RANK": "5",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
            "OMPI_COMM_WORLD_LOCAL_RANK": "1",
            "PMIX_RANK": "5",
        },
        Launcher("Open MPI", 8, 5, 4, 1),
    ),
    (
        {
            "SLURM_STEP_NUM_TASKS": "6",
            "SLURM_PROCID": "4",
            "SLURM_LOCALID": "1",
            "SLURM_STEP_TASKS_PER_NODE": "3(x2)",
            "PMIX_RANK": "4",
        },
        Launcher("Slurm (PMIx)", 6, 4, 3, 1),
    ),
    (
        {"PMI_SIZE": "6", "PMI_RANK": "2", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "6"},
        Launcher("Slurm (PMI)", 6, 2, 6, 0),
    ),
    # A batch script of many tasks is itself one process, whatever the job has.
    ({"SLURM_NTASKS": "64", "SLURM_PROCID": "0", "SLURM_JOB_ID": "7"}, Launcher()),
    ({"PMIX_RANK": "2"}, Launcher("PMIx", 0, 2, 1, 0)),
    ({"PMI_SIZE": "1", "PMI_RANK": "0"}, Launcher("Hydra (MPICH)", 1, 0, 1, 0)),
]


@pytest.mark.parametrize(("environment", "expected"), ENVIRONMENTS, ids=lambda x: getattr(x, "name", ""))
def test_launchers_are_recognised(environment: dict[str, str], expected: Launcher) -> None:
    assert launch.launcher(environment) == expected


def test_one_process_or_none_is_not_parallel() -> None:
    assert not Launcher().parallel
    assert not launch.launcher({"PMI_SIZE": "1"}).parallel
    assert launch.launcher({"PMIX_RANK": "0"}).parallel


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without launcher, threads or tuning, on a machine of four cores."""
    for name in list(os.environ):
        if (
            name.startswith(("PMI", "OMPI_", "MPIR_", "SLURM_", "MV2_", "OMP_"))
            or name in launch.ALLOW_SINGLETON
        ):
            monkeypatch.delenv(name)
    monkeypatch.setattr(launch, "usable_cores", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    return monkeypatch


def started(plain: pytest.MonkeyPatch, ranks: int) -> None:
    plain.setenv("PMI_SIZE", str(ranks))
    plain.setenv("PMI_RANK", "0")
    plain.setenv("MPI_LOCALNRANKS", str(ranks))


@pytest.mark.parametrize(("ranks", "tuned"), [(2, False), (4, False), (5, True)])
def test_polling_is_tuned_only_where_ranks_outnumber_cores(
    plain: pytest.MonkeyPatch, ranks: int, tuned: bool
) -> None:
    started(plain, ranks)
    assert polling.wanted_by_mpi() == (polling._MPI if tuned else {})
    assert polling.wanted_by_openmp() == ({"OMP_WAIT_POLICY": "passive"} if tuned else {})


def test_what_the_user_set_stays(plain: pytest.MonkeyPatch) -> None:
    started(plain, 8)
    plain.setenv("MPIR_CVAR_POSIX_POLL_FREQUENCY", "77")
    plain.setenv("OMP_WAIT_POLICY", "active")
    polling.set_for_job()
    assert os.environ["MPIR_CVAR_POSIX_POLL_FREQUENCY"] == "77"
    assert os.environ["OMP_WAIT_POLICY"] == "active"
    assert os.environ["MPIR_CVAR_CH4_PROGRESS_THROTTLE"] == "1"
    assert os.environ["MPIR_CVAR_ENABLE_HEAVY_YIELD"] == "1"


def test_threads_wait_passively_where_they_outnumber_cores(plain: pytest.MonkeyPatch) -> None:
    started(plain, 2)
    plain.setenv("OMP_NUM_THREADS", "4")
    assert polling.wanted_by_openmp() == {"OMP_WAIT_POLICY": "passive"}
    assert polling.wanted_by_mpi() == {}


def test_without_a_launcher_nothing_is_set(plain: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    polling.set_for_job()
    assert dict(os.environ) == before


def test_variables_are_set_within_the_block_alone(plain: pytest.MonkeyPatch) -> None:
    started(plain, 5)
    before = dict(os.environ)
    with polling.set_while_loading(polling.wanted_by_mpi()):
        assert {*polling._MPI} <= {*os.environ}
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("variables", "local_ranks", "threads"),
    [
        ({}, 1, 4),
        ({}, 2, 2),
        ({}, 3, 1),
        ({}, 9, 1),
        ({"SLURM_CPUS_PER_TASK": "16"}, 2, 16),
        ({"OMP_NUM_THREADS": "3", "SLURM_CPUS_PER_TASK": "16"}, 2, 3),
        ({"OMP_NUM_THREADS": "6,2"}, 1, 6),
        ({"OMP_NUM_THREADS": ""}, 1, 4),
        ({"OMP_NUM_THREADS": " ", "SLURM_CPUS_PER_TASK": "2"}, 1, 2),
    ],
)
def test_threads(
    plain: pytest.MonkeyPatch, variables: dict[str, str], local_ranks: int, threads: int
) -> None:
    for name, value in variables.items():
        plain.setenv(name, value)
    assert launch.threads_per_rank(local_ranks) == threads


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"])
@pytest.mark.parametrize("value", ["x", "0", "-1", "1.5", "²", "x,2"])
def test_a_number_of_threads_that_is_none_is_an_error(
    plain: pytest.MonkeyPatch, name: str, value: str
) -> None:
    started(plain, 2)
    plain.setenv(name, value)
    assert polling.wanted_by_openmp() == {}  # as for a first kernel, when no threads are asked for yet
    with pytest.raises(LaunchError) as caught:
        launch.threads_per_rank()
    needed = "a whole number of at least 1 is needed; correct it or unset it"
    assert str(caught.value) == f"{name}={value!r}: {needed}"


@pytest.mark.parametrize(("value", "allowed"), [("0", False), ("no", False), ("False", False), ("1", True)])
def test_singletons_are_allowed_by_a_true_word(plain: pytest.MonkeyPatch, value: str, allowed: bool) -> None:
    plain.setenv(launch.ALLOW_SINGLETON, value)
    assert launch.singleton_allowed() is allowed


def test_a_bound_rank_has_the_cores_it_is_bound_to(plain: pytest.MonkeyPatch) -> None:
    plain.setattr(os, "sched_getaffinity", lambda _: {3})
    assert launch.threads_per_rank(2) == 1


def test_the_wrong_launcher_is_an_error_that_names_the_fix(plain: pytest.MonkeyPatch) -> None:
    started(plain, 4)
    launch.check_world(4)
    with pytest.raises(LaunchError) as caught:
        launch.check_world(1)
    assert str(caught.value) == (
        "Hydra (MPICH) started 4 processes, but each sees an MPI world of 1: this mpiexec and the MPI "
        "that mpi4py loads are not the same; start with the mpiexec of that MPI (`gaslab doctor` names it), "
        "or pass --allow-singleton (GASLAB_ALLOW_SINGLETON=1) to run 4 separate copies"
    )
    plain.setenv(launch.ALLOW_SINGLETON, "1")
    launch.check_world(1)


# A process that believes in a launcher of another MPI than the one it loads finds itself alone.
_PRETENDED = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}


def pretend(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gaslab", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(**_PRETENDED), timeout=60, check=False
    )


@pytest.mark.slow
def test_a_command_under_the_wrong_launcher_ends(tmp_path: Path) -> None:
    edges = tmp_path / "edges.txt"
    edges.write_text("0 1\n1 2\n")
    done = pretend("degrees", str(edges))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("gaslab: Open MPI started 4 processes, but each sees an MPI world of 1")
    assert "Traceback" not in done.stderr
    alone = pretend("degrees", str(edges), "--allow-singleton", "--quiet", "--top", "1")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert "out_edges" in alone.stdout


@pytest.mark.slow
def test_doctor_finds_the_wrong_launcher() -> None:
    done = pretend("doctor")
    assert done.returncode == 1
    assert "✗ mpi " in done.stdout
    assert "-> start with the mpiexec of the MPI named above" in done.stdout


def test_mpich_knows_the_variables_that_are_set() -> None:
    mpivars = Path(sys.executable).with_name("mpivars")
    if not mpivars.exists():
        pytest.skip("no mpivars: not MPICH")
    known = subprocess.run([str(mpivars)], capture_output=True, text=True, timeout=60, check=False).stdout
    for name in polling._MPI:
        if name.startswith("MPIR_"):
            assert f"{name} " in known.replace("=", " "), name


@pytest.mark.parametrize(
    ("text", "cores"),
    [("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000", 1), ("max 100000", 8), ("", 8)],
)
def test_a_cpu_quota_counts(tmp_path: Path, text: str, cores: int) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert launch._quota(8, str(tmp_path / "cpu.max")) == cores
    assert launch._quota(8, str(tmp_path / "missing")) == 8


def said_of_small_graphs(comm: Comm) -> list[str]:
    """Return what two runs on a graph of two edges log about its size; for `Ranks.run`."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("gaslab")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with mock.patch.object(launch, "_said_small", False):
            graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
            gl.components(graph)
            gl.degrees(graph)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    return [line for line in said if "edges on" in line]


def test_runs_on_small_graphs_say_once_from_which_size_ranks_pay(ranks: Ranks) -> None:
    line = f"2 edges on {ranks.size} ranks: one rank is mostly faster below about 1,000,000 edges"
    first, *others = ranks.run(said_of_small_graphs)
    assert first == ([line] if ranks.size > 1 else [])
    assert others == [[]] * (ranks.size - 1)


def test_a_large_graph_is_not_too_small_for_ranks(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gaslab"), mock.patch.object(launch, "_said_small", False):
        launch.say_small(launch.RANKS_PAY, 2)
        assert not caplog.messages
        launch.say_small(launch.RANKS_PAY - 1, 2)
        assert len(caplog.messages) == 1
