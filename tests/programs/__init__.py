"""Small programs that between them use every word of the language, for the tests of agreement.

Those that compare floats do so on values that are exact in every order of summation, so that all
engines, ranks and threads take the same branches. The graphs they run on have the edge columns
``weight`` (eighths) and ``cost`` (small integers).
"""

from tests.programs import (
    additive,
    aggregates,
    aggregators,
    arithmetic,
    arrays,
    caches,
    collected,
    control,
    directions,
    edge_fields,
    edge_lists,
    gathers,
    key_order,
    lists,
    merges,
    message_parts,
    near_vectors,
    pairs,
    phases,
    random_numbers,
    shared_arrays,
    signals,
    signals_by_id,
    sum_by,
    totals,
    totals_in_fields,
    visits,
)
from tests.programs.case import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "additive",
    "aggregates",
    "aggregators",
    "arithmetic",
    "arrays",
    "caches",
    "collected",
    "control",
    "directions",
    "edge_fields",
    "edge_lists",
    "gathers",
    "key_order",
    "lists",
    "merges",
    "message_parts",
    "near_vectors",
    "pairs",
    "phases",
    "random_numbers",
    "shared_arrays",
    "signals",
    "signals_by_id",
    "sum_by",
    "totals",
    "totals_in_fields",
    "visits",
]
