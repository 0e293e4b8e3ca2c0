"""Finds values whose label is not beside them on one line, but in the next cell, at the head of the column, or on the
line before.

    | system | password |        password        <td>password</td><td>…</td>        password<TAB>…
    |--------|----------|        …
    | vpn    | …        |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ollama_kit.guard.private.credentials import is_labeled_secret, is_lone_password
from ollama_kit.guard.private.names import is_name
from ollama_kit.guard.private.particulars import date
from ollama_kit.guard.private.postal import is_place
from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews

LONGEST_LABEL, LONGEST_CELL = 40, 200
"""Characters of a line or cell that can be a label, and of one that can be a value."""
MOST_ROWS, MOST_CELLS = 2000, 40
"""Rows that a header reaches down, and cells of a row that are looked at."""

Cell = tuple[int, int]
"""Start and end of a text, without the white space and the marks around it."""


class Labeled(NamedTuple):
    """A label, folded and in lower case, and what it may name: the value at `start`:`end`."""

    label: str
    start: int
    end: int


class LabeledRule(NamedTuple):
    """A rule, the words that a label of it ends with, and whether a folded value can be meant."""

    rule: str
    words: str
    fits: Callable[[str], bool]


def _fits(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value.lower()) is not None


def _is_date(value: str) -> bool:
    return date().fullmatch(value.lower()) is not None


_PASSWORDS = (
    "密码|密碼|口令|授权码|提取码|访问码|验证码|校验码|动态码|取件码|解锁码|pin码|"
    "password|passwd|passphrase|passcode|pwd"
)
_KEYS = (
    "(?:api|access|secret|private|auth|app|encryption|signing|master)[ _-]?key(?:[ _-]?(?:id|secret))?|secret|token|"
    "credentials?|密钥|秘钥|令牌|凭证|私钥"
)
_BIRTHDAYS = "生日|出生日期|出生年月日?|date of birth|birthday|birth date|dob"
_WECHAT_ID = "[a-z](?=[a-z0-9_-]*[0-9_-])[a-z0-9_-]{5,19}|[1-9][0-9]{5,10}"
_ACCOUNTS = r"账号|账户|帐号|卡号|account(?: number| no\.?)?"
_PASSPORTS = r"护照号?码?|通行证号?码?|passport(?: number| no\.?)?"

RULES_OF_LABELS: tuple[LabeledRule, ...] = (
    LabeledRule("labeled_password", _PASSWORDS, is_lone_password),
    LabeledRule("labeled_secret", _KEYS, is_labeled_secret),
    LabeledRule("labeled_name", "姓名|联系人|收件人|收货人|经办人|户名|持卡人|申请人|患者", is_name),
    LabeledRule("birthday", _BIRTHDAYS, _is_date),
    LabeledRule("wechat_id", "微信号?|微信id|wechat(?: id)?", _fits(_WECHAT_ID)),
    LabeledRule("qq_number", "qq号?|qq号码", _fits("[1-9][0-9]{4,10}")),
    LabeledRule("labeled_address", "地址|住址|住所|address", is_place),
    LabeledRule("bank_account", _ACCOUNTS, _fits("[0-9](?:[ -]?[0-9]){11,24}")),
    LabeledRule("passport", _PASSPORTS, _fits("[a-z]{0,2}[0-9]{7,9}|[a-z][0-9]{10}")),
)
"""What a label can name; the first that fits is taken."""


@cache
def _labels() -> re.Pattern[str]:
    """Any label: a text without one is not looked at any further."""
    return re.compile("|".join(rule.words for rule in RULES_OF_LABELS))


@cache
def _ends() -> tuple[tuple[LabeledRule, re.Pattern[str]], ...]:
    """Each rule with the end of its labels, and what may come between it and a line end."""
    behind = (
        r"(?:\([^()\n]{1,12}\))?[ *_`:]{0,4}(?:如下|见下[面方行]?|在下面|是|为|(?:已经?)?发(?:给)?[你您]了?|给[你您]"
        r"|(?:is |are )?(?:as follows|below|here)|is|sent)?[了 :*_`.]{0,4}"
    )
    return tuple(
        (rule, re.compile(rf".{{0,200}}(?:(?<![a-z])|(?=[一-鿿]))(?:{rule.words}){behind}", re.DOTALL))
        for rule in RULES_OF_LABELS
    )


def find_in_layout(views: FoldedViews) -> Iterator[Hit]:
    """Every value that a label in another cell or on the line before gives away."""
    if not _labels().search(views.lower):
        return
    for pair in _pairs(views):
        value = views.folded[pair.start : pair.end]
        for rule, end in _ends():
            if end.fullmatch(pair.label) and rule.fits(value):
                yield Hit(pair.start, pair.end, rule.rule)
                break


def _pairs(views: FoldedViews) -> Iterator[Labeled]:
    """Every value that stands below a label or in the next cell. Work is linear in the text."""
    yield from _below(views)
    for block in _tables(views.text):
        yield from _in_table(views, block)
    if "<t" in views.lower:
        for block in _html_tables(views.lower):
            yield from _in_table(views, block)


@cache
def _lines() -> re.Pattern[str]:
    return re.compile(r"[^\n]+")


def _trimmed(text: str, start: int, end: int, marks: str = " \t\r*_`\"'“”‘’「」>") -> Cell:
    while start < end and text[start] in marks:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def _below(views: FoldedViews) -> Iterator[Labeled]:
    """A line that is a label, or ends with one, and the next line that is not empty."""
    above: Cell | None = None
    for line in _lines().finditer(views.folded):
        start, end = _trimmed(views.folded, *line.span())
        if start == end:
            continue
        if above and end - start <= LONGEST_CELL:
            yield Labeled(views.lower[above[0] : above[1]], start, end)
        short = end - start <= LONGEST_LABEL or (end - start <= LONGEST_CELL and views.folded[end - 1] == ":")
        label = _labels().search(views.lower, max(start, end - LONGEST_LABEL), end) if short else None
        above = (max(start, end - LONGEST_LABEL), end) if label else None


def _tables(text: str) -> Iterator[Sequence[Sequence[Cell]]]:
    """Lines one after the other that are divided alike: by bars, tabs or commas."""
    block: list[Sequence[Cell]] = []
    divider, last = "", -1
    for line in _lines().finditer(text):
        start, end = line.span()
        sign = _divider(text, start, end)
        if block and (sign != divider or start > last + 1 or (sign == "," and len(block[0]) != _count(text, line) + 1)):
            yield block
            block = []
        if sign:
            cells = _cells(text, start, end, sign)
            if not _is_rule(text, start, end):
                block.append(cells)
            divider, last = sign, end
    if block:
        yield block


def _divider(text: str, start: int, end: int) -> str:
    return next((sign for sign in "|\t," if text.find(sign, start, end) >= 0), "")


def _count(text: str, line: re.Match[str]) -> int:
    return text.count(",", *line.span())


@cache
def _rule() -> re.Pattern[str]:
    return re.compile(r"[ \t|:+-]{3,}")


def _is_rule(text: str, start: int, end: int) -> bool:
    """Whether a line is the one that Markdown draws under a header."""
    return text[start] in "|:- +" and _rule().fullmatch(text, start, end) is not None


def _cells(text: str, start: int, end: int, divider: str) -> Sequence[Cell]:
    if divider == "|":  # the bars at both ends divide nothing
        start, end = _trimmed(text, start, end, " \t\r>")
        start += text[start] == "|"
        end -= end > start and text[end - 1] == "|"
    cells: list[Cell] = []
    at = start
    while at <= end and len(cells) < MOST_CELLS:
        stop = text.find(divider, at, end)
        stop = end if stop < 0 else stop
        cells.append(_trimmed(text, at, stop))
        at = stop + 1
    return cells


@cache
def _tags() -> re.Pattern[str]:
    return re.compile(r"<(/?)(table|tr|t[dh])(?![a-z])[^<>]{0,200}>")


def _html_tables(text: str) -> Iterator[Sequence[Sequence[Cell]]]:
    """The cells of each HTML table; one without tags inside is what can be read."""
    rows: list[list[Cell]] = []
    opened = -1
    for tag in _tags().finditer(text):
        closing, name = tag[1] == "/", tag[2]
        if name in ("td", "th"):
            if closing and opened >= 0 and len(rows[-1]) < MOST_CELLS:
                rows[-1].append(_trimmed(text, opened, tag.start(), " \t\r\n"))
            rows = rows or [[]]
            opened = -1 if closing else tag.end()
        elif name == "tr" and not closing:
            rows.append([])
        elif name == "table" and rows:
            yield rows
            rows = []
    if rows:
        yield rows


def _in_table(views: FoldedViews, rows: Sequence[Sequence[Cell]]) -> Iterator[Labeled]:
    """Each cell below a label in the first row, and each cell to the right of a label."""

    def label(cell: Cell) -> str:
        short = 0 < cell[1] - cell[0] <= LONGEST_LABEL
        return views.lower[cell[0] : cell[1]] if short and _labels().search(views.lower, *cell) else ""

    heads = {at: found for at, cell in enumerate(rows[0]) if (found := label(cell))} if len(rows) > 1 else {}
    for number, row in enumerate(rows):
        for left, right in pairwise(row):
            if (found := label(left)) and _is_cell(right):
                yield Labeled(found, *right)
        if 0 < number < MOST_ROWS:
            for at, found in heads.items():
                if at < len(row) and _is_cell(row[at]):
                    yield Labeled(found, *row[at])


def _is_cell(cell: Cell) -> bool:
    return 0 < cell[1] - cell[0] <= LONGEST_CELL
