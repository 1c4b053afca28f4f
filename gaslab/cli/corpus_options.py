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
        help="files, plain or .gz, or a glob of them; or a folder of texts, one document per file",
    )  # fmt: skip
    group = parser.add_argument_group("corpus")
    group.add_argument("--format", type=_format_name, default="auto", metavar="NAME",
                       help="bagofwords (UCI), ldac, svmlight, matrixmarket, text (one document per line) or "
                            "edges: document, word, count (auto: from names and first lines)")  # fmt: skip
    group.add_argument("--vocabulary", "--vocab", dest="vocabulary", metavar="FILE",
                       help="the words, one per line, for formats that number them")  # fmt: skip
    option.text(group, "--stop-words", "english|FILE",
                "words to leave out: the built-in English list, or a file with one per line")  # fmt: skip
    group.add_argument("--min-df", type=_frequency, default=0, metavar="N|SHARE",
                       help="leave out words of fewer documents: a number (5) or a share (0.01)")  # fmt: skip
    group.add_argument("--max-df", type=_frequency, default=1.0, metavar="N|SHARE",
                       help="leave out words of more documents")  # fmt: skip
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
                f"{word!r} is neither a number nor a share of documents"
            ) from None
    if not value >= 0 or (isinstance(value, float) and value > 1):
        raise argparse.ArgumentTypeError(
            f"{word}: give a number of documents (5) or a share from 0.0 to 1.0"
        )
    return value
