"""Parameters that are vectors or matrices: the arrays given for them, and their lengths.

numpy is imported when a value is converted, since the build declares programs before numpy exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, get_origin

from gaslab.arguments import shown, wrong
from gaslab.errors import UsageError
from gaslab.language.annotations import mark_of
from gaslab.language.fields import RANGES, Dimensions, Field, Storage
from gaslab.language.rng import Draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS = ("a number", "a vector", "a matrix")
_PLAIN: dict[Any, str] = {None: "float64", float: "float64", int: "int64", bool: "bool"}


def is_array(value: Any) -> bool:
    """Return whether *value* is a numpy array, without importing numpy."""
    return any((c.__module__, c.__name__) == ("numpy", "ndarray") for c in type(value).__mro__)


def is_masked(value: Any) -> bool:
    """Return whether *value* is an array that may have missing elements."""
    return any(c.__name__ == "MaskedArray" for c in type(value).__mro__)


def dimensions_of(annotation: Any) -> int:
    """Return 1 for a vector, 2 for a matrix, 0 for anything else."""
    mark = mark_of(annotation, Dimensions)
    return mark.count if mark else 0


def described(array: Any) -> str:
    """Return an array in a few words, without its content.

    >>> import numpy as np
    >>> described(np.zeros((3, 2)))
    '<float64 array of 3 x 2>'
    """
    lengths = " x ".join(map(str, array.shape)) or "no dimensions"
    return f"<{array.dtype} array of {lengths}>"


def given_arrays(cls: type, declared: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays among a program's parameters, and the lengths that they bind, by name.

    *declared* has the annotations of all parameters, *values* the given values. Lengths are int parameters
    that shapes name; an array that is not given has its default everywhere, if any.

    Raises
    ------
    UsageError
        An array is missing, has the wrong type or dimensions, or lengths that differ from others'.
    """
    fields = {name: _field(cls, name, kind) for name, kind in declared.items() if dimensions_of(kind)}
    made = {
        name: frozen(f"{cls.__name__}.{name}", values[name], field, dimensions_of(declared[name]))
        for name, field in fields.items()
        if name in values
    }
    lengths = {n: x for n, x in values.items() if n in declared and n not in fields}
    bound: dict[str, tuple[int, str]] = {}
    for name, array in made.items():
        for length, n in zip(fields[name].shape, array.shape, strict=True):
            what = f"{cls.__name__}({name}={described(array)})"
            if isinstance(length, int) and length != n:
                raise UsageError(f"{what}: the shape is declared {_shape(fields[name])}; pass an array of it")
            if isinstance(length, int) or length not in declared:
                continue
            if length in lengths and lengths[length] != n:
                raise UsageError(
                    f"{what}: the shape is {_shape(fields[name])}, but {length}={lengths[length]!r} is "
                    f"given; leave {length} out, or pass an array of that length"
                )
            before, other = bound.setdefault(length, (n, name))
            if before != n:
                raise UsageError(
                    f"{what}: the shape is {_shape(fields[name])}, but {other}={described(made[other])} has "
                    f"{length} = {before}; make the shapes agree"
                )
    known = lengths | {length: n for length, (n, _) in bound.items()}
    for name, field in fields.items():
        if name not in made:
            made[name] = _default(cls, name, field, known)
    return made | {length: n for length, (n, _) in bound.items()}


def frozen(what: str, value: Any, field: Field, rank: int) -> NDArray[Any]:
    """Return a read-only C-contiguous copy of an array in its declared dtype; raises UsageError.

    *what* is the parameter with its class: ``Layer.weights``. A float may be rounded, as by any conversion;
    values that an integer type cannot hold, or float32 only as infinity, are refused.
    """
    import numpy as np

    owner, _, name = what.rpartition(".")
    if is_masked(value):
        raise UsageError(f"{owner}({name}=...) is a masked array; fill it: {name}=array.filled(0)")
    try:
        found = np.asarray(value)
    except (ValueError, TypeError):  # rows of different length, or not an array
        raise wrong(what, value, f"{_KINDS[rank]} of numbers is needed, with rows of one length") from None
    said = f"{owner}({name}={described(found)})"
    if found.dtype.kind not in "biuf":
        raise UsageError(f"{said}: an array of numbers is needed; convert it: {name}=np.asarray(..., float)")
    if found.ndim != rank:
        raise UsageError(
            f"{said}: {_KINDS[rank]} is needed, of {rank} dimension{'s' * (rank > 1)}; reshape it"
        )
    if not found.size:
        raise UsageError(f"{said}: every length must be 1 or more; pass an array with elements")
    storage = _storage(field)
    if storage is None:
        if getattr(mark_of(field.dtype, Storage), "name", "") == "id":
            text = f"{owner}.{name} holds vertex ids; an array parameter holds numbers, say by v.index"
        else:
            text = f"{owner}.{name} has the dtype {shown(field.dtype)}; write float, int, bool or a width"
        raise UsageError(text)
    with np.errstate(all="ignore"):
        made = np.array(found, np.dtype(storage), order="C")
        lost = np.argwhere(_lost(found, made, storage))
    if lost.size:
        at = ", ".join(map(str, lost[0].tolist()))
        raise UsageError(
            f"{said}: element [{at}] is {found[tuple(lost[0])].item()!r}, which {storage} does not hold; "
            "round it, or declare another dtype"
        )
    made.setflags(write=False)
    return made


def _lost(found: NDArray[Any], made: NDArray[Any], storage: str) -> Any:
    """Return where a conversion changed a value by more than rounding."""
    import numpy as np

    if made.dtype.kind == "f":
        return np.isinf(made) & np.isfinite(found)
    different = made.astype(found.dtype) != found
    if storage in RANGES:
        low, high = RANGES[storage]
        outside = found if found.dtype.kind in "iu" else made
        different |= (outside < low) | (outside > high)
    return different


def _field(cls: type, name: str, annotation: Any) -> Field:
    """Return the declaration of an array parameter; raises if it has no shape."""
    field = getattr(cls, name, None)
    rank = dimensions_of(annotation)
    if not isinstance(field, Field) or len(field.shape) != rank:
        example = "shape=8" if rank == 1 else "shape=(3, 3)"
        raise UsageError(f"{cls.__name__}.{name} has no shape; write {name}: ... = gl.field({example})")
    return field


def _default(cls: type, name: str, field: Field, known: Mapping[str, Any]) -> NDArray[Any]:
    """Return an array filled with the declared default; raises without one."""
    import numpy as np

    if not field.has_init:
        raise UsageError(f"{cls.__name__} needs {name}=...: the parameter has no default")
    if isinstance(field.init, Draw):
        raise UsageError(
            f"{cls.__name__}.{name} = {field.init!r}: a parameter is the same for all vertices; draw in a "
            f"field, or pass an array: {name}=..."
        )
    shape = []
    for length in field.shape:
        n = known.get(length, getattr(cls, length, None)) if isinstance(length, str) else length
        if n is None:
            raise UsageError(
                f"{cls.__name__} needs {length}=...: the length of {name}, for which no array is given"
            )
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise UsageError(f"{cls.__name__}.{name} has the length {shown(n)}; an int from 1 on is needed")
        shape.append(n)
    return frozen(f"{cls.__name__}.{name}", np.full(shape, field.init), field, len(shape))


def _storage(field: Field) -> str | None:
    """Return the storage type of an array's elements, None if unsupported."""
    if isinstance(field.dtype, type) or field.dtype is None:
        return _PLAIN.get(field.dtype)
    mark = mark_of(field.dtype, Storage) if get_origin(field.dtype) is Annotated else None
    return None if mark is None or mark.name == "id" else mark.name


def _shape(field: Field) -> str:
    """Return a declared shape as errors show it: ``(inputs, 16)``."""
    return f"({', '.join(map(str, field.shape))})"
