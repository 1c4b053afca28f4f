"""Makes a task that differs smaller: lines of its program, edges and vertices of its graph, options."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.pairs.graphs import Drawn
from tests.pairs.runs import Task


def reduced(task: Task, differs: Callable[[Task], bool], most: int = 400) -> Task:
    """Return a small task of which *differs* is still true; it is asked *most* times at most."""
    number = itertools.count()
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(task):
            k = next(number)
            if k >= most:
                return task
            smaller = replace(smaller, name=f"{task.name.partition('_less')[0]}_less{k}")
            if differs(smaller):
                task, changed = smaller, True
                break
    return task


def _smaller(task: Task) -> Iterator[Task]:
    """Yield tasks that are smaller than *task*, the much smaller ones first."""
    graph = task.graph
    for step in (len(graph.edges) // 2, len(graph.edges) // 4, 1):
        for begin in range(0, len(graph.edges), step) if step else ():
            yield replace(task, graph=_without(graph, range(begin, begin + step)))
    ends = {x for edge in graph.edges for x in edge}
    kept = [v for v in graph.ids if v in ends or v == task.parameters.get("source")]
    if graph.right is None and kept and len(kept) < len(graph.ids) and not graph.vertex_columns:
        yield replace(task, graph=replace(graph, ids=kept))
    for name in task.options:
        yield replace(task, options={k: x for k, x in task.options.items() if k != name})
    for k in range(sum(1 for _ in _places(ast.parse(task.text)))):
        text = _less(task.text, k)
        if text is not None and text != task.text:
            yield replace(task, text=text)


def _without(graph: Drawn, gone: range) -> Drawn:
    keep = [k for k in range(len(graph.edges)) if k not in gone]
    columns = {name: [values[k] for k in keep] for name, values in graph.columns.items()}
    return replace(graph, edges=[graph.edges[k] for k in keep], columns=columns)


def _places(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int]]:
    """Yield each statement's list and its place in it, whole blocks before what is in them."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop(0)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for k, statement in enumerate(block):
                    yield block, k
                    queue.append(statement)


def _less(text: str, k: int) -> str | None:
    """Return *text* without its *k*-th statement, or with what is in it in its place."""
    tree = copy.deepcopy(ast.parse(text))
    block, at = next(itertools.islice(_places(tree), k, None))
    del block[at]
    if not block:
        block.append(ast.Pass())
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except ValueError:
        return None
