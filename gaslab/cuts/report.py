"""A page that shows cuts: one file of HTML, with pictures, that needs no network and nothing beside it.

Names are escaped. The content security policy lets the page load nothing; pictures stand in it as SVG.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from gaslab.cuts.figures import FIGURES, figures_of
from gaslab.errors import UsageError
from gaslab.partitioning.census import Census
from gaslab.partitioning.metrics import PartitionMetrics
from gaslab.system.atomic_writes import AtomicFolder, write_bytes
from gaslab.system.outputs import Output

PAGE = "index.html"


@dataclass(frozen=True)
class Content:
    """What a page shows.

    Attributes
    ----------
    source : str
        What the graph was read from.
    facts : mapping of str to str
        What stands under the title: name and value.
    cuts : mapping of str to (Census, PartitionMetrics)
        By strategy, into the k parts that were asked for.
    by_k : mapping of str to sequence of (k, RF)
    expected, bound : sequence of (k, RF)
        Of random, exactly; about the most under 2d.
    """

    source: str
    facts: Mapping[str, str]
    cuts: Mapping[str, tuple[Census, PartitionMetrics]]
    by_k: Mapping[str, Sequence[tuple[int, float]]]
    expected: Sequence[tuple[int, float]]
    bound: Sequence[tuple[int, float]]


def sweep(k: int) -> list[int]:
    """Return the numbers of parts that RF is shown for: powers of 2 below *k*, and *k*.

    >>> sweep(12), sweep(16), sweep(1)
    ([2, 4, 8, 12], [2, 4, 8, 16], [1])
    """
    return [2**e for e in range(1, k.bit_length()) if 2**e < k] + [k]


def page_output(folder: str, force: bool) -> Output:
    """Return the folder of a page as an output, which may be written; else raise UsageError."""
    output = Output(folder, force, folder=True)
    output.check()
    if output.path.exists() and set(os.listdir(output.path)) - {PAGE}:
        raise UsageError(f"{output.path} holds other files, no page of cuts; it is not replaced")
    return output


def write_page(output: Output, content: Content) -> None:
    """Write the page, whole or not at all (not collective)."""
    page = render(content)
    with AtomicFolder(output) as draft:
        write_bytes(Output(Path(draft.beside, PAGE)), page)
        draft.keep()


def render(content: Content) -> bytes:
    """Return the page as UTF-8."""
    from gaslab.cuts import pictures

    cuts = content.cuts
    sections = [
        _section("Replication by the number of parts",
                 "Replicas of a vertex, on average over the vertices with an edge. Lower is better.",
                 pictures.draw_replication(content.by_k, content.expected, content.bound)),
        _section("Replication and vertex balance",
                 "Few replicas send little; parts with equally many share the work. Best: low, left.",
                 pictures.draw_balance({name: m for name, (_, m) in cuts.items()})),
        _section("Replicas by degree",
                 "Which vertices a strategy cuts.",
                 pictures.draw_by_degree({name: census for name, (census, _) in cuts.items()})),
    ]  # fmt: skip
    for name, (census, m) in cuts.items():
        sections.append(_section(
            f"{name}: the parts",
            f"EB {m.edge_balance:.2f} and VB {m.vertex_balance:.2f} are the highest bars over their mean.",
            pictures.draw_parts(census),
        ))  # fmt: skip
        traffic = pictures.draw_traffic(census)
        if traffic is not None:
            sections.append(_section(
                f"{name}: traffic",
                "Mirrors that a part holds for the masters of another. Grey: none.",
                traffic,
            ))  # fmt: skip
    title = f"Cuts of {os.path.basename(content.source) or content.source}"
    page = _PAGE.format(
        title=escape(title),
        style=resources.files(__package__).joinpath("page.css").read_text("utf-8"),
        facts="\n".join(
            f"<div><dt>{escape(n)}</dt><dd>{escape(v)}</dd></div>" for n, v in content.facts.items()
        ),
        table=_table({name: m for name, (_, m) in cuts.items()}),
        sections="\n".join(sections),
    )
    return page.encode("utf-8", "replace")


def _section(title: str, note: str, figure: Any) -> str:
    from gaslab.cuts.pictures import svg

    drawn = base64.b64encode(svg(figure).encode()).decode()
    return (
        f"<section><h2>{escape(title)}</h2>\n<p class='note'>{escape(note)}</p>\n"
        f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{drawn}"></section>'
    )


def _table(cuts: Mapping[str, PartitionMetrics]) -> str:
    """Return all figures, a row each, with a column per strategy."""
    heads = "".join(f"<th scope='col'>{escape(name)}</th>" for name in cuts)
    columns = [figures_of(m) for m in cuts.values()]
    rows = ""
    for name in FIGURES:
        cells = "".join(f"<td>{escape(column[name])}</td>" for column in columns)
        rows += f"<tr><th scope='row'>{escape(name)}</th>{cells}</tr>"
    return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none';
style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1><bdi>{title}</bdi></h1>
<dl class="facts">{facts}</dl>
</header>
<main>
<section class="wide"><h2>Figures</h2>
<p class="note">docs/partitioning.md says what each is.</p>
{table}</section>
{sections}
</main>
<footer class="note">Made by gaslab.</footer>
</body>
</html>
"""
