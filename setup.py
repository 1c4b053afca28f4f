"""Builds the kernels and compiles the built-in programs; everything else is in pyproject.toml.

Every ``cython_kernels/FOLDER/NAME.pyx`` becomes ``gaslab._kernels.NAME``. Then every program class of
``gaslab/programs`` goes through gaslab's own compiler, once for each CPU level, into
``gaslab/_builtins``, so that installed programs start at once and need no compiler. They are the same for
every Python: where ``$GASLAB_BUILTINS`` names a folder, they are kept there, and taken from there by the
next build, as for wheels for several Pythons.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # gaslab compiles itself
KERNELS = Path("cython_kernels")
FOLDERS = [KERNELS, *sorted(path for path in KERNELS.iterdir() if path.is_dir())]  # of what kernels include
VIEWS = "gaslab._kernels.views"  # Cython's own code for memoryviews, once for all kernels
C_FLAGS = ["-O3", "-g0", "-fwrapv", "-ffp-contract=off", "-Wno-unused-function"]
OPENMP = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
DIRECTIVES = {"boundscheck": False, "wraparound": False, "cdivision": True, "initializedcheck": False}


class Fresh(build):
    """A distribution has what this tree has, and nothing that an earlier one left in ``build``."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class Build(build_ext):
    """Kernels by Cython, with OpenMP where the compiler has it; then the built-in programs."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self.force = self.force or not self.inplace

    def translate(self) -> None:
        """Write the C of the kernels: beside them if they are built in place, else in ``build``."""
        import numpy
        from Cython.Build import cythonize

        written = cythonize(
            self.extensions, language_level=3, nthreads=os.cpu_count() or 1, compiler_directives=DIRECTIVES,
            include_path=[str(folder) for folder in FOLDERS], shared_utility_qualified_name=VIEWS,
            build_dir=None if self.inplace else self.build_temp, force=self.force, quiet=True,
        )  # fmt: skip
        sources = {kernel.name: kernel.sources for kernel in written}
        for kernel in self.extensions:
            kernel.sources = sources[kernel.name]
            kernel.include_dirs.append(numpy.get_include())

    def build_extensions(self) -> None:
        sanitizers = toolchain().sanitizer_flags(os.environ.get(toolchain().SANITIZE, ""))
        for kernel in self.extensions:
            kernel.extra_compile_args.extend(sanitizers)
            kernel.extra_link_args.extend(sanitizers)
        if self.has_openmp():
            for kernel in self.extensions:
                kernel.extra_compile_args.append("-fopenmp")
                kernel.extra_link_args.append("-fopenmp")
        else:
            self.warn("the C compiler has no OpenMP: a rank will run on one thread")
        super().build_extensions()

    def has_openmp(self) -> bool:
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory, "openmp.c")
            source.write_text(OPENMP, encoding="utf-8")
            try:
                objects = self.compiler.compile([str(source)], directory, extra_postargs=["-fopenmp"])
                self.compiler.link_executable(
                    objects, "openmp", output_dir=directory, extra_postargs=["-fopenmp"]
                )
            except (CompileError, LinkError):
                return False
            return True

    def run(self) -> None:
        self.translate()
        super().run()
        package = Path("gaslab") if self.inplace else Path(self.build_lib, "gaslab")
        if not self.inplace:  # in place, the compiler reads those in cython_kernels
            for header in ("abi.h", "random/philox.h", "random/distributions.h"):  # in emitted programs
                shutil.copy(KERNELS / header, package / "compiler")
        compile_programs(package / "_builtins", here=self.inplace)


def compile_programs(directory: Path, here: bool) -> None:
    """Leave in *directory* the libraries of all built-in programs, and nothing else.

    *here* compiles for this machine's CPU alone, which is a third of the work.
    """
    compiler = importlib.import_module("gaslab.compiler")
    levels = [toolchain().levels()[toolchain().cpu_level()]] if here else toolchain().levels()
    kept = Path(os.environ.get("GASLAB_BUILTINS") or directory)
    texts: dict[str, None] = {}  # in order, without those that occur again
    for cls in program_classes():
        lengths = getattr(sys.modules[cls.__module__], "LENGTHS", {})
        sized = [{name: n} for name, values in lengths.items() for n in values]
        for shapes in ({}, *sized):
            texts.update(dict.fromkeys(compiler.texts_ahead(cls, shapes)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # of threads that wait for the C compiler
        jobs = [
            pool.submit(compiler.build.compile_levels, text, kept, [level])
            for text in texts
            for level in levels
        ]
        made = {path.name: path for job in jobs for path in job.result()}
    directory.mkdir(exist_ok=True)
    for name, path in made.items() if kept != directory else ():
        shutil.copy(path, directory / name)
    for path in directory.glob("*"):
        if path.name not in made:
            path.unlink()


def toolchain() -> ModuleType:
    """Return gaslab's own module of that name, of this source tree."""
    return importlib.import_module("gaslab.compiler.toolchain")


def included(source: Path) -> list[str]:
    """Return the files of the kernels that one includes, directly or through another."""
    named = re.findall(r'(?:extern from|include) "(\w+\.(?:h|pxi))"', source.read_text(encoding="utf-8"))
    found = [folder / name for name in named for folder in FOLDERS if (folder / name).is_file()]
    return [str(file) for file in found] + [more for file in found for more in included(file)]


def program_classes() -> Iterator[type]:
    """Yield the program classes that the modules of ``gaslab.programs`` define."""
    base = importlib.import_module("gaslab.program").VertexProgram
    for page in sorted(ROOT.glob("gaslab/programs/[!_]*.py")):
        module = importlib.import_module(f"gaslab.programs.{page.stem}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__:
                yield value


def extension(name: str, source: Path, depends: list[str]) -> Extension:
    return Extension(
        name,
        [str(source)],
        include_dirs=[str(folder) for folder in FOLDERS],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=list(C_FLAGS),
        depends=depends,
    )


if __name__ == "__main__":
    setup(
        ext_modules=[
            extension(VIEWS, KERNELS / "system" / "views.c", []),
            *(
                extension(f"gaslab._kernels.{source.stem}", source, included(source))
                for source in sorted(KERNELS.glob("*/*.pyx"))
            ),
        ],
        cmdclass={"build": Fresh, "build_ext": Build},
    )
