"""UCI bag-of-words files: how often each word is in each document, as edges from documents to words.

Newman, "Bag of Words", UCI Machine Learning Repository, 2008, doi:10.24432/C5ZG6P.

Three lines give the numbers of documents, words and entries; each further line is an entry, ``document word
count``. The graph is bipartite: documents 1 to D on the left, words 1 to W on the right, with or without
entries, and an edge from the document to the word for each entry, with the column ``count``. A vocabulary
names the words: line k of it is the id of word k.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from gaslab._kernels import ids as kernels
from gaslab.errors import InputError
from gaslab.ingest.edges import Numbered
from gaslab.ingest.files import InputFile
from gaslab.ingest.formats import IF_EDGES
from gaslab.ingest.ids import from_one
from gaslab.ingest.layout import Options, comment_table, data_lines, only_of_edge_lists
from gaslab.ingest.matrix_entries import LARGEST_COUNT, Head, count_faults, read_entries
from gaslab.ingest.problems import shown
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.vocabulary import right_side
from gaslab.parallel.comm import Comm

HEAD = ("documents", "words", "entries")


def read_bag(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read the entries of one file, each rank its own range of lines (collective).

    The graph is always bipartite. Raises InputError for a file that is not a bag of words, ends too early or
    has too many entries, for a line that is not an entry, and for a vocabulary with a different number of
    words.
    """
    file = files[0]
    only_of_edge_lists(options, file)
    head = comm.on_root(lambda: find_head(file))
    documents, words = head.sizes
    left = from_one(comm, documents, f"{file.name}: ")
    number, right = right_side(options.vocabulary, words, file.name, comm)
    largest = LARGEST_COUNT if options.counts else sys.float_info.max  # a graph takes any value
    found = read_entries(files, head, options, comm, lambda parsed: count_faults(parsed, largest))
    if number is not None:
        kernels.translate(found.dst, number, options.threads)
    found.dst += documents
    return Numbered(
        found.src, found.dst, found.columns, SidedIds(comm, left, right),
        directed=options.directed is not False, counts=found.counts,
    )  # fmt: skip


def find_head(file: InputFile) -> Head:
    """Read the three lines above the entries (not collective)."""
    sizes: list[int] = []
    for number, at, line in data_lines(file, comment_table("")):
        what = HEAD[len(sizes)]
        if not re.fullmatch(rb"\d{1,18}", line.strip(b" \t")):
            raise InputError(
                f"{file.name}:{number}: a bag-of-words file begins with the numbers of its documents, words "
                f"and entries, a line each, and {shown(line)} is not a number of {what}; {IF_EDGES}"
            )
        sizes.append(int(line))
        if len(sizes) == len(HEAD):
            documents, words, entries = sizes
            fields = ("document", "word", "count")
            return Head((documents, words), entries, fields, True, number, at, "the head says")
    raise InputError(
        f"{file.name}: a bag-of-words file begins with the numbers of its documents, words and entries, a "
        f"line each, and this ends before the number of {HEAD[len(sizes)]}; it is cut short"
    )
