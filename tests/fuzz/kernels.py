"""The parser's kernels alone: a few lines in memory, cut into runs, against the model of `edge_lists`."""

from __future__ import annotations

import random as randoms
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from gaslab._kernels import parser
from gaslab.ingest.names import NameTable
from gaslab.ingest.roles import CHECKED, IGNORED, SOURCE, TARGET, TEXT
from tests.fuzz.edge_list_texts import HUGE, REALS, WORDS, mutated
from tests.fuzz.edge_lists import Meaning
from tests.fuzz.fuzzer import Fuzzer, smaller

CUTS = (" ", "\t", ",", ";", "|", ":")
COMMENTS = ("#%", "#", "", "19a", ";,")
# a field is an id, a column, left out, a number or text that is left out; first come the ids in most lists
ROLES = ("st", "stc", "stc", "stx", "stcc", "ts", "sct", "xstc", "stxc", "cst", "sxt", "stn", "stw", "stnw")
ROLE = {"s": SOURCE, "t": TARGET, "x": IGNORED, "n": CHECKED, "w": TEXT}
SMALL = tuple(map(str, range(12)))
ENDS = ("\n", "\n", "\n", "\r\n")


class Kernels(Fuzzer):
    """`parser.split` and `parser.parse`: what each line means, in how ever many runs."""

    name = "kernels"
    sample = 3000
    share = 2.0

    def __init__(self) -> None:
        self.text = np.zeros(1 << 16, np.uint8)
        self.edges = 0

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        cut = random.choice(CUTS)
        roles = random.choice(ROLES)
        odd = random.choice((0.02, 0.1, 0.4))
        plain = "" if cut == " " else random.choice(("", "", " ", '"'))
        out = []
        for _ in range(random.randrange(1, 6)):
            fields = []
            for role in roles:
                if random.random() < odd:
                    word = random.choice(random.choice((HUGE, REALS, WORDS)))
                elif role == "w":
                    word = random.choice(WORDS)
                elif role in "cn":
                    word = random.choice((REALS[0], REALS[1], "7", "-3", "12"))
                else:
                    word = random.choice(SMALL)
                fields.append(
                    f'"{word}"' if plain == '"' and random.random() < 0.5 else word + plain.strip('"')
                )
            out.append(cut.join(fields) + random.choice(ENDS))
        text = mutated(random, "".join(out).encode().decode("latin-1"), odd)
        return {
            "text": text,
            "cut": cut,
            "roles": roles,
            "comments": random.choice(COMMENTS),
            "strings": random.random() < 0.3,
            "runs": random.choice((1,) * 28 + (2, 3)),
            "header": random.choice((-1, -1, -1, 0, 1)),
        }

    def check(self, case: dict[str, Any]) -> str | None:
        data = case["text"].encode("latin-1")
        data += b"" if data.endswith(b"\n") else b"\n"
        text = self.text
        text[: len(data)] = np.frombuffer(data, np.uint8)
        text[len(data) : len(data) + parser.PADDING] = 49 if len(data) % 2 else 34  # means nothing
        bounds, lines = parser.split(text, 0, len(data), case["runs"])
        wanted = self._wanted(case, [data[lo:hi] for lo, hi in pairwise(bounds)])
        came = self._came(case, text, bounds, lines)
        self.edges += sum(len(run["edges"]) for run in came)
        for run, (first, second) in enumerate(zip(wanted, came, strict=True)):
            for what in first:
                if repr(first[what]) != repr(second[what]):
                    return f"{what} of run {run}: the model says {first[what]!r}, the kernel {second[what]!r}"
        return None

    def _wanted(self, case: dict[str, Any], runs: list[bytes]) -> list[dict[str, Any]]:
        roles = case["roles"]
        meaning = Meaning(case["comments"].encode(), b"" if case["cut"] == " " else case["cut"].encode())
        meaning.strings, meaning.width = case["strings"], len(roles)
        meaning.ends = [roles.index("s"), roles.index("t")]
        meaning.kept, meaning.checked, meaning.text = (
            [at for at, role in enumerate(roles) if role == one] for one in "cnw"
        )
        found = []
        number = 0
        for data in runs:
            edges, bad = [], []
            counts = dict.fromkeys(("comments", "blanks", "headers", "lines"), 0)
            meaning.zeros = False
            for at, line in enumerate(data.split(b"\n")[:-1]):
                line = line.removesuffix(b"\r")
                counts["lines"] += 1
                kind = meaning.kind(line)
                if kind != "data":
                    counts[kind] += 1
                elif number == case["header"]:
                    counts["headers"] += 1
                else:
                    edge = meaning.edge(line)
                    if edge is None:
                        bad.append(at)
                    else:
                        edges.append(edge)
                number += 1
            real = [any(isinstance(edge[2 + k], float) for edge in edges) for k in range(len(meaning.kept))]
            edges = [
                (*e[:2], *(float(v) if r else v for v, r in zip(e[2:], real, strict=True))) for e in edges
            ]
            counts |= {"rejected": len(bad), "self_loops": sum(e[0] == e[1] for e in edges)}
            counts["leading_zero"] = int(meaning.zeros)
            found.append({"edges": edges, "counts": counts, "bad": bad[: parser.KEPT_BAD]})
        return found

    def _came(self, case: dict[str, Any], text: Any, bounds: Any, lines: Any) -> list[dict[str, Any]]:
        rows, roles = int(lines.sum()), case["roles"]
        columns = tuple(np.zeros(rows, np.int64) for _ in range(roles.count("c")))
        seen = iter(range(len(columns)))
        role = np.array([next(seen) if one == "c" else ROLE[one] for one in roles], np.int32)
        src, dst = np.zeros((2, rows), np.int64)
        comment = np.zeros(256, np.uint8)
        comment[list(case["comments"].encode())] = 1
        tables = [NameTable() for _ in lines] if case["strings"] else []
        for table, count, width in zip(tables, lines.tolist(), np.diff(bounds).tolist(), strict=False):
            table.reserve(2 * count, width)
        names = np.array([table.describe() for table in tables] or [(0,) * 5], np.int64)
        first = np.cumsum(lines) - lines
        header, at = case["header"], -1
        if 0 <= header < rows:
            ends = np.flatnonzero(text[: bounds[-1]] == 10)
            at = int(ends[header - 1]) + 1 if header else 0
        counters, bad, real = parser.parse(
            text,
            bounds,
            first,
            at,
            0 if case["cut"] == " " else ord(case["cut"]),
            comment,
            case["strings"],
            role,
            src,
            dst,
            columns,
            names,
        )
        found = []
        for run in range(len(lines)):
            counted = dict(zip(parser.COUNTERS, counters[run].tolist(), strict=True))
            here = slice(int(first[run]), int(first[run]) + counted.pop("edges"))
            ends_here: list[list[Any]] = [end[here].tolist() for end in (src, dst)]
            largest = counted.pop("largest")
            if tables:
                tables[run].count = largest
                called = tables[run].names().decode()
                ends_here = [[called[k] for k in end] for end in ends_here]
            values = [
                (column[here].view(np.float64) if real[run, k] else column[here]).tolist()
                for k, column in enumerate(columns)
            ]
            found.append(
                {
                    "edges": list(zip(*ends_here, *values, strict=True)),
                    "counts": {
                        name: counted[name]
                        for name in (
                            "comments",
                            "blanks",
                            "headers",
                            "lines",
                            "rejected",
                            "self_loops",
                            "leading_zero",
                        )
                    },
                    "bad": bad[run, : min(counted["rejected"], parser.KEPT_BAD), 0].tolist(),
                }
            )
        return found

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for name, value in (("runs", 1), ("header", -1), ("strings", False), ("comments", "#")):
            if case[name] != value:
                yield {**case, name: value}
        for text in smaller(case["text"]):
            yield {**case, "text": text}

    def summary(self) -> str:
        return f"; {self.edges} edges"
