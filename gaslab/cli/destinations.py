"""Where a command writes: all outputs that its options name, checked together before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gaslab.errors import UsageError, nearest
from gaslab.ingest.files import expanded
from gaslab.ingest.sidefile import check_side_file
from gaslab.parallel.comm import Comm
from gaslab.results.writers import Target
from gaslab.storage.write import check_folder, graph_folder
from gaslab.system.outputs import Output, check_distinct

TABLES = ("output", "map")  # beside those that a command has of its own, which its `tables` name
FILES = ("json", "timeline", "save")
# Options that name a file that rank 0 reads; it looks at the file before it reads the graph.
SIDE_FILES = ("vertices", "load", "model")  # and of a built-in its `own_files`
READ = (*SIDE_FILES, "vocabulary", "stop_words")  # all that name a file to read, beside the graph


@dataclass(frozen=True)
class Destinations:
    """What a command is to write; None for what it is not asked for."""

    output: Target | None = None
    map: Target | None = None
    json: Output | None = None
    timeline: Output | None = None
    save: Output | None = None
    report: Output | None = None
    tables: dict[str, Target] = field(default_factory=dict)  # by name: what the command answers beside


def destinations(comm: Comm, arguments: Any) -> Destinations:
    """Return the outputs that the options name; look at the files of values to be read (collective).

    Raises
    ------
    UsageError
        One cannot or may not be written, two are one file, or one is read too.
    InputError
        A file of values for vertices is not there, or is a device.
    """
    return comm.on_root(lambda: _checked(arguments))  # what a name leads to is rank 0's affair


def _checked(arguments: Any) -> Destinations:
    force, own = arguments.force, getattr(arguments, "tables", ())
    target = _target(arguments.command)
    tables = {name: target(getattr(arguments, name), force) for name in _named(arguments, (*TABLES, *own))}
    files = {name: Output(getattr(arguments, name), force) for name in _named(arguments, FILES)}
    if "save" in files and arguments.command == "partition":
        files["save"] = graph_folder(arguments.save, force, "--force")
    for table in tables.values():
        table.check()
    for file in files.values():
        file.check()
    if getattr(arguments, "report", None) is not None:
        files["report"] = _page(arguments, force)
    outputs = {name: table.output for name, table in tables.items()} | files
    if outputs:
        options = ((f"--{name.replace('_', '-')}", one) for name, one in outputs.items())
        check_distinct(options, _read(arguments))
    for path in _side_files(arguments):
        check_side_file(path)
    beside = {name: tables.pop(name) for name in own if name in tables}
    return Destinations(**tables, **files, tables=beside)  # type: ignore[arg-type]


def _target(command: str) -> type[Target]:
    """Return what understands the names of a command's tables."""
    if command == "partition":
        from gaslab.cuts.files import CutTarget

        return CutTarget
    if command == "convert":
        return GraphTarget
    return Target


class GraphTarget(Target):
    """Where a graph goes: a file of its edges, or a folder that holds all of it."""

    hint = "or in / for a folder that commands start from"

    def _guard(self) -> None:
        if self.directory:
            check_folder(self.output)


def _page(arguments: Any, force: bool) -> Output:
    """Return the folder of the page that a command draws, checked."""
    if arguments.command == "partition":
        from gaslab.cuts import report

        return report.page_output(arguments.report, force)
    from gaslab.topics.report.write import check_page, page_output

    output = page_output(arguments.report, force)
    check_page(output)
    return output


def check_fields(arguments: Any, known: Iterable[str]) -> None:
    """Raise UsageError if ``--fields`` names what the answer of the program cannot have."""
    names = list(known)
    allowed = {"id", *names}
    if arguments.bipartite:
        allowed |= {"side", *(f"{name}_side" for name in names)}
    for name in arguments.fields or ():
        if name not in allowed:
            raise UsageError(f"there is no vertex field {name!r}{nearest(name, names)}")


def _named(arguments: Any, options: Iterable[str]) -> list[str]:
    return [name for name in options if getattr(arguments, name, None) is not None]


def _paths(arguments: Any, options: Iterable[str]) -> list[str]:
    values = [getattr(arguments, name) for name in _named(arguments, options)]
    return [value for value in values if isinstance(value, str)]  # `generate --vertices` is a number


def _side_files(arguments: Any) -> list[str]:
    """Return the files with values for vertices that a command reads."""
    own = [name for name, takes in getattr(arguments, "own_files", {}).items() if takes != "graph"]
    found = _paths(arguments, (*own, *SIDE_FILES))
    return found + [file for _, file in getattr(arguments, "init", ())]


def _read(arguments: Any) -> list[str]:
    """Return the files that a command reads."""
    paths = getattr(arguments, "input", None)
    found = expanded(paths) if paths else []
    found += _paths(arguments, (*getattr(arguments, "own_files", ()), *READ))
    found += [file for _, file in getattr(arguments, "init", ())]
    program = getattr(arguments, "program", None)
    if program is not None:
        file, colon, _ = program.rpartition(":")
        found.append(file if colon else program)
    return found
