"""Formats by name, files written whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.errors import UsageError
from ollama_kit.jobs.pages.outputs import chosen_formats, write_all


def test_each_format_is_chosen_once_in_the_order_asked() -> None:
    """The order is the caller's."""
    assert chosen_formats(["md", "json", "md"], ("json", "md"), "a summary") == ("md", "json")


@pytest.mark.parametrize(("wrong", "told"), [("htm", "html"), ("docx2000", "json")])
def test_an_unknown_format_names_what_there_is(wrong: str, told: str) -> None:
    """The nearest one, or all of them."""
    with pytest.raises(UsageError, match=f"a summary can not be written as '{wrong}'") as caught:
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
