"""`write_report`: the page of a run's topics, in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.collective import collective
from gaslab.results.result import Result
from gaslab.system.atomic_writes import AtomicFolder, write_bytes
from gaslab.system.outputs import Output
from gaslab.topics.report.content import gather
from gaslab.topics.report.page import render

PAGE = "index.html"


@collective()
def write_report(
    folder: str | os.PathLike[str],
    graph: Graph,
    result: Result,
    *,
    documents: int = 200,
    coherence: Any = None,
    force: bool = False,
) -> None:
    """Write an HTML report of topics, ``index.html`` in a folder, to open in a browser (collective).

    The page needs no network. It shows the topics as bars of their words by probability or relevance, a map
    of the topics, their sizes, the likelihood by sweep, and documents with words coloured by topic.

    Parameters
    ----------
    folder : path
        A new folder; rank 0 writes it, whole or not at all.
    graph : Graph
        The corpus.
    result : Result
        The result of `gaslab.lda` on it.
    documents : int
        Maximum number of documents on the page; for a larger corpus those with the largest share of each
        topic.
    coherence : array [topics], optional
        Coherence of the topics; see `coherence`.
    force : bool
        Whether to replace an earlier page.

    Raises
    ------
    UsageError
        The folder exists, or cannot be written; *result* has no topics of this graph.
    GaslabError
        Writing failed, for example on a full disk.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> corpus = gl.corpus_from(["the cat and a dog", "a dog, a cat", "bank or bond", "bond"])
    >>> result = gl.lda(corpus, topics=2, iterations=20)
    >>> folder = os.path.join(tempfile.mkdtemp(), "page")
    >>> gl.topics.write_report(folder, corpus, result)
    >>> os.listdir(folder)
    ['index.html']
    """
    arguments.instance("graph", graph, Graph, arguments.GRAPH)
    arguments.instance("result", result, Result, "a gaslab.Result")
    documents = arguments.whole("documents", documents, 1)
    if "topic_word" not in result.tables or result.fingerprint != graph.fingerprint:
        raise UsageError("result= is not what gaslab.lda answered for this graph")
    output = page_output(arguments.path("folder", folder), arguments.flag("force", force), "force=True")
    graph.comm.on_root(lambda: check_page(output))
    write_page(output, graph, result, documents, coherence)


def page_output(folder: str, force: bool, way: str = "--force") -> Output:
    """Return the folder of a page as an output."""
    return Output(folder, force, folder=True, way=way)


def check_page(output: Output) -> None:
    """Raise UsageError if the folder cannot or may not be written: what no page is in is not replaced."""
    output.check()
    if output.path.exists() and set(os.listdir(output.path)) - {PAGE}:
        raise UsageError(f"{output.path} holds other files, no page of topics; it is not replaced")


def write_page(
    output: Output, graph: Graph, result: Result, documents: int = 200, coherence: Any = None
) -> None:
    """Write the page (collective)."""
    content = gather(graph, result, documents, coherence)

    def write() -> None:
        assert content is not None
        with AtomicFolder(output) as draft:
            write_bytes(Output(Path(draft.beside, PAGE)), render(content))
            draft.keep()

    graph.comm.on_root(write, long_running=True)
