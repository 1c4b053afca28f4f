"""Writes docs/pairs.md, the map of the language: what runs together, and what is refused and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.pairs.features import FEATURES, POINTLESS, REFUSED, conflict, pairs

MANY = 999  # runs of a pair that are counted
ENOUGH = 20  # runs of each pair
ROOT = Path(__file__).resolve().parents[2]
PAGE, COUNTS = ROOT / "docs" / "pairs.md", Path(__file__).with_name("counts.json")
HEAD = """# Which features go together

Any two features of a program and its run work together, or gaslab refuses them and gives the reason. A
generator draws programs, graphs and runs with the features listed below, and compares each answer, bit for
bit, with `engine="reference"`: compiled and interpreted, with one and two threads, on 1, 2, 3 and 4 ranks,
and with the engine that was drawn. `python -m tests.pairs --page` writes this page, and a test checks it
against the generator. `python -m tests.pairs --seconds 600` draws more.

"""
WORDS = {
    "field": "vertex fields",
    "edge field": "edge fields",
    "additive": "additive fields",
    "gather": "gathers",
    "message": "messages",
    "aggregator": "aggregators",
    "method": "methods",
    "signal": "signals",
    "direction": "directions",
    "caching": "kept totals",
    "draw": "random numbers",
    "parameter": "parameters",
    "helper": "helpers",
    "statement": "statements",
    "operator": "expressions",
    "graph": "graphs",
    "cut": "cuts",
    "run": "runs",
    "engine": "engines",
    "scheduler": "schedulers",
    "fault": "faults",
}


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """Return the text of docs/pairs.md."""
    all_pairs = list(pairs())
    refused = [p for p in all_pairs if conflict(*p)]
    counts: dict[str, Any] = json.loads(COUNTS.read_text())
    runs = runs_of_pairs()
    of_pairs = [runs.get(frozenset(pair), 0) for pair in all_pairs]
    drawn, often = sum(n > 0 for n in of_pairs), sum(n >= ENOUGH for n in of_pairs)
    lines = [HEAD + "## The features", "", "| kind | features |", "|---|---|"]
    groups = dict.fromkeys(f.group for f in FEATURES)
    for group in groups:
        lines.append(f"| {WORDS[group]} | {', '.join(f.name for f in FEATURES if f.group == group)} |")
    lines += [
        "",
        f"{len(FEATURES)} features make {len(all_pairs):,} possible pairs: "
        f"{len(all_pairs) - len(refused):,} run, {len(refused):,} are refused, as listed below or because of "
        "what one of them requires.",
        "",
        "## What is refused",
        "",
        "| these | with these | the error says |",
        "|---|---|---|",
    ]
    lines += [f"| {_listed(a)} | {_listed(b)} | {why} |" for a, b, why in REFUSED]
    lines += [
        "",
        "Every error names the program, and the line if there is one, and is the same on every rank.",
        "",
        "## What cannot be asked for",
        "",
        "| these | with these | because |",
        "|---|---|---|",
    ]
    slots = dict.fromkeys(f.slot for f in FEATURES if f.slot)
    for slot in slots:
        if len(names := tuple(f.name for f in FEATURES if f.slot == slot)) > 1:
            lines.append(f"| {_listed(names)} | each other | a program or run has one of them |")
    lines += [f"| {_listed(a)} | {_listed(b)} | {why} |" for a, b, why in POINTLESS]
    lines += [
        "",
        "## What was drawn",
        "",
        f"The counts stored with the generator cover {counts['programs']:,} programs in "
        f"{counts['runs']:,} runs. {drawn:,} pairs agreed or were refused as above in at least one run, "
        f"{often:,} in {ENOUGH} or more.",
        "",
        "Answers of `async relaxed`, `async serialisable` and `stale 2` are compared if the program reaches",
        "the same fixed point in any order, and programs for them are drawn so. With `self.superstep`, an",
        "aggregator that methods read, or a draw in gather or scatter, the answer depends on the order, and",
        "only the end of the run is checked. If a gather may stop early, or a scatter can change nothing",
        "more, a fault at a later edge may not occur; if several vertices fail, any of them may be named.",
    ]
    return "\n".join(lines) + "\n"


def counted(tables: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what counts.json keeps of the tables of some campaigns: programs, runs, and runs by pair."""
    sums: dict[str, int] = {}
    for table in tables:
        for part in ("agreed", "refused"):
            for key, runs in table[part].items():
                sums[key] = sums.get(key, 0) + runs
    names = [f.name for f in FEATURES]
    return {
        "programs": sum(t["programs"] for t in tables),
        "runs": sum(t["runs"] for t in tables),
        "pairs": {  # a row a feature: beside each of those before it, in their order
            name: [min(sums.get(" + ".join(sorted((name, other))), 0), MANY) for other in names[:k]]
            for k, name in enumerate(names)
        },
    }


def kept() -> dict[str, Any]:
    """Return what counts.json has as the table of a campaign."""
    counts = json.loads(COUNTS.read_text())
    agreed = {" + ".join(sorted(pair)): runs for pair, runs in runs_of_pairs().items()}
    return {"programs": counts["programs"], "runs": counts["runs"], "agreed": agreed, "refused": {}}


def write_counts(counts: dict[str, Any]) -> None:
    """Write counts.json, a line a feature."""
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in counts["pairs"].items())
    head = f'{{"programs": {counts["programs"]}, "runs": {counts["runs"]}, "pairs": {{\n'
    COUNTS.write_text(head + rows + "}}\n")


def runs_of_pairs() -> dict[frozenset[str], int]:
    """Return how many runs of each pair counts.json has, `MANY` for as many or more."""
    rows = json.loads(COUNTS.read_text())["pairs"]
    names = list(rows)
    return {
        frozenset((name, other)): runs
        for name, row in rows.items()
        for other, runs in zip(names, row, strict=False)
    }
