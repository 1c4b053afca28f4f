"""Vectors that count edges: 32-bit elements, so half the bytes to keep and send."""

from __future__ import annotations

from dataclasses import replace

from gaslab.compiler import tree as t

MANY_EDGES = 1 << 30  # of a graph: a gather sees each edge at most twice


def counting(gather: t.Combiner | None, functions: dict[str, t.Function]) -> t.Combiner | None:
    """Return a gather's accumulator with the vectors that count edges (``gl.at(k)``) in 32 bits."""
    if not isinstance(gather, t.RecordCombiner) or gather.own:
        return gather
    added: dict[int, list[t.AddPart]] = {}
    for s in t.statements(functions["gather"].body):
        if isinstance(s, t.AddPart) and isinstance(s.target, t.Element):
            assert isinstance(s.target.array, t.PartOf)
            added.setdefault(s.target.array.index, []).append(s)
    parts = tuple(
        _in_32_bits(part) if part.combiner.storage == "int64" and _counts(part, added.get(k, [])) else part
        for k, part in enumerate(gather.parts)
    )
    return replace(gather, parts=parts)


def _counts(part: t.Part, added: list[t.AddPart]) -> bool:
    """Whether each edge adds 1 to an element, or nothing: gather returns one accumulator per call."""
    ones = [isinstance(s.value, t.Const) and s.value.value == 1 for s in added]
    return part.combiner.op == "sum" and bool(ones) and all(ones)


def _in_32_bits(part: t.Part) -> t.Part:
    return replace(part, combiner=replace(part.combiner, storage="int32"), fits=True)
