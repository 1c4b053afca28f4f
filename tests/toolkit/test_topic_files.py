"""Files of topic models: written whole, and read only if every fact in them holds."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from gaslab.topics import archive
from tests.mpi.ranks import Ranks

Members = dict[str, bytes]
MANIFEST = archive.MANIFEST


def model(**changed: Any) -> gl.TopicModel:
    row = {"iteration": 1, "log_likelihood_per_token": -2.5}
    arguments = {"counts": [[3, 0], [1, 2]], "words": ["né", "a\tb"], "history": [row], **changed}
    return gl.TopicModel(doc_topic_prior=[0.1, 0.3], topic_word_prior=0.01, seed=1 << 40, **arguments)


def members(path: Path) -> Members:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(path: Path, parts: Members) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


@pytest.mark.parametrize(
    "kept",
    [model(), model(words=[7, -2]), model(counts=[[0.5, 0.25], [0.0, 0.25]])],
    ids=["str", "int", "mean"],
)
def test_a_model_comes_back_as_it_was(tmp_path: Path, kept: gl.TopicModel) -> None:
    path = tmp_path / "model.npz"
    kept.save(path)
    found = gl.TopicModel.load(path)
    for name in ("counts", "words", "doc_topic_prior"):
        one, other = getattr(kept, name), getattr(found, name)
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    for name in ("topic_word_prior", "sampler", "iterations", "tokens", "seed", "history"):
        assert getattr(kept, name) == getattr(found, name)
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["counts"].tolist() == kept.counts.tolist()
    first = path.read_bytes()
    with pytest.raises(gl.UsageError, match="exists; force=True replaces it"):
        kept.save(path)
    kept.save(path, force=True)
    assert path.read_bytes() == first
    with pytest.raises(gl.UsageError, match=r"path='.*: a model is written as an \.npz archive"):
        kept.save(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == [path]


def manifest(change: Callable[[Any], object]) -> Callable[[Members], None]:
    """Return what changes the manifest of a file."""

    def changed(parts: Members) -> None:
        found = json.loads(parts[MANIFEST])
        change(found)
        parts[MANIFEST] = json.dumps(found).encode()

    return changed


def settings(**values: Any) -> Callable[[Members], None]:
    return manifest(lambda found: found["settings"].update(values))


def counts(array: np.ndarray, said: bool = True) -> Callable[[Members], None]:
    """Return what puts other counts into a file, and with *said* into its manifest too."""

    def changed(parts: Members) -> None:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)
        parts["counts.npy"] = file.getvalue()
        digest = "" if array.dtype == object else archive._digest(np.ascontiguousarray(array))
        described = {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}
        if said:
            manifest(lambda found: found["arrays"].update(counts=described))(parts)

    return changed


def shape(*sizes: int) -> Callable[[Members], None]:
    return manifest(lambda found: found["arrays"]["counts"].update(shape=list(sizes)))


HOSTILE: dict[str, tuple[Callable[[Members], object], str]] = {
    "no manifest": (lambda parts: parts.pop(MANIFEST), "it has no manifest.json"),
    "no json": (lambda parts: parts.update({MANIFEST: b"{"}), "Expecting property name"),
    "deep json": (lambda parts: parts.update({MANIFEST: b"[" * 100_000}), "its archive is damaged"),
    "other format": (manifest(lambda found: found.update(format="x")), "does not say that it is a gaslab"),
    "other version": (manifest(lambda found: found.update(version=2)), "its format has the version 2"),
    "a member more": (lambda parts: parts.update({"x.npy": b""}), "it holds .*'x.npy'"),
    "a member less": (lambda parts: parts.pop("words.npy"), "are expected"),
    "an array less": (manifest(lambda found: found["arrays"].pop("words")), "lacks the array 'words'"),
    "other bytes": (counts(np.array([[3, 1], [1, 2]]), said=False), "the SHA-256 of counts.npy is not"),
    "negative": (counts(np.array([[3, -1], [1, 2]])), r"counts\[0, 1\] is -1"),
    "nan": (counts(np.array([[3, np.nan], [1, 2]])), r"counts\[0, 1\] is nan"),
    "objects": (counts(np.array([[3, None], [1, 2]], object)), "dtype '|O', and <i8 or <f8 is expected"),
    "pickle": (
        lambda parts: parts.update({"counts.npy": pickle.dumps([[3, 0], [1, 2]]) + b"\0" * 99}),
        "magic string",
    ),
    "other dtype": (counts(np.array([[3, 0], [1, 2]], ">i8")), "dtype '>i8'"),
    "other order": (counts(np.array([[3, 0], [1, 2]], np.int64, order="F")), "is expected"),
    "other shape": (shape(4, 1), "is .2, 2. of int64, and .4, 1. of int64 is expected"),
    "huge": (shape(1 << 40, 1 << 40), "its arrays take .* are free"),
    "large": (shape(1 << 10, 1 << 10), "counts.npy has 160 bytes, and 8,388,608 and a header are expected"),
    "negative shape": (shape(-1, 2), "has the shape"),
    "nan prior": (settings(topic_word_prior=float("nan")), "holds NaN"),
    "no prior": (settings(topic_word_prior=0), "topic_word_prior=0"),
    "other tokens": (settings(tokens=5), "tokens=5: the sum of counts is 6"),
    "other settings": (settings(colour=1), "its settings are"),
    "other sampler": (settings(sampler="gibs"), "sampler='gibs' is unknown; did you mean 'gibbs'"),
    "no sampler": (settings(sampler=None), "sampler=None is unknown"),
    "other seed": (settings(seed="1"), "seed='1': a whole number is needed"),
    "broken seed": (settings(seed=1.5), "seed=1.5: a whole number is needed"),
    "other history": (settings(history=[3]), "history=3"),
    "ends": (
        lambda parts: parts.update(
            {"words.npy": parts["word_ends.npy"], "word_ends.npy": parts["words.npy"]}
        ),
        "is expected",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.npz"
    model().save(path)
    parts = members(path)
    HOSTILE[name][0](parts)
    rewritten(path, parts)
    with pytest.raises(gl.InputError, match=HOSTILE[name][1]) as caught:
        gl.TopicModel.load(path)
    assert str(caught.value).startswith(f"{path} is not a topic model: ")
    assert str(caught.value).endswith("; save the model again")


@pytest.mark.slow
def test_every_truncated_file_and_every_other_byte_is_refused_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    model().save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), 60).tolist():
        other = bytearray(whole)
        other[at] ^= 1 << int(rng.integers(8))
        for content in (whole[:at], bytes(other)):
            path.write_bytes(content)
            with contextlib.suppress(gl.InputError):
                assert gl.TopicModel.load(path).counts.tolist() == model().counts.tolist()


def refused(comm: Comm, path: Path) -> None:
    gl.TopicModel.load(path, comm=comm)


def test_all_ranks_raise_the_same_error(ranks: Ranks, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no archive")
    for name, said in (
        ("text", "it is not a complete .npz archive"),
        ("nothing", r"nothing: there is no such model; gaslab lda CORPUS --save MODEL writes one"),
        ("", "directory"),
    ):
        with pytest.raises(gl.InputError, match=said):
            ranks.run(refused, tmp_path / name)
