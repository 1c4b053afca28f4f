"""MapReduce: map over records, reduce by key, as a vertex program. Here: words and how often they occur.

Dean and Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004. The records are
edges and the keys are vertices:

    map(record) -> key, value        gather: looks at one edge, returns a value; the key is `v`
    combine                          done on every rank before anything is sent, by the annotation
    reduce(key, values)              apply: `total` is the reduced value
    sort, shuffle                    the graph is cut and its mirrors are known before the job begins

A job whose key is the other end of its records gathers over gl.OUT. The next job of a chain starts from
the last one's result (``init=``); records need not be read again.

    mpiexec -n 2 python examples/mapreduce.py
    gaslab run examples/mapreduce.py:WordCount OCCURRENCES --max-iterations 1 --column times=NAME
"""

from __future__ import annotations

import gzip
from pathlib import Path

import gaslab as gl


class WordCount(gl.VertexProgram):
    """A record is an edge document -> word; the answer is how often a word occurs, in all documents."""

    class Vertex(gl.Vertex):
        count: int = 0

    class Edge(gl.Edge):
        times: int = 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:  # map and combine
        return e.times

    def apply(self, v: Vertex, total: int) -> None:  # reduce
        v.count = total


class RarestWord(gl.VertexProgram):
    """The next job: key document, value the count of a word; how often its rarest word occurs."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        count: int
        rarest: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[int]:
        return nbr.count

    def apply(self, v: Vertex, total: int) -> None:
        if v.out_degree > 0:
            v.rarest = total


def corpus() -> gl.Graph:
    """Return the documents and words of the standard library's docstrings; a word's id is ``word:...``."""
    folder = Path(__file__).resolve().parent.parent / "datasets"
    documents = (folder / "documents.stdlib-docstrings.txt").read_text().split()
    words = (folder / "vocab.stdlib-docstrings.txt").read_text().split()
    with gzip.open(folder / "docword.stdlib-docstrings.txt.gz", "rt") as file:
        records = [tuple(map(int, line.split())) for line in file if line.count(" ") == 2]
    return gl.Graph.from_edges(
        [documents[document - 1] for document, _, _ in records],
        ["word:" + words[word - 1] for _, word, _ in records],
        columns={"times": [times for _, _, times in records]},
    )


def main() -> None:
    graph = corpus()
    counted = gl.run(WordCount(), graph, max_iterations=1)
    rarest = gl.run(RarestWord(), graph, init={"count": counted}, max_iterations=1)
    if graph.comm.rank == 0:
        counts = counted.vertices.to_dict("count")
        for word in sorted(counts, key=lambda word: -counts[word])[:10]:
            print(f"{word.removeprefix('word:'):12} {counts[word]:6}")
        least = {d: n for d, n in rarest.vertices.to_dict("rarest").items() if n}
        document = max(least, key=lambda d: least[d])
        print(f"{document} uses no word that occurs less than {least[document]} times")


if __name__ == "__main__":
    main()
