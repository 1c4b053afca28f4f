"""The engines of `gaslab.run`, each with its own options: what ``engine=`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gaslab import arguments
from gaslab.errors import UsageError

CONSISTENCIES = ("relaxed", "serialisable")
SCHEDULERS = ("fifo", "priority", "sweep", "random")


@dataclass(frozen=True)
class Sync:
    """The synchronous engine: all ranks take each superstep together; ``engine="sync"``, the default."""

    name: ClassVar[str] = "sync"


@dataclass(frozen=True)
class Async:
    """The asynchronous engine: no supersteps, a vertex runs when its turn comes; ``engine="async"``.

    See ``docs/asynchronous.md``.

    Parameters
    ----------
    scheduler : {"fifo", "priority", "sweep", "random"}, optional
        The order in which vertices run; by default "priority" if signals have a priority, else "fifo".
    consistency : {"relaxed", "serialisable"}
        Whether adjacent vertices may run at once: "relaxed" allows it.
    max_updates : int, optional
        Start no further vertex once this many updates have run; several ranks may exceed it by up to a
        fortieth plus 500 per rank.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 7], [2, 3, 8])
    >>> gl.components(graph, engine=gl.Async(scheduler="sweep")).vertices["component"]
    array([1, 1, 1, 7, 7])
    """

    name: ClassVar[str] = "async"
    scheduler: str | None = None
    consistency: str = "relaxed"
    max_updates: int | None = None

    def __post_init__(self) -> None:
        arguments.choice("Async.scheduler", self.scheduler, SCHEDULERS, optional=True)
        arguments.choice("Async.consistency", self.consistency, CONSISTENCIES)
        most = arguments.whole("Async.max_updates", self.max_updates, 0, optional=True)
        object.__setattr__(self, "max_updates", most)  # frozen; an int from here on


@dataclass(frozen=True)
class Stale:
    """The stale synchronous engine: a rank may read values of other ranks that are some supersteps old.

    See ``docs/staleness.md``.

    Parameters
    ----------
    staleness : int
        How many supersteps old values may be; with 0 the answer is that of `Sync`.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> gl.pagerank(graph, engine=gl.Stale(staleness=2)).converged
    True
    """

    name: ClassVar[str] = "stale"
    staleness: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "staleness", arguments.whole("Stale.staleness", self.staleness, 0))


@dataclass(frozen=True)
class Reference:
    """The reference engine: the class as plain Python on one rank, for debugging; ``engine="reference"``."""

    name: ClassVar[str] = "reference"


Engine = Sync | Async | Stale | Reference
NAMED: dict[str, Engine] = {"sync": Sync(), "async": Async(), "reference": Reference()}


def engine_of(value: Any) -> Engine:
    """Return the engine for the value of ``engine=``; raises UsageError."""
    if isinstance(value, Engine):
        return value
    if isinstance(value, str) and value == Stale.name:
        raise UsageError(
            "engine='stale' does not say by how many supersteps values may lag; write "
            "engine=gl.Stale(staleness=2)"
        )
    if isinstance(value, type) and issubclass(value, Engine):
        raise UsageError(f"engine= needs an instance: write gl.{value.__name__}(), with its options if any")
    return NAMED[arguments.choice("engine", value, NAMED)]
