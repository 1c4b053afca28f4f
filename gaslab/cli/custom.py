"""Programs of the user's own: ``gaslab run FILE.py:Class GRAPH``, ``compile`` and ``explain``."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import (
    Parser,
    add_input,
    add_output,
    add_precision,
    add_running,
    add_talk,
    read_options,
)
from gaslab.cli.codes import DONE
from gaslab.cli.streams import say
from gaslab.errors import UsageError, nearest
from gaslab.language.annotations import annotations_of, is_class_variable
from gaslab.language.arrays import dimensions_of
from gaslab.language.precision import class_in
from gaslab.program import Field, Storage, Vertex, VertexProgram, parameter_annotations
from gaslab.system.outputs import Output

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger("gaslab")

TRUE, FALSE = {"true", "yes", "1"}, {"false", "no", "0"}


def parser(name: str) -> Parser:
    """Return the parser of ``run``, ``explain`` or ``compile``."""
    if name == "run":
        made = Parser(name, "FILE.py:Class GRAPH...", "Run a vertex program of your own on a graph.")
        made.add_argument("program", metavar="FILE.py:Class", help="or package.module:Class")
        add_input(made)
        option.text(made, "--vertices", "FILE", "read vertex fields from a table: text, .parquet or .npz")
        group = made.add_argument_group("program")
        group.add_argument(
            "-p", "--parameter", type=option.pair, action="append", default=[], metavar="NAME=VALUE",
            help="set a parameter of the program; FILE.npy for an array",
        )  # fmt: skip
        group.add_argument("--trace", metavar="ID", action="append", default=[],
                           help="trace this vertex; may be given several times")  # fmt: skip
        add_running(made)
        add_output(made)
        return made
    if name == "explain":
        made = Parser(
            name, "FILE.py:Class", "Show a program's fields, messages, and the C generated from its lines."
        )
        made.add_argument("program", metavar="FILE.py:Class", help="or package.module:Class")
        add_precision(made)
        add_talk(made)
        return made
    made = Parser(
        name,
        "FILE.py:Class",
        "Compile a vertex program, for every level of this kind of CPU, so that machines without a C\n"
        "compiler can run it: copy what is written there, into $GASLAB_CACHE_DIR.",
    )
    made.add_argument("program", metavar="FILE.py:Class", help="or package.module:Class")
    made.add_argument("-o", "--output", metavar="DIR", help="output folder (default: this machine's cache)")
    add_precision(made)
    option.flag(made, "--emit", "print the generated C and stop")
    add_talk(made)
    return made


def execute(arguments: Any) -> int:
    """Run, explain or compile the program."""
    if arguments.command == "explain":
        return _explain(arguments)
    return _run(arguments) if arguments.command == "run" else _compile(arguments)


def _run(arguments: Any) -> int:
    from gaslab.cli.job import Job, vertex_id
    from gaslab.engine.run import run

    program = load_class(arguments.program)
    words = dict(arguments.parameter)
    _check_names(program, words)
    job = Job(arguments, read_options(arguments), _answers(program) if arguments.fields else ())
    values = {name: typed(program, name, word, job.graph) for name, word in words.items()}
    chosen = [vertex_id(word, job.graph) for word in arguments.trace]
    result = run(program(**values), job.graph, **job.options(), trace=chosen or None)
    if result.trace is not None:
        say(job.comm, [str(result.trace)])
    return job.finish(result, list(arguments.fields or result.vertices.columns), "largest")


def _answers(program: type[VertexProgram]) -> list[str]:
    """Return the vertex fields that an answer of the program has."""
    known = annotations_of(getattr(program, "Vertex", Vertex), Vertex, program)
    return [name for name, kind in known.items() if not (name.startswith("_") or is_class_variable(kind))]


def _explain(arguments: Any) -> int:
    from gaslab.engine.explain import explain
    from gaslab.parallel.comm import world

    found = explain(class_in(load_class(arguments.program), arguments.precision))
    say(world(), [str(found)])
    return DONE


def _compile(arguments: Any) -> int:
    from gaslab.compiler import compile_ahead
    from gaslab.compiler.c import emit
    from gaslab.compiler.frontend import parse_phases
    from gaslab.parallel.comm import world

    program = class_in(load_class(arguments.program), arguments.precision)
    comm = world()
    if arguments.emit:
        texts = list(map(emit, parse_phases(program)))
        say(comm, texts)
        return DONE
    directory = comm.on_root(lambda: _library_folder(arguments.output))
    made = comm.on_root(lambda: compile_ahead(program, directory), long_running=True)
    say(comm, [*map(str, made)])
    return DONE


def _library_folder(named: str | None) -> Path:
    """Return the folder to compile into, made if it is not there, before anything is compiled."""
    from gaslab.compiler import build, cache

    if named is None:
        folder = build.cache_directory()
        try:
            cache.Cache(folder).prepare()
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    else:
        folder = Output(named).path
        cache.prepare_for_others(folder)
    return folder


def load_class(where: str) -> type[VertexProgram]:
    """Return the program class that ``FILE.py:Class`` or ``package.module:Class`` names.

    The class may be left out where the file has only one. What the file raises is not caught.
    """
    file, colon, name = where.rpartition(":")
    if not colon:
        file, name = where, ""
    module = _load_file(Path(file)) if file.endswith(".py") else _load_module(file)
    classes = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, VertexProgram)
        and value.__module__ == module.__name__
    }
    if not name and len(classes) == 1:
        return next(iter(classes.values()))
    chosen = getattr(module, name, None) if name else None
    if isinstance(chosen, type) and issubclass(chosen, VertexProgram):
        return chosen
    if not classes:
        raise UsageError(f"{file} has no vertex program: a class derived from gaslab.VertexProgram")
    if not name:
        raise UsageError(f"{file} has several programs; name one: {file}:{' or :'.join(sorted(classes))}")
    raise UsageError(f"{file} has no vertex program {name!r}{nearest(name, classes)}")


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    sys.path.insert(0, str(path.resolve().parent))  # as `python FILE.py` does
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _load_module(name: str) -> ModuleType:
    absent = UsageError(f"there is no module {name!r}; to name a file, give its .py: FILE.py:Class")
    if not all(part.isidentifier() for part in name.split(".")):
        raise absent
    sys.path.insert(0, "")  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise absent from None
        raise


def _check_names(program: type[VertexProgram], words: dict[str, str]) -> None:
    declared = parameter_annotations(program)
    for name in words:
        if name not in declared:
            raise UsageError(f"{program.__name__} has no parameter {name!r}{nearest(name, declared)}")
    missing = {name for name in declared if name not in words and not hasattr(program, name)}
    fields = {name: getattr(program, name, None) for name, kind in declared.items() if dimensions_of(kind)}
    for name, field in fields.items():
        if isinstance(field, Field) and (name in words or not field.has_init):
            missing -= {*field.shape}  # lengths that the array binds
            missing |= {name} - words.keys()
    for name in declared:
        if name in missing:
            array = f"{name}=FILE.npy" if name in fields else f"{name}=..."
            raise UsageError(f"{program.__name__} needs -p {array}: the parameter has no default")


def read_array(program: type[VertexProgram], name: str, word: str) -> NDArray[Any]:
    """Return the array in a file of numpy's that is given for a parameter; UsageError where it has none."""
    import numpy as np

    what = f"-p {name}={word}: {program.__name__}.{name}"
    if not word.endswith(".npy"):
        raise UsageError(f"{what} is an array; give a file that np.save wrote: -p {name}=FILE.npy")
    try:
        found: NDArray[Any] = np.load(word, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"{what}: cannot read {word}: {error.strerror or error}") from None
    except ValueError:  # pickled objects, or no such file
        text = f"{word} holds no plain array of numbers; write it by np.save({word!r}, array)"
        raise UsageError(f"{what}: {text}") from None
    return found


def typed(program: type[VertexProgram], name: str, word: str, graph: gl.Graph) -> Any:
    """Return a parameter's value as its annotation says: a number, a vertex id, an array (collective)."""
    from gaslab.cli.job import vertex_id

    annotation = parameter_annotations(program)[name]
    if dimensions_of(annotation):
        return graph.comm.on_root(lambda: read_array(program, name, word))
    kind = annotation
    if get_origin(annotation) is Annotated:
        kind, *marks = get_args(annotation)
        if any(isinstance(mark, Storage) and mark.name == "id" for mark in marks):
            return vertex_id(word, graph)
    try:
        if kind is bool:
            if word.lower() not in TRUE | FALSE:
                raise ValueError
            return word.lower() in TRUE
        if kind in (int, float):
            return kind(word)
    except ValueError:
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(f"-p {name}={word}: {program.__name__}.{name} needs {what}") from None
    return word
