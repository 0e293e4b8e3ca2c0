"""Money in running text: 人民币 1,200,000.00 元（大写：壹佰贰拾万元整）, ￥9,800, 3.5亿元, USD 1.2 million."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from ollama_kit.text.figures.numerals import (
    CENTS,
    DIGITS,
    ENGLISH_NUMBER,
    WHOLE,
    amount_in_words,
    end_of_pair,
    number_at_end,
)
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import any_of, longest_first, matches_near

_CURRENCIES = {
    "CNY": "人民币 rmb cny ￥ ¥ 元人民币 元 圆 圓 块钱 yuan renminbi",
    "USD": "us$ usd $ 美元 美金 us|dollars us|dollar u.s.|dollars united|states|dollars dollars dollar",
    "HKD": "hk$ hkd 港元 港币 hong|kong|dollars",
    "EUR": "€ eur 欧元 euros euro",
    "GBP": "£ gbp 英镑 pounds|sterling pounds",
    "JPY": "jpy 日元 日圆 yen",
    "SGD": "s$ sgd 新加坡元 新元 singapore|dollars",
    "TWD": "nt$ twd 新台币",
    "AUD": "a$ aud 澳元",
    "CAD": "c$ cad 加元",
    "CHF": "chf 瑞士法郎",
    "KRW": "krw 韩元",
}
_CODES = {name.replace("|", " "): code for code, names in _CURRENCIES.items() for name in names.split()}
_BEHIND_ONLY = {"元人民币", "元", "圆", "圓", "块钱", "yuan", "yen"}
_SCALES = {
    "万亿": 10**12,
    "亿": 10**8,
    "千万": 10**7,
    "百万": 10**6,
    "十万": 10**5,
    "万": 10**4,
    "千": 1000,
    "百": 100,
    "trillion": 10**12,
    "billion": 10**9,
    "million": 10**6,
    "thousand": 1000,
    "bn": 10**9,
    "mn": 10**6,
    "m": 10**6,
    "k": 1000,
}
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,5}(?!\d)|\d{1,15})(?:\.\d{1,6})?"
_NOT_MONEY = "旦素月年件器老帅首宵组宇勋"
"""What follows 元 in words that are not money: 元旦, 元素."""


@dataclass(frozen=True, slots=True)
class Amount:
    """One amount of money at `[start:end]` of the caller's text. `figures` and `words` are its two ways of writing;
    one of them may be None. `currency` is the ISO 4217 code; ¥ and 元 count as CNY, $ as USD."""

    text: str
    start: int
    end: int
    currency: str
    figures: Decimal | None = None
    words: Decimal | None = None

    @property
    def value(self) -> Decimal:
        """The amount in whole units of its currency; of a pair that differs, the words, as Chinese courts read it."""
        return self.words if self.words is not None else self.figures or Decimal(0)

    @property
    def conflict(self) -> bool:
        """Whether figures and words say different amounts."""
        return None not in (self.figures, self.words) and self.figures != self.words


def parse_amounts(text: str) -> tuple[Amount, ...]:
    """Every amount of money with a currency, in order, without overlap; figures and words of one amount as one.

    >>> [(found.text, found.value, found.currency) for found in parse_amounts("含税３.5亿元，定金 USD 1.2 million")]
    [('３.5亿元', Decimal('350000000'), 'CNY'), ('USD 1.2 million', Decimal('1200000'), 'USD')]
    """
    return amounts_in(FoldedViews.of(text))


def amounts_in(seen: FoldedViews) -> tuple[Amount, ...]:
    """The same of a text that was folded already."""
    singles = [*_in_figures(seen), *_in_chinese(seen), *_in_english(seen)]
    return tuple(_paired(seen.text, longest_first(singles)))


def _names(behind: bool) -> str:
    """A pattern for the names of currencies that follow a number, or come before one; € and £ do both."""
    fit = [name for name in _CODES if (name[-1] not in "$￥¥" if behind else name not in _BEHIND_ONLY)]
    escaped = [re.escape(name).replace(r"\ ", r"\s") for name in sorted(fit, key=len, reverse=True)]
    return "|".join(rf"{name}(?!\s?\d)" if behind and name in "€£" else name for name in escaped)


@cache
def _currency(behind: bool) -> re.Pattern[str]:
    """The names of currencies there; with a space for each kind of whitespace."""
    fit = [name for name in _CODES if (name[-1] not in "$￥¥" if behind else name not in _BEHIND_ONLY)]
    return any_of(name.split()[0] for name in fit)


@cache
def _before() -> re.Pattern[str]:
    scales = "|".join(_SCALES)
    return re.compile(
        rf"(?P<first>{_names(False)})[:\s]{{0,2}}(?:(?P<second>[￥¥$€£])\s?)?(?P<number>{_NUMBER})"
        rf"(?:\s?(?P<scale>{scales})(?![a-z0-9]))?(?P<tail>(?P<more>\d{{1,4}}(?:\.\d{{1,6}})?)万)?"
        rf"(?:\s?(?P<unit>{_names(True)})(?![a-z{_NOT_MONEY}]))?(?:(?P<jiao>\d)角)?(?:(?P<fen>\d)分)?"
    )


@cache
def _behind() -> re.Pattern[str]:
    scales = "|".join(_SCALES)
    return re.compile(
        rf"(?<![\d.])(?<!\d,)(?P<number>{_NUMBER})(?:\s?(?P<scale>{scales}))?"
        rf"(?P<tail>(?P<more>\d{{1,4}}(?:\.\d{{1,6}})?)万)?"
        rf"\s?(?P<unit>{_names(True)})(?![a-z{_NOT_MONEY}])(?:(?P<jiao>\d)角)?(?:(?P<fen>\d)分)?"
    )


@cache
def _chinese() -> re.Pattern[str]:
    units = "|".join(name for name in _names(True).split("|") if not name.isascii() and name[0] not in "￥¥€£")
    return re.compile(
        rf"(?P<whole>{WHOLE})(?P<unit>{units})(?![{_NOT_MONEY}]){CENTS}[整正]?|"
        rf"(?<=人民币)(?P<small>[{''.join(DIGITS)}]角(?:[{''.join(DIGITS)}]分)?整?)"
    )


@cache
def _english() -> re.Pattern[str]:
    units = "|".join(name for name in _names(True).split("|") if name[-1].isalpha() and len(name) > 3)
    return re.compile(rf"(?<![a-z])(?P<number>{ENGLISH_NUMBER})\s(?P<unit>{units})(?![a-z])")


def _in_figures(seen: FoldedViews) -> Iterator[Amount]:
    for pattern, behind in ((_before(), False), (_behind(), True)):
        for found in matches_near(pattern, seen.lower, _currency(behind), 48 if behind else 1, 64):
            named = found.groupdict()
            start = found.start()
            if "first" in named and named["first"][0].isalpha() and _is_letter(seen.lower[start - 1 : start]):
                continue
            if named["tail"] and named["scale"] != "亿":
                continue
            value = Decimal(named["number"].replace(",", "")) * _SCALES.get(named["scale"] or "", 1)
            value += Decimal(named["more"] or 0) * 10**4
            value += Decimal(int((named["jiao"] or "0") + (named["fen"] or "0"))).scaleb(-2)
            code = _code(named.get("first") or named["unit"], named["unit"])
            yield Amount(seen.text[start : found.end()], start, found.end(), code, figures=_plain(value))


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _code(name: str, behind: str | None) -> str:
    """The currency; `$` and `¥` take that of the unit behind the number, where there is one: $5 HKD."""
    chosen = behind if behind and name in "$¥￥" and behind != "元" else name
    return _CODES[re.sub(r"\s", " ", chosen)]


def _plain(value: Decimal) -> Decimal:
    return value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()


def _in_chinese(seen: FoldedViews) -> Iterator[Amount]:
    for found in matches_near(_chinese(), seen.lower, _chinese_unit(), 48, 12):
        start, end, whole = found.start(), found.end(), found["whole"]
        if whole is None:
            yield Amount(seen.text[start:end], start, end, "CNY", words=_small(found["small"]))
            continue
        value = amount_in_words(found)
        if value is None or seen.lower[start - 1 : start] in tuple("几数第多.0123456789") or not _has_digit(whole):
            continue
        before = _prefix().search(seen.lower, max(0, start - 12), start)
        # With and without the prefix, which may be the unit of an amount before: 500 RMB 壹佰元.
        for first in {start, before.start() if before else start}:
            yield Amount(seen.text[first:end], first, end, _CODES[found["unit"]], words=_plain(value))


@cache
def _chinese_unit() -> re.Pattern[str]:
    return any_of([*(name for name in _CODES if not name.isascii() and name[0] not in "￥¥€£"), "角"])


@cache
def _english_unit() -> re.Pattern[str]:
    return any_of(name.split()[-1] for name in _CODES if name.isascii() and name[-1].isalpha() and len(name) > 3)


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(r"(?:人民币|rmb)\s?(?:\(?大写\)?:?\s?)?\Z")


def _has_digit(whole: str) -> bool:
    """Whether a number in words has a digit: 万元 alone is the unit of a column."""
    return any(character in DIGITS for character in whole) or whole[0] in "十拾廿卅"


def _small(words: str) -> Decimal:
    digits = [DIGITS[character] for character in words if character in DIGITS and character != "零"]
    return Decimal(10 * digits[0] + sum(digits[1:])).scaleb(-2)


def _in_english(seen: FoldedViews) -> Iterator[Amount]:
    for found in matches_near(_english(), seen.lower, _english_unit(), 200, 24):
        number = number_at_end(found["number"])
        if number is not None:
            value, start, end = number[0], found.start() + number[1], found.end()
            yield Amount(seen.text[start:end], start, end, _code(found["unit"], None), words=Decimal(value))


def _paired(text: str, singles: list[Amount]) -> Iterator[Amount]:
    """The amounts, with figures and words that mean each other joined."""
    waiting: Amount | None = None
    for found in singles:
        end = _end_of_pair(text, waiting, found) if waiting is not None else 0
        if waiting is not None and end:
            yield replace(
                waiting,
                text=text[waiting.start : end],
                end=end,
                figures=found.figures if waiting.figures is None else waiting.figures,
                words=found.words if waiting.words is None else waiting.words,
            )
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = found
    if waiting is not None:
        yield waiting


def _end_of_pair(text: str, first: Amount, second: Amount) -> int:
    differ = (first.words is None) != (second.words is None) and first.currency == second.currency
    return end_of_pair(text, first, second) if differ else 0
