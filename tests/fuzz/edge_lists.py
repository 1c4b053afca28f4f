"""What an edge list means, after docs/graphs.md and the docstring of read_edges."""

from __future__ import annotations

import re
from typing import Any

from tests.fuzz.plain import LARGEST, Answer, Refused, column, is_number, lines_of, number

PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("src", "dest"),
    ("source", "destination"),
    ("source", "dest"),
    ("sourceid", "targetid"),
    ("sourcenode", "targetnode"),
    ("fromnode", "tonode"),
    ("fromid", "toid"),
    ("node1", "node2"),
    ("node1id", "node2id"),
    ("nodeid1", "nodeid2"),
    ("vertex1", "vertex2"),
    ("id1", "id2"),
)
ENDS = (
    "id",
    "node",
    "nodeid",
    "vertex",
    "vertexid",
    "user",
    "userid",
    "item",
    "itemid",
    "movie",
    "movieid",
    "document",
    "documentid",
    "doc",
    "docid",
    "word",
    "wordid",
    "term",
    "termid",
)
UNNAMED = (b",", b"\t", b";", b"::", b"")  # delimiters that are found
SAMPLE = 200  # lines that decide
NAMED = {
    "whitespace": b"",
    "space": b"",
    " ": b"",
    "tab": b"\t",
    "\t": b"\t",
    "\\t": b"\t",
    "comma": b",",
    "semicolon": b";",
    "pipe": b"|",
    "colon": b":",
}
_ID = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(rb"[+-]?[0-9]*,[0-9]+")
_NAN = re.compile(rb"[+-]?nan", re.I)
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"(?!")')


def read(files: list[tuple[str, bytes]], options: dict[str, Any]) -> Answer:
    """Return the graph of *files*, (name, text) each; raise Refused where there is none."""
    return _Reader(files, options).answer()


def fields_of(line: bytes, cut: bytes) -> list[bytes] | None:
    """Return the fields between *cut*, blanks where it is empty; None for quotes that do not close."""
    blanks = b" \t".replace(cut, b"") if cut else b" \t"
    found, at = [], 0
    while True:
        rest = line[at:]
        at += len(rest) - len(rest.lstrip(blanks))
        if not cut and at == len(line):
            return found
        if line[at : at + 1] == b'"':
            quoted = _QUOTED.match(line, at)
            if quoted is None:
                return None
            found.append(quoted[1].replace(b'""', b'"'))
            at = quoted.end()
            stop = _next(line, cut, at)
            if line[at:stop].strip(b" \t"):
                return None
        else:
            stop = _next(line, cut, at)
            found.append(line[at:stop].rstrip(b" \t"))
        if stop == len(line):
            return found
        at = stop + len(cut)


def _next(line: bytes, cut: bytes, at: int) -> int:
    found = re.compile(re.escape(cut) if cut else rb"[ \t]").search(line, at)
    return found.start() if found else len(line)


def is_plain(text: bytes) -> bool:
    """Whether an id is a number: neither nan nor infinite, which are names."""
    return is_number(text) and text.lower().lstrip(b"+-")[:3] not in (b"nan", b"inf")


def counts_as_number(text: bytes) -> bool:
    """Whether a value shows that its column is one of numbers."""
    return bool(_DECIMAL.fullmatch(text)) or (is_number(text) and not _NAN.fullmatch(text))


def find_cut(lines: list[bytes]) -> bytes:
    """Return what is between the fields of the first *lines*; raise Refused where two answers are as good."""
    candidates = {}
    for cut in UNNAMED:
        rows = [fields_of(line, cut) for line in lines]
        first = rows[0]
        if first is None or len(first) < 2:
            continue
        fit = []
        for at, row in enumerate(rows):
            if row is None or len(row) != len(first) or b"" in row:
                continue
            beside = cut in (b"", b"\t") and any(one[:1] in b",;" or one[-1:] in b",;" for one in row)
            words = cut == b"" and any(not is_number(one) and not _DECIMAL.fullmatch(one) for one in row[2:])
            if not beside and not (words and (at or len(rows) == 1)):
                fit.append((at, row))
        ends = [end for at, row in fit if at or len(rows) == 1 for end in row[:2]]
        numbers = bool(ends) and all(is_plain(end) for end in ends)
        candidates[cut] = len(fit), numbers, all(b"," in end or b";" in end for end in ends)
    if not candidates:
        return b""
    best = max((alike, numbers) for alike, numbers, _ in candidates.values())
    left = [cut for cut, (alike, numbers, _) in candidates.items() if (alike, numbers) == best]
    if b"\t" in left:
        return b"\t"
    marks = [cut for cut in left if cut in (b",", b";")]
    if len(marks) == 2 or (marks and b"" in left and candidates[b""][2]):
        raise Refused("two delimiters fit")
    return next(cut for cut in (*marks, b"", b"::") if cut in left)


def plain_word(name: bytes) -> str:
    return "".join(filter(str.isalnum, name.decode("utf-8", "replace").lower()))


def ends_named(names: list[bytes]) -> list[int] | None:
    """Return where the words of a pair stand in a header."""
    words = [plain_word(name) for name in names]
    return next(([words.index(s), words.index(t)] for s, t in PAIRS if s in words and t in words), None)


def is_header(top: list[bytes], rows: list[list[bytes]], ends: list[int] | None) -> bool:
    """Whether the first row names the columns of those behind it."""
    named = ends_named(top)
    ends = ends or named or [0, 1]
    if len(top) <= max(ends):
        return False
    below = [row[end] for row in rows if row != top and len(row) > max(ends) for end in ends]
    text = all(top[end] and not is_plain(top[end]) for end in ends)
    if text and below and all(map(is_plain, below)):
        return True
    if named is None and not all(plain_word(top[end]) in ENDS for end in ends):
        return False
    mine = {re.sub("[0-9]", "", plain_word(top[end])) for end in named or ends}
    return not any(re.sub("[0-9]", "", plain_word(one)) in mine for one in below)


class Meaning:
    """What one line means, once the layout is known."""

    def __init__(self, comments: bytes, cut: bytes = b"") -> None:
        self.comments = comments
        self.cut = cut  # empty: runs of blanks
        self.strings = self.zeros = False
        self.width = 2
        self.ends = [0, 1]
        self.kept: list[int] = []
        self.checked: list[int] = []
        self.text: list[int] = []

    def kind(self, line: bytes) -> str:
        visible = line.strip(b" \t")
        if not visible:
            return "blanks"
        return "comments" if visible[0] in self.comments else "data"

    def fields(self, line: bytes) -> list[bytes] | None:
        """Return the fields of a line, None for quotes that do not close."""
        return fields_of(line, self.cut)

    def edge(self, line: bytes) -> tuple[Any, ...] | None:
        fields = None if re.search(rb"[\0\r]", line) else self.fields(line)
        if fields is None or len(fields) != self.width:
            return None
        ends: list[Any] = []
        zeros = False
        for at in self.ends:
            text = fields[at]
            if self.strings:
                try:
                    ends.append(text.decode("utf-8"))
                except UnicodeDecodeError:
                    return None
                if not text:
                    return None
            else:
                digits = re.sub(b"^(-?)0+(?=.)", rb"\1", text)
                if not re.fullmatch(b"-?[0-9]+", text) or len(digits) > 20:
                    return None
                if not -LARGEST - 1 <= int(digits) <= LARGEST:
                    return None
                ends.append(int(digits))
                zeros |= digits != text or digits == b"-0"
        values = [number(fields[at]) for at in self.kept]
        if None in values or any(number(fields[at]) is None for at in self.checked):
            return None
        if any(counts_as_number(fields[at]) for at in self.text):
            return None
        self.zeros |= zeros
        return (*ends, *values)


class _Reader(Meaning):
    def __init__(self, files: list[tuple[str, bytes]], options: dict[str, Any]) -> None:
        self.files = [(name, lines_of(text)) for name, text in files]
        self.option = options.get
        super().__init__(self.option("comments", "#%").encode())

    def answer(self) -> Answer:
        if self.option("max_bad_lines") is not None and self.option("on_bad_line", "error") != "skip":
            raise Refused("max_bad_lines needs skip")
        for name, lines in self.files:
            if any(len(line) > 1 << 20 for line in lines):
                raise Refused(f"{name}: no line end")
        self._find_layout()
        ids = self.option("ids", "auto")
        counts, edges, bad = self._parse()
        if ids == "auto" and not self.strings and self.zeros:
            self.strings = True
            counts, edges, bad = self._parse()
        if bad:
            most = self.option("max_bad_lines")
            if self.option("on_bad_line", "error") == "error":
                raise Refused("a bad line", bad[0])
            if most is not None and len(bad) > most:
                raise Refused("too many bad lines")
        if not edges:
            raise Refused("no edges")
        return self._graph(counts, edges)

    def _find_layout(self) -> None:
        """Decide from the first lines that could be edges: those with a NUL or a CR say nothing."""
        starts = []  # of each file the first such line, which may repeat the header
        text = []
        for name, lines in self.files:
            mine = [line for line in lines if self.kind(line) == "data" and not re.search(rb"[\0\r]", line)]
            starts.append(mine[0] if mine else None)
            text += [(name, line, at == 0) for at, line in enumerate(mine)]
        named = self.option("delimiter")
        self.cut = b"" if named is None else NAMED.get(named, named.encode())
        self.header: bytes | None = None
        self.names: list[str] = []
        if not text:
            return
        first = text[0][1]
        text = [one for k, one in enumerate(text) if not k or not (one[2] and one[1] == first)][:SAMPLE]
        if named is None:
            self.cut = find_cut([line for _, line, _ in text])
        top = self._cut_or_refuse(first)
        header = self.option("header")
        behind = [row for _, line, _ in text[1:] if (row := self.fields(line)) is not None]
        wanted = self.option("columns")
        if header is None:
            ends = [wanted.get(end) for end in ("source", "target")] if isinstance(wanted, dict) else [None]
            header = is_header(top, behind, ends if all(isinstance(end, int) for end in ends) else None)
        row = self._cut_or_refuse(text[1][1]) if header and len(text) > 1 else None
        if header:
            self.header = first
            if row is None:
                return
        sample = row if header else top
        assert sample is not None
        if header and len(top) != len(sample):
            raise Refused("fields are not those of the header")
        if not 2 <= len(sample) <= 255:
            raise Refused("too few or too many fields")
        self.width = len(sample)
        alike = [one for one in ([] if header else [top]) + behind if len(one) == len(sample)]
        self._find_roles(sample, alike, top if header else None)
        ends = [sample[at] for at in self.ends]
        ids = self.option("ids", "auto")
        self.strings = ids == "str" or (ids == "auto" and not all(_ID.fullmatch(end) for end in ends))

    def _cut_or_refuse(self, line: bytes) -> list[bytes]:
        found = self.fields(line)
        if found is None:
            raise Refused("bad quotes")
        return found

    def _find_roles(self, sample: list[bytes], rows: list[list[bytes]], header: list[bytes] | None) -> None:
        wanted = self.option("columns")
        names = None if header is None else [name.decode("utf-8", "replace") for name in header]
        own = names or (["source", "target", "weight"] + [f"column{k}" for k in range(3, len(sample))])
        own = own[: len(sample)]
        bound: dict[str, int] = {}
        if isinstance(wanted, dict):
            for name, place in wanted.items():
                if place is not None:
                    bound[name] = self._place(place, own)
        ends = (ends_named(header) if header is not None else None) or [0, 1]
        self.ends = [bound.pop("source", ends[0]), bound.pop("target", ends[1])]
        taken = list(bound.values())
        if self.ends[0] == self.ends[1] or len({*taken}) < len(taken) or {*taken} & {*self.ends}:
            raise Refused("one column twice")
        called = {place: name for name, place in bound.items()}
        for at in range(len(sample)):
            if at in self.ends:
                continue
            name = called.get(at, f"column{at}" if names is None and at < 2 else own[at])
            if at not in called:
                if isinstance(wanted, dict) and name in wanted:
                    continue
                if isinstance(wanted, list) and name not in wanted:
                    self.checked += [] if self.cut else [at]
                    continue
                values = [one[at] for one in rows]
                words = any(value and not is_number(value) for value in values)
                nan = any(_NAN.fullmatch(value) for value in values)
                found = any(map(counts_as_number, values)) or (nan and not words)
                if self.cut and not isinstance(wanted, list) and not found:
                    self.text.append(at)
                    continue
            if name in self.names or (names is not None and name in [own[end] for end in self.ends]):
                raise Refused("two columns of one name")
            self.kept.append(at)
            self.names.append(name)
        if isinstance(wanted, list) and not {*wanted} <= {*self.names}:
            raise Refused("no such column")

    @staticmethod
    def _place(place: int | str, own: list[str]) -> int:
        if isinstance(place, str) and place in own:
            if own.count(place) > 1:
                raise Refused("two columns of that name")
            return own.index(place)
        if isinstance(place, str) and not re.fullmatch("[0-9]{1,9}", place):
            raise Refused("no such column")
        if not 0 <= int(place) < len(own):
            raise Refused("no such position")
        return int(place)

    def _parse(self) -> tuple[dict[str, int], list[Any], list[tuple[str, int]]]:
        counts = dict.fromkeys(("lines", "headers", "comments", "blanks", "lines_rejected", "edges_read"), 0)
        edges, bad = [], []
        self.zeros = False
        for name, lines in self.files:
            fresh = self.header is not None
            for at, line in enumerate(lines):
                counts["lines"] += 1
                kind = self.kind(line)
                if kind != "data":
                    counts[kind] += 1
                    continue
                if fresh and not re.search(rb"[\0\r]", line):
                    fresh = False
                    if line == self.header:
                        counts["headers"] += 1
                        continue
                edge = self.edge(line)
                if edge is None:
                    counts["lines_rejected"] += 1
                    bad.append((name, at + 1))
                else:
                    edges.append(edge)
        counts["edges_read"] = len(edges)
        return counts, edges, bad

    def _graph(self, counts: dict[str, int], edges: list[Any]) -> Answer:
        types, values = [], []
        for k, name in enumerate(self.names):
            dtype, one = column([edge[2 + k] for edge in edges])
            types.append((name, dtype))
            values.append(one)
        edges = list(zip([e[0] for e in edges], [e[1] for e in edges], *values, strict=True))
        key: Any = (lambda one: one.encode()) if self.strings else None
        left, right = {e[0] for e in edges}, {e[1] for e in edges}
        bipartite = self.option("bipartite", False)
        ids = sorted(left, key=key) + sorted(right, key=key) if bipartite else sorted(left | right, key=key)
        return dropped(
            Answer(
                ids,
                edges,
                types,
                self.option("directed") is not False,
                counts,
                len(left) if bipartite else None,
            ),
            self.option,
        )


def dropped(answer: Answer, option: Any) -> Answer:
    """Return the graph as drop_duplicates and drop_self_loops leave it, its counts complete."""
    loops = [answer.num_left is None and bool(edge[0] == edge[1]) for edge in answer.edges]
    answer.counts["self_loops"] = sum(loops)
    kept, seen = [], set()
    for edge, loop in zip(answer.edges, loops, strict=True):
        ends: Any = edge[:2] if answer.directed or answer.num_left is not None else frozenset(edge[:2])
        again = ends in seen
        seen.add(ends)
        if not (again and option("drop_duplicates")) and not (loop and option("drop_self_loops")):
            kept.append(edge)
    if option("drop_duplicates"):
        answer.counts["duplicates"] = len(answer.edges) - len(seen)
    answer.counts["edges"] = len(kept)
    answer.edges = kept
    return answer
