"""One option of a command: its words, its number, and what it says of others."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gaslab.errors import UsageError, nearest


def flag(group: Any, option: str, help: str) -> None:
    """Add an option that takes nothing."""
    group.add_argument(option, action="store_true", help=help)


def text(group: Any, option: str, metavar: str, help: str, **more: Any) -> None:
    """Add an option that takes any text; *more* are arguments of `add_argument`, here and below."""
    group.add_argument(option, metavar=metavar, help=help, **more)


def word(
    group: Any, option: str, words: Sequence[str], help: str,
    but: tuple[Sequence[str], str] = ((), ""), **more: Any,
) -> None:  # fmt: skip
    """Add an option that takes one of *words*; *but* is as in `one_of`."""
    more = {"metavar": "|".join(words), **more}
    group.add_argument(option, type=one_of(*words, but=but), help=help, **more)


def whole(group: Any, option: str, metavar: str, help: str, least: int = 1, **more: Any) -> None:
    """Add an option that takes a whole number from *least* on."""
    group.add_argument(option, type=at_least(least), metavar=metavar, help=help, **more)


def number(group: Any, option: str, metavar: str, help: str, least: float = 0.0, **more: Any) -> None:
    """Add an option that takes a number from *least* on."""
    group.add_argument(option, type=at_least(least, float), metavar=metavar, help=help, **more)


def one_of(*known: str, but: tuple[Sequence[str], str] = ((), "")) -> Callable[[str], str]:
    """Return an argparse type that takes one of these words; *but* has others, and why they are refused."""

    def check(word: str) -> str:
        if word in but[0]:
            raise argparse.ArgumentTypeError(f"{word!r} is {but[1]}")
        if word not in known:
            raise argparse.ArgumentTypeError(f"{word!r} is unknown{nearest(word, known)}")
        return word

    return check


def at_least(least: float, kind: type = int) -> Callable[[str], Any]:
    """Return an argparse type for numbers of *kind* from *least*."""

    def check(word: str) -> Any:
        try:
            value = kind(word)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{word!r} is not {what}") from None
        if not least <= value < float("inf"):  # nan is neither
            if value != value or value > least:
                raise argparse.ArgumentTypeError(f"{word!r} is not a finite number")
            raise argparse.ArgumentTypeError(f"{word} is less than {least}")
        return value

    return check


@contextlib.contextmanager
def named() -> Iterator[None]:
    """Let errors about arguments of a function speak of options: of ``--burn-in 5``, not ``burn_in=5``."""
    try:
        yield
    except UsageError as error:
        words = re.sub(
            r"\b([a-z_]+)(\[\d+\])?= ?", lambda found: f"--{found[1].replace('_', '-')} ", str(error)
        )
        raise UsageError(words) from None


def pair(word: str) -> tuple[str, str]:
    """Argparse type: ``name=value``."""
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{word!r} is not NAME=VALUE")
    return name, value
