"""Arrays, frames, matrices and graphs of other libraries against a model in plain Python, on 1 and 3 ranks.

A case says how its data are made, and each rank makes its own: dtypes, strides, byte orders, masks, missing
values, objects, read-only memory, shapes; the same rows everywhere, parts, or all on rank 0.
"""

from __future__ import annotations

import math
import random as randoms
from collections.abc import Iterator
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.fuzz import frames
from tests.fuzz.fuzzer import Fuzzer, smaller
from tests.fuzz.on_ranks import Together
from tests.fuzz.plain import LARGEST, Answer, Refused, Unsure
from tests.fuzz.text import answer_of, compare

RANKS = 3
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
KINDS = (
    "list",
    "tuple",
    "array",
    "array",
    "object",
    "strided",
    "reversed",
    "swapped",
    "readonly",
    "masked",
    "series",
    "range",
    "generator",
)
ODD_IDS = (
    [None],
    [{"nan": 1}],
    [1.5],
    [-1],
    [-(2**63)],
    [LARGEST],
    [LARGEST + 1],
    [2**64],
    [True],
    ["", "a"],
    ["a\0"],
    [["t", 1]],
    [{"list": 1}],
    ["é"],
    ["a", 1],
    [{"bytes": "a"}],
    [{"date": 1}],
)


# ---- making the data ---------------------------------------------------------------------------------


def value(one: Any) -> Any:
    """Return the value that plain data of a case stands for."""
    if isinstance(one, list):
        return tuple(map(value, one))
    if not isinstance(one, dict):
        return one
    ((kind, more),) = one.items()
    return {
        "nan": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "list": [more],
        "bytes": str(more).encode(),
        "date": np.datetime64("2020-01-01"),
        "complex": 1j,
    }[kind]


def make(spec: dict[str, Any]) -> Any:
    """Return the array, list or whatever *spec* describes."""
    values = [value(one) for one in spec["values"]]
    kind = spec["kind"]
    if spec.get("rows"):
        values = [[one] * spec["rows"] for one in values]
    if kind in ("list", "tuple", "generator"):
        return {"list": list, "tuple": tuple, "generator": iter}[kind](values)
    if kind == "series":
        import pandas as pd

        return pd.Series(values, dtype=spec.get("dtype"), index=range(5, 5 + len(values)))
    if kind == "object":
        made = np.empty(len(values), object)
        made[:] = values
        return made
    array = np.array(values, dtype=spec.get("dtype"))
    if kind == "strided":
        return np.repeat(array, 2, axis=0)[::2]
    if kind == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if kind == "swapped":
        return array.astype(array.dtype.newbyteorder())
    if kind == "readonly":
        array.flags.writeable = False
    if kind == "masked":
        return np.ma.MaskedArray(array, mask=[bool(spec.get("hide")) and k == 0 for k in range(len(array))])
    return array


# ---- what they mean ----------------------------------------------------------------------------------


def missing(one: Any) -> bool:
    return one is None or (isinstance(one, float) and math.isnan(one))


def ids_of(spec: dict[str, Any]) -> list[Any]:
    """Return ids as plain values; raise Refused for what is no id."""
    values = [value(one) for one in spec["values"]]
    if spec.get("rows"):
        raise Refused("ids of two dimensions")
    if spec.get("hide") and values:
        raise Refused("masked")
    if any(map(missing, values)):
        raise Refused("missing")
    if any(isinstance(one, list) for one in values):
        raise Refused("not hashable")
    if "" in values:
        raise Refused("empty")
    integers = all(isinstance(one, int) and not isinstance(one, bool) for one in values)
    if integers and not all(-(2**63) <= one <= LARGEST for one in values):
        whole = spec["kind"] != "object" and all(-(2**63) <= one < 2**64 for one in values)
        listed = spec["kind"] in ("list", "tuple", "generator")
        raise (Refused if whole or listed else Unsure)("an integer that is no id")
    return values


def column_of(spec: dict[str, Any], count: int) -> tuple[str, list[Any]]:
    """Return (dtype, values) of a column; raise Refused for what is none."""
    values = [value(one) for one in spec["values"]]
    if len(values) != count:
        raise Refused("another length")
    if spec.get("hide") and values:
        raise Refused("masked")
    if values and all(isinstance(one, list) for one in values):
        raise Unsure("a column of lists")
    if any(map(missing, values)) or not all(isinstance(one, (bool, int, float)) for one in values):
        raise Refused("no number")
    dtype = "float64"
    if spec.get("dtype") == "bool" or (values and all(isinstance(one, bool) for one in values)):
        dtype = "bool"
    elif (
        spec.get("dtype", "int") in (*INTEGERS, "int")
        and all(isinstance(one, int) for one in values)
        and values
    ):
        dtype = "int64"
        if any(not -(2**63) <= one <= LARGEST for one in values):
            raise Refused("beyond int64")
    return dtype, values


def numbered(vertices: list[list[Any]], sources: list[list[Any]], targets: list[list[Any]]) -> list[Any]:
    """Return the distinct ids in the order of global ids; the lists are of the ranks."""
    every = [one for part in (*vertices, *sources, *targets) for one in part]
    kinds = {"int" if type(one) is int else "str" if type(one) is str else "object" for one in every}
    if kinds == {"str"}:
        if any(not one or "\0" in one for one in every):
            raise Refused("no name")
        return sorted(set(every), key=str.encode)
    if kinds <= {"int"}:
        return sorted(set(every))
    pairs = [
        one for ends in zip(sources, targets, strict=True) for pair in zip(*ends, strict=True) for one in pair
    ]
    return by_value(list(dict.fromkeys([*(one for part in vertices for one in part), *pairs])))


def by_value(ids: list[Any]) -> list[Any]:
    """Return distinct ids in the order of their values, if every one is less or more than every other."""
    try:
        if all(one < other or other < one for k, one in enumerate(ids) for other in ids[:k]):
            return sorted(ids)
    except TypeError:
        pass
    return ids


def graph_of(parts: list[dict[str, Any]], case: dict[str, Any]) -> Answer:
    """Return the graph of all ranks' parts."""
    made = []
    for part in parts:
        src, dst = ids_of(part["src"]), ids_of(part["dst"])
        if len(src) != len(dst):
            raise Refused("ends of two lengths")
        sides = [ids_of(side) for side in part["vertices"]]
        columns = {name: column_of(spec, len(src)) for name, spec in part["columns"].items()}
        made.append((src, dst, sides, columns))
    names = [tuple(sorted(columns)) for *_, columns in made]
    if len(set(names)) > 1:
        raise Refused("columns of other names")
    every = [part[0] for part in made], [part[1] for part in made]
    if case["bipartite"]:
        ids = _side(made, 0)
        ids, num_left = ids + _side(made, 1), len(ids)
    else:
        ids, num_left = numbered([part[2][0] for part in made], *every), None
    edges = [(u, v) for part in made for u, v in zip(part[0], part[1], strict=True)]
    types = []
    for name in names[0]:
        kinds = {part[3][name][0] for part in made if part[0]}
        dtype = (
            "float64" if "float64" in kinds else "int64" if "int64" in kinds else "bool" if kinds else None
        )
        kind: Any = {"float64": float, "int64": int, "bool": bool, None: int}[dtype]
        values = [kind(one) for part in made for one in part[3][name][1]]
        types.append((name, dtype))
        edges = [(*edge, one) for edge, one in zip(edges, values, strict=True)]
    left = {one: one for one in ids[:num_left]}  # 1.0 is the 1 that came first
    right = {one: one for one in ids[num_left or 0 :]}
    edges = [(left[u], right[v], *more) for u, v, *more in edges]
    from tests.fuzz.edge_lists import dropped

    return dropped(
        Answer(ids, edges, types, case["directed"], {"edges_read": len(edges)}, num_left), case.get
    )


def _side(made: list[Any], side: int) -> list[Any]:
    """Return the ids of one side of a bipartite graph."""
    ends, vertices = [part[side] for part in made], [part[2][side] for part in made]
    every = [one for part in (*ends, *vertices) for one in part]
    kinds = {type(one) for one in every}
    if kinds == {str} or kinds <= {int}:
        return numbered([*vertices, *ends], [], [])
    return by_value(list(dict.fromkeys([one for part in (*vertices, *ends) for one in part])))


# ---- asking gaslab -----------------------------------------------------------------------------------


def build(comm: Comm, case: dict[str, Any]) -> Answer:
    if case["call"] != "edges":
        return answer_of(comm, frames.build(comm, case))
    rows = case["rows"]
    part = case["parts"][comm.rank if rows == "parts" else 0]
    if rows == "root" and comm.rank:
        return answer_of(
            comm, gl.Graph.from_edges(None, "nonsense", rows="root", comm=comm, **options_of(case))
        )
    sides = [make(side) for side in part["vertices"]]
    graph = gl.Graph.from_edges(
        make(part["src"]),
        make(part["dst"]),
        rows=rows,
        comm=comm,
        vertices=tuple(sides) if case["bipartite"] else sides[0],
        columns={name: make(spec) for name, spec in part["columns"].items()},
        **options_of(case),
    )
    return answer_of(comm, graph)


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("directed", "bipartite", "drop_duplicates", "drop_self_loops")}


class Arrays(Fuzzer):
    name = "arrays"
    batch = 40
    sample = 40

    def __init__(self) -> None:
        self.together = Together((1, RANKS))
        self.answers = 0

    # ---- drawing ----------------------------------------------------------------------------------------

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        if random.random() < 0.4:
            return frames.draw(random)
        rows = random.choice(("same", "same", "parts", "root"))
        ids = random.choice(("int", "int", "str", "object"))
        odd = random.choice((0.0, 0.0, 0.0, 0.1))
        names = random.sample(["weight", "km", "n"], random.choice((0, 0, 1, 2)))
        bipartite = random.random() < 0.2
        kinds = {name: random.choice(("int", "real", "bool")) for name in names}
        parts = []
        for _ in range(RANKS if rows == "parts" else 1):
            count = random.choice((0, 1, 2, 5, 8))
            src = self._ids(random, ids, count, odd)
            short = count + (random.choice((-1, 1)) if random.random() < odd * 0.3 and count else 0)
            parts.append(
                {
                    "src": src,
                    "dst": self._ids(random, ids, short, odd),
                    "vertices": [
                        self._ids(random, ids, random.choice((0, 0, 3)), odd * 0.5)
                        for _ in range(1 + bipartite)
                    ],
                    "columns": {name: self._column(random, kinds[name], count, odd) for name in names},
                }
            )
        return {
            "call": "edges",
            "rows": rows,
            "parts": parts,
            "bipartite": bipartite,
            "directed": random.random() < 0.7,
            "drop_duplicates": random.random() < 0.2,
            "drop_self_loops": random.random() < 0.2,
        }

    def _ids(self, random: randoms.Random, ids: str, count: int, odd: float) -> dict[str, Any]:
        pool: list[Any] = list(range(6))
        if ids == "str":
            pool = ["a", "b", "ann", "é", "日本", "007", "7"]
        elif ids == "object":
            pool = [1, "a", ["t", 2], 2.5, 7, "b", True]
        values = [random.choice(pool) for _ in range(count)]
        spec: dict[str, Any] = {"values": values, "kind": random.choice(KINDS[:-2])}
        if values and random.random() < odd:
            values[random.randrange(count)] = random.choice(ODD_IDS)[0]
            spec["kind"] = random.choice(("list", "tuple", "object", "list"))
        elif ids == "int" and spec["kind"] != "object":
            spec["dtype"] = random.choice(INTEGERS)
            if random.random() < 0.1 and count:
                values[0] = int(np.iinfo(spec["dtype"]).max)
            spec["hide"] = spec["kind"] == "masked" and random.random() < 0.3
        elif ids == "object" or spec["kind"] in ("series", "masked"):
            spec["kind"] = random.choice(("list", "object", "tuple"))
        if not values and ids != "int":
            spec = {"values": [], "kind": random.choice(("list", "tuple", "object"))}
        return spec

    def _column(self, random: randoms.Random, kind: str, count: int, odd: float) -> dict[str, Any]:
        values: list[Any] = [random.randrange(-5, 20) for _ in range(count)]
        dtype = random.choice(INTEGERS)
        if kind == "real":
            values, dtype = (
                [random.choice((0.5, 1.0, -2.25, {"inf": 1}, 1e300)) for _ in range(count)],
                "float64",
            )
        elif kind == "bool":
            values, dtype = [random.random() < 0.5 for _ in range(count)], "bool"
        elif dtype.startswith("u"):
            values = list(map(abs, values))
        spec: dict[str, Any] = {"values": values, "kind": random.choice(KINDS[:-2]), "dtype": dtype}
        if values and random.random() < odd:
            values[random.randrange(count)] = random.choice(
                (None, {"nan": 1}, "x", {"complex": 1}, 2**63, 2**70, {"list": 1})
            )
            spec = {"values": values, "kind": random.choice(("list", "object"))}
        elif spec["kind"] in ("list", "tuple", "object"):
            del spec["dtype"]
        spec["hide"] = spec["kind"] == "masked" and random.random() < 0.3
        return spec

    # ---- checking ---------------------------------------------------------------------------------------

    def wanted(self, case: dict[str, Any], size: int) -> Answer | Refused:
        try:
            if case["call"] != "edges":
                return frames.wanted(case, size)
            return graph_of(case["parts"][:size] if case["rows"] == "parts" else case["parts"][:1], case)
        except Refused as refused:
            return refused

    def check(self, case: dict[str, Any]) -> str | None:
        return self.check_all([case])[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        def judge(at: int, outcome: Any, size: int) -> str | None:
            self.answers += isinstance(outcome, Answer)
            wanted = self.wanted(cases[at], size)
            came = outcome if isinstance(outcome, Answer) else outcome[1:]
            if isinstance(wanted, Answer) and isinstance(came, Answer):
                known = dict(came.columns)
                wanted.columns = [(name, dtype or known.get(name, "")) for name, dtype in wanted.columns]
            return compare(wanted, came, [])

        return self.together.check(build, cases, judge)

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from smaller(case, texts=False)

    def summary(self) -> str:
        return f"; {self.answers} graphs, at 1 and at {RANKS} ranks"

    def close(self) -> None:
        self.together.close()
