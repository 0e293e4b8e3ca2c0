"""Escaped text against a reader that is not ours: markdown-it."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from ollama_kit.documents.pages.markdown import escape_markdown
from ollama_kit.documents.pages.plain import one_line

MARKDOWN = MarkdownIt("commonmark").enable(["strikethrough", "table"])
NASTY = st.text(alphabet="ab中1 \t\n\r\\`*_~[](){}<>#+-=.!|&;:$\"'/@%x0\u202e\u2028\x00\ud800", max_size=40)


@settings(deadline=None, max_examples=300)
@given(NASTY)
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
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
