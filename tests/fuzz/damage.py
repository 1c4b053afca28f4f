"""Ways to damage a folder of checkpoints, each drawn from a number."""

from __future__ import annotations

import json
import os
import random as randoms
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gaslab.checkpoint.folder import complete
from gaslab.checkpoint.manifest import FORMAT, NAME, VERSION
from gaslab.storage.sealed import sealed

Known = dict[str, Any]
WRONG = (None, True, "", "x", -1, 1 << 40, 1 << 70, 10**400, 0.5, [], [1], [[]], {}, {"a": 1}, "../../x")
DTYPES = ("O", "<U8", "<f4", "<f8", ">f8", "<i8", "|u1", "|V0", "|V8", "M8[s]", "i4,(", "(9,9)f8", "nonsense")


def damage(folder: Path, what: str, number: int, at: int) -> None:
    """Damage the checkpoint number *at* of a folder, from the newest, in a way drawn from *number*."""
    there = complete(folder)
    if there and there[at % len(there)].is_dir():
        WAYS[what](there[at % len(there)], randoms.Random(number))


# ---- files ---------------------------------------------------------------------------------------------


def _file(path: Path, random: randoms.Random) -> Path | None:
    files = sorted(one for one in path.iterdir() if one.is_file())
    return random.choice(files) if files else None


def _change(path: Path, random: randoms.Random, change: Callable[[bytearray], None]) -> None:
    file = _file(path, random)
    if file is not None:
        content = bytearray(file.read_bytes())
        change(content)
        file.write_bytes(content)


def flip(path: Path, random: randoms.Random) -> None:
    def change(content: bytearray) -> None:
        for _ in range(random.choice((1, 1, 2, 50))):
            if content:
                content[random.randrange(len(content))] ^= random.randrange(1, 256)

    _change(path, random, change)


def cut(path: Path, random: randoms.Random) -> None:
    def change(content: bytearray) -> None:
        del content[random.choice((0, random.randrange(len(content) + 1), -1)) :]

    _change(path, random, change)


def lengthen(path: Path, random: randoms.Random) -> None:
    _change(path, random, lambda content: content.extend(random.randbytes(random.choice((1, 64, 5000)))))


def hole(path: Path, random: randoms.Random) -> None:
    """A block that never reached the disk."""

    def change(content: bytearray) -> None:
        lo = random.randrange(len(content) + 1) // 512 * 512
        content[lo : lo + 512] = bytes(len(content[lo : lo + 512]))

    _change(path, random, change)


def remove(path: Path, random: randoms.Random) -> None:
    file = _file(path, random)
    if file is not None:
        file.unlink()


def replace(path: Path, random: randoms.Random) -> None:
    """Something that is no file in place of one."""
    file = _file(path, random)
    if file is None:
        return
    file.unlink()
    way = random.randrange(5)
    if way == 0:
        file.mkdir()
    elif way == 1:
        os.mkfifo(file)
    elif way == 2:
        file.symlink_to(file.name)
    elif way == 3:
        file.symlink_to("/dev/zero")
    else:
        file.symlink_to("nowhere")


def swap_ranks(path: Path, random: randoms.Random) -> None:
    pieces = sorted(path.glob("rank-*.bin"))
    if len(pieces) > 1:
        beside = path / "beside"
        pieces[0].rename(beside)
        pieces[1].rename(pieces[0])
        beside.rename(pieces[1])


def mix(path: Path, random: randoms.Random) -> None:
    """A file of another checkpoint, a manifest or a piece, in place of this one's."""
    others = [one for one in complete(path.parent) if one != path and one.is_dir()]
    file = _file(path, random)
    if others and file is not None:
        other = random.choice(others) / file.name
        if other.is_file():
            shutil.copyfile(other, file)


def empty(path: Path, random: randoms.Random) -> None:
    shutil.rmtree(path)
    path.mkdir()


def no_folder(path: Path, random: randoms.Random) -> None:
    shutil.rmtree(path)
    way = random.randrange(4)
    if way == 0:
        path.write_bytes(random.randbytes(random.choice((0, 100))))
    elif way == 1:
        path.symlink_to("nowhere")
    elif way == 2:
        path.symlink_to(path.name)
    else:
        os.mkfifo(path)


def half_written(path: Path, random: randoms.Random) -> None:
    """What a job that was killed leaves; with the name of a whole one, or with its own."""
    (path / NAME).unlink(missing_ok=True)
    for piece in sorted(path.glob("rank-*.bin")):
        if piece.is_file() and random.random() < 0.5:
            os.truncate(piece, random.randrange(piece.stat().st_size + 1))
    if random.random() < 0.5:
        path.rename(path.with_name(f".{path.name}.{random.getrandbits(32):08x}.incomplete"))


def more(path: Path, random: randoms.Random) -> None:
    """Names that mean nothing, beside the checkpoint and in it; the checkpoint is whole."""
    name = random.choice(
        ("superstep-", "superstep-99999999", "updates-000000000001", "superstep-" + "9" * 200)
    )
    (path.parent / name).mkdir(exist_ok=True)
    (path / "rank-00009.bin").write_bytes(b"")


# ---- manifests, sealed as if gaslab had written them -----------------------------------------------------


def _forge(path: Path, change: Callable[[Known], Any], version: Any = VERSION) -> None:
    manifest = path / NAME
    if not manifest.is_file():  # of a checkpoint that is damaged already; a pipe would wait for ever
        return
    try:
        known = json.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return
    if isinstance(known, dict):
        known = {
            name: x for name, x in known.items() if name not in ("format", "version", "gaslab", "sha256")
        }
        try:
            change(known)
        except (LookupError, TypeError, AttributeError, ValueError):
            return  # of a manifest that is damaged already
        manifest.write_bytes(sealed(FORMAT, version, known))


def version(path: Path, random: randoms.Random) -> None:
    _forge(path, lambda known: None, random.choice((0, 2, "1", None, [1], 10**30, -1)))


def wrong_type(path: Path, random: randoms.Random) -> None:
    """Any member, at any depth, of another type; texts and notes that only say something are left."""

    def change(known: Known) -> None:
        part: Any = known
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            key = random.choice(keys)
            inner = part[key]
            if isinstance(inner, (dict, list)) and inner and random.random() < 0.8:
                part = inner
                continue
            part[key] = random.choice([x for x in WRONG if type(x) is not type(inner)])
            return

    _forge(path, change)


def missing_member(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        part: Any = known
        while True:
            key = random.choice(list(part) if isinstance(part, dict) else list(range(len(part))))
            inner = part[key]
            if isinstance(inner, (dict, list)) and inner and random.random() < 0.7:
                part = inner
                continue
            del part[key]
            return

    _forge(path, change)


def _array(known: Known, random: randoms.Random) -> Known:
    return random.choice(list(random.choice(known["pieces"])["arrays"].values()))  # type: ignore[no-any-return]


def shape(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        one = _array(known, random)
        one["shape"] = random.choice(
            (
                [],
                [-1],
                [1 << 40],
                [1 << 62],
                [1 << 61, 8],
                [0, 1 << 61],
                [0],
                [*one["shape"], 1],
                [1.0],
                "8",
                None,
            )
        )

    _forge(path, change)


def dtype(path: Path, random: randoms.Random) -> None:
    _forge(path, lambda known: _array(known, random).update(dtype=random.choice((*DTYPES, *WRONG))))


def offset(path: Path, random: randoms.Random) -> None:
    """Arrays that overlap, or lie elsewhere in the file."""
    _forge(path, lambda known: _array(known, random).update(at=random.choice((0, 1, 64, 128, -64, 1 << 61))))


def ranges(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        one = random.choice(known["pieces"])
        kind = random.choice(("vertices", "edges"))
        low, high = one[kind]
        one[kind] = random.choice(
            (
                [low - 1, high],
                [low, high + 1],
                [high, low - 1],
                [0, 1 << 61],
                [low],
                [low, high, high],
                [-5, -2],
            )
        )

    _forge(path, change)


def names(path: Path, random: randoms.Random) -> None:
    """Arrays of other names, in one piece or in all."""

    def change(known: Known) -> None:
        old = random.choice(list(random.choice(known["pieces"])["arrays"]))
        new = random.choice(
            ("", "/", "vertices/", "vertices/../../x", "whole/x", "own/x", "lengths of x", old + "/")
        )
        pieces = known["pieces"] if random.random() < 0.6 else [random.choice(known["pieces"])]
        for one in pieces:
            one["arrays"] = {(new if name == old else name): x for name, x in one["arrays"].items()}

    _forge(path, change)


def lost_array(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        name = random.choice(list(random.choice(known["pieces"])["arrays"]))
        for one in known["pieces"]:
            one["arrays"].pop(name, None)

    _forge(path, change)


def number(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        name = random.choice(list(known["numbers"]))
        known["numbers"][name] = random.choice((-1, 1 << 62, 1 << 70, 0.5, "1", None, True))

    _forge(path, change)


def phase(path: Path, random: randoms.Random) -> None:
    _forge(path, lambda known: known["numbers"].update(phase=random.choice((7, -1, 1 << 40))))


def ranks(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        way = random.randrange(3)
        if way == 0:
            known["ranks"] = random.choice((0, 1, 2, 3, 1 << 40))
        elif way == 1:
            known["pieces"].append(known["pieces"][-1])
        else:
            known["pieces"].pop()

    _forge(path, change)


def history(path: Path, random: randoms.Random) -> None:
    def change(known: Known) -> None:
        rows = known["history"]
        way = random.randrange(3)
        if way == 0:
            rows.append({} if not rows else dict(rows[-1]))
        elif way == 1:
            rows.pop()
        else:
            random.choice(rows).pop(random.choice(("seconds", "bytes_sent")))

    _forge(path, change)


FILES = (
    flip, cut, lengthen, hole, remove, replace, swap_ranks, mix, empty, no_folder, half_written, more,
)  # fmt: skip
MANIFESTS = (
    version, wrong_type, missing_member, shape, dtype, offset, ranges, names, lost_array, number, phase,
    ranks, history,
)  # fmt: skip
WAYS = {way.__name__: way for way in (*FILES, *MANIFESTS)}
