"""Texts of edge lists, drawn: nearly valid ones, with all options of the reader."""

from __future__ import annotations

import random as randoms
from typing import Any

from tests.fuzz.edge_lists import PAIRS
from tests.fuzz.plain import LARGEST

WORDS = (
    "a",
    "b",
    "ann",
    "é",
    "日本",
    "x y",
    "-",
    "+5",
    "1.5",
    "source",
    "src",
    "to",
    "nan",
    "🙂",
    "",
    "NULL",
)
REALS = (
    "0.5",
    "1e3",
    "-2.25",
    ".5",
    "5.",
    "1e-320",
    "1e400",
    "inf",
    "-Infinity",
    "nan",
    "0x10",
    "1_0",
    "1e",
    "00.5",
    "+7",
    "9223372036854775808",
    "-9223372036854775808",
    "9007199254740993",
    "1.7976931348623157e308",
    "0.1000000000000000055511151231257827",
    "0,5",
    "-0",
    "-0.0",
    "4.9e-324",
    "2.2250738585072011e-308",
    "",
    "x",
)
HUGE = (
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0" * 30 + "7",
    "9" * 40,
    "000",
    "-1",
    "-0",
    "1e3",
    "01",
)


def draw(random: randoms.Random) -> dict[str, Any]:
    """Return drawn files, texts as latin-1, and options that mostly fit them."""
    cut = random.choice((" ", " ", "\t", "\t", ",", ",", ";", "|", ":", "  ", " ,", ", ", "::", "::", ":: "))
    columns = random.choice((0, 0, 1, 1, 2, 3))
    ids = random.choice(("small", "small", "small", "names", "names", "zeros", "huge"))
    quotes = random.random() < 0.3
    odd = random.choice((0.0, 0.0, 0.05, 0.3))
    numbers = [random.choice(("int", "int", "real", "text")) for _ in range(columns)]

    def one_id() -> str:
        if random.random() < odd:
            return random.choice(HUGE + WORDS)
        if ids == "names":
            return random.choice(WORDS[:4]) + random.choice(("", "1", "2"))
        if ids == "zeros" and random.random() < 0.2:
            return "0" + str(random.randrange(9))
        if ids == "huge":
            return str(LARGEST - random.randrange(4))
        return str(random.randrange(9))

    def value(kind: str) -> str:
        if kind == "text":
            return random.choice(WORDS)
        if kind == "real" or random.random() < odd:
            return random.choice(REALS)
        return str(random.randrange(-5, 20))

    def quoted(word: str) -> str:
        if quotes and random.random() < 0.5:
            return '"' + word.replace('"', '""') + random.choice(("", "", "", '""', cut)) + '"'
        return word

    def line() -> str:
        kind = random.random()
        if kind < 0.05:
            return random.choice(("", " ", "\t", "#", "# c", "% 1 2", " # x", "\r"))
        fields = [one_id(), one_id(), *map(value, numbers)]
        if kind < 0.08:
            fields = fields[: random.randrange(len(fields))] + ["7"] * random.randrange(3)
        text = cut.join(map(quoted, fields))
        return (
            random.choice((text, text, text, " " + text, text + " ", text + cut))[:200]
            if kind < 0.15
            else text
        )

    def header() -> list[str]:
        if random.random() < 0.6:
            return []
        others = (("Source", "Target"), ("u", "v"), ("target", "source"), ("User", "item_id"))
        ends = random.choice(PAIRS + others)
        names = [random.choice(("weight", "w", "km", "weight", "7", "")) for _ in range(columns)]
        fields = [*ends, *names]
        random.shuffle(fields) if random.random() < 0.3 else None
        return [cut.join(fields)]

    end = random.choice(("\n", "\n", "\r\n"))
    top = header()
    files = []
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        lines = [line() for _ in range(random.randrange(random.choice((2, 5, 12))))]
        if random.random() < 0.2:
            lines.insert(0, random.choice(("# c", "", "1\0 2", "a\rb c", "% x")))
        head = top if random.random() < 0.9 else header()
        at = 0 if random.random() < 0.9 else random.randrange(len(lines) + 1)
        lines[at:at] = head
        text = end.join(lines) + random.choice((end, end, ""))
        text = random.choice(("", "", "", "", "", "\ufeff")) + text
        files.append({"text": mutated(random, text.encode().decode("latin-1"), odd)})
    return {"format": "edges", "files": files, "options": draw_options(random, cut, columns, top)}


def mutated(random: randoms.Random, text: str, odd: float) -> str:
    """Return *text*, sometimes with bytes put in, left out or swapped, or with lines spliced."""
    if random.random() > 0.2 + odd:
        return text
    for _ in range(random.choice((1, 1, 2, 4))):
        at, other = (random.randrange(len(text) + 1) for _ in range(2))
        what = random.randrange(6)
        if what == 0:
            text = text[:at] + random.choice('\0\r\n"#, \t1a\xff\xc3\x28\xed\xa0\x80-.') + text[at:]
        elif what == 1:
            text = text[:at] + text[at + 1 :]
        elif what == 2:
            lo, hi = sorted((at, other))
            text = text[:lo] + text[hi : hi + 1] + text[lo + 1 : hi] + text[lo : lo + 1] + text[hi + 1 :]
        elif what == 3:
            lo, hi = sorted((at, other))
            text = text[:hi] + text[lo:hi] + text[hi:]
        elif what == 4:
            text = text[:at] + chr(random.randrange(256)) + text[at + 1 :]
        else:
            lines = text.split("\n")
            random.shuffle(lines)
            text = "\n".join(lines)
    return text[:5000]


def draw_options(random: randoms.Random, cut: str, columns: int, top: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    named = {" ": "whitespace", "\t": "tab", ",": "comma", ";": ";", "|": "|", ":": "colon", "::": "::"}[
        cut.strip(" ") or " "
    ]
    found = ("whitespace", "comma", "::", "tab", ";")  # without a name
    if named not in found or random.random() < (0.5 if named in ("tab", ";") else 0.1):
        options["delimiter"] = named
    if random.random() < 0.05:
        options["delimiter"] = random.choice(("whitespace", "tab", ",", "|", "!", "\\t", ":", "::", "||"))
    for name, values, often in (
        ("ids", ("int", "str"), 0.3),
        ("header", (True, False), 0.15),
        ("directed", (True, False), 0.3),
        ("bipartite", (True,), 0.15),
        ("on_bad_line", ("skip",), 0.5),
        ("drop_duplicates", (True,), 0.2),
        ("drop_self_loops", (True,), 0.2),
        ("comments", ("", "#", ";", "1", "a/"), 0.1),
    ):
        if random.random() < often:
            options[name] = random.choice(values)
    if random.random() < 0.1:
        options["max_bad_lines"] = random.randrange(3)
    names = ["weight", "column3", "column4", "w", "km"]
    if random.random() < 0.1:
        options["columns"] = random.sample(names, random.randrange(3))
    elif random.random() < 0.2:
        places = [None, 0, 1, 2, 3, columns + 1, columns + 2, "weight", "w", "2", "km"]
        names += ["source", "target", "cost"]
        options["columns"] = {
            name: random.choice(places) for name in random.sample(names, random.randrange(3))
        }
    return options
