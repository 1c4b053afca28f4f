"""The input of commands that take a corpus: its formats, and which words are kept."""

from __future__ import annotations

import argparse
from typing import Any

from gaslab.cli import option
from gaslab.cli.arguments import LINE_OPTIONS, Parser, add_lines, bound_columns


def add_corpus(parser: Parser) -> None:
    """Add the corpus and how to read it."""
    parser.add_argument(
        "input", nargs="*", metavar="CORPUS",
        help="file(s), text or .gz, a glob, or a folder of texts: each file in it is a document",
    )  # fmt: skip
    group = parser.add_argument_group("corpus")
    group.add_argument("--format", type=_format_name, default="auto", metavar="NAME",
                       help="bagofwords (UCI), ldac, svmlight, matrixmarket, text (a document a line) or "
                            "edges: document, word, count (auto: by names and first lines)")  # fmt: skip
    group.add_argument("--vocabulary", "--vocab", dest="vocabulary", metavar="FILE",
                       help="the words, one a line, of a format that numbers them")  # fmt: skip
    option.text(group, "--stop-words", "english|FILE", "words to leave out; a file has one a line")
    group.add_argument("--min-df", type=_frequency, default=0, metavar="N|SHARE",
                       help="leave out words in fewer documents: 5 documents, or 0.01 of them")  # fmt: skip
    group.add_argument("--max-df", type=_frequency, default=1.0, metavar="N|SHARE",
                       help="leave out words in more documents")  # fmt: skip
    add_lines(parser.add_argument_group("lines of document, word, count"))


def corpus_options(arguments: Any) -> dict[str, Any]:
    """Return the keyword arguments of `gaslab.read_corpus` that the options mean."""
    names = ("format", "vocabulary", "stop_words", "min_df", "max_df", *LINE_OPTIONS)
    reading = {name: getattr(arguments, name) for name in names}
    return {**reading, "columns": bound_columns(arguments) or None}


def _format_name(word: str) -> str:
    from gaslab.ingest.formats import CORPUS_FORMATS

    return option.one_of(*CORPUS_FORMATS)(word)


def _frequency(word: str) -> int | float:
    """Argparse type: a number of documents, or a share of them where the word is no integer."""
    value: int | float
    try:
        value = int(word)
    except ValueError:
        try:
            value = float(word)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{word!r} is neither a number of documents nor a share of them"
            ) from None
    if not value >= 0 or (isinstance(value, float) and value > 1):
        raise argparse.ArgumentTypeError(
            f"{word}: a number of documents, 5, or a share from 0.0 to 1.0 is needed"
        )
    return value
