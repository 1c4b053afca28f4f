"""`collective`: a decorator for public functions that all ranks must call with the same arguments.

It checks a call against the function's signature, and the ranks compare the function and its arguments. Ranks
that disagree all raise the same error, which names each rank's call; otherwise they would wait for each other
forever, or mix two answers into one.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gaslab.arguments import shown
from gaslab.errors import UsageError, nearest, users_frames
from gaslab.parallel import children, heartbeat
from gaslab.parallel.fingerprint import fingerprint

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

P = ParamSpec("P")
R = TypeVar("R")

EXEMPT = ("comm", "progress")  # may differ between ranks
LISTED = 8  # different calls or values in an error

_inside = threading.local()  # .depth: the number of collective functions this thread is in


def collective(
    *,
    exempt: tuple[str, ...] = (),
    data: tuple[str, ...] = (),
    options: str = "",
    own: tuple[str, ...] = (),
    name: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare that all ranks call the function together, with the same arguments.

    The ranks are those of the argument ``comm``, or of the graph among the arguments, else all. Calls inside
    another collective function are not compared: they follow from its arguments.

    Parameters
    ----------
    exempt : names of parameters
        Parameters that may differ between ranks, or that the function compares itself.
    data : names of parameters
        Parameters of rows, which may differ between ranks unless ``rows="same"``.
    options : name of a function of the package, optional
        The function to which unnamed keyword arguments are passed on.
    own : names of parameters
        That function's parameters that this one sets itself.
    name : str, optional
        The function's name in errors, by default its own.

    Raises
    ------
    UsageError
        By the function: an unknown, missing or surplus argument; ranks that disagree.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        signature, called = inspect.signature(function), name or function.__name__

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            arguments = _bound(signature, called, options, own, args, kwargs)
            depth, comm = getattr(_inside, "depth", 0), None
            if not depth:
                heartbeat.note(f"running {called}()", moves=False)
                if children.note_process():
                    from gaslab._kernels.forks import handle

                    handle()  # before any thread starts
                rows = arguments.get("rows")
                free = data if isinstance(rows, str) and rows != "same" else ()
                comm = agree(called, arguments, {*EXEMPT, *exempt, *free})
            _inside.depth = depth + 1
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                if comm is not None:
                    comm.break_off(error)
                if isinstance(error, KeyboardInterrupt) and not depth:  # raised in the user's code
                    error.__traceback__ = users_frames(error.__traceback__)
                raise
            finally:
                _inside.depth = depth  # what follows the last superstep may be long
                heartbeat.note(f"finishing {called}()" if depth else "between calls of gaslab", moves=False)

        return call

    return declare


def _bound(
    signature: inspect.Signature,
    called: str,
    options: str,
    own: tuple[str, ...],
    args: Any,
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of a call by parameter; UsageError if they do not fit the signature."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [p.name for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        _refuse_unknown(called, kwargs, known)
        raise UsageError(f"{called}(): {error}") from None
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    further: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            further = arguments.pop(parameter.name)
    if options:
        passed_on = [*inspect.signature(getattr(sys.modules["gaslab"], options)).parameters][2:]
        _refuse_unknown(called, further, [*arguments, *passed_on])
        for keyword in own:
            if keyword in further:
                raise UsageError(f"{called}() sets {keyword} itself; use its own arguments")
    return {**arguments, **further}


def _refuse_unknown(called: str, keywords: Mapping[str, Any], known: list[str]) -> None:
    for keyword in keywords:
        if keyword not in known:
            hint = nearest(keyword, set(known) - {"self", "cls"})
            raise UsageError(f"{called}() has no argument {keyword!r}{hint}")


def agree(called: str, arguments: Mapping[str, Any], exempt: Set[str]) -> Comm | None:
    """Compare a call with the other ranks' calls, and return these, None without other ranks.

    *arguments* named in *exempt* do not count. The ranks are found among the arguments.

    Raises
    ------
    UsageError
        On all ranks, if their calls differ.
    """
    comm = _comm_of(arguments)
    if comm is None or comm.size == 1:
        return None
    if not comm.is_here():
        raise UsageError(
            f"{called}(): this process is a child of rank {comm.rank} and cannot call in its place; make the "
            "call in the rank, or pass a graph that the child has made itself"
        )
    compared = {n: x for n, x in arguments.items() if n not in exempt}
    prints = {n: fingerprint(x) for n, x in compared.items()}
    where = f"{called}() at {_caller()}"
    digests = comm.meet(fingerprint([called, prints]), where)
    if len(set(digests)) > 1:
        calls = comm.allgather((called, where, prints, {n: shown(x) for n, x in compared.items()}))
        raise UsageError(_difference(calls))
    return comm


def _comm_of(arguments: Mapping[str, Any]) -> Comm | None:
    """Return the communicator of a call; None for a function without graph and communicator."""
    if "comm" in arguments:
        from gaslab.parallel.comm import as_comm

        return as_comm(arguments["comm"])
    for value in arguments.values():
        for owner in (value, getattr(value, "graph", None)):
            found: Any = getattr(owner, "comm", None)
            if hasattr(found, "meet"):
                return found  # type: ignore[no-any-return]
    return None


def _caller() -> str:
    """Return the call's file and line outside gaslab."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gaslab":
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


Call = tuple[str, str, dict[str, bytes], dict[str, str]]  # function, its place, fingerprints, values


def _difference(calls: list[Call]) -> str:
    """Return the difference between the ranks' calls, and which rank made which call."""
    called, _, prints, _ = calls[0]
    if any(one[0] != called for one in calls):
        did = _by_rank("called", [one[1] for one in calls])
        return f"ranks disagree on what to do: {did}; every rank must make the same calls"
    names = [name for one in calls for name in one[2]]
    name = next(n for n in names if any(one[2].get(n) != prints.get(n) for one in calls))
    values = [f"{one[3].get(name, 'nothing')} ({one[1].rpartition(' at ')[2]})" for one in calls]
    text = f"ranks disagree on {name} of {called}(): {_by_rank('passed', values)}"
    if len(set(values)) == 1:
        text = f"ranks disagree on {name} of {called}(): the content of {values[0]} is not the same on all"
    return f"{text}; every rank must pass the same"


def _by_rank(verb: str, words: list[str]) -> str:
    """Return the call of each rank, with equal calls listed once.

    >>> _by_rank("passed", ["5", "6", "5"])
    'ranks 0, 2 passed 5, rank 1 passed 6'
    """
    groups: dict[str, list[str]] = {}
    for rank, word in enumerate(words):
        groups.setdefault(word, []).append(str(rank))
    said = [
        f"rank{'s' * (len(ranks) > 1)} {', '.join(ranks)} {verb} {word}" for word, ranks in groups.items()
    ]
    more = [f"and {len(said) - LISTED} more"] if len(said) > LISTED else []
    return ", ".join([*said[:LISTED], *more])
