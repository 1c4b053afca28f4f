"""Files of values beside a graph: files and pipes are read, a device is refused before the graph is read."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.cli.codes import FAILED

NEITHER = "it is neither a file nor a pipe; copy its text into a file"
OPTIONS = {
    "pagerank": ("--personalization", "--init=score="),
    "jacobi": ("--rhs", "--init=x="),
    "lbp": ("--prior",),
    "run program.py:Fine": ("--vertices", "--init=n="),
}
CASES = [(command, option) for command, options in OPTIONS.items() for option in options]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(
        "import gaslab as gl\nclass Fine(gl.VertexProgram):\n    class Vertex(gl.Vertex):\n"
        "        n: int = 0\n    def apply(self, v: Vertex) -> None:\n        v.n = 1\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "option"), CASES)
@pytest.mark.parametrize("path", ["/dev/full", "/dev/zero", "absent.tsv", "."])
def test_what_cannot_be_read_is_refused_before_the_graph(
    folder: Path, command: str, option: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The graph is not there, so that a command that looked for it first would say so."""
    word = [f"{option}{path}"] if option.endswith("=") else [option, path]
    (folder / "edges.tsv").write_text("no edges\nat all, here\n")
    assert main([*command.split(), "edges.tsv", *word]) == FAILED
    why = {"absent.tsv": "[Errno 2]", ".": "it is a directory; name a file in it"}.get(path, NEITHER)
    said = capsys.readouterr().err
    assert f"cannot read {path}: {why}" in said
    assert "edges.tsv" not in said


def test_a_table_of_vertices_is_no_device() -> None:
    with pytest.raises(gl.InputError, match="cannot read /dev/zero: it is neither a file nor a pipe"):
        gl.read_vertices("/dev/zero")


@pytest.mark.parametrize("name", ["pipe.csv", "pipe.csv.gz"])
def test_a_pipe_is_read_once_from_its_start(tmp_path: Path, name: str) -> None:
    pipe, text = tmp_path / name, b"id,age\n" + b"".join(b"%d,%d\n" % (k, k % 90) for k in range(20000))
    os.mkfifo(pipe)
    data = gzip.compress(text) if name.endswith(".gz") else text
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    table = gl.read_vertices(pipe)
    writer.join(10)
    assert (table["id"][-1], table["age"].sum()) == ("19999", sum(k % 90 for k in range(20000)))


def test_damaged_gzip_data_is_said_so(tmp_path: Path) -> None:
    whole = gzip.compress(os.urandom(300).hex().encode())
    bad = tmp_path / "bad.tsv.gz"
    for data, what in (
        (whole[:-20], "the gzip data ends too early; the file is truncated"),
        (whole[:40] + b"\xff" * 20 + whole[60:], ""),
        (b"plain", "Not a gzipped file"),
    ):
        bad.write_bytes(data)
        with pytest.raises(gl.InputError, match=f"cannot read {bad}: .*{what}"):
            gl.read_vertices(bad)


@pytest.mark.parametrize("name", ["ages.csv", "ages.csv.gz"])
def test_a_byte_order_mark_is_no_text_and_other_encodings_are_said_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def write(data: bytes) -> None:
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    write(b"\xef\xbb\xbfid,age\nann,31\n")
    assert list(gl.read_vertices(path)) == ["id", "age"]
    write(b"id,age\r\n" + b"ann,31\r\n" * 9999 + "ren\u00e9,28\r\n".encode("latin1"))
    with pytest.raises(gl.InputError) as found:
        gl.read_vertices(path)
    assert str(found.value) == (
        f"{path}:10001: the text is not UTF-8 (byte 0xe9): 'ren\ufffd,28'; convert the file from its own "
        "encoding, as by iconv -f latin1 -t utf-8"
    )
