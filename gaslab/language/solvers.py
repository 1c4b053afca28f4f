"""Words for linear systems; outside a program they do the same with numpy, which they import when called."""

from __future__ import annotations

from typing import Any


def solve_spd(matrix: Any, right: Any) -> Any:
    """Solve ``matrix @ x = right`` for a symmetric positive definite matrix, in a program's methods.

    A Cholesky factorisation takes half the work of ``np.linalg.solve``; only the lower triangle of *matrix*
    is read. A matrix that is not positive definite ends the run, naming the vertex and the line; a matrix
    with nan gives nan. Outside a program it does the same with numpy.

    >>> import numpy as np
    >>> from gaslab import program as gl
    >>> gl.solve_spd(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([2.0, 5.0])).round(6) + 0.0
    array([0., 1.])
    """
    import numpy

    lower = numpy.linalg.cholesky(numpy.asarray(matrix, numpy.float64))
    return numpy.linalg.solve(lower.T, numpy.linalg.solve(lower, right))


def conjugate_gradient(matrix: Any, right: Any, start: Any, steps: int) -> Any:
    """Improve *start* by *steps* steps of the conjugate gradient method for ``matrix @ x = right``.

    *matrix* is symmetric and positive definite, *right* and *start* are vectors. A step costs one product
    with the matrix; n steps solve a system of n equations up to rounding, and from a good start a few are
    enough. If *right* is 0, so is the answer. The steps end early when the squared residual falls below
    ``2**-104`` of its first value or of the square of *right*, whichever is larger. Squares are taken in
    units of a power of two near the largest element, so that systems of any scale are solved equally well. A
    direction p with ``p @ matrix @ p <= 0`` shows that the matrix is not positive definite and ends the run,
    naming the vertex and the line; nan anywhere gives nan. Outside a program it does the same with numpy.

    >>> import numpy as np
    >>> from gaslab import program as gl
    >>> matrix, right = np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([2.0, 5.0])
    >>> gl.conjugate_gradient(matrix, right, np.zeros(2), 1).round(3)
    array([0.34, 0.85])
    >>> gl.conjugate_gradient(matrix, right, np.zeros(2), 2).round(6) + 0.0
    array([0., 1.])
    """
    import numpy

    matrix, right, x = (numpy.asarray(part, numpy.float64) for part in (matrix, right, start))
    if not right.any():
        return numpy.zeros(len(right))
    residual = right - matrix @ x
    unit = 1.0
    most = numpy.fmax.reduce(numpy.abs([right, residual]), axis=None)
    if 0.0 < most < numpy.inf:
        unit = 2.0 ** numpy.clip(numpy.frexp(most)[1] - 1, -1000, 1000)
    residual, right = residual / unit, right / unit
    direction, square = residual, residual @ residual
    enough = max(square, right @ right) * 2.0**-104
    for _ in range(steps):
        if square < enough:
            break
        product = matrix @ direction
        curvature = direction @ product
        if curvature <= 0:
            raise numpy.linalg.LinAlgError("Matrix is not positive definite")
        x = x + square / curvature * unit * direction
        residual = residual - square / curvature * product
        before, square = square, residual @ residual
        direction = residual + square / before * direction
    return x
