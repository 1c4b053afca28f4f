"""Builds the kernels: every ``cython_kernels/NAME.pyx`` becomes ``gaslab._kernels.NAME``."""

from __future__ import annotations

from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("cython_kernels")
C_FLAGS = ["-O3", "-fopenmp", "-fwrapv", "-ffp-contract=off", "-Wno-unused-function"]


def kernels() -> list[Extension]:
    return cythonize(
        [
            Extension(
                f"gaslab._kernels.{source.stem}",
                [str(source)],
                include_dirs=[numpy.get_include(), str(KERNELS)],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
                extra_compile_args=C_FLAGS,
                extra_link_args=["-fopenmp"],
                depends=[str(KERNELS / "abi.h")],
            )
            for source in sorted(KERNELS.glob("*.pyx"))
        ],
        language_level=3,
        nthreads=2,
        compiler_directives={"boundscheck": False, "wraparound": False, "cdivision": True, "initializedcheck": False},
    )


if __name__ == "__main__":
    setup(ext_modules=kernels())
