"""`Table`: answers by vertex or by edge, in the user's own ids."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Iterator, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab import arguments
from gaslab.arguments import shown
from gaslab.errors import UsageError, nearest
from gaslab.ingest.sides import in_words
from gaslab.results.columns import Column, Columns

if TYPE_CHECKING:
    import pandas
    import pyarrow

SHOWN = 10  # rows in a repr


class Table:
    """Columns of equal length, keyed by the id of a vertex, or by the source and target of an edge.

    In a bipartite graph the vertices are keyed by id and side; `side` returns the table of one side. In a
    `Result`, columns are sorted by id, and ids are translated, when they are first read.

    Attributes
    ----------
    ids : array, or two arrays
        Vertex ids as in the input: int64, or an object array of str or of the user's own objects. For edges,
        the pair (sources, targets).
    columns : list of str
        Names of the columns, without the keys.
    global_ids : dict of str to int64 array
        For each key and each column of ids: their positions in the sorted order of all ids.

    Examples
    --------
    >>> import gaslab as gl
    >>> table = gl.degrees(gl.Graph.from_edges(["a", "a"], ["b", "c"])).vertices
    >>> table
    <Table: 3 rows; columns: in_edges, out_edges, edges>
    id  in_edges  out_edges  edges
    a          0          2      2
    b          1          0      1
    c          1          0      1
    >>> table["edges"], table.to_dict("edges")
    (array([2, 1, 1]), {'a': 2, 'b': 1, 'c': 1})
    """

    def __init__(
        self,
        keys: Mapping[str, Column],
        columns: Mapping[str, Column],
        global_ids: Mapping[str, Column],
        id_lists: Collection[str] = (),
    ) -> None:
        """Take the columns; *id_lists* are those of lists of a bipartite graph's ids."""
        self._keys, self._columns, self.global_ids = Columns(keys), Columns(columns), Columns(global_ids)
        self._id_lists = id_lists

    @property
    def ids(self) -> Any:
        if "id" in self._keys:
            return self._keys["id"]
        return tuple(self._keys.values())

    @property
    def keys(self) -> list[str]:
        """``["id"]``, ``["id", "side"]`` or ``["source", "target"]``."""
        return list(self._keys)

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._with(name)[name]

    def _with(self, name: Any) -> Columns:
        """Return the columns, or the keys, that have one of this name; UsageError where neither has."""
        for arrays in (self._columns, self._keys):
            if isinstance(name, str) and name in arrays:
                return arrays
        hint = nearest(name if isinstance(name, str) else shown(name), [*self._keys, *self._columns])
        raise UsageError(f"the table has no column {shown(name)}{hint}")

    def __fingerprint__(self) -> Any:
        return [self._keys, self._columns]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._columns or name in self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return self._keys.rows

    def select(self, *columns: str) -> Table:
        """Return the table with only these columns, in this order (nothing is copied)."""
        chosen: dict[str, Column] = {}
        for name in columns:
            chosen |= self._with(name).only([name])
        return Table(self._keys, chosen, self.global_ids, self._id_lists)

    def take(self, rows: np.ndarray) -> Table:
        """Return the table of these rows, given by position or by a mask."""
        rows = self._rows(rows)
        parts = (self._keys, self._columns, self.global_ids)
        keys, columns, gids = ({name: values[rows] for name, values in part.items()} for part in parts)
        return Table(keys, columns, gids, self._id_lists)

    def _rows(self, rows: Any) -> np.ndarray:
        """Return ``rows=`` of `take` as an array of positions, or of a flag for every row."""
        try:
            found = np.asarray(rows)
        except ValueError:  # rows of several lengths
            found = np.empty((0, 0))
        found = found.astype(np.int64) if found.shape == (0,) else found
        count, flags = len(self), found.dtype == bool
        if found.ndim != 1 or found.dtype.kind not in "biu" or (flags and found.size != count):
            raise arguments.wrong("rows", rows, f"an array of positions, or of {count} flags, is needed")
        if not flags and found.size and not (found.min() >= -count and found.max() < count):
            raise arguments.wrong("rows", rows, f"the table has {count} rows, from 0 on")
        return found

    def side(self, side: int) -> Table:
        """Return the rows of one side of a bipartite graph, 0 (left) or 1 (right), keyed by the id alone.

        Integer ids are int64 even if the ids of the other side are text.
        """
        if "side" not in self._keys:
            raise UsageError("the table has no sides: it is not of the vertices of a bipartite graph")
        side = arguments.whole("side", side, 0, 1)
        rows = self.take(self._keys["side"] == side)
        keys = {"id": narrow(rows["id"])}
        return Table(keys, {name: rows[name] for name in rows.columns}, rows.global_ids, self._id_lists)

    def flat(self) -> dict[str, np.ndarray]:
        """Return the columns, with a numeric column for each element of an array: ``x[0]``, ``m[0,1]``.

        >>> import numpy as np
        >>> keys = {"id": np.arange(2)}
        >>> list(Table(keys, {"x": np.zeros((2, 3))}, keys).flat())
        ['x[0]', 'x[1]', 'x[2]']
        """
        found = {}
        for name, values in self._columns.items():
            if values.ndim == 1:
                found[name] = values
                continue
            for index in np.ndindex(values.shape[1:]):
                at = (slice(None), *index)
                element = np.ascontiguousarray(values[at])
                found[f"{name}[{','.join(map(str, index))}]"] = element
        return found

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Return ``{id: value}`` of one column, or ``{id: {column: value}}`` of all, as plain Python values.

        The key of an edge is (source, target); the last of parallel edges is kept. In a bipartite graph the
        key of a vertex is (id, side).
        """
        keys = [values.tolist() for values in self._keys.values()]
        ids = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
        column = arguments.text("column", column, optional=True)
        if column is not None:
            return dict(zip(ids, self[column].tolist(), strict=True))
        rows = zip(*(values.tolist() for values in self._columns.values()), strict=True)
        if not self._columns:
            return {key: {} for key in ids}
        return {key: dict(zip(self._columns, row, strict=True)) for key, row in zip(ids, rows, strict=True)}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame indexed by id (by id and side).

        For edges, ``source`` and ``target`` are its first columns, and the index counts the rows. An array
        has a column per element, as `flat` names them.
        """
        import pandas

        if "id" not in self._keys:
            return pandas.DataFrame({**self._keys, **self.flat()})
        if len(self._keys) == 1:
            index: Any = pandas.Index(self.ids, name="id")
        else:
            index = pandas.MultiIndex.from_arrays(list(self._keys.values()), names=self.keys)
        return pandas.DataFrame(self.flat(), index=index)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table: the keys are its first columns, an array is a column of fixed-size lists.

        If ids are integers on one side of a bipartite graph and text on the other, all become text, as do ids
        in lists: ``right:7`` on the right, as on the command line.
        """
        import pyarrow

        def column(name: str, values: np.ndarray) -> Any:
            if name in self._id_lists:  # text whatever the rows of this rank have
                rows = [[None if one is None else str(in_words(one)) for one in row] for row in values]
                return pyarrow.array(rows, pyarrow.list_(pyarrow.string()))
            if values.ndim == 1:
                named = values.dtype == object and name in self.global_ids
                return _ids(values, "side" in self._keys) if named else pyarrow.array(values)
            inner = values.reshape(-1, *values.shape[2:])
            return pyarrow.FixedSizeListArray.from_arrays(column(name, inner), values.shape[1])

        return pyarrow.table({n: column(n, x) for n, x in {**self._keys, **self._columns}.items()})

    def in_words(self) -> Table:
        """Return the table with vertices in lists named as on the command line."""
        columns = self._columns.only(self._columns)
        for name in filter(columns.__contains__, self._id_lists):
            columns[name] = objects([list(map(in_words, row)) for row in self._columns[name]])
        return Table(self._keys, columns, self.global_ids)

    def __repr__(self) -> str:
        rows = f"{len(self):,} row{'s' * (len(self) != 1)}"
        head = [f"<Table: {rows}; columns: {', '.join(self._columns) or 'none'}>"]
        lines = render(self.take(np.arange(min(len(self), SHOWN))))
        more = [f"… and {len(self) - SHOWN:,} more"] if len(self) > SHOWN else []
        return "\n".join(head + lines + more)


def render(table: Table) -> list[str]:
    """Return the lines of a small table, aligned: ids to the left, numbers to the right."""
    cells = []
    columns = {name: table[name] for name in table.keys} | table.flat()
    for name, values in columns.items():
        numbers = values.dtype.kind in "iufb" and name not in table.keys
        texts = [name, *_texts(values)]
        width = max(map(len, texts))
        cells.append([text.rjust(width) if numbers else text.ljust(width) for text in texts])
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]


def _texts(values: np.ndarray) -> list[str]:
    """Return values as text; floats with six digits of the largest one, so that decimals stand in line."""
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    whole = bool((finite == np.floor(finite)).all())
    if not 1e-7 < largest < 1e12:
        return [f"{value:.6g}" for value in values.tolist()]
    decimals = 0 if whole else max(0, 5 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values.tolist()]


def narrow(ids: np.ndarray) -> np.ndarray:
    """Return ids as int64 where all of them are integers."""
    if ids.dtype == object and set(map(type, ids.tolist())) == {int}:
        with contextlib.suppress(OverflowError):  # nodes of a NetworkX graph may be larger
            return np.array(ids.tolist(), np.int64)
    return ids


def _ids(values: np.ndarray, sided: bool) -> pyarrow.Array:
    """Return ids that are objects: as text, unless none is text, or some are neither integers nor text.

    In a table of both sides (*sided*) integers are objects where the ids of one side are text: of some rank.
    """
    import pyarrow

    ids = values.tolist()
    kinds = set(map(type, ids))
    if kinds <= {int, str, NoneType} and (sided or int not in kinds or str in kinds):
        return pyarrow.array([None if one is None else str(one) for one in ids], pyarrow.string())
    return pyarrow.array(ids)


def objects(values: Any) -> np.ndarray:
    """Return a 1-D object array of *values*, also where these are tuples of one length."""
    return np.fromiter(values, dtype=object, count=len(values))
