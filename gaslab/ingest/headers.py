"""Whether the first line of an edge list names the columns, and what its words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gaslab.ingest.delimiters import DIGITS, NUMBER

# Header words, without case, blanks and punctuation: the source's and the target's.
PAIRS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid"), ("src", "dest"),
    ("source", "destination"), ("source", "dest"), ("sourceid", "targetid"), ("sourcenode", "targetnode"),
    ("fromnode", "tonode"), ("fromid", "toid"), ("node1", "node2"), ("node1id", "node2id"),
    ("nodeid1", "nodeid2"), ("vertex1", "vertex2"), ("id1", "id2"),
)  # fmt: skip
# Words for the ends of an edge: two of them also name the columns of ids, but no direction.
ENDS = frozenset((
    "id", "node", "nodeid", "vertex", "vertexid", "user", "userid", "item", "itemid", "movie", "movieid",
    "document", "documentid", "doc", "docid", "word", "wordid", "term", "termid",
))  # fmt: skip
# Any of these makes a line of text above numeric ids clearly a header.
WORDS = ENDS.union(*PAIRS) | {
    "weight", "rating", "count", "cost", "distance", "length", "time", "timestamp", "date", "type", "label",
    "name", "value",
}  # fmt: skip
OPTION = "pass header=True (--header) if it names the columns, header=False (--no-header) if it is an edge"


@dataclass(frozen=True)
class Verdict:
    """Whether the first line is a header, and any doubt about it."""

    header: bool
    doubt: str | None = None


def plain_word(name: str) -> str:
    """Return a name in lower case, with only its letters and digits."""
    return "".join(one for one in name.lower() if one.isalnum())


def ends_named(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of a pair's two words among the names of a header; None without such a pair."""
    words = [plain_word(name) for name in names]
    found = next((pair for pair in PAIRS if pair[0] in words and pair[1] in words), None)
    return None if found is None else (words.index(found[0]), words.index(found[1]))


def find_header(rows: Sequence[list[bytes]], ends: tuple[int, int] | None = None) -> Verdict:
    """Judge the first of *rows*, with ids at *ends*, by default given by its words or the first two fields.

    It is a header if its ids are text and those of all later rows numbers, or if it has header words and no
    later id is such a word, ignoring case and digits. A later equal row does not count: files may have been
    joined.
    """
    top, *behind = rows
    names = [name.decode("utf-8", "replace") for name in top]
    named = ends_named(names)
    ends = ends or named or (0, 1)
    if len(top) <= max(ends):
        return Verdict(False)
    ids = [top[end] for end in ends]
    below = [row[end] for row in behind if row != top and len(row) > max(ends) for end in ends]
    if below and all(map(NUMBER.fullmatch, below)) and all(one and not NUMBER.fullmatch(one) for one in ids):
        known = not WORDS.isdisjoint(map(plain_word, names))
        return Verdict(True, None if known else "is taken as a header, since its ids are text above numbers")
    of_ends = [names[end] for end in named or ends]
    if named is not None or ENDS.issuperset(map(plain_word, of_ends)):
        mine = set(map(_stem, of_ends))
        same = next((one for one in map(_text, below) if _stem(one) in mine), None)
        if same is None:
            return Verdict(True, None if named else "is taken as a header because of its words")
        why = f"since {same!r} is an id below it"
        return Verdict(False, f"has words of a header and is taken as an edge, {why}")
    if below and all(map(DIGITS.fullmatch, below)) and not all(map(DIGITS.fullmatch, ids)):
        return Verdict(False, "has an id that is text, and all below it are numbers; all ids are text")
    return Verdict(False)


def _stem(name: str) -> str:
    return re.sub("[0-9]", "", plain_word(name))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
