"""Whether words that are said to be the contract's own stand in its text: a name, a code, a role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ollama_kit.jobs.contract.facts.chinese_parties import ROLES
from ollama_kit.text.figures.numerals import NUMERAL_CLASS

_SAME = {
    "中国": ("中华人民共和国",),
    "prc": ("people's republic of china", "中华人民共和国"),
    "china": ("people's republic of china", "prc"),
    "us": ("united states",),
    "usa": ("united states",),
    "uk": ("united kingdom",),
}
"""What a country is called, and what contracts call it."""


@dataclass(frozen=True)
class Passage:
    """A piece of a contract, made ready to look for words in: width, case, quotation marks and blanks between Chinese
    characters do not count."""

    bare: str

    @staticmethod
    def of(text: str) -> Passage:
        return Passage(_bare(text))

    def holds(self, words: str) -> bool:
        """Whether the words stand here as they are, not as part of a longer number or, in English, a longer word.

        >>> Passage.of("出租方（甲方）：江州公司，违约金15%").holds("江州 公司"), Passage.of("违约金15%").holds("5%")
        (True, False)
        """
        wanted = _bare(words)
        return bool(wanted) and any(True for _ in _places(wanted, self.bare))

    def holds_parts(self, words: str) -> bool:
        """Whether the words stand here, or each part of what is put together by brackets or lists does: 甲方（出租方）
        of 出租方（甲方）. A short form behind its long one may be its initials, and "law" goes without saying."""
        if self.holds(words):
            return True
        parts = [part for part in _joint().split(words) if part.strip()]
        return bool(parts) and all(
            self._holds_one(part) or (at > 0 and _is_short_for(part, parts[at - 1])) for at, part in enumerate(parts)
        )

    def _holds_one(self, part: str) -> bool:
        stem = _law().sub("", part.strip()).strip() or part
        return any(map(self.holds, (part, stem, *_SAME.get(_bare(stem), ()))))


def sides_in(text: str) -> frozenset[str]:
    """The sides that a text names: 甲方, 乙方, buyer, client, …

    >>> sorted(sides_in("The Client may terminate; 甲方不得"))
    ['client', '甲方']
    """
    return frozenset(sides_in_order(text))


def sides_in_order(text: str) -> tuple[str, ...]:
    """The sides as the text names them: who owes and who is owed."""
    return tuple(match[0].lower() for match in _side().finditer(text))


def is_name(words: str) -> bool:
    """Whether words are enough by themselves to be looked for in all of a contract: two characters of Chinese, or a
    word of four letters, or a code with letters and figures."""
    bare = _bare(words)
    letters = sum(character.isalpha() for character in bare)
    return letters >= (2 if not bare.isascii() else 3) and len(bare) >= (2 if not bare.isascii() else 4)


def _places(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before, behind = text[at - 1 : at] if at else "", text[end : end + 1]
        if not (_runs_on(before, wanted[0]) or _runs_on(wanted[-1], behind) or _in_number(text, at, end)):
            yield at
        at = text.find(wanted, at + 1)


def _runs_on(one: str, other: str) -> bool:
    """Whether two characters beside each other are of one number or one English word."""
    if not one or not other:
        return False
    number, latin = _number_character(), _latin()
    return bool((number.match(one) and number.match(other)) or (latin.match(one) and latin.match(other)))


def _in_number(text: str, start: int, end: int) -> bool:
    """Whether a comma or point beside the words joins them to more of a number: 800 in 9,800 and 0.800."""
    before = text[start - 2 : start] if start > 1 else ""
    behind = text[end : end + 2]
    return bool(
        (text[start].isdigit() and re.fullmatch(r"\d[.,]", before))
        or (text[end - 1].isdigit() and re.fullmatch(r"[.,]\d", behind))
    )


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub(r"\s+", " ", _marks().sub("", folded))
    return re.sub(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])", "", folded).strip(" .,:;")


def _is_short_for(short: str, long: str) -> bool:
    letters = "".join(filter(str.isalpha, short)).casefold()
    initials: Iterable[str] = (word[0] for word in re.findall(r"[A-Za-z]+", long))
    return len(letters) > 1 and short.strip().isupper() and letters == "".join(initials).casefold()


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(r"[()（）\[\]【】、/／;；]|\s+and\s+|[和与及]")


@cache
def _law() -> re.Pattern[str]:
    return re.compile(
        r"(?i:^(?:the\s)?laws?\sof\s(?:the\s)?(?:state\sof\s)?)|(?i:\s(?:state\s)?laws?$)|(?:的?现?行?的?法律)$"
    )


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(r"[\"“”„«»「」『』《》〈〉‘’*_\u200b-\u200f\u2060\ufeff]|(?<!\w)'|'(?!\w)")


@cache
def _number_character() -> re.Pattern[str]:
    return re.compile(rf"[\d{NUMERAL_CLASS}%]")


@cache
def _latin() -> re.Pattern[str]:
    return re.compile(r"[a-z]")


@cache
def _side() -> re.Pattern[str]:
    english = (
        *("buyer", "seller", "client", "customer", "provider", "supplier", "vendor", "contractor", "lessor", "lessee"),
        *("landlord", "tenant", "licensor", "licensee", "employer", "employee", "borrower", "lender", "franchisor"),
        *("franchisee", "purchaser", "distributor", "disclosing party", "receiving party", "party a", "party b"),
    )
    roles = "|".join(sorted(ROLES, key=len, reverse=True))
    return re.compile(rf"{roles}|(?i:\b(?:{'|'.join(english)})\b)")
