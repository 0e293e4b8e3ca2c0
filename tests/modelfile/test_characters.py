"""Which characters Ollama's parser keeps."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.modelfile.syntax import is_kept, kept, lost_characters

KEPT = (0x61, 0x4F60, 0x3002, 0x1F600, 0x301, 0xFFFD, 0x0A, 0x0D, 0x09, 0x20, 0x1FAE8, 0x1F6DC, 0x31350)
DROPPED = (0x3000, 0xA0, 0x200B, 0x200D, 0x2028, 0x2029, 0xFEFF, 0xAD, 0x00, 0x0B, 0x0C, 0x85, 0x7F, 0xE000, 0xD800)


@pytest.mark.parametrize("code", KEPT, ids=hex)
def test_printable_characters_are_kept_whatever_python_runs(code: int) -> None:
    """Letters, marks, symbols and those that Unicode 14 and 15 added are kept; in values also tab and line ends."""
    assert is_kept(chr(code))


@pytest.mark.parametrize("code", [*DROPPED, 0xFFFF, 0x2EBF0], ids=hex)
def test_blanks_joiners_and_controls_are_dropped(code: int) -> None:
    """What is no letter, mark, number, punctuation, symbol or ASCII space is dropped."""
    assert not is_kept(chr(code))


def test_the_answer_is_that_of_unicode_15() -> None:
    """On every Python, what its tables call printable is kept, but for what came after Unicode 15.0."""
    version = tuple(int(part) for part in unicodedata.unidata_version.split("."))
    codes = (*range(0x20, 0x33000), *range(0xE0000, 0xE1000))
    differing = [code for code in codes if chr(code).isprintable() != is_kept(chr(code))]
    if version == (15, 0, 0):
        assert differing == []
    assert all(unicodedata.category(chr(code)) == "Cn" for code in differing if version < (15, 1, 0))


@given(st.text())
@settings(deadline=None)
def test_what_is_kept_and_what_is_lost_make_up_the_text(text: str) -> None:
    """Every character is either in the kept text or reported as lost; a second pass loses nothing."""
    body = text.removeprefix("\ufeff")
    assert len(kept(body)) + len(lost_characters("x" + body)) == len(body)
    assert lost_characters("x" + kept(body)) == ()


def test_a_lost_character_has_line_column_and_name() -> None:
    """Lines count CRLF once, columns count characters, a BOM at the start is no loss."""
    lost = lost_characters("\ufeffa\r\nb\u200bc\u3000")
    assert [(one.line, one.column, one.name, one.certain) for one in lost] == [
        (2, 2, "U+200B ZERO WIDTH SPACE", True),
        (2, 4, "U+3000 IDEOGRAPHIC SPACE", True),
    ]


def test_a_character_no_table_knows_is_uncertain() -> None:
    """An unassigned code point may be known to a newer server; a noncharacter never will be."""
    assert [one.certain for one in lost_characters("\U0003ffff\U000e0fff")] == [True, False]
