"""Two machines on one: network namespaces with an address each, between which ranks talk over TCP."""

from __future__ import annotations

import contextlib
import secrets
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mpi.launcher import mpiexec

OVER_TCP = ("UCX_TLS=tcp,self", "FI_PROVIDER=tcp")  # else memory, which both machines share here
LAUNCH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec %s-$host sh -c "$*"
"""


class Machines:
    """Two machines that are linked; commands run on the first, and start ranks on both."""

    def __init__(self, folder: Path) -> None:
        """Make the namespaces; skips the test where this process may not, or MPICH is not the MPI."""
        if len(mpiexec()) > 1:
            pytest.skip("the ranks of two namespaces are started by MPICH's mpiexec")
        self._name = f"gl{secrets.token_hex(2)}"
        net = 1 + secrets.randbelow(250)
        self.addresses = [f"10.213.{net}.{k}" for k in (1, 2)]
        self._links = [f"{self._name}-{k}" for k in (1, 2)]
        self._shell = folder / "shell"
        self._shell.write_text(LAUNCH % self._name)
        self._shell.chmod(self._shell.stat().st_mode | stat.S_IXUSR)
        self._spaces: list[str] = []

    def begin(self) -> None:
        for address in self.addresses:
            self._ip("netns", "add", f"{self._name}-{address}")
            self._spaces.append(f"{self._name}-{address}")
        self._ip("link", "add", self._links[0], "type", "veth", "peer", "name", self._links[1])
        for link, space, address in zip(self._links, self._spaces, self.addresses, strict=True):
            self._ip("link", "set", link, "netns", space)
            self._ip("-n", space, "addr", "add", f"{address}/24", "dev", link)
            self._ip("-n", space, "link", "set", link, "up")
            self._ip("-n", space, "link", "set", "lo", "up")

    def end(self) -> None:
        for space in self._spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def _ip(self, *words: str) -> None:
        try:
            done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no `ip` to make network namespaces with")
        if done.returncode:
            pytest.skip(f"no network namespaces here: ip {' '.join(words)}: {done.stderr.strip()}")

    def command(self, *words: str) -> list[str]:
        """Return the command that runs one rank on each machine."""
        return [
            "ip", "netns", "exec", self._spaces[0], "env", *OVER_TCP, *mpiexec(),
            "-hosts", ",".join(self.addresses), "-iface", self._links[0], "-launcher", "ssh",
            "-launcher-exec", str(self._shell), "-n", "2", "-ppn", "1", *words,
        ]  # fmt: skip

    def cut(self) -> None:
        """Cut the link."""
        self._ip("-n", self._spaces[1], "link", "set", self._links[1], "down")

    def mend(self) -> None:
        """Mend the link."""
        self._ip("-n", self._spaces[1], "link", "set", self._links[1], "up")


@contextlib.contextmanager
def machines(folder: Path) -> Iterator[Machines]:
    """Make two machines for the block."""
    made = Machines(folder)
    try:
        made.begin()
        yield made
    finally:
        made.end()
