"""Text from outside as a document for people can hold it: on one line, and without characters that act instead of being
read; escaped for Markdown, HTML and the cells of a spreadsheet.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape

from ollama_kit.text.characters import cut_before

_SURROGATES = re.compile("[\ud800-\udfff]")


@cache
def _acting() -> re.Pattern[str]:
    """Control characters but tab and line ends, and those that turn the direction of what follows (UAX #9): with them
    a name could show the rest of its line backwards. U+FFFE and U+FFFF are not characters."""
    control = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    return re.compile(f"[{control}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


@cache
def _line_end() -> re.Pattern[str]:
    """What str.splitlines takes for one."""
    return re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, so that it can be written as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def piece_of_text(text: str) -> str:
    """A piece of a text without acting characters and halves of pairs; line ends are LF, the last one too.

    >>> piece_of_text("a\\x00b\\r\\nc\\u202e\\x0b")
    'ab\\nc\\n'
    """
    return whole_characters(_acting().sub("", _line_end().sub("\n", text)))


def plain_text(text: str) -> str:
    """`text` without acting characters; line ends are LF.

    >>> plain_text("a\\x00b\\r\\nc\\u202e")
    'ab\\nc'
    """
    return whole_characters(_acting().sub("", "\n".join(text.splitlines())))


def one_line(text: str) -> str:
    """The words of `text` with one space between them.

    >>> one_line(" 第一行\\n\\n  第二行\\u2028x ")
    '第一行 第二行 x'
    """
    return " ".join(plain_text(text).split())


LONGEST_CELL = 32_767
"""UTF-16 units that Excel takes in a cell. Source: Microsoft, Excel specifications and limits."""


def inert(cell: str) -> str:
    """A cell on one line that no spreadsheet takes for a formula: `'` is put before `= + - @`, full width too.

    Where the list separator is a semicolon, Excel begins a cell after each one, so the same holds behind it. Source:
    OWASP, CSV Injection.

    >>> inert("=1+1"), inert("a;@SUM(1)"), inert("1-2")
    ("'=1+1", "a;'@SUM(1)", '1-2')
    """
    return _formula().sub(r"\1'", one_line(cell))


def cut_cell(text: str, more: str, most: int = LONGEST_CELL) -> str:
    """`text` within `most` UTF-16 units, `more` at its end saying how many characters (`{count}`) were cut.

    >>> cut_cell("一二三四五六七八九十", "…{count}", 6)
    '一二三…7'
    """
    if _units(text) <= most:
        return text
    room = most - _units(more.format(count=len(text)))
    fits = len(text.encode("utf-16-le", "surrogatepass")[: 2 * max(0, room)].decode("utf-16-le", "ignore"))
    at = cut_before(text, fits) or fits
    return text[:at] + more.format(count=len(text) - at)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@cache
def _formula() -> re.Pattern[str]:
    return re.compile(r"(^|;)(?=[\s\"']*[=+\-@＝＋－＠])")


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
    after a space, which would end a heading."""
    return re.compile(
        r"[\\`*\[<~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?[0-9A-Za-z]+;)|^[>+=-]|(?:^|(?<=\s))#|^[0-9]{1,9}(?=[.)])"
    )


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    if found in ("<", "&"):
        return "&lt;" if found == "<" else "&amp;"
    return f"{found}\\" if found[0].isdigit() else f"\\{found}"


def escape_html(text: str) -> str:
    """`text` for an element or a quoted attribute, without characters that act instead of being read; whitespace
    stays.

    >>> escape_html("<b>a\\x00\\r\\n\\u202e")
    '&lt;b&gt;a\\n'
    """
    return escape(piece_of_text(text))
