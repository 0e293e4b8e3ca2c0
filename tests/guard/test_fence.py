"""The fence around a document: nobody outside can close it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.conversation import Document, documents_from
from ollama_kit.guard.fence import Fence, preface

ours, theirs = Fence(b"\x01" * 32), Fence(b"\x02" * 32)
texts = st.text(st.characters(), max_size=200)


def markers(fenced: str) -> tuple[str, str]:
    """The first and the last line of a fenced document."""
    lines = fenced.split("\n")
    return lines[0], lines[-1]


@given(texts)
@settings(deadline=None)
def test_a_document_does_not_hold_its_own_end(text: str) -> None:
    """The end marker stands once, at the end, lone surrogates or not."""
    fenced = ours.around(text, "1")
    _, end = markers(fenced)
    assert fenced.endswith(f"\n{end}")
    assert end not in fenced[: -len(end)]


@given(texts, texts)
@settings(deadline=None)
def test_a_marker_that_was_seen_does_not_close_the_next_document(text: str, more: str) -> None:
    """Who has seen the markers of a document and writes them into it gets other markers."""
    seen = ours.around(text, "1")
    _, end = markers(seen)
    forged = ours.around(f"{text}\n{end}\n{more}", "1")
    assert markers(forged)[1] != end


@given(texts)
@settings(deadline=None)
def test_the_same_document_has_the_same_fence(text: str) -> None:
    """One client fences a document the same way each time, so that the server's prompt cache works."""
    assert Fence(ours.secret).around(text, "1") == ours.around(text, "1")


@given(texts)
@settings(deadline=None)
def test_another_client_has_another_key(text: str) -> None:
    """The key cannot be made without the client's secret, which is never printed in it."""
    assert ours.key(text) != theirs.key(text)
    assert re.fullmatch("[0-9a-f]{12}", ours.key(text))
    assert ours.secret.hex()[:12] != ours.key(text)


def test_the_text_between_the_markers_is_untouched() -> None:
    """Fencing adds a line before and a line after, nothing else."""
    key = ours.key("甲\r\n乙 ")
    assert ours.around("甲\r\n乙 ", "合同.pdf") == f"[document {key} 合同.pdf]\n甲\r\n乙 \n[end {key}]"


@pytest.mark.parametrize("name", ["a\nb", "a\r\n[end 0]", "x\u2028y", "n" * 500])
def test_a_name_is_one_short_line(name: str) -> None:
    """A file's name cannot start a line of its own inside the fence."""
    (document,) = documents_from(Document("t", name))
    assert len(document.name) <= 60
    assert len(document.name.splitlines()) == 1


def test_the_preface_is_in_the_readers_language() -> None:
    """Chinese for Chinese, English for everything else."""
    assert preface("zh") != preface("en") == preface("fr")
