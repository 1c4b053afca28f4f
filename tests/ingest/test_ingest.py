"""Text to edges: what each line means, on any number of ranks and threads, at any cut of the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaslab.errors import InputError
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


def read_back(comm: Comm, path: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return (rows of (source, target, *columns) sorted, n, counts, fingerprint), the same on every rank."""
    edges = read_edges(path, comm, **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    mine = list(zip(*ends, *(column.tolist() for column in edges.columns.values()), strict=True))
    rows = sorted(row for part in comm.allgather(mine) for row in part)
    return rows, list(edges.columns), edges.num_vertices, edges.counts, edges.fingerprint


def test_comments_blanks_and_line_ends(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_bytes(b"\xef\xbb\xbf# a comment\r\n\r\n3 7\r\n  7\t\t9  \n% another\n3 3\n\n9 100")
    for rows, columns, n, counts, _ in ranks.run(read_back, path, {}):
        assert rows == [(3, 3), (3, 7), (7, 9), (9, 100)]
        assert (columns, n) == ([], 4)
        assert counts == {
            "lines": 8, "headers": 0, "comments": 2, "blanks": 2, "lines_rejected": 0, "edges_read": 4,
            "edges": 4, "self_loops": 1,
        }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_file_is_the_same_on_any_ranks(ranks: Ranks, tmp_path: Path, threads: int) -> None:
    path = tmp_path / "graph.txt"
    table = np.random.default_rng(1).integers(0, 5000, (60000, 3))
    path.write_text("# head\n" + "".join(f"{u}\t{v}\t{w}\n" for u, v, w in table))
    for rows, columns, n, _, _ in ranks.run(read_back, path, {}, threads=threads):
        assert rows == sorted(map(tuple, table.tolist()))
        assert (columns, n) == (["weight"], np.unique(table[:, :2]).size)


def test_the_first_bad_line_of_the_input_is_raised_by_every_rank(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("# head\n" + "1 2\n" * 500 + "1 x\n" + "3 4\n" * 100 + "5\n")
    with pytest.raises(InputError) as caught:
        ranks.run(read_back, path, {})
    assert str(caught.value) == (
        f"{path}:502: the target id is not an integer: '1 x'; for ids that are text pass --ids str "
        "(ids='str'), or leave bad lines out with --on-bad-line skip (1 more bad line)"
    )


def test_names_sort_bytewise_and_come_back(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    names = ["b", "a", "abcdefghi", "abcdefgh", "é", "zebra", "007", "-", "日本", "🙂", "+5"]
    rng = np.random.default_rng(2)
    pairs = [(names[i], names[j]) for i, j in rng.integers(0, len(names), (3000, 2))]
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    for rows, _, n, _, _ in ranks.run(read_back, path, {}, threads=2):
        assert rows == sorted(pairs)
        assert n == len(names)


def test_duplicates_keep_the_first(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    table = np.random.default_rng(3).integers(0, 40, (5000, 2))
    path.write_text("".join(f"{u} {v} {line}\n" for line, (u, v) in enumerate(table.tolist())))
    first: dict[tuple[int, int], int] = {}
    for line, (u, v) in enumerate(table.tolist()):
        first.setdefault((u, v), line)
    for rows, _, _, counts, _ in ranks.run(read_back, path, {"drop_duplicates": True}):
        assert rows == sorted((u, v, line) for (u, v), line in first.items())
        assert counts["duplicates"] == 5000 - len(first)
