"""Whether the first line of an edge list names the columns, and what its words say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gaslab._kernels import parser
from gaslab.ingest.delimiters import DIGITS

# The words of a header, without case, blanks and punctuation: the source's and the target's.
PAIRS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid"), ("src", "dest"),
    ("source", "destination"), ("source", "dest"), ("sourceid", "targetid"), ("sourcenode", "targetnode"),
    ("fromnode", "tonode"), ("fromid", "toid"), ("node1", "node2"), ("node1id", "node2id"),
    ("nodeid1", "nodeid2"), ("vertex1", "vertex2"), ("id1", "id2"),
)  # fmt: skip
# Words that leave no doubt about a line of text above ids that are numbers.
WORDS = frozenset(
    {word for pair in PAIRS for word in pair}
    | {"id", "node", "nodeid", "vertex", "user", "userid", "item", "itemid", "movie", "movieid", "document"}
    | {"documentid", "docid", "word", "wordid", "weight", "rating", "count", "cost", "distance", "length"}
    | {"time", "timestamp", "date", "type", "label", "name", "value"}
)
OPTION = "header=True (--header) if it names the columns, header=False (--no-header) if it is an edge"


@dataclass(frozen=True)
class Verdict:
    """Whether the first line is a header, and what is doubtful about it, if anything."""

    header: bool
    doubt: str | None = None


def plain_word(name: str) -> str:
    """Return a name in lower case, with nothing but its letters and digits."""
    return "".join(one for one in name.lower() if one.isalnum())


def ends_named(names: Sequence[str]) -> tuple[int, int] | None:
    """Return where the two words of a pair stand among the names of a header; None without such a pair."""
    words = [plain_word(name) for name in names]
    found = next((pair for pair in PAIRS if pair[0] in words and pair[1] in words), None)
    return None if found is None else (words.index(found[0]), words.index(found[1]))


def find_header(rows: Sequence[list[bytes]], ends: tuple[int, int] | None = None) -> Verdict:
    """Judge the first of *rows*, whose ids are at *ends*, by default as its words or the first two fields.

    It is a header if its ids are text and those of all rows behind it numbers, or if it has a pair of words
    that headers have and no id behind it is such a word, but for its case and digits.
    """
    top, *behind = rows
    names = [name.decode("utf-8", "replace") for name in top]
    named = ends_named(names)
    ends = ends or named or (0, 1)
    if len(top) <= max(ends):
        return Verdict(False)
    ids = [top[end] for end in ends]
    below = [row[end] for row in behind if len(row) > max(ends) for end in ends]
    numbers = bool(below) and all(map(DIGITS.fullmatch, below))
    if numbers and all(one and parser.number_problem(one) == "not_number" for one in ids):
        known = any(plain_word(name) in WORDS for name in names)
        return Verdict(True, None if known else "is taken as a header, for its ids are text above numbers")
    if named is not None:
        mine = {_stem(names[end].encode()) for end in named}
        same = next((one for one in below if _stem(one) in mine), None)
        if same is None:
            return Verdict(True)
        why = f"for {_text(same)!r} is an id behind it"
        return Verdict(False, f"has the words of a header and is taken as an edge, {why}")
    if numbers and not all(map(DIGITS.fullmatch, ids)):
        return Verdict(False, "is taken as an edge, and so all ids as text, which it alone has")
    return Verdict(False)


def _stem(name: bytes) -> str:
    return re.sub("[0-9]", "", plain_word(_text(name)))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
