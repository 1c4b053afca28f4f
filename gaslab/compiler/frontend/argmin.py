"""Declarations like ``gl.ArgMin[float, gl.VertexId]``: a key and its payload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args, get_origin

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.annotations import pair_operation, storage_of

_KEYS, _PAYLOADS = ("float", "int"), ("float", "int", "id")


def parts_of_pair(
    name: str, annotation: Any, site: t.Site, error: Callable[[str], Exception]
) -> tuple[t.Part, t.Part]:
    """Return the key, which has the pair's *name*, and the payload that *annotation* declares."""
    op = pair_operation(annotation)
    assert op is not None
    word = f"gl.{t.OPERATIONS[op].word}"
    key, payload = (storage_of(one) or "" for one in get_args(annotation.__origin__))
    if t.STORAGE.get(key, ("",))[0] not in _KEYS:
        raise error(f"the key of {word} is a float or an int; write {word}[float, gl.VertexId]")
    if t.STORAGE.get(payload, ("",))[0] not in _PAYLOADS:
        raise error(
            f"the payload of {word} is a float, an int or a gl.VertexId; write {word}[float, gl.VertexId]"
        )
    return (
        t.Part(name, t.Combiner(op, key), (), site),
        t.Part(f"{name}.payload", t.Combiner(t.PAYLOAD, payload), (), site),
    )


def pair_combiner(annotation: Any, site: t.Site, error: Callable[[str], Exception]) -> t.RecordCombiner:
    """Return the combiner of a gather, of messages or of an aggregator that is a pair."""
    parts = parts_of_pair("key", annotation, site, error)
    return t.RecordCombiner(parts[0].combiner.op, "record", parts=parts)


def is_type_of(annotation: Any, record: t.RecordCombiner) -> bool:
    """Whether *annotation* is the type of a pair's total: ``tuple[float, int]``."""
    if pair_operation(annotation):
        annotation = annotation.__origin__
    storages = [storage_of(one) for one in get_args(annotation)]
    kinds = [t.STORAGE[one][0] if one else None for one in storages]
    return get_origin(annotation) is tuple and kinds == [p.combiner.type for p in record.parts]


def type_text(record: t.RecordCombiner) -> str:
    """Return how the type of a pair's total is written."""
    names = {"id": "gl.VertexId"}
    return "tuple[" + ", ".join(names.get(p.combiner.type, p.combiner.type) for p in record.parts) + "]"
