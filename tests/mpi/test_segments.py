"""Shared memory of killed jobs: removed on request, and nothing that is alive or somebody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gaslab.cli import main
from gaslab.errors import GaslabError
from gaslab.system import segments
from tests.mpi.launcher import command, environment, run_script
from tests.support.command_line import by_mpiexec

JOB = f"{os.getpid():08x}"  # a segment is known by its name alone, and this may run in several workers
NAMES = [
    f"mpich_shm_{JOB}_0",  # MPICH 4.3 and later
    f"mpich_vci_{JOB}_0",
    f"mpich_shar_tmp{JOB[-6:]}",  # MPICH before
    f"vader_segment.node7.{JOB}.0",  # Open MPI 3
    f"vader_segment.node7.1000.{JOB}.12",  # Open MPI 4
    f"sm_segment.node-7.cluster.1000.{JOB}.0",  # Open MPI 5
    f"osc_rdma.node7.{JOB}.3.1",
    f"osc_sm.node7.{JOB}.3",
    f"open_mpi.{os.getpid():08d}",
]
OTHERS = [
    *("psm2_shm.1", "sem.lock", "pulse-shm-17", "mpich_shm_", "mpich_shm_xyz_0", "mpich_shm_1_0.bak"),
    *("my_mpich_shm_1_0", "vader_segment", "sm_segment.1", "open_mpi.notes", "results.tsv"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shm"
    made.mkdir()
    for name in (*NAMES, *OTHERS):
        (made / name).write_bytes(b"x" * 5000)
    (made / "mpich_shm_d1_0").mkdir()
    (made / "mpich_shm_a1_0").symlink_to(tmp_path)
    return made


def dead(folder: Path) -> set[str]:
    return {segment.name for segment in segments.dead(str(folder))}


def test_names_of_mpich_and_open_mpi(folder: Path) -> None:
    found = segments.dead(str(folder))
    assert {segment.name for segment in found} == set(NAMES)
    assert all(segment.size >= 5000 for segment in found)
    assert segments.remove(found, str(folder)) == found
    assert {path.name for path in folder.iterdir()} == {*OTHERS, "mpich_shm_d1_0", "mpich_shm_a1_0"}
    assert segments.remove(found, str(folder)) == found  # gone is gone, no matter by which of two jobs


def test_what_this_process_has_open_stays(folder: Path) -> None:
    with open(folder / NAMES[0], "rb"):
        assert dead(folder) == set(NAMES[1:])
    assert dead(folder) == set(NAMES)


# Mapped and closed, as an MPI may keep it; Python's own mmap keeps the file open.
MAP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
file = os.open(sys.argv[1], os.O_RDONLY)
print(libc.mmap(None, 4096, 1, 1, file, 0) not in (None, 2**64 - 1))
os.close(file)
sys.stdout.flush()
sys.stdin.read()
"""


def test_what_another_process_maps_stays(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAP, str(folder / NAMES[2])], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert dead(folder) == set(NAMES) - {NAMES[2]}
        other.communicate()
    assert dead(folder) == set(NAMES)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_segments_of_others_stay_for_root_too(folder: Path) -> None:
    for name in NAMES[:4]:
        os.chown(folder / name, 54321, -1)
    assert dead(folder) == set(NAMES[4:])


def test_a_container_that_sees_only_itself_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = {"pid": "pid:[4026532999]", "ipc": "ipc:[4026531839]"}
    monkeypatch.setattr(segments.os, "readlink", lambda path: spaces[str(path).rpartition("/")[2]])
    with pytest.raises(GaslabError, match=r"this container shares .* does not see the processes"):
        segments.dead(str(folder))
    spaces["ipc"] = "ipc:[4026532888]"  # with memory of its own it sees all that there is
    assert segments._sees_all()


@pytest.mark.slow
def test_the_commands(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(segments, "FOLDER", str(folder))
    monkeypatch.setattr(segments.dead, "__defaults__", (str(folder),))
    monkeypatch.setattr(segments.remove, "__defaults__", (str(folder),))
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert f"{len(NAMES)} segments of killed jobs hold 0.1 MB in {folder}" in shown
    assert "`gaslab doctor --clean` removes them" in shown
    assert main(["doctor", "--clean"]) == 0
    assert capsys.readouterr().out == f"removed {len(NAMES)} segments of killed jobs, 0.1 MB\n"
    assert main(["doctor", "--clean"]) == 0
    assert capsys.readouterr().out == "removed 0 segments of killed jobs, 0.0 MB\n"
    assert main(["doctor"]) == 0
    assert "killed jobs" not in capsys.readouterr().out


ABORT = """
import os, sys
from gaslab.parallel.comm import world
comm = world()
comm.barrier()
if comm.rank == 0:
    maps = open("/proc/self/maps").read()
    print(*(name for name in os.listdir("/dev/shm") if name in maps), flush=True)
comm.barrier()
if comm.rank == comm.size - 1:
    os.kill(os.getpid(), 9)
comm.barrier()
"""

ALIVE = """
import sys
from gaslab.parallel.comm import world
comm = world()
comm.barrier()
print("ready", flush=True) if comm.rank == 0 else None
sys.stdin.read() if comm.rank == 0 else None
print(comm.allreduce(comm.rank), flush=True) if comm.rank == 0 else comm.allreduce(comm.rank)
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_after_an_abort_the_memory_is_free_and_jobs_that_run_go_on(tmp_path: Path, size: int) -> None:
    """The real folder, beside whatever else runs on this machine: only what was dead may be gone."""
    (tmp_path / "alive.py").write_text(ALIVE)
    (tmp_path / "abort.py").write_text(ABORT)
    with subprocess.Popen(
        command(2, str(tmp_path / "alive.py")), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment(),
    ) as alive:  # fmt: skip
        assert alive.stdout is not None
        assert alive.stdout.readline() == "ready\n"
        aborted = run_script(size, [str(tmp_path / "abort.py")])
        assert aborted.returncode != 0
        mapped = aborted.stdout.splitlines()[0].split()
        assert mapped
        done = by_mpiexec(size, "doctor", "--clean")
        assert (done.code, done.out.split()[0]) == (0, "removed")
        assert not [name for name in mapped if Path("/dev/shm", name).exists()]
        out, _ = alive.communicate("\n", timeout=60)
        assert out == "1\n"
