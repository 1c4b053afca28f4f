"""The initial state of the reference engine: parameters, and fields by default, draw or ``init=``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gaslab import program as words
from gaslab.errors import UsageError, VertexNotFound, nearest
from gaslab.language.arrays import is_array
from gaslab.language.rng import Draw
from gaslab.reference.arithmetic import narrow
from gaslab.reference.arrays import shared_row
from gaslab.reference.declared import storage_of
from gaslab.reference.state import State
from gaslab.reference.views import Edge, Vertex


def bound_parameters(run: State, by_id: Mapping[Any, Vertex]) -> dict[str, Any]:
    """Return the program's parameters in their storage types; ids must name vertices."""
    bound = {}
    for name, annotation in words.parameter_annotations(run.cls).items():
        value = getattr(run.program, name)
        if is_array(value):
            bound[name] = shared_row(value)
            continue
        if storage_of(annotation) == "id" and value not in by_id:
            raise VertexNotFound(f"{run.cls.__name__}({name}={value!r}): no such vertex in the graph")
        storage = "float64" if annotation is float else storage_of(annotation)  # rounded when read
        bound[name] = narrow(storage, value)
    return bound


def fill_edges(run: State, edges: Sequence[Edge], columns: Mapping[str, Sequence[Any]]) -> None:
    """Give edge fields their columns or defaults."""
    for k, (name, field) in enumerate(run.edge_fields.items()):
        if name not in columns and field.required:
            raise UsageError(f"{run.cls.__name__} needs an edge column {name!r}: it has no default")
        default = [field.default] * len(edges)
        if isinstance(field.default, Draw):
            default = run.random.edge_start(field.default, k, run.program.parameters(), field.shape)
        values = columns.get(name) or default
        for e, value in zip(edges, values, strict=True):
            run.put(e, name, field, value)


def fill_vertices(
    run: State,
    vertices: Sequence[Vertex],
    initial: Mapping[str, Mapping[Any, Any]],
    columns: Mapping[str, Mapping[Any, Any]],
) -> None:
    """Give vertex fields the caller's values or their defaults."""
    for name in initial:
        if name not in run.vertex_fields:
            known = nearest(name, run.vertex_fields)
            raise UsageError(f"init: {run.cls.__name__} has no vertex field {name!r}{known}")
    first = min((v.id for v in vertices), default=None)
    for k, (name, field) in enumerate(run.vertex_fields.items()):
        values = {**columns.get(name, {}), **initial.get(name, {})}
        for v in vertices:
            default = first if field.storage == "id" and field.required else field.default
            if isinstance(default, Draw):
                parameters = run.program.parameters()
                default = run.random.vertex_start(default, k, v.id, parameters, field.shape)
            run.put(v, name, field, values.get(v.id, default))
