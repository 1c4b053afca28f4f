"""The meaning of annotations: storage types, dimensions, pairs of a key and its payload, totals by key.

Errors are raised elsewhere: for fields in `field_declarations`, for gathers, messages and aggregators in
`combiner`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.lists import list_storage, tuples_storage
from gaslab.language.annotations import mark_of

_PLAIN = {float: "float64", int: "int64", bool: "bool"}


def pair_operation(annotation: Any) -> str | None:
    """Return ``"argmin"`` or ``"argmax"`` for the annotation of a pair, else None."""
    mark = mark_of(annotation, program.Combine)
    return mark.op if mark and mark.op in t.OPERATIONS and t.OPERATIONS[mark.op].is_key else None


def storage_of(annotation: Any) -> str | None:
    """Return the storage type of *annotation*, None if the language has none."""
    if isinstance(annotation, type):
        return _PLAIN.get(annotation)
    if get_origin(annotation) is Annotated:
        mark, inner = mark_of(annotation, program.Storage), annotation.__origin__
        if mark is None and get_origin(inner) is tuple:
            return tuples_storage(annotation, [storage_of(one) for one in get_args(inner)])
        return list_storage(annotation, mark.name if mark else storage_of(inner))
    return None


_KEYS, _PAYLOADS = ("float", "int"), ("float", "int", "id")


def parts_of_pair(
    name: str, annotation: Any, site: t.Site, error: Callable[[str], Exception]
) -> tuple[t.Part, t.Part]:
    """Return the key, under the pair's *name*, and the payload that *annotation* declares."""
    op = pair_operation(annotation)
    assert op is not None
    word = f"gl.{t.OPERATIONS[op].word}"
    key, payload = (storage_of(one) or "" for one in get_args(annotation.__origin__))
    if t.STORAGE.get(key, ("",))[0] not in _KEYS:
        raise error(f"the key of {word} must be a float or an int; write {word}[float, gl.VertexId]")
    if t.STORAGE.get(payload, ("",))[0] not in _PAYLOADS:
        raise error(
            f"the payload of {word} must be a float, an int or a gl.VertexId; "
            f"write {word}[float, gl.VertexId]"
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
    """Return the type of a pair's total as written."""
    names = {"id": "gl.VertexId"}
    return "tuple[" + ", ".join(names.get(p.combiner.type, p.combiner.type) for p in record.parts) + "]"


# ---- totals by key ---------------------------------------------------------------------------------

_BY, _SUMMED = ("int", "bool", "id"), ("float", "int")


def is_by_key(annotation: Any) -> bool:
    """Return whether *annotation* is ``gl.SumBy[...]``."""
    return mark_of(annotation, program.ByKey) is not None


def keyed_combiner(annotation: Any, error: Callable[[str], Exception]) -> t.KeyedCombiner:
    """Return the combiner of a gather whose annotation is ``gl.SumBy[...]``."""
    key, value = _of_key_and_value(annotation)
    if t.STORAGE.get(key, ("",))[0] not in _BY:
        raise error("the key of gl.SumBy must be an int, a bool or a gl.VertexId; write gl.SumBy[int, float]")
    if t.STORAGE.get(value, ("",))[0] not in _SUMMED:
        raise error("the values of gl.SumBy must be floats or ints; write gl.SumBy[gl.VertexId, float]")
    return t.KeyedCombiner(t.SUM_BY, value, key=key)


def is_total_of(annotation: Any, combiner: t.KeyedCombiner) -> bool:
    """Return whether *annotation* is ``gl.SumBy[...]`` of the combiner's types."""
    if not is_by_key(annotation):
        return False
    kinds = [t.STORAGE.get(one, ("",))[0] for one in _of_key_and_value(annotation)]
    return kinds == [combiner.key_type, combiner.value_type]


def keyed_text(combiner: t.KeyedCombiner) -> str:
    """Return the type of the total as written."""
    return f"gl.SumBy[{combiner.key_type.replace('id', 'gl.VertexId')}, {combiner.value_type}]"


def _of_key_and_value(annotation: Any) -> tuple[str, str]:
    key, value = (storage_of(one) or "" for one in get_args(annotation.__origin__))
    return "id32" if key == "id" else key, value
