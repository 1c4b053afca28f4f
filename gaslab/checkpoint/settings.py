"""`Recovery`: how a run is checkpointed, and what it resumes, checked before it begins."""

from __future__ import annotations

import numbers
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gaslab import arguments
from gaslab.errors import UsageError

AUTO = "auto"  # resume from the folder of checkpoint=, if it holds a checkpoint
ON_ERROR = ("warn", "raise")
EVERY, KEEP = "60s", 2
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
PERIOD = re.compile(r"(\d+(?:\.\d+)?)([smh])")


@dataclass(frozen=True)
class Recovery:
    """The checkpoints of one run.

    Attributes
    ----------
    folder : Path or None
        Where checkpoints are written.
    seconds, supersteps : float or int, optional
        The time, or the number of supersteps, between two checkpoints; one of them is None.
    keep : int
        How many checkpoints stay.
    resume : Path or None
        The folder of the checkpoint to resume.
    required : bool
        Whether a folder without a checkpoint is an error.
    raises : bool
        Whether a checkpoint that cannot be written ends the run.
    notes : dict
        What the caller of the run saves along, as JSON: see `gaslab.programs._lda_chain`.
    before : int
        Supersteps of the call that earlier runs have made.
    """

    folder: Path | None = None
    seconds: float | None = None
    supersteps: int | None = None
    keep: int = KEEP
    resume: Path | None = None
    required: bool = True
    raises: bool = False
    notes: dict[str, Any] = field(default_factory=dict)
    before: int = 0

    @property
    def in_place(self) -> bool:
        """Whether the checkpoints that are written go where the one to resume is."""
        same = self.folder is not None and self.resume is not None
        return same and self.folder.resolve() == self.resume.resolve()  # type: ignore[union-attr]


@dataclass
class Spent:
    """What a run has cost on one rank; or on all: the seconds of the slowest and the sums of the rest."""

    seconds: float = 0.0
    bytes_sent: float = 0.0
    cpu_seconds: float = 0.0

    def on(self, rank: int) -> Spent:
        """Return the part of what all ranks have spent that counts on one rank."""
        return self if rank == 0 else Spent(self.seconds)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.seconds + other.seconds,
            self.bytes_sent + other.bytes_sent,
            self.cpu_seconds + other.cpu_seconds,
        )


def recovery(
    checkpoint: Any, every: Any, keep: Any, resume: Any, on_checkpoint_error: Any
) -> Recovery | None:
    """Return the settings that these arguments of `gaslab.run` mean, None without checkpoints.

    Raises UsageError for an argument that is invalid or has no effect.
    """
    if every is None and checkpoint is not None:
        every = EVERY
    folder = arguments.path("checkpoint", checkpoint, optional=True)
    known = {"every": every, "keep": keep, "on_checkpoint_error": on_checkpoint_error}
    if folder is None:
        for name, value in known.items():
            if value is not None:
                raise UsageError(f"{name}={value!r} needs checkpoint=FOLDER")
    keep = arguments.whole("keep", KEEP if keep is None else keep, 1)
    on_error = arguments.choice(
        "on_checkpoint_error", ON_ERROR[0] if on_checkpoint_error is None else on_checkpoint_error, ON_ERROR
    )
    seconds, supersteps = _period(every) if folder is not None else (None, None)
    source = arguments.path("resume", resume, optional=True)
    if source is None and folder is None:
        return None
    automatic = isinstance(resume, str) and resume == AUTO
    if automatic and folder is None:
        raise UsageError("resume='auto' resumes from checkpoint=FOLDER; give both, or resume=FOLDER")
    source = folder if automatic else source
    return Recovery(
        folder=None if folder is None else Path(folder),
        seconds=seconds,
        supersteps=supersteps,
        keep=keep,
        resume=None if source is None else Path(source),
        required=not automatic,
        raises=on_error == "raise",
    )


def in_supersteps(every: Any, supersteps: int) -> Any:
    """Return ``every=`` with a number of sweeps, each of so many supersteps, as one of supersteps."""
    if isinstance(every, str) and every.isascii() and every.isdecimal():
        every = int(every)
    if isinstance(every, numbers.Integral) and not isinstance(every, bool):
        return int(every) * supersteps
    return every


def _period(every: Any) -> tuple[float | None, int | None]:
    """Return the seconds or the supersteps that ``every=`` means."""
    if not isinstance(every, str):
        return None, arguments.whole("every", every, 1)
    word = every.strip()
    if (found := PERIOD.fullmatch(word)) is not None:
        return float(found[1]) * UNITS[found[2]], None
    if word.isascii() and word.isdecimal() and int(word) > 0:
        return None, int(word)
    raise UsageError(
        f"every={every!r} is neither a time ('60s', '5m', '1h') nor a number of supersteps of at least 1"
    )
