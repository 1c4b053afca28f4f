"""Packages that pictures, Parquet files and METIS need, and that gaslab runs without."""

from __future__ import annotations

from importlib.util import find_spec

from gaslab.errors import UsageError


class MissingPackage(UsageError):
    """A package that gaslab runs without is not installed."""


def need_matplotlib(what: str) -> None:
    """Raise UsageError if matplotlib is not there; *what* needs it."""
    _need("matplotlib", what, "plot")


def need_pyarrow(what: str) -> None:
    """Raise UsageError if pyarrow is not there; *what* needs it."""
    _need("pyarrow", what, "interop")


def need_pymetis(what: str) -> None:
    """Raise UsageError if pymetis is not there, or too old; *what* needs it."""
    _need("pymetis", what, "metis")
    import pymetis

    if not hasattr(pymetis, "CSRAdjacency"):
        raise UsageError(f"{what} needs pymetis 2025.2 or later: pip install --upgrade 'gaslab[metis]'")


def _need(package: str, what: str, extra: str) -> None:
    if find_spec(package) is None:
        raise MissingPackage(f"{what} needs {package}, which is not installed: pip install 'gaslab[{extra}]'")
