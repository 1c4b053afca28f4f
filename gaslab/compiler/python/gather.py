"""gather, interpreted: a vertex's total over its edges, in the compiled order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gaslab.compiler.python import keyed, lists, records
from gaslab.compiler.python.block import IN, OUT, Block
from gaslab.compiler.tree import KeyedCombiner, RecordCombiner, Tree


class Gather:
    """The gather of one program; *namespace* has its method and the combiner of two totals."""

    def __init__(self, tree: Tree, namespace: dict[str, Any]) -> None:
        self._tree, self._namespace, self._decided_by = tree, namespace, tree.decided_by

    def total(self, c: Block, i: int) -> Any:
        """Return the materialised total at position i."""
        combiner = self._tree.gather
        if isinstance(combiner, RecordCombiner):
            return records.read(combiner, c.total, i)
        if isinstance(combiner, KeyedCombiner):  # the sums of several ranks, one after the other
            sums: dict[Any, Any] = {}
            for key, value in c.total.item(i):
                self._namespace["add_by_key"](sums, key, value)
            c.total[i] = sums
            return keyed.Total(sums, combiner)
        return combiner and c.total.item(i)

    def gather(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        """``gl_gather``"""
        combiner = self._tree.gather
        for i, v in positions:
            total = self.row(c, c.load(v), v)
            if isinstance(combiner, RecordCombiner):
                records.write(combiner, c.total, i, total)
            else:
                c.total[i] = total.sums if isinstance(total, keyed.Total) else total

    def _record_row(self, c: Block, n: list[Any], v: int, combiner: RecordCombiner) -> Any:
        """Return a vertex's accumulator with parts."""
        total, do = records.empty(combiner), self._namespace["do_gather"]
        c.stopped, decided = False, self._decided_by
        chosen = c.walked(v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            c.forward = bit == OUT
            for x, e in row(v) if bit & chosen and not c.stopped else ():
                do(c, n, v, x, e, total)
                if c.stopped or (decided and tuple(total) == decided):
                    c.stopped = True
                    break
        records.complete(combiner, total)
        return total

    def row(self, c: Block, n: list[Any], v: int) -> Any:
        """Return a vertex's total, combined in the compiled order."""
        if isinstance(self._tree.gather, KeyedCombiner):
            return self._keyed_row(c, n, v, self._tree.gather)
        if self._tree.gather is not None and self._tree.gather.collects:
            return self._collected(c, n, v)
        combine, do = self._namespace["combine_total"], self._namespace["do_gather"]
        combiner = self._tree.gather
        assert combiner is not None
        if isinstance(combiner, RecordCombiner):
            return self._record_row(c, n, v, combiner)
        ways = 4 if combiner.type == "float" else 1
        sums = [combiner.identity] * ways
        c.stopped = False
        chosen = c.walked(v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            if bit & chosen and not c.stopped:
                c.forward = bit == OUT
                edges = list(row(v))
                whole = len(edges) - len(edges) % ways
                for k, (x, e) in enumerate(edges):
                    way = k % ways if k < whole else 0
                    sums[way] = combine(sums[way], do(c, n, v, x, e))
                    if c.stopped or (self._decided_by and (sums[0],) == self._decided_by):
                        c.stopped = True
                        break
        total = combine(combine(sums[0], sums[1]), combine(sums[2], sums[3])) if ways == 4 else sums[0]
        return self._namespace["narrow_total"](total)

    def _keyed_row(self, c: Block, n: list[Any], v: int, combiner: KeyedCombiner) -> keyed.Total:
        """Return a vertex's total by key."""
        do, sums = self._namespace["do_gather"], dict[Any, Any]()
        chosen = c.walked(v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            if bit & chosen:
                c.forward = bit == OUT
                for x, e in row(v):
                    do(c, n, v, x, e, sums)
        return keyed.Total(sums, combiner)

    def _collected(self, c: Block, n: list[Any], v: int) -> list[Any]:
        """Return the list that a vertex gathers on this rank, in ascending order."""
        do, found = self._namespace["do_gather"], []
        chosen = c.walked(v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            if bit & chosen:
                c.forward = bit == OUT
                found += [y for x, e in row(v) if (y := do(c, n, v, x, e)) is not None]
        assert self._tree.gather is not None
        if self._tree.gather.storage == "id32":
            found = [lists.listed_id(x) for x in found]
        return lists.ordered(found, self._tree.gather.op)

    def combine(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        """``gl_combine``: combine the totals of one peer into those here."""
        combiner = self._tree.gather
        if isinstance(combiner, RecordCombiner):
            for i, at in positions:
                c.at = at
                both = records.read(combiner, c.total, at), records.read(combiner, c.incoming, i)
                records.write(combiner, c.total, at, self._namespace["combine_total"](*both))
            return
        for i, at in positions:
            c.at = at
            both = self._namespace["combine_total"](c.total.item(at), c.incoming.item(i))
            c.total[at] = self._namespace["narrow_total"](both)
