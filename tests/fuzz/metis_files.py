"""METIS files: how one is drawn, and what it means, after docs/graphs.md and METIS's manual."""

from __future__ import annotations

import random as randoms
import re
from collections import Counter
from typing import Any

from tests.fuzz.edge_list_texts import REALS, mutated
from tests.fuzz.edge_lists import dropped
from tests.fuzz.matrices import MOST, NOT_OF_MATRICES, kept_column
from tests.fuzz.matrices import draw_options as draw_few_options
from tests.fuzz.plain import Answer, Refused, column, lines_of, number


def read(files: list[tuple[str, bytes]], options: dict[str, Any]) -> Answer:
    """Return the graph of one file; raise Refused where there is none."""
    option = options.get
    if (
        any(name in options for name in NOT_OF_MATRICES)
        or option("ids", "auto") == "str"
        or option("bipartite")
    ):
        raise Refused("an option of edge lists")
    if len(files) > 1:
        raise Refused("several files")
    lines = lines_of(files[0][1])
    counts = {"lines": len(lines), "headers": 1, "comments": 0, "lines_rejected": 0}
    head, lists = None, []
    for line in lines:
        bare = line.strip(b" \t\r") if head is None else line.strip(b" \t")
        if bare.startswith(b"%"):
            counts["comments"] += 1
        elif head is None and bare:
            head = bare
        elif head is None:
            counts["comments"] += 1  # blank, above the head
        else:
            lists.append(bare)
    found = re.fullmatch(
        rb"(\d{1,18})[ \t]+(\d{1,18})(?:[ \t]+([01]{1,3})(?:[ \t]+(\d{1,3}))?)?", head or b""
    )
    if found is None:
        raise Refused("no head")
    vertices, edges = int(found[1]), int(found[2])
    sized, heavy, weighted = (digit == "1" for digit in (found[3] or b"0").decode().zfill(3))
    weights = int(found[4] or heavy)
    if weights > 255 or (weights > 0) != heavy:
        raise Refused("weights that the format has not")
    if vertices > MOST:
        raise Refused("more vertices than a model lists")
    names = ["size"] * sized + (["weight"] if weights == 1 else [f"weight{k + 1}" for k in range(weights)])
    kept = kept_column(option("columns"), "weight" if weighted else None)
    if len(lists) > vertices and any(lists[vertices:]):
        raise Refused("more lines than vertices")
    if len(lists) < vertices - (not names):
        raise Refused("cut short")
    # An empty last line is there without its line end, too.
    lists = [*lists, b""][:vertices]
    numbers: list[list[Any]] = [[] for _ in names]
    listed: list[tuple[Any, ...]] = []
    for at, line in enumerate(lists):
        words = re.split(rb"[ \t]+", line) if line else []
        own, words = words[: len(names)], words[len(names) :]
        if len(own) < len(names) or (weighted and len(words) % 2):
            raise Refused("a number is missing")
        for values, word in zip(numbers, own, strict=True):
            values.append(_number(word))
        for k in range(0, len(words), 1 + weighted):
            word = words[k]
            if not re.fullmatch(b"[0-9]{1,18}", word) or not 1 <= int(word) <= vertices:
                raise Refused("no vertex")
            listed.append((at + 1, int(word), *map(_number, words[k + 1 : k + 1 + weighted])))
    above = Counter((u, v, *map(float, w)) for u, v, *w in listed if u < v)
    below = Counter((v, u, *map(float, w)) for u, v, *w in listed if u > v)
    loops = sum(u == v for u, v, *_ in listed)
    if above != below or sum(above.values()) + loops != edges:
        raise Refused("not in the lists of both ends, or not so many")
    counts["edges_read"] = edges
    directed = option("directed") is True
    if not directed:
        listed = [edge for edge in listed if edge[0] <= edge[1]]
    types = []
    if weighted:
        dtype, values = column([edge[2] for edge in listed])
        listed = [(u, v, value) for (u, v, _), value in zip(listed, values, strict=True)]
        if kept is None:
            listed = [edge[:2] for edge in listed]
        else:
            types = [(kept, dtype)]
    columns = {name: column(values)[1] for name, values in zip(names, numbers, strict=True)}
    answer = Answer(list(range(1, vertices + 1)), listed, types, directed, counts, None, columns)
    return dropped(answer, option)


def _number(word: bytes) -> Any:
    value = number(word)
    if value is None:
        raise Refused("no number")
    return value


def draw(random: randoms.Random) -> dict[str, Any]:
    """Return a drawn file, text as latin-1, and options that mostly fit it."""
    vertices = random.randrange(1, 8)
    odd = random.choice((0.0, 0.0, 0.0, 0.03, 0.2))
    sized, heavy, weighted = (random.random() < 0.3 for _ in range(3))
    weights = random.choice((1, 1, 2, 3)) * heavy
    real = random.choice((0.0, 0.0, 0.2))

    def value() -> str:
        if random.random() < odd:
            return random.choice(REALS)
        return (
            random.choice(("0.5", "1e3", "-2.25", ".5", "inf"))
            if random.random() < real
            else str(random.randrange(9))
        )

    lists: list[list[str]] = [[] for _ in range(vertices)]
    edges = random.randrange(10)
    for _ in range(edges):
        u, v = random.randrange(vertices), random.randrange(vertices)
        weight = [value()] * weighted
        lists[u] += [str(v + 1), *weight]
        if u != v and random.random() >= odd:
            lists[v] += [str(u + 1), *weight]
    form = f"{sized:d}{heavy:d}{weighted:d}"
    form = form.lstrip("0") if random.random() < 0.7 else form
    if random.random() < odd:
        edges += random.choice((-1, 1))
    head = " ".join(
        [str(vertices), str(edges), form or "0"][: 2 if not form and random.random() < 0.7 else 3]
    )
    if heavy and (weights > 1 or random.random() < 0.3):
        head += f" {weights}"
    lines = [" ".join([value() for _ in range(sized + weights)] + words) for words in lists]
    lines.insert(0, head)
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        lines.insert(random.randrange(len(lines) + 1), random.choice(("% c", " % 1", "%", "%")))
    if random.random() < 0.1:
        lines += [random.choice(("", " ", "1"))] * random.randrange(1, 3)
    end = random.choice(("\n", "\n", "\r\n"))
    text = end.join(lines) + random.choice((end, ""))
    options = draw_few_options(random, random.random() < 0.02)
    return {
        "format": "metis",
        "files": [{"text": mutated(random, text.encode().decode("latin-1"), odd), "ending": ".graph"}],
        "options": options,
    }
