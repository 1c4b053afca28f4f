"""Make the datasets of this folder from the Python standard library's own source.

    python datasets/make.py            writes the files beside this script
    python datasets/make.py OUT        writes them into the folder OUT
    python datasets/make.py --check    makes them again and says which differ from the files here

Three things come out, all the same on every machine with the same version of Python:

*The import graph.* One line for each pair of modules: importer, imported, and how many import
statements of the importer name the imported module. Imports are taken as they are written, not as
they are run: one inside a function or under ``if TYPE_CHECKING`` counts like any other.
``from a import b`` means the module ``a.b`` where there is one, unless ``a`` itself binds the name
(``from unittest import main`` gets the class that unittest calls main); otherwise it means ``a``. Only
modules of the standard library appear; its tests do not.

*The docstrings* as a bag of words in the format of the UCI collection: one document per module (the
docstrings of the module, its classes and its functions), a word list, and ``document word count``
lines with numbers from 1.

*Ratings* of built-in functions by modules: how much a module calls each, from 1 (once) to 5 (16 times or
more). Modules and functions that have few of them are left out.
"""

from __future__ import annotations

import ast
import builtins
import gzip
import re
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMPORTS = "stdlib-imports.tsv"
DOCWORD = "docword.stdlib-docstrings.txt.gz"
VOCABULARY = "vocab.stdlib-docstrings.txt"
DOCUMENTS = "documents.stdlib-docstrings.txt"
CALLS = "stdlib-calls.tsv"

TESTS = {"test", "tests", "idle_test"}
FEWEST_CALLS = 5  # ratings of a module, and of a function
HIGHEST = 5  # rating
OF_SITE = {"copyright", "credits", "exit", "help", "license", "quit"}  # of the module site, for prompts
BUILTINS = frozenset(dir(builtins)) - OF_SITE
# A word is kept when it is neither rare nor everywhere, and not one of these.
RAREST, COMMONEST = 4, 0.5  # documents at least; share of the documents at most
STOP_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        """about after all also and any are because been before being both but can cannot could did
        does doing each either else even for from had has have having her here his how into its
        itself just may might more most must neither nor not now off only other our out over own
        same shall she should some such than that the their them then there these they this those
        through too under until upon use used uses using very was were what when where whether
        which while who whom whose why will with within without would yet you your""",
    )
)


def modules(library: Path) -> dict[str, Path]:
    """Return the standard library's modules that have source, by dotted name, in sorted order."""
    found = {}
    for path in library.rglob("*.py"):
        parts = list(path.relative_to(library).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        if parts and parts[0] in sys.stdlib_module_names and not TESTS & set(parts):
            found[".".join(parts)] = path
    return dict(sorted(found.items()))


def bound(name: str, tree: ast.Module) -> set[str]:
    """Return the dotted names that a package's ``from .x import y`` lines take from its own modules."""
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level and node.module]
    return {f"{name}.{alias.asname or alias.name}" for node in lines for alias in node.names}


def imported(
    name: str, path: Path, tree: ast.Module, known: frozenset[str], hidden: frozenset[str]
) -> Iterator[str]:
    """Yield each standard module that an import statement of module *name* names, once per statement."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join(above + ([node.module] if node.module else []))
            wanted = [f"{base}.{alias.name}" for alias in node.names]
            wanted = [base if dotted in hidden else dotted for dotted in wanted]
        else:
            continue
        targets = {longest_known(dotted, known) for dotted in wanted} - {None, name}
        yield from (target for target in targets if target is not None)


def longest_known(dotted: str, known: frozenset[str]) -> str | None:
    """Return the longest prefix of *dotted* that is a module: ``os`` for ``os.path.join``."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        if (prefix := ".".join(parts[:length])) in known:
            return prefix
    return None


def words(tree: ast.Module) -> Iterator[str]:
    """Yield the words of all docstrings: lower case, letters only, three or more."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for word in re.findall(r"[a-z]{3,}", (ast.get_docstring(node) or "").lower()):
                if word not in STOP_WORDS:
                    yield word


def called(tree: ast.Module) -> Iterator[str]:
    """Yield the name of the built-in function, class or exception that each call names, as it is written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            yield node.func.id


def ratings(calls: dict[str, Counter[str]]) -> dict[tuple[str, str], int]:
    """Return a rating for each module and built-in that have enough: 1 for a call, 2 for two, 5 for 16."""
    pairs = {(name, callee): n for name, bag in calls.items() for callee, n in bag.items()}
    while True:
        modules, callees = Counter(name for name, _ in pairs), Counter(callee for _, callee in pairs)
        kept = {
            (name, callee): n
            for (name, callee), n in pairs.items()
            if min(modules[name], callees[callee]) >= FEWEST_CALLS
        }
        if len(kept) == len(pairs):
            return {pair: min(n.bit_length(), HIGHEST) for pair, n in sorted(pairs.items())}
        pairs = kept


def make(out: Path) -> None:
    """Write all files into the folder *out*, made if need be."""
    out.mkdir(parents=True, exist_ok=True)
    sources = modules(Path(sysconfig.get_path("stdlib")))
    known = frozenset(sources) | sys.stdlib_module_names
    trees = {name: ast.parse(path.read_bytes()) for name, path in sources.items()}
    version = ".".join(map(str, sys.version_info[:3]))

    packages = {name: tree for name, tree in trees.items() if sources[name].name == "__init__.py"}
    hidden = frozenset(dotted for name, tree in packages.items() for dotted in bound(name, tree))
    edges = {
        name: Counter(imported(name, sources[name], tree, known, hidden)) for name, tree in trees.items()
    }
    lines = [f"{name}\t{target}\t{n}" for name in edges for target, n in sorted(edges[name].items())]
    header = f"# Imports between the modules of Python {version}'s standard library; made by datasets/make.py"
    write(out / IMPORTS, "\n".join([header, "# importer\timported\ttimes", *lines]))

    bags = {name: Counter(words(tree)) for name, tree in trees.items()}
    spread = Counter(word for bag in bags.values() for word in bag)
    vocabulary = sorted(w for w, n in spread.items() if RAREST <= n <= COMMONEST * len(bags))
    number = {word: k for k, word in enumerate(vocabulary, 1)}
    bags = {name: Counter({w: n for w, n in bag.items() if w in number}) for name, bag in bags.items()}
    bags = {name: bag for name, bag in bags.items() if bag}
    cells = [f"{d} {number[w]} {bag[w]}" for d, bag in enumerate(bags.values(), 1) for w in sorted(bag)]
    write(out / DOCWORD, "\n".join([str(len(bags)), str(len(vocabulary)), str(len(cells)), *cells]))
    write(out / VOCABULARY, "\n".join(vocabulary))
    write(out / DOCUMENTS, "\n".join(bags))

    rated = ratings({name: Counter(called(tree)) for name, tree in trees.items()})
    header = f"# Calls of built-ins in modules of Python {version}'s standard library; by datasets/make.py"
    rows = [f"{name}\t{callee}\t{rating}" for (name, callee), rating in rated.items()]
    write(out / CALLS, "\n".join([header, "# module\tbuilt-in\trating", *rows]))


def write(path: Path, text: str) -> None:
    """Write *text* and a final newline; a ``.gz`` carries no time, so that it is the same every time."""
    data = (text + "\n").encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)


def read(path: Path) -> bytes:
    """Return the content of a file, unpacked: two zlibs may pack the same bytes differently."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def check() -> int:
    """Make all files again elsewhere; return how many are not as those here."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        differ = [p.name for p in sorted(Path(folder).iterdir()) if read(p) != read(HERE / p.name)]
    for name in differ:
        print(f"{name} is not what Python {sys.version.split()[0]} makes")
    return len(differ)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(1 if check() else 0)
    make(Path(sys.argv[1]) if sys.argv[1:] else HERE)
