"""Escaped text in HTML, read back."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, strategies as st

from ollama_kit.documents.pages.markup import escape_html
from ollama_kit.documents.pages.plain import piece_of_text


class Words(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.words: list[str] = []
        self.attribute = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attribute = attrs[0][1] or ""

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@given(st.text(alphabet="ab中<>&;\"'= \t\n\r\x00\x0b\x85\u2028\u202e\ud800#x3c/!-"))
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    """In an element and in an attribute."""
    read = Words(f'<i title="{escape_html(text)}">{escape_html(text)}</i>')
    assert read.tags == ["i"]
    assert "".join(read.words) == read.attribute == piece_of_text(text)
    read.attribute.encode("utf-8")


@given(st.text(alphabet="ab \t\n\r\x00\x0b\x1c\x85\u2028\u202e\ufeff"), st.text(alphabet="ab\n\r\x0b\x85"))
def test_pieces_of_a_text_make_the_text(one: str, other: str) -> None:
    """But for a CR LF that was cut in two."""
    if not (one.endswith("\r") and other.startswith("\n")):
        assert piece_of_text(one) + piece_of_text(other) == piece_of_text(one + other)
