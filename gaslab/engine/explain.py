"""`explain`: a program's fields, the values sent between ranks and why, and the C made of its lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.compiler import tree as t
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse_phases
from gaslab.compiler.tree.edge_work import edge_work
from gaslab.engine.bind import shapes_of
from gaslab.engine.mirrors import across, field_roles, reasons, seldom_read
from gaslab.engine.remote_signals import remote_signal_dtype
from gaslab.engine.storage import total_dtype
from gaslab.graph.graph import Graph
from gaslab.parallel.collective import collective
from gaslab.program import ALL, IN, NONE, OUT, VertexProgram

_MIRRORS = {IN: "mirrors with in-edges", OUT: "mirrors with out-edges", ALL: "all mirrors with edges"}
_WORDS = {IN: "gl.IN", OUT: "gl.OUT", ALL: "gl.ALL", NONE: "gl.NONE"}
# The C functions that hold the user's lines: methods, aggregators (a0_name), helpers (h0_name), scatter.
_HEAD = re.compile(r"GL_INLINE .*?\b(?:gl_do_(?:a\d+_)?|h\d+_|gl_(?=push))(\w+)\(gl_context \*c")
_METHOD_OF = {"push_in": "scatter", "push_out": "scatter", "gather_out": "gather"}  # emitted twice
_LINE = re.compile(r'#line (\d+) "(.*)"$')


@dataclass(repr=False, eq=False)
class Explanation:
    """The result of `explain`; print it, or read ``fields``, ``travels`` and ``code``.

    Attributes
    ----------
    fields : list of dict
        name, of ("Vertex" or "Edge"), storage, default, read_by, written_by.
    travels : list of dict
        what, to, why, bytes (per value of a vertex; per element of a list), and with a graph: values (how
        many are sent if all vertices are active).
    edge_loops : list of dict
        method, line, text, rounds: the loops that run for each edge (over the elements of a vector, say), and
        the number of rounds of each; None if it is known only in a run.
    code : dict of str to list of (line, user's text, C text)
        By method.
    """

    title: str
    fields: list[dict[str, Any]]
    travels: list[dict[str, Any]]
    edge_loops: list[dict[str, Any]]
    code: dict[str, list[tuple[int, str, str]]]

    def __str__(self) -> str:
        lines = [self.title, "", "fields"]
        for f in self.fields:
            uses = [*(f"{w} writes" for w in f["written_by"]), *(f"{r} reads" for r in f["read_by"])]
            name = f"{f['of']}.{f['name']}: {f['storage']}{f['default']}"
            lines.append(f"  {name}; {', '.join(uses) or 'never used'}")
        lines += ["", "what travels between ranks"]
        for way in self.travels:
            count = f"; {way['values']:,} values when all vertices run" if "values" in way else ""
            size = f"{way['bytes']} bytes"
            size = f"at most {size} for each in the list" if way["list"] else size
            lines.append(f"  {way['what']} ({size}) {way['to']}: {way['why']}{count}")
        lines += [] if self.travels else ["  nothing"]
        lines += ["", "loops at each edge"] if self.edge_loops else []
        for loop in self.edge_loops:
            rounds = "a run decides how often" if loop["rounds"] is None else f"{loop['rounds']:,} times"
            lines.append(f"  {loop['method']}, line {loop['line']}, {rounds}: {loop['text'].strip()}")
        for method, rows in self.code.items():
            lines += ["", method]
            for line, text, c in rows:
                lines.append(f"  {line:4} | {text.strip()}")
                lines += [f"       |     {part}" for part in c.splitlines()]
        return "\n".join(lines)

    __repr__ = __str__


@collective()
def explain(program: type[VertexProgram] | VertexProgram, graph: Graph | None = None) -> Explanation:
    """Show a program's fields, the values sent between ranks and why, and the C code of each of its lines.

    Parameters
    ----------
    program : class or instance of VertexProgram
    graph : Graph, optional
        Also count the values sent on this graph with its current cut (then collective).

    Examples
    --------
    >>> import gaslab as gl
    >>> found = gl.explain(gl.programs.PageRank)
    >>> [t["what"] for t in found.travels]
    ['share', 'total of gather']
    >>> print(found.travels[0]["to"], "because", found.travels[0]["why"])
    to mirrors with out-edges because gather reads it of the neighbour
    """
    cls = program if isinstance(program, type) else type(program)
    if not issubclass(cls, VertexProgram):
        needed = f"a VertexProgram class or instance is needed, not {cls.__name__}"
        raise arguments.wrong("program", program, needed)
    arguments.instance("graph", graph, Graph, arguments.GRAPH, optional=True)
    trees = parse_phases(cls, None if isinstance(program, type) else shapes_of(program))
    fields = _fields(trees)
    travels, loops, code = [], [], {}
    for tree in trees:
        label = f" of phase {tree.phase}" if len(trees) > 1 else ""
        travels += [{**way, "what": way["what"] + label} for way in _travels(tree, graph)]
        for method, sites in edge_work(tree).items():
            for site, rounds in sorted(sites.items()):
                place = {"line": tree.sites[site].line, "text": tree.sites[site].text}
                loops.append({"method": method + label, **place, "rounds": rounds})
        for method, rows in _code(tree).items():
            code[method + label] = rows
    over = [_WORDS[edges] for edges in (trees[0].gather_edges, trees[0].scatter_edges)]
    directions = f"gathers over {over[0]}, scatters over {over[1]}"
    title = f"{cls.__name__}: {directions if len(trees) == 1 else f'{len(trees)} phases'}"
    title += ", in float32" if trees[0].precision == "float32" else ""
    return Explanation(title, fields, travels, loops, code)


def _fields(trees: tuple[t.Tree, ...]) -> list[dict[str, Any]]:
    functions = [f for tree in trees for f in tree.functions.values()]
    functions += [a.function for a in trees[0].aggregators]
    found = []
    for kind, variables in (("Vertex", trees[0].vertex_fields), ("Edge", trees[0].edge_fields)):
        roles = ("v", "nbr") if kind == "Vertex" else ("e",)
        for v in variables:
            names = {f"{role}.{v.name}" for role in roles}
            found.append({
                "name": v.name, "of": kind, "storage": _said(v.storage),
                "default": _default(v),
                "read_by": list(dict.fromkeys(f.name for f in functions if names & f.reads)),
                "written_by": list(dict.fromkeys(f.name for f in functions if names & f.writes)),
            })  # fmt: skip
    return found


def _default(field: t.Variable) -> str:
    """Return a field's default as a program writes it; empty if it has none."""
    if field.required or t.is_list(field.storage):
        return ""
    nobody = t.STORAGE[field.storage][0] == "id" and field.default == t.INTEGER_RANGE["int64"][1]
    return f" = {'gl.NOBODY' if nobody else repr(field.default)}"


def _travels(tree: t.Tree, graph: Graph | None) -> Iterator[dict[str, Any]]:
    every = ALL if graph is not None and not graph.directed else 0
    gather = tree.gather_edges and tree.gather_edges | every
    scatter = tree.scatter_edges and tree.scatter_edges | every
    for field in tree.vertex_fields:
        mask = field_roles(tree, gather, scatter)[field.name]
        if mask:
            uses = [why for name, _, why in reasons(tree, gather, scatter) if name == field.name]
            why = "; ".join(dict.fromkeys(uses))
            if field.name in seldom_read(tree, gather, scatter):
                why += "; sent when it is due"
            elif field.name not in tree.writes("apply"):
                why += "; sent once, since apply does not write it"
            one = t.element_storage(field.storage) if t.is_list(field.storage) else field.storage
            size = t.STORAGE[one][2] * math.prod(field.shape)
            yield _way(field.name, (size, t.is_list(field.storage)), "to", mask, why, graph)
    if tree.collects_messages or tree.signals_by_id():
        yield {
            "what": "messages" if tree.collects_messages else "signals by id",
            "bytes": remote_signal_dtype(tree).itemsize, "list": False,
            "to": "to masters",
            "why": "one by one, since lists keep each message" if tree.collects_messages
            else "one by one, where the sender's rank has no replica of the vertex",
        }  # fmt: skip
    for field in tree.lookups:
        assert field.lookup is not None
        yield {
            "what": field.name, "bytes": 8 + t.STORAGE[field.storage][2], "list": False, "to": "to masters",
            "why": f"{field.lookup.link}.{field.lookup.field}, asked for by id where its master is elsewhere",
        }  # fmt: skip
    message = None if tree.collects_messages else tree.message
    totals = (("total of gather", tree.gather, gather), ("message", message, across(scatter)))
    for what, combiner, mask in totals:
        if combiner is not None and mask:
            why = f"{_name(combiner)} of what the edges there give, combined there first"
            yield _way(what, (_size(combiner), combiner.collects), "from", mask, why, graph)


def _name(combiner: t.Combiner) -> str:
    if isinstance(combiner, t.RecordCombiner) and not combiner.is_pair:
        return combiner.name
    op = combiner.operation.word
    if isinstance(combiner, t.KeyedCombiner):
        return f"gl.{op}[{_said(combiner.key)}, {combiner.storage}]"
    if isinstance(combiner, t.RecordCombiner):
        return f"gl.{op}[{', '.join(part.combiner.storage for part in combiner.parts)}]"
    return f"gl.{op}[{_said(combiner.storage)}]"


def _said(storage: str) -> str:
    """Return a storage type as a person writes it: an id is an id wherever it is stored."""
    return storage.replace("id32", "id")


def _size(combiner: t.Combiner) -> int:
    if isinstance(combiner, t.KeyedCombiner):
        return t.STORAGE[combiner.key][2] + t.STORAGE[combiner.storage][2]
    if combiner.collects:
        return t.STORAGE[combiner.storage][2]
    return total_dtype(combiner).itemsize


def _way(
    what: str, size: tuple[int, bool], way: str, mask: int, why: str, graph: Graph | None
) -> dict[str, Any]:
    row = {"what": what, "bytes": size[0], "list": size[1], "to": f"{way} {_MIRRORS[mask]}", "why": why}
    if graph is not None:
        first, last = {OUT: (0, 2), IN: (1, 3), ALL: (0, 3)}[mask]
        bounds = graph.local.mirror_bounds
        others = np.arange(len(bounds)) != graph.comm.rank
        row["values"] = int(graph.comm.allreduce(int((bounds[:, last] - bounds[:, first])[others].sum())))
    return row


def _code(tree: t.Tree) -> dict[str, list[tuple[int, str, str]]]:
    """Return by method the user's lines, each with its C code."""
    texts = {(site.file, site.line): site.text for site in tree.sites}
    found: dict[str, list[tuple[int, str, str]]] = {}
    rows: list[tuple[int, str, str]] | None = None
    for line in emit(tree).splitlines():
        mark, head = _LINE.match(line), _HEAD.match(line)
        if head:
            name = _METHOD_OF.get(head[1], head[1])
            rows = found.setdefault(name, []) if name not in found else None
        elif mark and (not mark[2].endswith("emitted.c")) and rows is not None:
            place = (mark[2].replace('\\"', '"').replace("\\\\", "\\"), int(mark[1]))
            if not rows or rows[-1][0] != place[1]:
                rows.append((place[1], texts.get(place, ""), ""))
        elif mark or line.startswith("}"):
            rows = None
        elif rows:
            number, text, c = rows[-1]
            rows[-1] = (number, text, f"{c}\n{line.strip()}" if c else line.strip())
    return {name: rows for name, rows in found.items() if rows}
