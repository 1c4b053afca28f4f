"""Stop words: words of a corpus that say nothing about a topic.

English has the list of the Snowball stemmer (Porter, 2001, snowballstem.org/algorithms/english/stop.txt)
without words with an apostrophe, from which the tokeniser keeps the parts of at least two letters.
"""

from __future__ import annotations

import os
from typing import Any

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.ingest.sidefile import side_file
from gaslab.parallel.comm import Comm

ENGLISH = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is are
was were be been being have has had having do does did doing would should could ought cannot a an the and
but if or because as until while of at by for with about against between into through during before after
above below to from up down in out on off over under again further then once here there when where why how
all any both each few more most other some such no nor not only own same so than too very can will just don
isn aren wasn weren hasn haven hadn doesn didn won wouldn shan shouldn couldn mustn ll re ve let
"""
LISTS = {"english": ENGLISH.split()}


def stop_words_of(words: Any, comm: Comm) -> list[str]:
    """Return the stop words from a named list, from a file with one word per line, or as given (collective).

    Each is included as written and in lower case, as are the words of texts.
    """
    if words is None:
        return []
    if not isinstance(words, (str, os.PathLike)):
        found = arguments.texts("stop_words", words)
    elif words in LISTS:
        found = LISTS[str(words)]
    else:
        path = arguments.path("stop_words", words)
        found = comm.on_root(lambda: _read(path))
    return [*found, *(word.lower() for word in found)]


def _read(path: str) -> list[str]:
    if not os.path.exists(path):
        raise UsageError(
            f"stop_words={path!r} (--stop-words) is neither {' nor '.join(LISTS)} nor a file; name a file "
            "with a word a line"
        )
    with side_file(path) as (_, file):
        return [word for word in map(str.strip, file) if word]
