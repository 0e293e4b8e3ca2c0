"""Encodings: what people's editors and exporters write is read as what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ollama_kit.text.encodings import decode, write_text

CHINESE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=8)


@given(CHINESE, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
def test_chinese_text_comes_back_from_each_encoding(text: str, encoding: str) -> None:
    """Eight Chinese characters and more are told apart by their bytes."""
    found, named = decode(text.encode(encoding))
    if encoding == "gb18030" and named == "utf-8":  # some pairs are valid in both, and UTF-8 wins
        assert text.encode("gb18030") == found.encode("utf-8")
    else:
        assert found == text


@given(st.text(st.characters(codec="utf-8")))
def test_utf8_is_always_read_as_utf8(text: str) -> None:
    """Text that is valid UTF-8, and holds no row of NULs, is never taken for anything else."""
    if "\x00" not in text and not text.startswith("\ufeff"):
        assert decode(text.encode()) == (text, "utf-8")


def test_utf16_without_a_mark_is_known_by_its_zeros() -> None:
    """Some exporters leave the mark out."""
    text = "2026-03-01 08:00:00 Anna\n好的\n" * 20
    assert decode(text.encode("utf-16-le"))[0] == text
    assert decode(text.encode("utf-16-be"))[0] == text


def test_what_no_encoding_explains_is_an_error() -> None:
    """Latin-1 would accept anything, and so is never guessed."""
    with pytest.raises(UnicodeDecodeError):
        decode(b"\xff\x00\xff\xff\x80")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written beside and renamed: whole or not at all."""
    target = tmp_path / "out.json"
    target.write_text("old", encoding="utf-8")

    def fail(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_text(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
