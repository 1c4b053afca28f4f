"""Texts of every format that is read, each against its plain model: this process alone, or several ranks."""

from __future__ import annotations

import gzip
import os
import random as randoms
import re
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.errors import GaslabError
from gaslab.ingest import files as blocks
from gaslab.ingest import metis as metis_reader
from gaslab.ingest import text as text_reader
from gaslab.ingest.formats import foreign
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.fuzz import bags, edge_list_texts, edge_lists, matrices, metis_files
from tests.fuzz.fuzzer import Fuzzer, smaller
from tests.fuzz.plain import Answer, Refused, Unsure, unzipped

# format -> (how a case is drawn, what it means, how often); one line makes a format known
FORMATS: dict[str, tuple[Callable[..., Any], Callable[..., Answer], int]] = {
    "edges": (edge_list_texts.draw, edge_lists.read, 6),
    "matrixmarket": (matrices.draw, matrices.read, 2),
    "metis": (metis_files.draw, metis_files.read, 2),
    "bagofwords": (bags.draw, bags.read, 2),
}
VOCABULARY = ".vocabulary"  # what the name of that file ends in
MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())


def draw(random: randoms.Random) -> dict[str, Any]:
    """Return a drawn case of some format, sometimes as gzip data, whole or damaged."""
    name = random.choices(list(FORMATS), [often for _, _, often in FORMATS.values()])[0]
    case = FORMATS[name][0](random)
    for file in case["files"]:
        if random.random() < 0.08:
            file["gzip"] = random.choice((1, 1, 2, 3))
            if random.random() < 0.3:
                file["damage"] = [random.choice(("cut", "flip", "more")), random.randrange(200)]
    case["cut"] = [random.choice((1,) * 10 + (2, 3)), random.choice((0, 0, 0, 16, 100))]
    return case


def stored(file: dict[str, Any]) -> bytes:
    """Return the bytes of a file of a case."""
    data = file["text"].encode("latin-1", "replace")
    members = file.get("gzip", 0)
    if members:
        step = len(data) // members + 1
        parts = [data[k * step : (k + 1) * step] for k in range(members)]
        data = b"".join(gzip.compress(part, 1, mtime=0) for part in parts)
    how, at = file.get("damage") or ("", 0)
    if how == "cut":
        return data[: at % (len(data) + 1)]
    if how == "flip" and data:
        at %= len(data)
        return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
    return data + (b"\0" * at if how == "more" else b"")


def write(case: dict[str, Any], folder: Path, mark: str = "") -> list[str]:
    """Write the files of a case, and its vocabulary beside the first; return the names of the files."""
    names = []
    for k, file in enumerate(case["files"]):
        name = folder / f"{mark}{k}{file.get('ending', '.txt')}"
        name.write_bytes(stored(file))
        names.append(str(name))
    if "vocabulary" in case["options"]:
        Path(names[0] + VOCABULARY).write_bytes(stored(case["options"]["vocabulary"]))
    return names


def options_of(case: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the options of a read of the files called *names*."""
    words = {"vocabulary": names[0] + VOCABULARY} if "vocabulary" in case["options"] else {}
    return {"format": case["format"], **case["options"], **words}


def expected(case: dict[str, Any]) -> Answer | Refused:
    """Return what the model makes of a case; files are called by their numbers."""
    files = []
    try:
        for k, file in enumerate(case["files"]):
            data = stored(file)
            if data.startswith(b"\x1f\x8b"):
                data = unzipped(data)
            files.append((str(k), data))
        return FORMATS[case["format"]][1](files, case["options"])
    except Refused as refused:
        return refused


def answer_of(comm: Comm, graph: Any) -> Answer:
    """Return the `EdgeList` or `Graph` of all ranks as plain data (collective)."""
    ends = graph.edges() if callable(getattr(graph, "edges", None)) else (graph.src, graph.dst)
    columns = graph.edge_columns if hasattr(graph, "edge_columns") else graph.columns
    parts = comm.allgather([*(end.tolist() for end in ends), *(c.tolist() for c in columns.values())])
    rows = [row for part in parts for row in zip(*part, strict=True)]
    ids = graph.ids.lookup(np.arange(graph.num_vertices)).tolist()
    edges = [(ids[u], ids[v], *values) for u, v, *values in rows]
    types = [(name, str(values.dtype)) for name, values in columns.items()]
    of_vertices: dict[str, list[Any]] = {}
    if hasattr(graph, "local"):
        mine = graph.local.gid[: graph.local.num_masters].tolist(), graph.vertex_columns
    else:
        mine = (graph.vertices[0].tolist(), graph.vertices[1]) if graph.vertices else ([], {})
    for name, values in mine[1].items():
        all_ranks = comm.allgather(list(zip(mine[0], values.tolist(), strict=True)))
        of_vertices[name] = [value for _, value in sorted(pair for part in all_ranks for pair in part)]
    return Answer(ids, edges, types, graph.directed, graph.counts, graph.ids.num_left, of_vertices)


def compare(wanted: Answer | Refused, came: Answer | tuple[str, str], names: list[str]) -> str | None:
    """Return how an answer, or (error, its text), differs from what the model says."""
    if isinstance(wanted, Unsure):
        return None
    if isinstance(wanted, Refused):
        if isinstance(came, Answer):
            return f"an answer, where the model refuses: {wanted}"
        if wanted.line is not None:
            place = f"{names[int(wanted.line[0])]}:{wanted.line[1]}: "
            if not came[1].startswith(place):
                return f"the model refuses {wanted.line}: {wanted}, and the error is: {came[1]}"
        return None
    if not isinstance(came, Answer):
        return f"refused, where the model has an answer: {came[0]}: {came[1]}"
    if not wanted.directed:
        for one in (wanted, came):
            place = {name: k for k, name in enumerate(one.ids)} if one.num_left is None else {}
            one.edges = [
                (v, u, *more) if place and place[v] < place[u] else (u, v, *more) for u, v, *more in one.edges
            ]
    first, second = wanted.said(), came.said()
    for what in first:
        if first[what] != second[what]:
            return f"{what}: the model says {first[what]!r}, the answer {second[what]!r}"
    return None


def unreadable(case: dict[str, Any]) -> bool:
    """Whether the bytes look like a format that is refused by name: nothing to compare."""
    words = case["options"].get("vocabulary")
    if words is not None and foreign("", stored(words), "edges"):
        return True
    for file in case["files"]:
        data = stored(file)
        head = blocks.text_of(data) if data.startswith(b"\x1f\x8b") else data
        if foreign("", head, case["format"]) or (
            case["format"] != "matrixmarket" and re.search(rb"%\s*matrixmarket", head, re.I)
        ):
            return True
    return False


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Let readers work in blocks and runs of so many bytes; 0: as they are."""
    if not size:
        yield
        return
    kept = text_reader.RUN_BYTES, metis_reader.RUN_BYTES, blocks.BLOCK_BYTES, text_reader.NAME_BLOCK_BYTES
    text_reader.RUN_BYTES = metis_reader.RUN_BYTES = size
    blocks.BLOCK_BYTES = text_reader.NAME_BLOCK_BYTES = 2 * size
    try:
        yield
    finally:
        text_reader.RUN_BYTES, metis_reader.RUN_BYTES = kept[:2]
        blocks.BLOCK_BYTES, text_reader.NAME_BLOCK_BYTES = kept[2:]


class Text(Fuzzer):
    """The kernels of the readers in one process: small inputs, very many of them."""

    name = "text"
    sample = 600
    share = 2.0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-fuzz-", dir=MEMORY))
        self.comm = Comm()
        self.answers = self.runs = 0

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        return draw(random)

    def check(self, case: dict[str, Any]) -> str | None:
        if unreadable(case):
            return None
        names = write(case, self.folder)
        wanted = expected(case)
        threads, size = case["cut"]
        came: Answer | tuple[str, str]
        try:
            with small_blocks(size):
                came = answer_of(
                    self.comm, read_edges(names, self.comm, threads=threads, **options_of(case, names))
                )
        except GaslabError as error:
            came = type(error).__name__, str(error)
        except Exception:
            return f"crashed: {traceback.format_exc()[-2000:]}"
        self.runs += 1
        self.answers += isinstance(came, Answer)
        return compare(wanted, came, names) or self._beside(case, wanted)

    def _beside(self, case: dict[str, Any], wanted: Answer | Refused) -> str | None:
        """Return how SciPy reads a file in another way than gaslab and its model."""
        if case["format"] != "matrixmarket" or not isinstance(wanted, Answer):
            return None
        data = stored(case["files"][0])
        text = unzipped(data) if data.startswith(b"\x1f\x8b") else data
        return matrices.beside_scipy(text, wanted, case["options"])

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from smaller_case(case)

    def summary(self) -> str:
        return f"; {self.answers} of {self.runs} read to a graph"

    def close(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()


def smaller_case(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield simpler cases: without options, files, damage, blocks, lines, bytes."""
    if case["cut"] != [1, 0]:
        yield {**case, "cut": [1, 0]}
    for name in case["options"]:
        yield {**case, "options": {key: value for key, value in case["options"].items() if key != name}}
        if isinstance(case["options"][name], (dict, list)):
            for value in smaller(case["options"][name]):
                yield {**case, "options": {**case["options"], name: value}}
    files = case["files"]
    for k, file in enumerate(files):
        if len(files) > 1:
            yield {**case, "files": files[:k] + files[k + 1 :]}
        for key in ("gzip", "damage"):
            if file.get(key):
                yield {
                    **case,
                    "files": [*files[:k], {n: v for n, v in file.items() if n != key}, *files[k + 1 :]],
                }
        lines = re.split(r"(?<=\n)", file["text"])
        for one in [*map("".join, smaller(lines[:-1] if lines[-1] == "" else lines)), *smaller(file["text"])]:
            yield {**case, "files": [*files[:k], {**file, "text": one}, *files[k + 1 :]]}
