"""Finds values whose label is not beside them on one line, but in the next cell, at the head of the column, or on the
line before.

    | system | password |        password        <td>password</td><td>…</td>        password<TAB>…
    |--------|----------|        …
    | vpn    | …        |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from ollama_kit.guard.private.credentials import is_labeled_secret, is_lone_password
from ollama_kit.guard.private.names import is_name
from ollama_kit.guard.private.particulars import date
from ollama_kit.guard.private.postal import is_place
from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews

LONGEST_LABEL, LONGEST_CELL = 40, 200
"""Characters of a line or cell that can be a label, and of one that can be a value."""
BLANK_LINES = 3
"""Lines after a label of which one may hold its value."""
MOST_ROWS, MOST_CELLS = 2000, 40
"""Rows that a header reaches down, and cells of a row that are looked at."""

Cell = tuple[int, int]
"""Start and end of a text."""
Rows = Sequence[Sequence[Cell]]


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

WORDS = (
    *("密码", "密碼", "口令", "授权码", "提取码", "访问码", "验证码", "校验码", "动态码", "取件码", "解锁码", "pin码"),
    *("pass", "pwd", "key", "secret", "token", "credential", "密钥", "秘钥", "令牌", "凭证", "私钥"),
    *("姓名", "联系人", "收件人", "收货人", "经办人", "户名", "持卡人", "申请人", "患者", "生日", "出生", "birth"),
    *("dob", "微信", "wechat", "qq", "地址", "住址", "住所", "address", "账号", "账户", "帐号", "卡号", "account"),
    *("护照", "通行证"),
)
"""A word of every label: a line without one is not looked at any further."""


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


@lru_cache(maxsize=512)
def _named_by(label: str) -> tuple[LabeledRule, ...]:
    """The rules whose labels `label` ends with; those of a table come again and again."""
    if not any(word in label for word in WORDS):
        return ()
    return tuple(rule for rule, end in _ends() if end.fullmatch(label))


def find_in_layout(views: FoldedViews) -> Iterator[Hit]:
    """Every value that a label in another cell or on the line before gives away. Work is linear in the text."""
    lines = _labeled_lines(views.lower)
    if not lines:
        return
    pairs = chain(
        _below(views, lines), *(_in_table(views, rows) for rows in _tables(views.text.replace("｜", "|"), lines))
    )
    if "<t" in views.lower:
        pairs = chain(pairs, *(_in_table(views, rows) for rows in _html_tables(views.lower)))
    for label, start, end in pairs:
        value = views.folded[start:end]
        rule = next((rule.rule for rule in _named_by(label) if rule.fits(value)), "")
        if rule:
            yield Hit(start, end, rule)


def _labeled_lines(text: str) -> Sequence[Cell]:
    """The lines that hold a word of a label, in order."""
    starts: set[int] = set()
    for word in WORDS:
        at = text.find(word)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at) + 1)
            end = _line_end(text, at)
            at = text.find(word, end)  # one is enough for a line
    return [(start, _line_end(text, start)) for start in sorted(starts)]


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _trimmed(text: str, start: int, end: int, marks: str = " \t\r*_`\"'“”‘’「」>") -> Cell:
    while start < end and text[start] in marks:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def _below(views: FoldedViews, lines: Sequence[Cell]) -> Iterator[Labeled]:
    """A line that is a label, or ends with one, and the next line that is not empty."""
    text = views.folded
    for line in lines:
        start, end = _trimmed(text, *line)
        if start == end or (end - start > LONGEST_LABEL and not (end - start <= LONGEST_CELL and text[end - 1] == ":")):
            continue
        value, below = (0, 0), line[1] + 1
        for _ in range(BLANK_LINES):  # none but empty ones, and the beginning of a block of code
            value, after = _trimmed(text, below, min(_line_end(text, below), below + LONGEST_CELL + 1)), below
            below = _line_end(text, below) + 1
            if value[0] < value[1] and not text.startswith("```", after):
                break
        same_table = text.find(",", *line) >= 0 <= text.find(",", *value)
        if _is_cell(value) and not same_table:
            label = views.lower[max(start, end - LONGEST_LABEL) : end]
            yield Labeled(label, *_bare(text, label, *value))


def _bare(text: str, label: str, start: int, end: int) -> Cell:
    """A value without the bullet before it, and without the account's name where a label speaks of both."""
    if text.startswith(("- ", "• ", "+ "), start):
        start += 2
    words = text[start:end].replace("/", " ").split()
    if len(words) == 2 and any(word in label for word in ("账号", "帐号", "账户", "用户", "user", "account")):
        start = end - len(words[1])
    return start, end


def _tables(text: str, lines: Sequence[Cell]) -> Iterator[Rows]:
    """Lines one after the other that are divided alike, by bars, tabs or commas: from the first of a table, if it holds
    a label, to the last; of later ones that do, each by itself."""
    done = 0
    for start, end in lines:
        divider = _divider(text, start, end)
        if not divider or start < done:
            continue
        rows = [_cells(text, start, end, divider)]
        if _is_head(text, start, divider):
            done = _block_end(text, start, end, divider)
            rows += _rows(text, end + 1, done, divider)
        if divider != "," or len(rows) > 1:
            yield rows


def _block_end(text: str, start: int, end: int, divider: str) -> int:
    """Where the lines end that are divided as the one at `start`:`end` is."""
    commas = text.count(",", start, end)
    for _ in range(MOST_ROWS):
        if end >= len(text):
            break
        start, after = end + 1, _line_end(text, end + 1)
        if _divider(text, start, after) != divider or (divider == "," and text.count(",", start, after) != commas):
            break
        end = after
    return end


def _rows(text: str, start: int, end: int, divider: str) -> Iterator[Sequence[Cell]]:
    while start < end:
        line_end = _line_end(text, start)
        if not _is_rule(text, start, line_end):
            yield _cells(text, start, line_end, divider)
        start = line_end + 1


def _is_head(text: str, start: int, divider: str) -> bool:
    """Whether no line of the same table precedes the one at `start`."""
    return start == 0 or _divider(text, text.rfind("\n", 0, start - 1) + 1, start - 1) != divider


def _divider(text: str, start: int, end: int) -> str:
    return next((sign for sign in "|\t," if text.find(sign, start, end) >= 0), "")


@cache
def _rule() -> re.Pattern[str]:
    return re.compile(r"[ \t|:+-]{3,}")


def _is_rule(text: str, start: int, end: int) -> bool:
    """Whether a line is the one that Markdown draws under a header."""
    return _rule().fullmatch(text, start, end) is not None


def _cells(text: str, start: int, end: int, divider: str) -> Sequence[Cell]:
    if divider == "|":  # the bars at both ends divide nothing
        start, end = _trimmed(text, start, end, " \t\r>")
        start += text.startswith("|", start)
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


def _html_tables(text: str) -> Iterator[Rows]:
    """The cells of each HTML table; what has tags inside is cut at the first."""
    rows: list[list[Cell]] = []
    opened = -1
    for tag in _tags().finditer(text):
        closing, name = tag[1] == "/", tag[2]
        if name in ("td", "th"):
            rows = rows or [[]]
            if closing and opened >= 0 and len(rows[-1]) < MOST_CELLS:
                rows[-1].append(_trimmed(text, opened, tag.start(), " \t\r\n"))
            opened = -1 if closing else tag.end()
        elif name == "tr" and not closing and len(rows) < MOST_ROWS:
            rows.append([])
        elif name == "table" and rows:
            yield rows
            rows = []
    if rows:
        yield rows


def _in_table(views: FoldedViews, rows: Rows) -> Iterator[Labeled]:
    """Each cell to the right of a label, and each cell below a label in the first row."""

    def label(cell: Cell) -> str:
        return views.lower[cell[0] : cell[1]].rstrip(": ") if 0 < cell[1] - cell[0] <= LONGEST_LABEL else ""

    heads = {at: found for at, cell in enumerate(rows[0]) if _named_by(found := label(cell))}
    for number, row in enumerate(rows):
        for left, right in pairwise(row):
            if _is_cell(right) and _named_by(found := label(left)):
                yield Labeled(found, *right)
        for at, found in heads.items() if number else ():
            if at < len(row) and _is_cell(row[at]):
                yield Labeled(found, *row[at])


def _is_cell(cell: Cell) -> bool:
    return 0 < cell[1] - cell[0] <= LONGEST_CELL
