"""lda-c and SVMlight files: one document per line, as pairs ``word:count``.

Blei, "lda-c", 2003: ``N word:count ...``, N the number of pairs of the document, words from 0.
Joachims, "SVM-light", 1999: ``label word:count ... # comment``; words from 1, or from 0 if there is a word 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import documents as kernels
from gaslab._kernels import ids as id_kernels
from gaslab.ingest.capacity import check_room
from gaslab.ingest.corpus.pieces import Documents, Part, read_documents
from gaslab.ingest.edges import Numbered
from gaslab.ingest.files import Block, InputFile
from gaslab.ingest.ids import VertexIds, from_one
from gaslab.ingest.layout import Options, only_of_edge_lists
from gaslab.ingest.matrix_entries import WHOLE
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.vocabulary import number_words
from gaslab.parallel.comm import Comm

LARGEST_WORD = (1 << 62) - 1
TEXTS = {
    "no_pair": "{} is not a pair word:count; " + WHOLE,
    "no_word": "the word of {} is not a number from 0 on; words are numbers, which a vocabulary may name",
    "no_count": "the count of {} is not a number; " + WHOLE,
    "broken_count": "the count of {} is not a whole number; " + WHOLE,
    "small_count": "the count of {} is less than 1; leave the pair out",
    "large_count": f"the count of {{}} is more than {kernels.LARGEST_COUNT}; " + WHOLE,
    "no_length": "the line begins with {}, not with its number of pairs; is it an SVMlight file "
                 "(--format svmlight, format='svmlight')?",
    "other_length": "the number of pairs differs from the first field, {}; is the line cut short, or an "
                    "SVMlight file (--format svmlight, format='svmlight')?",
}  # fmt: skip


def read_pairs(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read documents as pairs, each rank its own range of lines (collective).

    The ids of documents are their numbers from 1, through all files; those of words are the vocabulary's
    words, or their numbers. Raises InputError for a line that is not a document, and for a word beyond the
    vocabulary.
    """
    file, labels = files[0], files[0].format == "svmlight"
    only_of_edge_lists(options, file)
    number, words, limit = None, None, LARGEST_WORD
    if options.vocabulary is not None:
        number, words = number_words(options.vocabulary, None, "", comm)
        limit = words.num_vertices - (not labels)
    found = _read(files, labels, limit, options, comm)
    least, most = _range(found.word, comm)
    base = int(labels and least > 0)
    if words is not None and most - base >= words.num_vertices:
        found = _read(files, labels, words.num_vertices - 1, options, comm)  # it raises
    if words is None:
        words = _numbers(most + 1 - base, base, file.name, comm)
    found.word -= base
    if number is not None:
        id_kernels.translate(found.word, number, options.threads)
    left = from_one(comm, found.total, f"{file.name}: ")
    found.word += found.total
    counts = {"lines": found.lines, "edges_read": int(comm.allreduce(found.word.size))}
    return Numbered(
        found.document, found.word, {"count": found.count}, SidedIds(comm, left, words),
        directed=True, counts=counts,
    )  # fmt: skip


def _read(files: Sequence[InputFile], labels: bool, most: int, options: Options, comm: Comm) -> Documents:
    """Read documents whose words are at most *most* (collective)."""
    vocabulary = str(options.vocabulary).replace("{", "{{").replace("}", "}}")
    texts = {
        **TEXTS,
        "beyond": f"the word of {{}} is beyond the vocabulary {vocabulary}, whose last is {most}; is "
        "it the vocabulary of this corpus?",
    }

    def parse(file: InputFile, block: Block) -> Part:
        document, word, count, lines, documents, wrong = kernels.pairs(
            block.text, block.begin, block.end, labels, most
        )
        bad = None
        if wrong is not None:
            line, fault, at, length = wrong
            bad = (line, texts[kernels.FAULTS[fault]], bytes(block.text[at : at + length]))
        return Part(document, word, count, lines, documents, bad)

    return read_documents(files, parse, comm)


def _range(word: np.ndarray, comm: Comm) -> tuple[int, int]:
    """Return the smallest and the largest word of all ranks; (0, -1) without any (collective)."""
    least = int(comm.allreduce(int(word.min(initial=LARGEST_WORD)), "min"))
    most = int(comm.allreduce(int(word.max(initial=-1)), "max"))
    return (least, most) if most >= 0 else (0, -1)


def _numbers(count: int, base: int, name: str, comm: Comm) -> VertexIds:
    """Return the directory of words whose ids are their numbers from *base* (collective)."""
    if base:
        return from_one(comm, count, f"{name}: ")
    check_room(comm, count, f"{name}: ")
    return VertexIds(comm, "int", count)
