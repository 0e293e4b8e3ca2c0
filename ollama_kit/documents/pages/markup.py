"""Text that HTML shows as it is."""

from __future__ import annotations

from html import escape

from ollama_kit.documents.pages.plain import piece_of_text


def escape_html(text: str) -> str:
    """`text` for an element or a quoted attribute, without characters that act instead of being read; blanks and line
    ends stay.

    >>> escape_html("<b>a\\x00\\r\\n\\u202e")
    '&lt;b&gt;a\\n'
    """
    return escape(piece_of_text(text))
