"""Escaped text against readers that are not ours: markdown-it, html.parser, the formulas of spreadsheets."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from ollama_kit.documents.pages.escaping import escape_html, escape_markdown, inert, one_line, piece_of_text
from tests.intensity import examples

FORMULAS = frozenset("=+-@\t\r＝＋－＠")


@settings(deadline=None, max_examples=examples(200))
@given(st.text(alphabet="ab中1 \t\n\r;'\"=+-@＝＋－＠|\x00\ud800", max_size=40))
def test_no_cell_is_a_formula(text: str) -> None:
    """No cell begins as a formula does, whichever of comma and semicolon separates cells."""
    for cell in inert(text).split(";"):
        assert cell.strip(' "')[:1] not in FORMULAS


MARKDOWN = MarkdownIt("commonmark").enable(["strikethrough", "table"])
NASTY = st.text(alphabet="ab中1 \t\n\r\\`*_~[](){}<>#+-=.!|&;:$\"'/@%x0\u202e\u2028\x00\ud800", max_size=40)


@settings(deadline=None, max_examples=examples(300))
@given(NASTY)
def test_escaped_text_is_shown_as_it_is_in_markdown(text: str) -> None:
    """In a heading, in a list and in a paragraph, CommonMark shows the words and makes nothing of them."""
    shown = one_line(text)
    plain = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    escaped = escape_markdown(text)
    assert MARKDOWN.render(f"x {escaped}") == f"<p>{f'x {plain}'.strip()}</p>\n"
    if plain:
        assert MARKDOWN.render(f"# {escaped}") == f"<h1>{plain}</h1>\n"
        assert MARKDOWN.render(f"- {escaped}") == f"<ul>\n<li>{plain}</li>\n</ul>\n"
        assert MARKDOWN.render(escaped) == f"<p>{plain}</p>\n"
        assert MARKDOWN.render(f"- **{escaped}**") == f"<ul>\n<li><strong>{plain}</strong></li>\n</ul>\n"


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
def test_escaped_text_is_shown_as_it_is_in_html(text: str) -> None:
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
