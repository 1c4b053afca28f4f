"""Runs a program without a C compiler: the range functions of `abi.h` in plain Python.

The typed tree is written out as Python text (`program`) with the language's numerics
(`numerics`), so that a run gives the very bits of a compiled one, some hundred times slower. Only the
range functions are exchanged: it runs on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gaslab.compiler.python import edge_deltas, lists, numerics, records
from gaslab.compiler.python.block import SCALAR, Block, scalars
from gaslab.compiler.python.program import namespace
from gaslab.compiler.tree import OWN, RecordCombiner, Tree

IN, OUT = 1, 2


class Interpreter:
    """The phases of one program; `run` is to it what a range function is to a library."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._namespace = namespace(tree)
        self._decided_by = tree.decided_by
        self._phases: dict[str, Callable[..., None]] = {}
        for name in ("init", "init_message", "start", "active", "gather_edges", "scatter_edges"):
            if name in tree.functions:
                self._phases[f"gl_{name}"] = getattr(self, f"_{name}")
        if "visit" in tree.functions:
            self._phases["gl_visit"] = self._visit
        if tree.gather is not None:
            self._phases |= {"gl_gather": self._gather, "gl_combine": self._combine}
        if "apply" in tree.functions:
            self._phases["gl_apply"] = self._apply
            if tree.gather is not None:
                self._phases["gl_gather_apply"] = self._gather_apply
        if tree.in_apply:
            self._phases["gl_aggregate"] = self._aggregate
        for k, a in enumerate(tree.aggregators):
            if a.combiner.op == OWN:
                self._phases[f"gl_merge_{k}"] = partial(self._merge_aggregates, k)
            if a.own_sweep:
                self._phases[f"gl_aggregate_{k}"] = partial(self._aggregate_by_own_sweep, k)
        if "scatter" in tree.functions:
            self._phases["gl_scatter_push"] = self._scatter_push
            self._phases |= edge_deltas.phases(tree, self._namespace)
            if tree.can_pull:
                self._phases["gl_scatter_pull"] = self._scatter_pull
        if tree.message is not None:
            self._phases["gl_combine_messages"] = self._combine_messages

    def has(self, phase: str) -> bool:
        """Return whether the program has a range function of this name."""
        return phase in self._phases

    def run(self, view: Any, phase: str, blocks: Any, ids: Any, out: Any) -> tuple[int, int, int] | None:
        """Run *phase* for each block ``[blocks[b], blocks[b + 1])``.

        Parameters
        ----------
        view
            The members of ``gl_view`` as attributes: numpy arrays, lists of arrays for ``vertex``,
            ``vertex_next`` and ``edge``, arrays of eight-byte scalars for ``param`` and ``aggregate``.
        phase
            A name as in abi.h: ``"gl_apply"``.
        ids
            int32 array of local ids that the blocks index, or None for the identity.
        out
            int64 array [blocks, aggregators] of scalars holding identities, or None.

        Returns
        -------
        The first fault as (code, local vertex, site), or None; site is -1 where ``stop`` of the view was seen
        between two vertices or edges.
        """
        block = Block(self.tree, view, self._namespace)
        stop: Any = getattr(view, "stop", [0, 0])
        stop[1] = 1  # as a kernel does: Ctrl-C is heard where it can be named
        try:
            for b in range(len(blocks) - 1):
                block.out = None if out is None else out[b]
                block.first = int(blocks[b])
                self._phases[phase](block, _positions(block, ids, int(blocks[b]), int(blocks[b + 1])))
        except numerics.Fault as fault:
            return fault.code, block.at, fault.site
        finally:
            stop[1] = 0
        return None

    # ---- vertices by themselves ------------------------------------------------------------------

    def _init(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            n = c.load(v)
            self._namespace["do_init"](c, n, v)
            c.store(n, v, c.vertex, self._writes("init"))

    def _init_message(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            n = c.load(v)
            self._namespace["do_init_message"](c, n, v, self._message(c, v))
            c.store(n, v, c.vertex, self._writes("init_message"))

    def _message(self, c: Block, v: int) -> Any:
        """Return the message that waits for a vertex."""
        combiner = self.tree.message
        if isinstance(combiner, RecordCombiner):
            return records.read(combiner, c.message, v)
        assert combiner is not None
        return bool(c.message.item(v)) if combiner.type == "bool" else c.message.item(v)

    def _gather_edges(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        self._ways(c, positions, "gather_edges", c.gather_way)

    def _scatter_edges(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        self._ways(c, positions, "scatter_edges", c.scatter_way)

    def _ways(self, c: Block, positions: Iterator[tuple[int, int]], name: str, ways: Any) -> None:
        site = self.tree.functions[name].site
        for _, v in positions:
            ways[v] = numerics.within(self._namespace[f"do_{name}"](c, c.load(v), v), 0, IN | OUT, site)

    def _walked(self, c: Block, v: int, name: str) -> int:
        """Return the directions in which gather or scatter walks the edges of a vertex."""
        mask: int = getattr(c, f"{name}_edges")
        return mask & (getattr(c, f"{name}_way").item(v) if f"{name}_edges" in self.tree.functions else mask)

    def _start(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            c.active[v] = self._namespace["do_start"](c, c.load(v), v)

    def _active(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            c.active[v] = self._namespace["do_active"](c, c.load(v), v)

    def _visit(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, e in positions:
            c.at = c.in_neighbor.item(e)
            self._namespace["do_visit"](c, None, c.at, c.out_neighbor.item(e), e)

    def _writes(self, phase: str) -> list[int]:
        names = self.tree.writes(phase)
        return [k for k, field in enumerate(self.tree.vertex_fields) if field.name in names]

    def _apply(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.totals(self._namespace) as add:
            for i, v in positions:
                gather = self.tree.gather
                total = self._total(c, i)
                if gather is not None and gather.collects:  # the parts of several ranks
                    total = lists.ordered(total, gather.op)
                self._apply_one(c, c.load(v), v, total, add)

    def _gather_apply(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.totals(self._namespace) as add:
            for _, v in positions:
                if c.skip is None or not c.skip[v]:
                    n = c.load(v)
                    self._apply_one(c, n, v, self._row(c, n, v), add)

    def _apply_one(self, c: Block, n: list[Any], v: int, total: Any, add: Callable[..., None]) -> None:
        scalars = []
        for name, kind in self.tree.functions["apply"].parameters:
            value = self._message(c, v) if name == "message" else total
            scalars.append(bool(value) if kind == "bool" else value)
        self._namespace["do_apply"](c, n, v, *scalars)
        c.store(n, v, c.vertex_next, self._writes("apply"))
        add(n, v)

    def _aggregate(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.totals(self._namespace) as add:
            for _, v in positions:
                add(c.load(v), v)

    def _aggregate_by_own_sweep(self, k: int, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        one, combine = (self._namespace[f"{name}{k}"] for name in ("aggregator", "combine_aggregate"))
        combiner, slot = self.tree.aggregators[k].combiner, self.tree.slot(k)
        if isinstance(combiner, RecordCombiner):
            total = records.from_slots(combiner, c.out, slot)
            for _, v in positions:
                n = c.load(v)
                for edge in c.in_row(v) if self.tree.aggregators[k].over_edges else [()]:
                    c.at = edge[0] if edge else v
                    one(c, n, v, *edge, total)
            records.to_slots(combiner, c.out, slot, total)
            return
        kind = combiner.type
        (total,) = scalars(c.out[slot : slot + 1], [kind])
        for _, v in positions:
            n = c.load(v)
            if not self.tree.aggregators[k].over_edges:
                total = combine(total, one(c, n, v))
                continue
            for x, e in c.in_row(v):
                c.at = x
                total = combine(total, one(c, n, v, x, e))
        c.out[slot : slot + 1].view(SCALAR[kind])[0] = total

    def _merge_aggregates(self, k: int, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        combiner = self.tree.aggregators[k].combiner
        assert isinstance(combiner, RecordCombiner)
        total = records.from_slots(combiner, c.out, 0)
        c.at = 0
        for i, _ in positions:
            more = records.from_slots(combiner, c.incoming[i], 0)
            total = self._namespace["do_merge"](c, None, 0, total, more)
        records.to_slots(combiner, c.out, 0, total)

    # ---- gather ----------------------------------------------------------------------------------

    def _total(self, c: Block, i: int) -> Any:
        combiner = self.tree.gather
        if isinstance(combiner, RecordCombiner):
            return records.read(combiner, c.total, i)
        return combiner and c.total.item(i)

    def _gather(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        combiner = self.tree.gather
        for i, v in positions:
            total = self._row(c, c.load(v), v)
            if isinstance(combiner, RecordCombiner):
                records.write(combiner, c.total, i, total)
            else:
                c.total[i] = total

    def _record_row(self, c: Block, n: list[Any], v: int, combiner: RecordCombiner) -> Any:
        """Return a vertex's accumulator with parts."""
        total, do = records.empty(combiner), self._namespace["do_gather"]
        c.stopped, decided = False, self._decided_by
        chosen = self._walked(c, v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            c.forward = bit == OUT
            for x, e in row(v) if bit & chosen and not c.stopped else ():
                do(c, n, v, x, e, total)
                if c.stopped or (decided and tuple(total) == decided):
                    c.stopped = True
                    break
        records.complete(combiner, total)
        return total

    def _row(self, c: Block, n: list[Any], v: int) -> Any:
        """Return a vertex's accumulator, added up in the order of the compiled one's."""
        if self.tree.gather is not None and self.tree.gather.collects:
            return self._collected(c, n, v)
        combine, do = self._namespace["combine_total"], self._namespace["do_gather"]
        combiner = self.tree.gather
        assert combiner is not None
        if isinstance(combiner, RecordCombiner):
            return self._record_row(c, n, v, combiner)
        ways = 4 if combiner.type == "float" else 1
        sums = [combiner.identity] * ways
        c.stopped = False
        chosen = self._walked(c, v, "gather")
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

    def _collected(self, c: Block, n: list[Any], v: int) -> list[Any]:
        """Return the list that a vertex gathers here, in ascending order."""
        do, found = self._namespace["do_gather"], []
        chosen = self._walked(c, v, "gather")
        for bit, row in ((IN, c.in_row), (OUT, c.out_row)):
            if bit & chosen:
                c.forward = bit == OUT
                found += [y for x, e in row(v) if (y := do(c, n, v, x, e)) is not None]
        assert self.tree.gather is not None
        return lists.ordered(found, self.tree.gather.op)

    def _combine(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        combiner = self.tree.gather
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

    # ---- scatter ---------------------------------------------------------------------------------

    def _scatter_push(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            n = c.load(v)
            chosen = self._walked(c, v, "scatter")
            for bit, row in ((OUT, c.out_row), (IN, c.in_row)):
                if bit & chosen:
                    c.forward = bit == OUT
                    for x, e in row(v):
                        c.posted = False
                        self._namespace["do_scatter"](c, n, v, x, e)
                        if self.tree.posts and not c.posted and c.changed[v]:
                            c.cached[x] = 0

    def _scatter_pull(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        plain = self.tree.message is None and not self.tree.contributed()
        for _, target in positions:
            for bit, row in ((OUT, c.in_row), (IN, c.out_row)):
                c.forward = bit == OUT
                for source, e in row(target) if c.scatter_edges & bit else ():
                    if plain and c.signalled[target]:
                        break
                    if c.all_active or c.active_bits.item(source >> 6) >> (source & 63) & 1:
                        self._namespace["do_scatter"](c, c.load(source), source, target, e)

    def _combine_messages(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        combiner = self.tree.message
        for i, at in positions:
            c.at = at
            is_record = isinstance(combiner, RecordCombiner)
            c.send(c.message, at, c.message_at(c.incoming, i) if is_record else c.incoming.item(i))


def _positions(c: Block, ids: Any, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """Yield the positions of a block, with the local ids (or of visit the edges) there."""
    for i in range(lo, hi):
        numerics.heed(c, -1)
        yield i, i if ids is None else ids.item(i)
