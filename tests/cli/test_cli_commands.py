"""``gaslab run``, ``compile``, ``info``, ``partition``, ``generate``, ``convert`` and ``doctor``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import gaslab as gl
from gaslab.cli.custom import load_class, typed
from gaslab.errors import UsageError
from tests.mpi.launcher import run_script
from tests.support.command_line import EDGES, Run, by_mpiexec, edges, gaslab, on_ranks, rows, weighted
from tests.support.strategies import COMPARED

__all__ = ["edges", "gaslab", "weighted"]  # fixtures

PROGRAM = """
from __future__ import annotations
import gaslab as gl

class Spread(gl.VertexProgram):
    source: gl.VertexId
    rate: float = 0.5
    rounds: int = 2
    lazy: bool = False

    class Vertex(gl.Vertex):
        heat: float = 0.0
        origin: gl.VertexId

    class Edge(gl.Edge):
        pull: float = 1.0

    def init(self, v: Vertex) -> None:
        v.origin = v.id
        v.heat = 1.0 if v.id == self.source else 0.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.pull * nbr.heat

    def apply(self, v: Vertex, total: float) -> None:
        if not self.lazy:
            v.heat = v.heat + self.rate * total

    def done(self) -> bool:
        return self.superstep + 1 >= self.rounds

class Other(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n = 10 // v.in_degree
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    return path


# ---- run -------------------------------------------------------------------------------------------


def heat(rate: float, rounds: int, pull: dict[int, float] | None = None) -> dict[int, float]:
    """Spread as plain Python."""
    now = {v: float(v == 3) for edge in EDGES for v in edge}
    for _ in range(rounds):
        total = dict.fromkeys(now, 0.0)
        for k, (s, t) in enumerate(EDGES):
            total[t] += (1.0 if pull is None else pull[k]) * now[s]
        now = {v: x + rate * total[v] for v, x in now.items()}
    return now


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_a_program_of_one_s_own(edges: Path, program: Path, tmp_path: Path, size: int) -> None:
    done = on_ranks(
        size, "run", f"{program}:Spread", edges, "-p", "source=3", "-p", "rate=0.25", "-p", "rounds=3",
        "-o", tmp_path / "heat.tsv", "--fields", "origin,heat",
    )  # fmt: skip
    assert done.code == 0, done.err
    text = (tmp_path / "heat.tsv").read_text()
    assert rows(text) == pytest.approx(heat(0.25, 3), rel=1e-12)
    assert all(line.split("\t")[0] == line.split("\t")[1] for line in text.splitlines())  # ids are the user's
    assert "gaslab: Spread: 3 supersteps" in done.err


def test_edge_fields_from_columns(gaslab: Run, weighted: Path, program: Path, tmp_path: Path) -> None:
    done = gaslab(
        "run", f"{program}:Spread", weighted, "-p", "source=3", "--column", "pull=km", "--fields", "heat",
        "-o", tmp_path / "heat.tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    expected = heat(0.5, 2, {k: 0.5 * k for k in range(len(EDGES))})
    assert rows((tmp_path / "heat.tsv").read_text()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("where", "words", "message"),
    [
        ("mine.py:Spraed", [], "mine.py has no vertex program 'Spraed'; did you mean 'Spread'?"),
        ("mine.py", [], "mine.py has several programs; name one: "),
        ("nobody.py:X", [], "there is no file "),
        ("no_such_module:X", [], "there is no module 'no_such_module'; to name a file, give its .py: "),
        ("mine.py:Spread", [], "Spread needs -p source=...: the parameter has no default"),
        ("mine.py:Spread", ["-p", "sorce=3"], "Spread has no parameter 'sorce'; did you mean 'source'?"),
        ("mine.py:Spread", ["-p", "source=3", "-p", "rate=fast"], "-p rate=fast: Spread.rate needs a number"),
        ("mine.py:Spread", ["-p", "source=3", "-p", "rounds=1.5"], "Spread.rounds needs a whole number"),
        ("mine.py:Spread", ["-p", "source=3", "-p", "lazy=maybe"], "Spread.lazy needs true or false"),
    ],
)  # fmt: skip
def test_usage_of_run(
    gaslab: Run, edges: Path, program: Path, where: str, words: list[str], message: str
) -> None:
    path = where if "/" in where or where.startswith("no_such") else f"{program.parent}/{where}"
    done = gaslab("run", path, edges, *words)
    assert done.code == 2
    assert message in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


def test_parameters_have_the_types_of_the_class(program: Path) -> None:
    cls = load_class(f"{program}:Spread")
    numbers = gl.Graph.from_edges([7], [8])
    names = gl.Graph.from_edges(["7"], ["8"])
    assert typed(cls, "source", "7", numbers) == 7
    assert typed(cls, "source", "7", names) == "7"
    assert [typed(cls, "lazy", word, names) for word in ("true", "False", "1", "no")] == [
        True,
        False,
        True,
        False,
    ]
    assert (typed(cls, "rate", "1e-3", names), typed(cls, "rounds", "12", names)) == (1e-3, 12)
    with pytest.raises(UsageError, match="is not a vertex id"):
        typed(cls, "source", "seven", numbers)


def test_a_program_that_fails_shows_where(gaslab: Run, edges: Path, program: Path) -> None:
    """Vertex 40 has no in-edges: 10 // 0."""
    done = gaslab("run", f"{program}:Other", edges, "--max-iterations", 1)
    assert done.code == 1
    assert "ExecutionError" in done.err
    assert "40" in done.err
    assert "10 // v.in_degree" in done.err


def test_a_file_that_fails_is_shown_with_its_traceback(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\nraise RuntimeError('not today')\n")
    done = gaslab("run", f"{tmp_path}/broken.py:X", edges)
    assert done.code == 1
    assert "Traceback" in done.err
    assert 'broken.py", line 2' in done.err
    assert done.err.splitlines()[-1] == "RuntimeError: not today"


def test_a_program_outside_the_language_is_shown_at_its_line(
    gaslab: Run, edges: Path, tmp_path: Path
) -> None:
    (tmp_path / "odd.py").write_text(PROGRAM.replace("self.rate * total", "self.rte * total"))
    done = gaslab("run", f"{tmp_path}/odd.py:Spread", edges, "-p", "source=3")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "self.rte" in done.err
    assert "did you mean" in done.err


# ---- compile ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("precision", [[], ["--precision", "float32"]], ids=str)
def test_compiled_ahead_it_runs_without_a_compiler(
    program: Path, edges: Path, tmp_path: Path, precision: list[str]
) -> None:
    cache = tmp_path / "cache"
    words = ["-m", "gaslab", "compile", f"{program}:Spread", *precision]
    made = run_script(1, words, GASLAB_CACHE_DIR=str(cache))
    assert made.returncode == 0, made.stderr
    paths = [Path(line) for line in made.stdout.splitlines()]
    assert paths
    assert all(path.parent == cache and path.exists() for path in paths)
    words = ["-m", "gaslab", "run", f"{program}:Spread", str(edges), "-p", "source=3", "--compile", "require"]
    words += precision
    nowhere = {"CC": "/no/compiler", "GASLAB_CACHE_DIR": str(cache)}
    assert run_script(1, words, **nowhere).returncode == 0
    without = run_script(1, words, **{**nowhere, "GASLAB_CACHE_DIR": str(tmp_path / "empty")})
    assert without.returncode == 1
    assert "no C compiler" in without.stderr
    assert "Traceback" not in without.stderr


def test_the_c_is_shown(gaslab: Run, program: Path) -> None:
    done = gaslab("compile", f"{program}:Spread", "--emit")
    assert done.code == 0
    assert "gl_init" in done.out
    assert "typedef double gl_real" in done.out


def test_a_program_in_another_precision(gaslab: Run, program: Path, edges: Path, tmp_path: Path) -> None:
    asked = ("--precision", "float32")
    assert "typedef float gl_real" in gaslab("compile", f"{program}:Other", "--emit", *asked).out
    assert "in float32" in gaslab("explain", f"{program}:Spread", *asked).out
    report = tmp_path / "run.json"
    assert gaslab("pagerank", edges, *asked, "--json", report).code == 0
    assert json.loads(report.read_text())["parameters"]["precision"] == "float32"
    done = gaslab("pagerank", edges, "--precision", "half")
    assert (done.code, "float64" in done.err) == (2, True)


# ---- info, partition -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_info(weighted: Path, tmp_path: Path, size: int) -> None:
    done = on_ranks(size, "info", weighted, "--json", tmp_path / "info.json", "-q")
    assert done.code == 0, done.err
    facts = dict(
        line.split(None, 1) for line in done.out.splitlines() if not line.startswith(("column", " "))
    )
    assert facts["vertices"] == "7  (ids: integers)"
    assert facts["edges"] == "9  (directed)"
    assert facts["self-loops"] == "1"
    assert facts["in-degree"] == "mean 1.3, largest 2"
    assert facts["degree"] == "mean 2.6, largest 4"
    assert "column weight  int64, 1 to 9" in done.out
    assert "column km      float64, 0 to 4" in done.out
    # Degrees 3: 3, 5: 3, 12: 3, 40: 1, 7: 2, 8: 2, 9: 4.
    counts = {
        line.split()[0]: int(line.split()[1]) for line in done.out.splitlines() if line.startswith("  ")
    }
    assert counts == {"1": 1, "2-3": 5, "4-7": 1}
    assert ("cut" in facts) == (size > 1)
    assert json.loads((tmp_path / "info.json").read_text())["counts"]["self_loops"] == 1


@pytest.mark.slow
def test_partition_compares_strategies_for_any_number_of_parts(
    gaslab: Run, edges: Path, tmp_path: Path
) -> None:
    done = gaslab("partition", edges, "-k", 5, "--json", tmp_path / "cuts.json")
    assert done.code == 0
    head, *table = done.out.splitlines()
    assert head.split() == ["strategy", "RF", "EB", "VB", "sent", "busiest", "pays", "after", "time"]
    report = json.loads((tmp_path / "cuts.json").read_text())
    assert [cut["strategy"] for cut in report["cuts"]] == [line.split()[0] for line in table]
    assert [cut["strategy"] for cut in report["cuts"]] == list(COMPARED)
    on_three = on_ranks(3, "partition", edges, "-k", 5)
    assert [line.split()[:4] for line in on_three.out.splitlines()] == [
        line.split()[:4] for line in done.out.splitlines()
    ]


def test_partition_writes_the_part_of_each_edge(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    words = ["-k", 3, "--strategy", "1d", "-o", tmp_path / "parts.csv", "--json", tmp_path / "cut.json"]
    assert gaslab("partition", edges, *words).code == 0
    head, *lines = (tmp_path / "parts.csv").read_text().splitlines()
    assert head == "source,target,part"
    parts = [tuple(map(int, line.split(","))) for line in lines]
    assert sorted((s, t) for s, t, _ in parts) == sorted(EDGES)
    by_target: dict[int, set[int]] = {}
    held: dict[int, set[int]] = {}
    for s, t, p in parts:
        by_target.setdefault(t, set()).add(p)
        for v in (s, t):
            held.setdefault(v, set()).add(p)
    assert all(len(found) == 1 for found in by_target.values())
    report = json.loads((tmp_path / "cut.json").read_text())["cuts"][0]
    assert report["replication_factor"] == pytest.approx(sum(map(len, held.values())) / len(held))
    sizes = [sum(p == k for *_, p in parts) for k in range(3)]
    assert report["edge_balance"] == pytest.approx(max(sizes) / (len(parts) / 3))


# ---- generate, convert -----------------------------------------------------------------------------


@pytest.mark.slow
def test_generated_graphs_are_the_same_on_any_ranks(gaslab: Run, tmp_path: Path) -> None:
    words = ["generate", "rmat", "--scale", 6, "--edge-factor", 4, "--seed", 5]
    assert gaslab(*words, "-o", tmp_path / "one.tsv").code == 0
    assert on_ranks(3, *words, "-o", tmp_path / "three.tsv").code == 0
    text = (tmp_path / "one.tsv").read_text()
    assert (tmp_path / "three.tsv").read_text() == text
    assert len(text.splitlines()) == 256
    assert on_ranks(2, *words).out == text  # to stdout without -o
    other = gaslab(
        "generate", "rmat", "--scale", 6, "--edge-factor", 4, "--seed", 6, "-o", tmp_path / "o.tsv"
    )
    assert other.code == 0
    assert (tmp_path / "o.tsv").read_text() != text


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("rmat --scale 5 --edge-factor 2", 64),
        ("grid --rows 3 --columns 4", 17),
        ("erdos-renyi --vertices 20 --edges 31", 31),
        ("powerlaw --vertices 30 --exponent 2.5 --max-degree 1", 30),
    ],
)
def test_every_kind_of_graph(gaslab: Run, tmp_path: Path, words: str, count: int) -> None:
    done = gaslab("generate", *words.split(), "--weights", 3, "-o", tmp_path / "g.tsv")
    assert done.code == 0, done.err
    lines = [line.split("\t") for line in (tmp_path / "g.tsv").read_text().splitlines()]
    assert len(lines) == count
    assert {weight for *_, weight in lines} == {"1", "2", "3"}


def test_a_size_of_another_generator_is_refused(gaslab: Run) -> None:
    done = gaslab("generate", "grid", "--scale", 3)
    assert done.code == 2
    assert "grid takes no scale" in done.err


def test_an_unknown_generator(gaslab: Run) -> None:
    done = gaslab("generate", "rmatt", "--scale", 3)
    assert done.code == 2
    assert "'rmatt' is unknown; did you mean 'rmat'?" in done.err


@pytest.mark.parametrize("size", [1, 2])
def test_convert_keeps_edges_and_columns(weighted: Path, tmp_path: Path, size: int) -> None:
    assert on_ranks(size, "convert", weighted, "-o", tmp_path / "out.csv.gz").code == 0
    text = gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode().splitlines()
    assert text[0] == "source,target,weight,km"
    expected = [f"{s},{t},{k + 1},{0.5 * k}" for k, (s, t) in enumerate(EDGES)]
    assert text[1:] == expected


def test_convert_numbers_names(gaslab: Run, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("zoe adam\nadam eve\neve zoe\n")
    words = ["--relabel", "--map", tmp_path / "map.tsv", "-o", tmp_path / "n.tsv"]
    assert gaslab("convert", tmp_path / "names.txt", *words).code == 0
    assert (tmp_path / "n.tsv").read_text() == "2\t0\n0\t1\n1\t2\n"
    assert (tmp_path / "map.tsv").read_text() == "0\tadam\n1\teve\n2\tzoe\n"


# ---- doctor ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_doctor_on_a_healthy_machine(size: int) -> None:
    done = by_mpiexec(size, "doctor")
    assert done.code == 0, done.out
    names = [line.split()[0] for line in done.out.splitlines()]
    known = {
        "gaslab",
        "python",
        "numpy",
        "kernels",
        "compiler",
        "cache",
        "cpu",
        "threads",
        "launcher",
        "mpi4py",
        "mpi",
    }
    assert known <= set(names)
    assert "✗" not in done.out
    assert (f"world of {size}" in done.out) == (size > 1)


@pytest.mark.slow
def test_doctor_names_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_script(1, ["-m", "gaslab", "doctor"], GASLAB_CACHE_DIR=f"{tmp_path}/file/cache")
    assert done.returncode == 1
    assert f"✗ cache     {tmp_path}/file/cache: Not a directory" in done.stdout
    assert "-> set GASLAB_CACHE_DIR to a directory of yours" in done.stdout


@pytest.mark.slow
def test_doctor_does_without_a_compiler() -> None:
    done = run_script(1, ["-m", "gaslab", "doctor"], CC="/no/compiler")
    assert done.returncode == 0
    assert "compiler  none" in done.stdout
    assert "gaslab compile" in done.stdout
