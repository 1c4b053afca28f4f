"""A page of topics: one file of HTML that needs no network and nothing beside it.

Text is escaped where it stands in the HTML and in the data. The content security policy lets the page run its
own script, known by its hash, and load nothing. The same content gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from gaslab.topics.quality import top_words
from gaslab.topics.report.content import Content
from gaslab.topics.report.data import collect
from gaslab.topics.report.drawing import draw_curve, draw_map, likelihoods, minus
from gaslab.topics.report.layout import between, measure_for, scale

MOST_TOPICS = 1000  # on a page: the largest
LISTED = 10  # words of a topic in the list
TITLES = {"jensen-shannon": "Jensen–Shannon", "hellinger": "Hellinger"}
MAP_NOTE = (
    "The nearer two circles, the more alike the words of the topics: {measure} distances in two dimensions, "
    "which show {shown:.0f}% of them. The area is a topic’s share of the tokens."
)


def render(content: Content) -> bytes:
    """Return the page as UTF-8.

    Examples
    --------
    >>> import numpy as np
    >>> content = Content(np.array([[0.5], [0.5]]), ["<b>", "cat"], np.array([1.0]))
    >>> b"&lt;b&gt;" in render(content), b"<b>" in render(content)
    (True, False)
    """
    kept = np.argsort(-content.sizes, kind="stable")[:MOST_TOPICS]
    spread, sizes, names = content.topic_word[:, kept], content.sizes[kept], kept.tolist()
    distances = between(spread)
    places, shown = scale(distances)
    first = top_words(spread, LISTED)
    described = [", ".join(str(content.words[w]) for w in row[:5].tolist()) for row in first]
    style, script = (
        resources.files(__package__).joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = _PAGE.format(
        script_hash=f"sha256-{digest}",
        style=style,
        script=script,
        title=escape(content.title),
        facts="".join(map(_fact, content.facts.items())),
        list_note=escape(_list_note(content, len(names))),
        topics="\n".join(_row(content, name, top) for name, top in zip(names, first, strict=True)),
        map=draw_map(places, sizes, names, described),
        map_note=escape(MAP_NOTE.format(measure=TITLES[measure_for(*spread.shape)], shown=100 * shown)),
        curve=_curve(content),
        data=_json(collect(content, kept, distances)),
    )
    return page.encode("utf-8", "replace")


def _fact(fact: tuple[str, str]) -> str:
    name, value = map(escape, fact)
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>"


def _list_note(content: Content, listed: int) -> str:
    fewer = (
        f"The {listed:,} largest of {content.sizes.size:,} topics. " if listed < content.sizes.size else ""
    )
    numbers = "" if _named(content.words) else "The corpus has no vocabulary: words are numbers. "
    return f"{fewer}{numbers}Largest first, each with its likeliest words."


def _row(content: Content, name: int, top: np.ndarray) -> str:
    """Return a topic of the list."""
    words = " ".join(f"<bdi>{escape(str(content.words[w]))}</bdi>" for w in top.tolist())
    size = content.sizes[name]
    wide = 100 * size / max(content.sizes.max(), 1e-12)
    return (
        f'<li><label><input type="radio" name="topic" value="{name}"><span class="number">{name}</span>'
        f'<span class="size"><i style="width:{wide:.1f}%"></i></span>'
        f'<span class="share">{100 * size:.1f}%</span>'
        f'<span class="words">{words}</span></label></li>'
    )


def _curve(content: Content) -> str:
    drawn = draw_curve(content.history)
    if not drawn:
        return "<p>No sweep measured the likelihood.</p>"
    rows = "".join(
        f"<tr><td>{sweep}</td><td>{minus(f'{value:.4f}')}</td></tr>"
        for sweep, value in likelihoods(content.history)
    )
    return (
        f"{drawn}\n<details><summary>As a table</summary><table><thead><tr><th>sweep</th>"
        f"<th>log-likelihood per token</th></tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _named(words: Sequence[Any]) -> bool:
    return len(words) == 0 or not isinstance(words[0], (int, np.integer))


def _json(data: Any) -> str:
    """Return JSON that ends no script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none';
style-src 'unsafe-inline'; script-src '{script_hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1><bdi>{title}</bdi></h1>
<dl class="facts">{facts}</dl>
</header>
<main>
<div class="column">
<section class="list" aria-labelledby="list-title">
<h2 id="list-title">Topics</h2>
<p class="note">{list_note}</p>
<p class="scripted"><label>Find a word
<input type="search" id="find" autocomplete="off" spellcheck="false"></label>
<span id="found" class="note" role="status"></span></p>
<ol tabindex="-1">
{topics}
</ol>
</section>
<section class="of-map" aria-labelledby="map-title">
<h2 id="map-title">Map</h2>
{map}
<p class="note">{map_note}</p>
</section>
</div>
<div class="column">
<section class="topic scripted" aria-labelledby="topic-title">
<h2 id="topic-title">Topic</h2>
<p id="topic-note" class="note"></p>
<p class="slider"><label for="weight">Words <output for="weight" id="weight-said"></output></label>
<span>rare elsewhere
<input type="range" id="weight" min="0" max="1" step="0.1" value="1"> likeliest</span></p>
<div class="heads"><span>word</span><span></span><span>in topic</span><span>of its uses</span></div>
<ol id="bars"></ol>
<div class="beside"><div><h3>Nearest topics</h3><ul id="near"></ul></div>
<div><h3>Documents</h3><ul id="of-topic"></ul></div></div>
</section>
<section class="of-curve" aria-labelledby="curve-title">
<h2 id="curve-title">Likelihood by sweep</h2>
{curve}
</section>
</div>
<section class="document scripted" aria-labelledby="document-title">
<h2 id="document-title">Documents</h2>
<p><label>Show <select id="document"></select></label>
<label><input type="checkbox" id="together"> words by topic</label></p>
<p id="document-note" class="note"></p>
<div id="mixture" role="img"></div>
<ul id="legend"></ul>
<ul id="text"></ul>
</section>
</main>
<noscript><p class="note">Without scripts the page shows the list, the map and the likelihood.</p></noscript>
<footer class="note">Made by gaslab.</footer>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
