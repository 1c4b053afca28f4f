"""Small programs that between them use every word of the language, for the tests of agreement.

Those that compare floats do so on values that are exact in every order of summation, so that all
engines, ranks and threads take the same branches. The graphs they run on have the edge columns
``weight`` (eighths) and ``cost`` (small integers).
"""

from tests.zoo import (
    additive,
    aggregates,
    aggregators,
    arithmetic,
    arrays,
    caches,
    chance,
    control,
    directions,
    edge_fields,
    edge_lists,
    gathers,
    letters,
    lists,
    merges,
    pairs,
    parcels,
    phases,
    signals,
    totals,
    visits,
)
from tests.zoo.case import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "additive",
    "aggregates",
    "aggregators",
    "arithmetic",
    "arrays",
    "caches",
    "chance",
    "control",
    "directions",
    "edge_fields",
    "edge_lists",
    "gathers",
    "letters",
    "lists",
    "merges",
    "pairs",
    "parcels",
    "phases",
    "signals",
    "totals",
    "visits",
]
