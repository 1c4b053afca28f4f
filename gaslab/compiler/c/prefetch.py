"""Prefetching as C text: loops over edges prefetch the values of far vertices, and of edges by source."""

from __future__ import annotations

from gaslab.compiler.c.names import ATTRIBUTES, edge_name, field_name
from gaslab.compiler.tree import STORAGE, Array, Categorical, Tree, element_storage, is_list, nodes
from gaslab.compiler.tree.uses import by_source

ROW = 8192  # bytes of the longest row that is prefetched as a whole
BURST = 16  # lines; a draw over a row this long fetches the next row on its way
LINE, LINES = 64, 4  # bytes of a cache line; lines of a vertex's row that are prefetched, the rest follow


def prefetch(tree: Tree, names: frozenset[str], neighbor: str, edges: int = 4, test: str = "") -> str:
    """Return the statements that prefetch the values of the far vertices of the next *edges*.

    Lists are prefetched only if *test* holds for the far vertex ``x``; the numbers it reads were prefetched
    before.
    """
    arrays = [(field_name(tree, k), field) for k, field in enumerate(tree.vertex_fields)]
    far = [(name, field.type.size if isinstance(field.type, Array) else 1, STORAGE[field.storage][2])
           for name, field in arrays if field.name in names and not is_list(field.storage)]  # fmt: skip
    far += [(name, 1, 8) for name in ATTRIBUTES if name in names]
    lists = _lists(tree, names)
    if not far and not lists:
        return ""
    distance = "GL_PREFETCH_EDGES" if edges > 1 else "GL_PREFETCH_EDGES_BY_ONE"
    places = [neighbor.format(p=f"(p + {distance} + {k})") for k in range(edges)]
    soon = [neighbor.format(p=f"(p + {distance} / 4 + {k})") for k in range(edges)]
    fetches = [
        f"__builtin_prefetch(&c->{name}.place[2 * (int64_t){at}]);" for name, _ in lists for at in places
    ]
    needed = f"if ({test}) " * bool(test)
    fetches += [
        f"{{ const int64_t x = {at}; {needed}gl_prefetch_list(c->{name}, x, {size}); }}"
        for name, size in lists
        for at in soon
    ]
    fetches += [
        f"__builtin_prefetch(&c->{array}[{place if size == 1 else f'(int64_t){place} * {size} + {at}'}]);"
        for array, size, item in far
        for place in places
        for at in range(0, size, LINE // item)[:LINES]
    ]
    lines = "\n                ".join(fetches)
    return f"            if (p < prefetch_end) {{\n                {lines}\n            }}\n"


def _lists(tree: Tree, names: frozenset[str]) -> list[tuple[str, int]]:
    """Return the list fields among *names*, each with the bytes of an element."""
    return [
        (field_name(tree, k), STORAGE[element_storage(field.storage)][2])
        for k, field in enumerate(tree.vertex_fields)
        if field.name in names and is_list(field.storage)
    ]


def prefetch_rows(tree: Tree, names: frozenset[str], row: str, neighbor: str) -> tuple[str, str]:
    """Return the statements before and in a loop over single edges that reads vectors of far vertices."""
    if not _row_bytes(tree, names) and not _lists(tree, names):
        return "", ""
    return (
        f"        const int64_t prefetch_end = {far_end(tree, names, row)};\n",
        prefetch(tree, names, neighbor, 1),
    )


def far_end(tree: Tree, names: frozenset[str], row: str, edges: int = 1, collects: str = "") -> str:
    """Return how far along the rows, "in" or "out", the values of far vertices are prefetched.

    A loop takes *edges* edges at a time. *collects* is ``collected_`` or ``keyed_`` for such gathers.
    """
    if _lists(tree, names):
        return f"gl_prefetch_lists_end(c, c->{row}_edges)"
    if edges == 1 and (rows := _row_bytes(tree, names)):
        return f"gl_prefetch_rows_end(c, c->{row}_edges, {rows})"
    return f"gl_prefetch_{collects}end(c, c->{row}_edges)"


def _row_bytes(tree: Tree, names: frozenset[str]) -> int:
    """Return the bytes read of a far vertex if vectors are among them, else 0."""
    fields = [field for field in tree.vertex_fields if field.name in names and not is_list(field.storage)]
    if not any(field.shape for field in fields):
        return 0
    return sum(STORAGE[f.storage][2] * (f.type.size if isinstance(f.type, Array) else 1) for f in fields)


def prefetch_slots(tree: Tree, phase: str, row: str, edges: int = 1) -> tuple[str, str]:
    """Return the limit and the statements that prefetch the edge fields of *phase* along a row.

    In-rows, which have the order of the edges, and fields kept `by_source` need none. Draws have the far
    end's id in their key. A gather does less per edge than a scatter, so it looks further ahead.
    """
    names, kept = tree.reads(phase, "e") | tree.writes(phase, "e"), by_source(tree, phase)
    fields = [
        (edge_name(tree, k), field.type.size if isinstance(field.type, Array) else 1)
        for k, field in enumerate(tree.edge_fields)
        if field.name in names and k not in kept and not is_list(field.storage)
    ]
    if row == "in" or not fields:
        return "", ""
    distance = "GL_PREFETCH_EDGES" if phase == "gather" else "GL_PREFETCH_EDGES_BY_ONE"
    places = [f"p + {distance} + {k}" for k in range(edges)]
    fetches = [
        f"&c->{array}[(int64_t)c->out_slot[{place}] * {size}]" for array, size in fields for place in places
    ]
    if "self.draws" in tree.functions[phase].reads:
        fetches += [f"&c->id[c->out_neighbor[{place}]]" for place in places]
    lines = [f"                    __builtin_prefetch({fetch});" for fetch in fetches]
    text = "                if (p < slots) {\n" + "\n".join(lines) + "\n                }\n"
    return ", slots = gl_prefetch_slots_end(c)", text


def prefetch_target(tree: Tree) -> tuple[str, str]:
    """Return the statements before and in visit's loop that prefetch whole rows of the next targets."""
    names, rows = _target_rows(tree)
    size = _bytes(rows)
    if not LINE < size <= ROW:
        return "", ""
    drawn = prefetch_drawn(tree)
    ahead = 4 if size <= ROW // 4 and not drawn else 1
    fetches = "".join(
        f"            for (int64_t i = 0; i < {count}; i += {LINE // item}) "
        f"__builtin_prefetch(&c->{name}[next * {count} + i], 1);\n"
        for name, count, item in rows
        if count not in drawn
    )
    known = [name for name in ATTRIBUTES if name in names or (name == "id" and tree.draws)]
    fetches += "".join(f"            __builtin_prefetch(&c->{name}[next]);\n" for name in known)
    fetches += "            c->next = next;\n" if drawn else ""
    return (
        f"    const int64_t fetched = hi - {ahead};\n",
        f"        if (e < fetched && c->out_neighbor[e + {ahead}] != c->out_neighbor[e]) {{\n"
        f"            const int64_t next = c->out_neighbor[e + {ahead}];\n{fetches}        }}\n",
    )


def prefetch_drawn(tree: Tree) -> dict[int, str]:
    """Return the statements that prefetch the next target's rows during visit's draw by this many weights.

    A long row has more lines than a core waits for at once. So each is fetched when the draw reaches that
    part of the weights.
    """
    _, rows = _target_rows(tree)
    if not BURST * LINE <= _bytes(rows) <= ROW:
        return {}
    counts = {x.count for x in nodes(tree.functions["visit"].body) if isinstance(x, Categorical)}
    return {
        size: "".join(
            f"__builtin_prefetch(&c->{name}[c->next * {size} + GL_SUMS * row], 1); "
            for name, count, _ in rows
            if count == size
        )
        for size in counts & {count for _, count, _ in rows}
    }


def _target_rows(tree: Tree) -> tuple[frozenset[str], list[tuple[str, int, int]]]:
    """Return what visit uses of a target: names, and for vectors the array, length and bytes."""
    if "visit" not in tree.functions:
        return frozenset(), []
    names = tree.reads("visit", "nbr") | tree.writes("visit", "nbr")
    rows = [
        (field_name(tree, k), field.type.size, STORAGE[field.storage][2])
        for k, field in enumerate(tree.vertex_fields)
        if field.name in names and isinstance(field.type, Array)
    ]
    return names, rows


def _bytes(rows: list[tuple[str, int, int]]) -> int:
    return sum(count * item for _, count, item in rows)
