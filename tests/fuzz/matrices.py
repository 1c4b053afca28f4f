"""MatrixMarket coordinate files: how one is drawn, and what it means, after docs/graphs.md."""

from __future__ import annotations

import io
import random as randoms
import re
from typing import Any

try:
    from scipy.io import mmread
    from scipy.sparse import coo_array
except ImportError:  # then drawn files are read by the model alone
    mmread = None

from tests.fuzz.edge_list_texts import REALS, mutated
from tests.fuzz.edge_lists import dropped
from tests.fuzz.plain import LARGEST, Answer, Refused, Unsure, column, lines_of, number

FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "hermitian", "skew-symmetric")
NOT_OF_MATRICES = ("comments", "delimiter", "header", "on_bad_line", "max_bad_lines")
MOST = 5000  # rows that a model lists


def read(files: list[tuple[str, bytes]], options: dict[str, Any]) -> Answer:
    """Return the graph of one file; raise Refused where there is none."""
    option = options.get
    if any(name in options for name in NOT_OF_MATRICES) or option("ids", "auto") == "str":
        raise Refused("an option of edge lists")
    (name, text), *others = files
    if others:
        raise Refused("several files")
    lines = lines_of(text)
    if any(len(line) > 1 << 20 for line in lines):
        raise Refused("a long line")
    words = lines[0].decode("utf-8", "replace").lower().split() if lines else []
    if words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(words) != 5:
        raise Refused("no banner")
    kind, symmetry = words[3:]
    if kind not in FIELDS or symmetry not in SYMMETRIES or (kind == "pattern" and symmetry in SYMMETRIES[2:]):
        raise Refused("what matrix is this?")
    numbered = [(at + 1, line) for at, line in enumerate(lines)]
    counts = dict.fromkeys(("lines", "headers", "comments", "blanks", "lines_rejected", "edges_read"), 0)
    counts["lines"] = len(lines)
    data = []
    for at, line in numbered:
        visible = line.strip(b" \t")
        if not visible:
            counts["blanks"] += 1
        elif visible.startswith(b"%"):
            counts["comments"] += 1
        else:
            data.append((at, line))
    size = (
        re.fullmatch(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]*", data[0][1])
        if data
        else None
    )
    if size is None:
        raise Refused("no size")
    counts["headers"] = 1
    rows, columns, entries = map(int, size.groups())
    if rows + columns > MOST:
        raise Unsure("more vertices than a model lists, or a machine has room for")
    square = rows == columns
    bipartite, directed = option("bipartite", False), option("directed")
    if (symmetry != "general" or not bipartite) and not square:
        raise Refused("not square")
    if symmetry == "skew-symmetric" and directed is False:
        raise Refused("skew-symmetric has a direction")
    kept = kept_column(option("columns"), "weight" if kind != "pattern" else None)
    edges, wrong = [], []
    for at, line in data[1:]:
        edge = _entry(line, kind, rows, columns, symmetry, kept is None)
        if edge is None:
            wrong.append((name, at))
        edges.append(edge)
    if wrong:
        raise Refused("no entry of the matrix")
    if len(edges) != entries:
        raise Refused("too few or too many")
    return _graph(edges, kind, symmetry, kept, rows, columns, options, counts)


def kept_column(wanted: Any, name: str | None) -> str | None:
    """Return what the column is called that entries call *name*, None where there is none."""
    own = ["source", "target", *([] if name is None else [name])]
    width = len(own)
    if isinstance(wanted, list):
        if not {*wanted} <= {name}:
            raise Refused("no such column")
        return name if name in wanted else None
    bound = {}
    for key, place in (wanted or {}).items():
        if place is None:
            continue
        if isinstance(place, str) and place in own:
            bound[key] = own.index(place)
        elif isinstance(place, str) and not re.fullmatch("[0-9]{1,9}", place):
            raise Refused("no such column")
        elif not 0 <= int(place) < width:
            raise Refused("no such position")
        else:
            bound[key] = int(place)
    if bound.pop("source", 0) != 0 or bound.pop("target", 1) != 1:
        raise Refused("ends elsewhere: read by another model")
    if any(place != 2 for place in bound.values()) or len(bound) > 1:
        raise Refused("one column twice")
    if bound:
        return next(iter(bound))
    return None if wanted and name in wanted else name


def _entry(
    line: bytes, kind: str, rows: int, columns: int, symmetry: str, bare: bool
) -> tuple[Any, ...] | None:
    """Return an entry, None for a line that is none; *bare*: its value is left out, whatever it is."""
    if re.search(rb"[\0\r]", line):
        return None
    words = re.split(rb"[ \t]+", line.strip(b" \t"))
    if len(words) != 2 + (kind != "pattern"):
        return None
    ends = []
    for word, most in zip(words, (rows, columns), strict=False):
        digits = word.lstrip(b"0") or b"0"
        if (
            not re.fullmatch(b"[0-9]+", word)
            or len(digits) > 19
            or not 1 <= int(digits) <= min(most, LARGEST)
        ):
            return None
        ends.append(int(digits))
    if symmetry == "skew-symmetric" and ends[0] == ends[1]:
        return None
    values = [0 if bare else number(word) for word in words[2:]]
    if None in values or ("integer" in kind and not all(isinstance(value, int) for value in values)):
        return None
    return (*ends, *values)


def _graph(
    edges: Any,
    kind: str,
    symmetry: str,
    kept: str | None,
    rows: int,
    columns: int,
    options: dict[str, Any],
    counts: dict[str, int],
) -> Answer:
    option = options.get
    bipartite, directed = option("bipartite", False), option("directed")
    counts["edges_read"] = len(edges)
    skew = symmetry == "skew-symmetric"
    both = skew or (symmetry != "general" and (bipartite or directed is True))
    every = []
    for u, v, *values in edges:
        every.append((u, v, *values))
        if both and u != v:
            every.append((v, u, *([-value for value in values] if skew else values)))
    types = []
    if kind != "pattern":
        dtype, values = column([edge[2] for edge in every])
        if skew and any(
            abs(value) > LARGEST for value in values
        ):  # the negative of the smallest integer is none
            dtype = "float64"
        if "integer" not in kind:
            dtype, values = "float64", list(map(float, values))
        if skew and (dtype, kind in FIELDS[2:4]) != ("int64", True):  # the negative of a real 0 is -0.0
            dtype = "float64"
            values = [
                float(edge[2]) if k % 2 == 0 else -float(every[k - 1][2]) for k, edge in enumerate(every)
            ]
        every = [(u, v, value) for (u, v, _), value in zip(every, values, strict=True)]
        if kept is None:
            every = [edge[:2] for edge in every]
        else:
            types = [(kept, dtype)]
    ids = list(range(1, rows + 1)) + (list(range(1, columns + 1)) if bipartite else [])
    one_way = both or symmetry == "general"
    answer = Answer(
        ids, every, types, one_way if directed is None else directed, counts, rows if bipartite else None
    )
    return dropped(answer, option)


def beside_scipy(text: bytes, answer: Answer, options: dict[str, Any]) -> str | None:
    """Return how SciPy's reading of a matrix differs from *answer*; None where it reads none, or alike.

    It gives both entries of a symmetric matrix, and a pattern the values 1. Answers with options that leave
    edges or values out are not compared.
    """
    if {"drop_duplicates", "drop_self_loops", "columns"} & options.keys() or mmread is None:
        return None
    try:
        matrix = coo_array(mmread(io.BytesIO(text)))
    except (ValueError, OverflowError):  # of values and blanks that it does not take
        return None
    words = lines_of(text)[0].decode().lower().split()
    if words[4] == "skew-symmetric" and "integer" in words[3] and answer.columns != [("weight", "int64")]:
        return None  # with -2**63, whose negative is the same to SciPy
    bare = words[3] == "pattern"
    edges = [edge[:2] if bare else (*edge[:2], edge[2] + 0) for edge in answer.edges]
    both = words[4] == "skew-symmetric" or options.get("bipartite") or options.get("directed")
    if words[4] != "general" and not both:
        edges += [(v, u, *more) for u, v, *more in edges if u != v]
    one_way = answer.directed or answer.num_left is not None or words[4] != "general"
    if not one_way:
        edges = [(*sorted(edge[:2]), *edge[2:]) for edge in edges]
    values = [[]] * matrix.nnz if bare else [[value + 0] for value in matrix.data.tolist()]
    ends = zip(*((end + 1).tolist() for end in matrix.coords), strict=True)
    found = [(*(uv if one_way else sorted(uv)), *value) for uv, value in zip(ends, values, strict=True)]
    shape = (len(answer.ids), len(answer.ids))
    if answer.num_left is not None:
        shape = (answer.num_left, len(answer.ids) - answer.num_left)
    if (matrix.shape, sorted(found)) != (shape, sorted(edges)):
        return f"SciPy reads {matrix.shape}, {sorted(found)}, gaslab {shape}, {sorted(edges)}"
    return None


def draw(random: randoms.Random) -> dict[str, Any]:
    """Return a drawn file, text as latin-1, and options that mostly fit it."""
    kind, symmetry = random.choice(FIELDS), random.choice(SYMMETRIES)
    odd = random.choice((0.0, 0.0, 0.0, 0.05, 0.2))
    bipartite = random.random() < 0.25
    rows = random.randrange(1, 7)
    columns = random.randrange(1, 7) if bipartite and random.random() < 0.5 else rows
    entries = random.randrange(9) if rows * columns > 1 or symmetry != "skew-symmetric" else 0

    signed = random.choice(("+3", "3"))  # the sign is not taken by every reader of such files

    def value() -> str:
        if random.random() < odd:
            return random.choice(REALS)
        whole = random.choice((str(random.randrange(-9, 9)), signed, "007", str(-(2**63)), str(2**63 - 1)))
        return whole if "integer" in kind or random.random() < 0.3 else random.choice(REALS[:10])

    lines = []
    for _ in range(entries):
        u, v = random.randrange(1, rows + 1), random.randrange(1, columns + 1)
        if symmetry == "skew-symmetric" and u == v and random.random() > odd:
            v = u % columns + 1
        if random.random() < odd:
            u = random.choice((0, rows + 1, -1, 2**63 - 1, 2**63))
        lines.append(" ".join([str(u), str(v)] + [value()] * (kind != "pattern")))
    said = entries + (random.choice((-1, 1)) if random.random() < odd else 0)
    head = ["%%MatrixMarket matrix coordinate " + kind + " " + symmetry, f"{rows} {columns} {said}"]
    if random.random() < 0.2:
        head[0] = head[0].upper() if random.random() < 0.5 else head[0].replace(" ", "  ") + " "
    lines = head + lines
    for _ in range(random.choice((0, 0, 1, 2))):
        lines.insert(random.randrange(1, len(lines) + 1), random.choice(("", "% c", " ", "\t% x", "%%")))
    end = random.choice(("\n", "\n", "\r\n"))
    text = end.join(lines) + random.choice((end, ""))
    text = mutated(random, ("\ufeff" * (random.random() < 0.05) + text).encode().decode("latin-1"), odd)
    return {
        "format": "matrixmarket",
        "files": [{"text": text, "ending": ".mtx"}],
        "options": draw_options(random, bipartite),
    }


def draw_options(random: randoms.Random, bipartite: bool) -> dict[str, Any]:
    options: dict[str, Any] = {"bipartite": True} if bipartite else {}
    for name, values, often in (
        ("directed", (True, False), 0.4),
        ("drop_duplicates", (True,), 0.2),
        ("drop_self_loops", (True,), 0.2),
        ("ids", ("int", "int", "str"), 0.05),
        ("header", (True,), 0.01),
        ("on_bad_line", ("skip",), 0.01),
        ("columns", ([], ["weight"], {"w": 2}, {"weight": None}, {"w": "weight"}, {"w": 1}, ["x"]), 0.15),
    ):
        if random.random() < often:
            options[name] = random.choice(values)
    return options
