"""Reading Modelfiles: the grammar, encodings, and files that are none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ModelfileError
from ollama_kit.modelfile import Command, Modelfile, load_modelfile, read_modelfile
from tests.modelfile.vectors import DATA, HOSTILE, OWN_FILES, load, shared_files

VECTORS = load("grammar.json")
REFUSED = {
    "synthetic_bad_role.Modelfile": 2,
    "synthetic_no_from.Modelfile": 0,
    "synthetic_unclosed_triple.Modelfile": 2,
}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["rule"] for vector in VECTORS])
def test_the_grammar_is_ollamas(vector: dict[str, Any]) -> None:
    """Each rule of the grammar gives these commands, or an error with this line."""
    if "error" in vector:
        with pytest.raises(ModelfileError, match=vector["error"]) as caught:
            read_modelfile(vector["text"], "M")
        assert caught.value.line == vector["line"]
        assert caught.value.hint
    else:
        expected = [Command(*entry) for entry in vector["commands"]]
        read = read_modelfile(vector["text"]).commands
        assert [(c.name, c.args, c.parameter, c.role) for c in read] == [
            (c.name, c.args, c.parameter, c.role) for c in expected
        ]


def test_lines_are_counted_as_an_editor_does() -> None:
    """CRLF is one line end, and a value of several lines moves the next command down."""
    read = read_modelfile('\r\n# c\r\nFROM a\r\nSYSTEM """x\r\ny"""\r\nLICENSE b')
    assert [command.line for command in read.commands] == [3, 4, 6]


def test_comments_and_blank_lines_are_kept_with_the_command_below() -> None:
    """Comment lines keep their text; those after the last command are the file's own."""
    read = read_modelfile("# one\n\n  # two \nFROM a\n# three")
    assert read.commands[0].before == ("# one", "", "# two ")
    assert read.after == ("# three",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_encodings_with_a_bom_read_alike(encoding: str) -> None:
    """UTF-8 with and without a BOM and UTF-16 of either order give the same commands."""
    text = "FROM a\nSYSTEM 你好\n"
    data = (b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding)
    assert read_modelfile(data) == read_modelfile(text)


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        (b"FROM a\nSYSTEM \0\n", 2, "NUL"),
        ("FROM a\n".encode("utf-16-le"), 1, "NUL"),
        ("FROM a\nSYSTEM 你好\n".encode("gbk"), 2, "not UTF-8"),
        (b"\xff\xfeF\0R\0O\0M\0 \0a\0\n\0\x00\xd8", 2, "not UTF-16-LE"),
        (b"GGUF\x03\0\0\0", 1, "GGUF"),
        (bytes(range(256)), 1, "NUL"),
    ],
)
def test_what_is_not_text_is_refused_with_its_line(data: bytes, line: int, says: str) -> None:
    """NUL bytes, another encoding and binary files are named as such, never half read."""
    with pytest.raises(ModelfileError, match=says) as caught:
        read_modelfile(data, "Modelfile")
    assert caught.value.line == line
    assert caught.value.hint
    assert str(caught.value).startswith("Modelfile")


def test_a_file_of_50_mb_is_refused_without_reading_it(tmp_path: Path) -> None:
    """The size is what the error is about, and no more than the limit is read."""
    path = tmp_path / "Modelfile"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(ModelfileError, match="larger than 4 MiB"):
        load_modelfile(path)


@pytest.mark.parametrize("piece", ['SYSTEM """\n', '"\n', "\n", "x y\n", 'SYSTEM "a" ', "# \u3000\n", " \t", '"""\n\n'])
def test_the_time_grows_with_the_size_only(piece: str) -> None:
    """Ten times the hostile input takes no more than about ten times as long."""

    def seconds(size: int) -> float:
        text = 'FROM a\nSYSTEM """' + piece * (size // len(piece))
        start = time.process_time()
        with pytest.raises(ModelfileError):
            read_modelfile(text + '\n"""x')
        return time.process_time() - start

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(200_000) for _ in range(2)) < 40 * small + 0.05


def test_a_missing_file_is_an_error_of_the_kit(tmp_path: Path) -> None:
    """No OSError leaks; the path is in the message."""
    with pytest.raises(ModelfileError, match="no-such"):
        load_modelfile(tmp_path / "no-such")


@pytest.mark.parametrize("path", OWN_FILES, ids=[path.stem for path in OWN_FILES])
def test_each_quirk_file_is_read_or_refused_with_its_line(path: Path) -> None:
    """The files that Ollama's parser refuses are refused here, with the line; the others are read."""
    assert path.name in load("synthetic_expected.json")
    if path.name in REFUSED:
        with pytest.raises(ModelfileError) as caught:
            load_modelfile(path)
        assert caught.value.line == REFUSED[path.name]
    else:
        assert load_modelfile(path).commands


def test_other_peoples_files_are_read_or_refused_with_a_line() -> None:
    """Real Modelfiles never raise anything but a ModelfileError with a line; nearly all are read."""
    refused = []
    files = shared_files()
    for path in files:
        outcome = _outcome(path.read_bytes())
        if isinstance(outcome, ModelfileError):
            assert outcome.line > 0
            refused.append(path.name)
    assert len(refused) <= len(files) // 10


@given(st.one_of(st.text(), st.lists(HOSTILE, max_size=12).map("".join)))
@settings(deadline=None)
def test_no_text_raises_anything_but_a_modelfile_error(text: str) -> None:
    """Whatever the text, the result is a Modelfile or an error with a place and a hint."""
    outcome = _outcome("FROM a\n" + text)
    if isinstance(outcome, ModelfileError):
        assert outcome.line >= 1
        assert outcome.hint
    else:
        assert outcome.commands[0].args == "a"


@given(st.binary())
@settings(deadline=None)
def test_no_bytes_raise_anything_but_a_modelfile_error(data: bytes) -> None:
    """Binary rubbish is refused, in every case by an error of the kit."""
    assert isinstance(_outcome(data), Modelfile | ModelfileError)


def _outcome(data: bytes | str) -> Modelfile | ModelfileError:
    try:
        return read_modelfile(data)
    except ModelfileError as error:
        return error


def test_the_vectors_are_all_there() -> None:
    """The quirk files and the list of what each is about name the same files."""
    assert {path.name for path in OWN_FILES} == set(load("synthetic_expected.json"))
    assert DATA.is_dir()
