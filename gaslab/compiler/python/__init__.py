"""Runs a program without a C compiler: the range functions of `abi.h` in plain Python.

The typed tree is written out as Python text (`program`) with the language's numerics (`numerics`), so that a
run gives the same bits as a compiled one, about a hundred times slower. Only the range functions are
replaced, so it works on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gaslab.compiler.python import additive, lists, numerics, records
from gaslab.compiler.python.block import IN, OUT, SCALAR, Block, scalars
from gaslab.compiler.python.gather import Gather
from gaslab.compiler.python.program import namespace
from gaslab.compiler.tree import LIST_KINDS, OWN, RecordCombiner, Tree
from gaslab.compiler.tree.harmless import first_signal_decides


class Interpreter:
    """The phases of one program; `run` takes the place of the range functions of a library."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._namespace = namespace(tree)
        self._rows = Gather(tree, self._namespace)
        self._phases: dict[str, Callable[..., None]] = {}
        alone = {"init": self._init, "init_message": self._init_message}
        alone |= {name: partial(self._choose, name) for name in ("start", "active")}
        alone |= {name: partial(self._ways, name) for name in ("gather_edges", "scatter_edges")}
        self._phases |= {f"gl_{name}": phase for name, phase in alone.items() if name in tree.functions}
        if "visit" in tree.functions:
            self._phases["gl_visit"] = self._visit
        if tree.gather is not None:
            self._phases |= {"gl_gather": self._rows.gather, "gl_combine": self._rows.combine}
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
            self._phases |= additive.phases(tree, self._namespace)
            if tree.can_pull:
                self._phases["gl_scatter_pull"] = self._scatter_pull
        if tree.message is not None and not tree.collects_messages:
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
        stop[1] = 1  # as a kernel does: Ctrl-C arrives where an error can name the place
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

    # ---- single vertices -------------------------------------------------------------------------

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
        """Return the message of a vertex."""
        combiner = self.tree.message
        if isinstance(combiner, RecordCombiner):
            return records.read(combiner, c.message, v)
        if combiner is not None and combiner.collects:
            return lists.ordered(lists.widened(c.message.item(v), combiner.storage), combiner.op)
        assert combiner is not None
        return bool(c.message.item(v)) if combiner.type == "bool" else c.message.item(v)

    def _ways(self, name: str, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        site, ways = self.tree.functions[name].site, getattr(c, name.replace("edges", "way"))
        for _, v in positions:
            ways[v] = numerics.within(self._namespace[f"do_{name}"](c, c.load(v), v), 0, IN | OUT, site)

    def _choose(self, name: str, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            c.active[v] = self._namespace[f"do_{name}"](c, c.load(v), v)

    def _visit(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.live_totals():
            for _, e in positions:
                c.at = c.in_neighbor.item(e)
                self._namespace["do_visit"](c, None, c.at, c.out_neighbor.item(e), e)

    def _writes(self, phase: str) -> list[int]:
        names = self.tree.writes(phase)
        return [k for k, field in enumerate(self.tree.vertex_fields) if field.name in names]

    def _apply(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.totals(self._namespace) as add:
            for i, v in positions:
                gather, c.at = self.tree.gather, v
                total = self._rows.total(c, i)
                if gather is not None and gather.op in LIST_KINDS:  # the parts of several ranks
                    total = lists.ordered(total, gather.op)
                self._apply_one(c, c.load(v), v, total, add)

    def _gather_apply(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        with c.totals(self._namespace) as add:
            for _, v in positions:
                if c.skip is None or not c.skip[v]:
                    n = c.load(v)
                    self._apply_one(c, n, v, self._rows.row(c, n, v), add)

    def _apply_one(self, c: Block, n: list[Any], v: int, total: Any, add: Callable[..., None]) -> None:
        scalars = []
        for parameter in self.tree.functions["apply"].parameters:
            value = self._message(c, v) if parameter.name == "message" else total
            scalars.append(bool(value) if parameter.type == "bool" else value)
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

    # ---- scatter ---------------------------------------------------------------------------------

    def _scatter_push(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        for _, v in positions:
            n = c.load(v)
            chosen = c.walked(v, "scatter")
            for bit, row in ((OUT, c.out_row), (IN, c.in_row)):
                if bit & chosen:
                    c.forward = bit == OUT
                    for x, e in row(v):
                        c.posted = False
                        self._namespace["do_scatter"](c, n, v, x, e)
                        if self.tree.posts and not c.posted and c.changed[v]:
                            c.cached[x] = 0

    def _scatter_pull(self, c: Block, positions: Iterator[tuple[int, int]]) -> None:
        decided = first_signal_decides(self.tree)
        for _, target in positions:
            for bit, row in ((OUT, c.in_row), (IN, c.out_row)):
                c.forward = bit == OUT
                for source, e in row(target) if c.scatter_edges & bit else ():
                    if decided and c.signalled[target]:
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
    """Yield the positions of a block, with the local ids there (for visit, the edges)."""
    for i in range(lo, hi):
        numerics.heed(c, -1)
        yield i, i if ids is None else ids.item(i)
