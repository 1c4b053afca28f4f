"""UCI bags of words: how one is drawn, perhaps with a vocabulary, and what it means, after docs/graphs.md."""

from __future__ import annotations

import random as randoms
import re
from typing import Any

from tests.fuzz.edge_list_texts import HUGE, REALS, mutated
from tests.fuzz.edge_lists import dropped
from tests.fuzz.matrices import MOST, NOT_OF_MATRICES, draw_options, kept_column
from tests.fuzz.plain import LARGEST, Answer, Refused, Unsure, lines_of, number

VOCABULARY = (
    "pear",
    "apple",
    "\u00e9",
    "e",
    "a b",
    "#1",
    "\u65e5\u672c",
    "7",
    "07",
    '"x',
    ",",
    "\U0001f642",
    "Pear",
)


def read(files: list[tuple[str, bytes]], options: dict[str, Any]) -> Answer:
    """Return the graph of one file; raise Refused where there is none."""
    option = options.get
    if any(name in options for name in NOT_OF_MATRICES) or option("ids", "auto") == "str":
        raise Refused("an option of edge lists")
    (name, text), *others = files
    if others:
        raise Refused("several files")
    lines = lines_of(text)
    counts = dict.fromkeys(("lines", "headers", "comments", "blanks", "lines_rejected", "edges_read"), 0)
    counts["lines"] = len(lines)
    data = [(at + 1, line) for at, line in enumerate(lines) if line.strip(b" \t")]
    counts["blanks"] = len(lines) - len(data)
    if any(b"\r" in line for _, line in data[:3]):
        raise Unsure("a carriage return in the head")
    for at, line in data[:3]:
        if not re.fullmatch(b"[0-9]{1,18}", line.strip(b" \t")):
            raise Refused("no head", (name, at))
    if len(data) < 3:
        raise Refused("no head")
    counts["headers"] = 3
    documents, words, entries = (int(line) for _, line in data[:3])
    if documents + words > MOST:
        raise Unsure("more vertices than a model lists, or a machine has room for")
    right: list[Any] = list(range(1, words + 1))
    if "vocabulary" in options:
        right = vocabulary(options["vocabulary"]["text"].encode("latin-1"), words)
    kept = kept_column(option("columns"), "count")
    found = [(at, _entry(line, kept is None)) for at, line in data[3:]]
    for at, entry in found:
        if entry is None:
            raise Refused("no entry of any bag", (name, at))
    edges = []
    for at, (document, word, count) in found:  # type: ignore[misc]
        here = 1 <= document <= documents and 1 <= word <= words and len(edges) < entries
        if not here or not isinstance(count, int) or count < 1:
            raise Refused("no entry of this bag", (name, at))
        edges.append((document, right[word - 1], *([] if kept is None else [count])))
    if len(edges) < entries:
        raise Refused("cut short", (name, data[2][0]))
    counts["edges_read"] = len(edges)
    ids = [
        *range(1, documents + 1),
        *sorted(right, key=lambda word: str(word).encode() if "vocabulary" in options else word),
    ]
    types = [] if kept is None else [(kept, "int64")]
    return dropped(Answer(ids, edges, types, option("directed") is not False, counts, documents), option)


def vocabulary(text: bytes, count: int) -> list[str]:
    """Return the word of each line; raise Refused unless there are *count*, all different."""
    words = [line.strip(b" \t\r") for line in lines_of(text)]
    if any(not word or re.search(rb"[\0\r]", word) for word in words):
        raise Refused("no word")
    try:
        found = [word.decode() for word in words]
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if len(found) != count or len({*found}) != count:
        raise Refused("too few or too many words, or one twice")
    return found


def _entry(line: bytes, bare: bool) -> tuple[int, int, Any] | None:
    """Return an entry, None for a line that is none; *bare*: its count is left out, whatever it is."""
    words = re.split(rb"[ \t]+", line.strip(b" \t"))
    if re.search(rb"[\0\r]", line) or len(words) != 3:
        return None
    ends = []
    for word in words[:2]:
        digits = word.lstrip(b"0") or b"0"
        if not re.fullmatch(b"[0-9]+", word) or len(digits) > 19 or int(digits) > LARGEST:
            return None
        ends.append(int(digits))
    count = 1 if bare else number(words[2])
    return None if count is None else (ends[0], ends[1], count)


def draw(random: randoms.Random) -> dict[str, Any]:
    """Return a drawn file, texts as latin-1, and options that mostly fit it."""
    odd = random.choice((0.0, 0.0, 0.0, 0.04, 0.2))
    documents, words, entries = random.randrange(5), random.randrange(7), random.randrange(9)
    entries *= documents * words > 0
    cut = random.choice((" ", " ", " ", "\t", "  "))

    def field(most: int) -> str:
        if random.random() < odd:
            return random.choice((*HUGE, *REALS, "0", str(most + 1)))
        return random.choice(("", "", "", "0")) * (random.random() < 0.1) + str(random.randrange(1, most + 1))

    lines = [cut.join((field(documents), field(words), field(20))) for _ in range(entries)]
    said = entries + (random.choice((-1, 1)) if random.random() < odd else 0)
    lines = [str(documents), str(words), str(said), *lines]
    for _ in range(random.choice((0, 0, 0, 1, 3))):
        lines.insert(random.randrange(len(lines) + 1), random.choice(("", " ", "\t", "# c" if odd else "")))
    if random.random() < 0.1:
        lines = [random.choice((" ", "", "\t")) + line + random.choice((" ", "")) for line in lines]
    end = random.choice(("\n", "\n", "\r\n"))
    text = "\ufeff" * (random.random() < 0.05) + end.join(lines) + random.choice((end, ""))
    options = draw_options(random, random.random() < 0.2)
    if isinstance(options.get("columns"), (list, dict)):
        renamed = [["count"], [], {"n": 2}, {"count": None}, {"n": "count"}, {"n": 1}, ["x"]]
        options["columns"] = random.choice(renamed)
    if random.random() < 0.4:
        named = random.sample(VOCABULARY, words)
        if random.random() < odd and words:
            named[random.randrange(words)] = random.choice(("", " ", "pear", "\0", "a\rb"))
        listed = end.join(random.choice(("", "", " ")) + word for word in named)
        listed = "\ufeff" * (random.random() < 0.05) + listed + random.choice((end, "", end if odd else ""))
        options["vocabulary"] = {"text": mutated(random, listed.encode().decode("latin-1"), odd - 0.2)}
    return {
        "format": "bagofwords",
        "files": [{"text": mutated(random, text.encode().decode("latin-1"), odd)}],
        "options": options,
    }
