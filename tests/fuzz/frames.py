"""Data frames, sparse matrices and NetworkX graphs: how they are drawn, made, and what they mean."""

from __future__ import annotations

import math
import random as randoms
from typing import Any

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.fuzz.edge_lists import dropped
from tests.fuzz.plain import LARGEST, Answer, Refused

FORMATS = ("coo", "csr", "csc", "lil", "dok", "bsr")
FRAME_TYPES = (
    "int64",
    "Int64",
    "int32",
    "UInt8",
    "object",
    "string",
    "category",
    "float64",
    "datetime64[ns]",
)
VALUE_TYPES = ("int64", "Int64", "float64", "Float32", "bool", "boolean", "object", "string", "uint8")


def draw(random: randoms.Random) -> dict[str, Any]:
    call = random.choice(("scipy", "pandas", "networkx"))
    rows = random.choice(("same", "same", "root"))
    count = random.choice((0, 1, 3, 8))
    case: dict[str, Any] = {
        "call": call,
        "rows": rows,
        "directed": random.random() < 0.7,
        "bipartite": random.random() < 0.2,
    }
    if call == "scipy":
        size = random.randrange(1, 6)
        width = size if random.random() < 0.8 else random.randrange(1, 6)
        cells = [[random.randrange(size), random.randrange(width)] for _ in range(count)]
        if not case["directed"] and random.random() < 0.7:
            cells = [[u, v] for u, v in cells if max(u, v) < min(size, width)]
            cells += [[v, u] for u, v in cells]
        values: list[Any] = [random.choice((1, 2, 0, -3)) for _ in cells]
        if random.random() < 0.1 and values:
            values[0] = "nan"
        dtype = (
            "float64" if "nan" in values else random.choice(("float64", "int64", "int32", "float32", "bool"))
        )
        return {
            **case,
            "shape": [size, width],
            "cells": cells,
            "values": values,
            "dtype": dtype,
            "format": random.choice(FORMATS),
            "weight": random.choice(("weight", "weight", "km", None)),
        }
    if call == "pandas":
        kind = random.choice(FRAME_TYPES)
        named = kind in ("string", "category", "object") and random.random() < 0.7
        pool: list[Any] = ["a", "b", "é", "7"] if named else list(range(5))
        ends = [[random.choice(pool) for _ in range(count)] for _ in range(2)]
        if kind == "string":
            ends = [list(map(str, end)) for end in ends]
        if count and random.random() < 0.1 and kind in ("Int64", "UInt8", "object", "string", "category"):
            ends[0][0] = None
        columns = {}
        for name in random.sample(["weight", "km", "x", "0"], random.choice((0, 1, 2))):
            column: list[Any] = [random.randrange(2) for _ in range(count)]
            dtype = random.choice(VALUE_TYPES)
            if count and random.random() < 0.1 and dtype in ("Int64", "float64", "Float32", "boolean"):
                column[0] = None
            columns[name] = [dtype, column]
        return {
            **case,
            "kind": kind,
            "ends": ends,
            "columns": columns,
            "keep": random.choice((None, None, None, [], ["weight"], ["km", "x"])),
        }
    pool = random.choice((list(range(6)), ["a", "b", "é", "x"], [1, "a", ["t", 2], 2.5]))
    nodes = random.sample(pool, random.randrange(len(pool) + 1))
    edges = [[random.choice(pool), random.choice(pool)] for _ in range(count)]
    data: list[dict[str, Any]] = []
    for _ in edges:
        one: dict[str, Any] = {}
        for name, often in (("weight", 0.95), ("km", 0.3), ("label", 0.3)):
            if random.random() < often:
                one[name] = "x" if name == "label" else random.choice((1, 2, 0.5, 3))
        data.append(one)
    return {
        **case,
        "bipartite": False,
        "multi": random.random() < 0.4,
        "nodes": nodes,
        "edges": edges,
        "data": data,
    }


def build(comm: Comm, case: dict[str, Any]) -> gl.Graph:
    here = comm.rank == 0 or case["rows"] == "same"
    made = make(case) if here else None
    options = {"rows": case["rows"], "comm": comm}
    if case["call"] == "networkx":
        return gl.Graph.from_networkx(made, **options)
    options |= {"directed": case["directed"], "bipartite": case["bipartite"]}
    if case["call"] == "scipy":
        return gl.Graph.from_scipy(made, weight=case["weight"], **options)
    return gl.Graph.from_pandas(made, columns=case["keep"], **options)


def make(case: dict[str, Any]) -> Any:
    if case["call"] == "scipy":
        import numpy as np
        import scipy.sparse as sparse

        ends = np.array(case["cells"], int).reshape(-1, 2)
        values = np.array([math.nan if one == "nan" else one for one in case["values"]], dtype=case["dtype"])
        made = sparse.coo_array((values, (ends[:, 0], ends[:, 1])), shape=tuple(case["shape"]))
        if case["format"] == "bsr":
            return made.tobsr(blocksize=(1, 1))  # larger blocks store zeros of their own
        return made.asformat(case["format"])
    if case["call"] == "pandas":
        import pandas as pd

        kind = case["kind"]
        ends = {
            name: pd.Series(end, dtype=kind)
            for name, end in zip(("source", "target"), case["ends"], strict=True)
        }
        columns = {name: pd.Series(values, dtype=dtype) for name, (dtype, values) in case["columns"].items()}
        return pd.DataFrame({**ends, **columns})
    import networkx as nx

    kinds = {
        (False, False): nx.Graph,
        (False, True): nx.MultiGraph,
        (True, False): nx.DiGraph,
        (True, True): nx.MultiDiGraph,
    }
    made = kinds[case["directed"], case["multi"]]()
    made.add_nodes_from(map(_node, case["nodes"]))
    for (u, v), data in zip(case["edges"], case["data"], strict=True):
        made.add_edge(_node(u), _node(v), **data)
    return made


def _node(one: Any) -> Any:
    return tuple(one) if isinstance(one, list) else one


# ---- what they mean ----------------------------------------------------------------------------------


def wanted(case: dict[str, Any], size: int) -> Answer:
    """Return the graph that all ranks are to have."""
    return {"scipy": of_matrix, "pandas": of_frame, "networkx": of_networkx}[case["call"]](case)


def _answer(
    ids: list[Any], edges: list[Any], types: list[Any], directed: bool, left: int | None = None
) -> Answer:
    return dropped(Answer(ids, edges, types, directed, {"edges_read": len(edges)}, left), {}.get)


def of_matrix(case: dict[str, Any]) -> Answer:
    rows, columns = case["shape"]
    if rows != columns and not case["bipartite"]:
        raise Refused("not square")
    found: dict[tuple[int, int], Any] = {}
    dtype, weight = case["dtype"], case["weight"]
    for (u, v), one in zip(case["cells"], case["values"], strict=True):
        number = math.nan if one == "nan" else bool(one) if dtype == "bool" else one
        if (u, v) in found:
            number = found[u, v] or number if dtype == "bool" else found[u, v] + number
        found[u, v] = number
    if case["format"] in ("lil", "dok"):  # which keep no zeros
        pass
    if weight is not None and any(one != one for one in found.values()):
        raise Refused("nan")
    if not case["directed"] and not case["bipartite"]:
        if any(repr(found.get((v, u), 0) or 0) != repr(one or 0) for (u, v), one in found.items()):
            raise Refused("not symmetric")
        found = {(min(ends), max(ends)): one for ends, one in found.items()}  # a zero may be stored once
    kind: Any = {"f": float, "i": int, "b": bool}[dtype[0]]
    edges = [(u, v, kind(one)) if weight else (u, v) for (u, v), one in found.items()]
    types = [(weight, {"f": "float64", "i": "int64", "b": "bool"}[dtype[0]])] if weight else []
    both = case["bipartite"]
    ids = list(range(rows)) + (list(range(columns)) if both else [])
    return _answer(ids, edges, types, case["directed"], rows if both else None)


def of_frame(case: dict[str, Any]) -> Answer:
    kind, ends = case["kind"], case["ends"]
    if case["keep"] is not None and not {*case["keep"]} <= {*case["columns"]}:
        raise Refused("no such column")
    if any(one is None for end in ends for one in end):
        raise Refused("missing")
    if kind in ("float64", "datetime64[ns]") and ends[0]:
        raise Refused("no ids")
    numbers = ("int64", "Int64", "float64", "Float32", "bool", "boolean", "uint8", "object")
    names = [
        name
        for name, (dtype, column) in case["columns"].items()
        if dtype in numbers and (column or dtype != "object")
    ]
    if case["keep"] is not None:
        names = case["keep"]
    values, types = [], []
    for name in names:
        dtype, column = case["columns"][name]
        if any(one is None for one in column) or (dtype == "string" and column):
            raise Refused("no numbers")
        real: Any = (
            float if dtype in ("float64", "Float32") else bool if dtype in ("bool", "boolean") else int
        )
        values.append([real(one) for one in column])
        types.append((name, {float: "float64", bool: "bool", int: "int64"}[real] if column else None))
    edges = list(zip(*ends, *values, strict=True))
    both = case["bipartite"]
    sides = [set(ends[0]), set(ends[1])] if both else [set(ends[0]) | set(ends[1])]
    ids = [
        one for side in sides for one in sorted(side, key=lambda x: x.encode() if isinstance(x, str) else x)
    ]
    return _answer(ids, edges, types, case["directed"], len(sides[0]) if both else None)


def of_networkx(case: dict[str, Any]) -> Answer:
    graph = make(case)
    edges = list(graph.edges(data=True))
    names = [
        name
        for name in dict.fromkeys(n for *_, data in edges for n in data)
        if all(isinstance(data.get(name), (int, float)) for *_, data in edges)
    ]
    nodes = list(graph.nodes)
    kinds = {type(node) for node in nodes}
    if kinds <= {int} and all(0 <= node <= LARGEST for node in nodes):
        nodes = sorted(nodes)
    elif kinds == {str}:
        nodes = sorted(nodes, key=str.encode)
    elif kinds <= {int, float}:
        nodes = sorted(nodes)
    types, values = [], []
    for name in names:
        column = [data[name] for *_, data in edges]
        whole = all(isinstance(one, int) for one in column)
        types.append((name, "int64" if whole else "float64"))
        values.append(column if whole else list(map(float, column)))
    rows = list(zip([u for u, _, _ in edges], [v for _, v, _ in edges], *values, strict=True))
    return _answer(nodes, rows, types, graph.is_directed())
