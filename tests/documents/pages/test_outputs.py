"""Formats by name, files written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ollama_kit.documents.pages.outputs import chosen_formats, make_folder, write_all
from ollama_kit.errors import UsageError


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
