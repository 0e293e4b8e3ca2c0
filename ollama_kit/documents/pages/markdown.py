"""Text that Markdown shows as it is, and templates of Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ollama_kit.documents.pages.plain import one_line
from ollama_kit.templating import render_page


def render_markdown(template: str, values: Mapping[str, Any]) -> str:
    """The text of a template in which every value is shown as it is; never more than one empty line at once."""
    return re.sub(r"\n{3,}", "\n\n", render_page(template, values, escape_markdown)).strip() + "\n"


def escape_markdown(text: str) -> str:
    """`text` on one line so that CommonMark and GitHub's dialect show it as it is. `<` becomes an entity: some chat
    robots know no backslash, and all of them would take a tag. What cannot act stays as it is, for the same readers.

    >>> print(escape_markdown("# **改** <b>snake_case</b> [x](http://x) &amp; 1~2"))
    \\# \\*\\*改\\*\\* &lt;b>snake_case&lt;/b> \\[x](http://x) &amp;amp; 1\\~2
    >>> print(escape_markdown("1. 列表"), escape_markdown("- x"))
    1\\. 列表 \\- x
    """
    return _active().sub(_escaped, one_line(text))


@cache
def _active() -> re.Pattern[str]:
    """What acts anywhere; `_` but inside a word; an entity; what begins a block at the beginning of a line, and `#`
    after a blank, which would end a heading."""
    return re.compile(
        r"[\\`*\[<~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?[0-9A-Za-z]+;)|^[>+=-]|(?:^|(?<=\s))#|^[0-9]{1,9}(?=[.)])"
    )


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    if found in ("<", "&"):
        return "&lt;" if found == "<" else "&amp;"
    return f"{found}\\" if found[0].isdigit() else f"\\{found}"
