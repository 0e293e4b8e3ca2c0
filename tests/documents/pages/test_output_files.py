"""Formats by name, files written whole, and file names that every system takes, no two made one."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import example, given, settings, strategies as st

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.documents.pages.output_files import chosen_formats, make_folder, numbered, safe_stem, write_all
from ollama_kit.errors import UsageError
from tests.intensity import examples


def test_each_format_is_chosen_once_in_the_order_asked() -> None:
    """The order is the caller's."""
    assert chosen_formats(["md", "json", "md"], ("json", "md"), "a summary") == ("md", "json")


@pytest.mark.parametrize(("wrong", "told"), [("htm", "html"), ("docx2000", "json")])
def test_an_unknown_format_names_what_there_is(wrong: str, told: str) -> None:
    """The nearest one, or all of them."""
    with pytest.raises(UsageError, match=f"a summary cannot be written as '{wrong}'") as caught:
        chosen_formats([wrong], ("json", "html"), "a summary")
    assert told in caught.value.hint


def test_text_and_bytes_are_written_whole(tmp_path: Path) -> None:
    """The old file is replaced, nothing is left beside it, and line ends stay as they are."""
    folder = tmp_path / "新 文件夹" / "out"
    write_all(folder, {"a": "old"})
    paths = write_all(folder, {"a": "中\r\n", "b": b"\x00"})
    assert paths == (folder / "a", folder / "b")
    assert paths[0].read_bytes() == "中\r\n".encode()
    assert sorted(folder.iterdir()) == list(paths)


def test_a_folder_that_can_not_be_made_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    """Also where only the writing fails: a file where the folder's parent should be, a folder where the file should."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"file.*cannot be written") as caught:
        make_folder(tmp_path / "file" / "sub")
    assert "--out" in caught.value.hint
    with pytest.raises(UsageError, match=r"file.*cannot be written"):
        write_all(tmp_path / "file" / "sub", {"a": ""})
    (tmp_path / "a" / "in the way").mkdir(parents=True)
    with pytest.raises(UsageError, match="a cannot be written"):
        write_all(tmp_path, {"a": ""})


def test_a_folder_that_can_be_written_into_is_left_empty(tmp_path: Path) -> None:
    """Trying leaves nothing behind."""
    assert list(make_folder(tmp_path / "x" / "y").iterdir()) == []


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written"):
        make_folder(tmp_path)


AWKWARD = st.text(alphabet='abC中😀é1 .-_/\\:*?"<>|\n\t\x00\x7f\u202e\u200d\ufe0f', max_size=90)


def is_reserved(name: str) -> bool:
    """Whether Windows keeps a name for itself; Python 3.13 moved the question to ntpath."""
    asked = getattr(ntpath, "isreserved", None)
    return bool(asked(name) if asked else PureWindowsPath(name).is_reserved())


@settings(deadline=None, max_examples=examples(300))
@given(AWKWARD)
@example("CON")
@example("nul.txt")
@example("COM¹")
@example("家" * 90)
@example("-rf")
@example("..")
def test_a_name_is_one_that_windows_takes(name: str) -> None:
    """No character or end that Windows refuses, no device, nothing hidden, short enough with its end."""
    stem = safe_stem(name, "chat")
    assert stem
    assert not set(stem) & set('\\/:*?"<>|')
    assert stem.isprintable() or "\u200d" in stem or "\ufe0f" in stem
    assert stem.strip(" .") == stem
    assert stem[0] not in ".-"
    assert not is_reserved(f"{stem}.json")
    assert len(f".{stem} 2026-01-01.json.1234567.part".encode()) <= 200


@settings(deadline=None, max_examples=examples(100))
@given(AWKWARD, AWKWARD)
@example("a/b", "a:b")
@example("CON", "_CON")
@example("", "chat")
def test_two_names_are_not_made_one(one: str, other: str) -> None:
    """A name that had to be changed says so with a hash, so that it is not another's."""
    if one_line(one) != one_line(other):
        assert safe_stem(one, "chat") != safe_stem(other, "chat")


@given(st.lists(st.sampled_from(["a", "A", "a (2)", "a (3)", "é", "e\u0301", "b"]), max_size=8))
def test_names_of_one_run_are_numbered(names: list[str]) -> None:
    """None is another's to a file system that ignores case, and the first of a name keeps it."""
    given_names = numbered(names)
    assert len({name.casefold().replace("e\u0301", "é") for name in given_names}) == len(names)
    assert given_names[:1] == tuple(names[:1])
