"""Values marked as missing, and data from pandas, Arrow and numpy's masks as plain numpy arrays.

``np.asarray`` drops a mask, and turns a null into None, NaN or an object: each would be an id or a number.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from gaslab.errors import InputError

WAY_OUT = "; leave its row out, or fill it"


def plain(values: Any, place: Callable[[int], str]) -> Any:
    """Return a Series, an Arrow array or a masked array as a numpy array; anything else unchanged.

    Raises InputError for the first value marked as missing, at its position named by *place*. NaN among
    numpy's floats and None among objects stay: the caller must find them.
    """
    found = masked_at(values)
    if found is not None:
        raise InputError(f"{place(found[0])} is missing (masked){WAY_OUT}")
    if isinstance(values, np.ma.MaskedArray):
        return values.data
    if not hasattr(values, "to_numpy"):
        return values
    dtype = getattr(values, "dtype", None)
    if hasattr(values, "isna") and not isinstance(dtype, np.dtype):  # pandas beyond numpy's own types
        absent = np.flatnonzero(np.asarray(values.isna()))
        if absent.size:
            raise InputError(f"{place(int(absent[0]))} is missing (NA of {dtype}){WAY_OUT}")
    if isinstance(getattr(values, "null_count", None), int):  # Arrow
        if values.null_count:
            raise InputError(f"{place(values.is_null().to_pylist().index(True))} is missing (null){WAY_OUT}")
        return values.to_numpy(zero_copy_only=False)
    return values.to_numpy()


def masked_at(values: Any) -> tuple[int, ...] | None:
    """Return the index of the first value hidden by numpy's mask, else None."""
    if not isinstance(values, np.ma.MaskedArray):
        return None
    hidden = np.argwhere(np.ma.getmaskarray(values))
    return tuple(hidden[0].tolist()) if len(hidden) else None


def is_missing(one: Any) -> bool:
    """Return whether an object stands for a missing value: None, NaN, NaT, pandas' NA, a mask."""
    if one is None or one is np.ma.masked:
        return True
    pandas = sys.modules.get("pandas")  # without it none of its objects exist
    if pandas is not None and (one is getattr(pandas, "NA", None) or one is getattr(pandas, "NaT", None)):
        return True
    if isinstance(one, Decimal):
        return one.is_nan()  # a signalling nan raises when compared
    return isinstance(one, (numbers.Number, np.generic)) and bool(one != one)


def first_missing(objects: list[Any]) -> tuple[int, Any] | None:
    """Return the position of the first object that stands for a missing value, and the object."""
    return next(((at, one) for at, one in enumerate(objects) if is_missing(one)), None)
