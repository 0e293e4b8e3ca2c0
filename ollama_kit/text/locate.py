"""Compares texts leniently: where a quote is in a text, though a model copied it with other whitespace, widths or
quotation marks; and how much two texts say the same.

For a quote both are folded, and the place in the folded text is mapped back. Folding forgives what copying changes and
nothing else: full width becomes half width, Chinese punctuation its Western kin, compatibility forms of ideographs (the
radicals that a PDF's text is full of) the ideographs; what nobody sees is left out; a run of whitespace is one space
between two words of letters or digits and nothing anywhere else, since Chinese has lines but no spaces. Letters keep
their case and digits their value: 1.5 is not 15.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ollama_kit.text.characters import CONTROLS, SURROGATES, UNSEEN
from ollama_kit.text.spans import Changed, Edit, SpanMap, apply

Span = tuple[int, int]
"""(start, end) in characters of the text that was searched."""

MOST_TRIED = 1000  # places that fit but for half a character, before a search gives up


@dataclass(frozen=True)
class FoldedText:
    """A text prepared for finding quotes in, in time linear in its length. Folding is done once for all of them."""

    original: str
    folded: str
    map: SpanMap

    @staticmethod
    def of(text: str) -> FoldedText:
        changed = _folded(text)
        return FoldedText(text, changed.text, changed.map)

    def find(self, quote: str) -> Span | None:
        """Where the quote is first, exactly; None where it is not, or where it is only whitespace."""
        return next(self._places(quote), None)

    def find_all(self, quote: str, most: int = 100) -> tuple[Span, ...]:
        """Where the quote is, first place first, without overlaps; at most `most` places."""
        return tuple(span for _, span in zip(range(most), self._places(quote), strict=False))

    def _places(self, quote: str) -> Iterator[Span]:
        wanted = _folded(quote).text.strip()
        at = self.folded.find(wanted) if wanted else -1
        tried = 0
        while at >= 0 and tried < MOST_TRIED:
            end = at + len(wanted)
            if self._is_whole(at, end):
                yield self.map.span(at, end)
                at = self.folded.find(wanted, end)
            else:
                tried += 1
                at = self.folded.find(wanted, at + 1)

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether a place neither starts nor ends inside what is one character to a reader."""
        if self.map.cuts(start) or self.map.cuts(end):
            return False
        return not unicodedata.combining(self.folded[end : end + 1] or " ")


def locate_quote(quote: str, text: str) -> Span | None:
    """Where `quote` is first in `text`, in the characters of `text`; None where it is not.

    For more than one quote of one text, fold it once: `FoldedText.of(text).find(quote)`.

    >>> locate_quote("交付日期:2026年5月1日,逾期", "一、交付日期：2026 年\\n5 月 1 日，逾期按日计")
    (2, 24)
    >>> locate_quote("交付日期:2026年6月", "一、交付日期：2026 年\\n5 月 1 日，逾期按日计")
    """
    return FoldedText.of(text).find(quote)


def locate_all(quote: str, text: str, most: int = 100) -> tuple[Span, ...]:
    """Where `quote` is in `text`, first place first, at most `most` of them.

    >>> locate_all("甲方", "甲方与乙方；甲\\n方")
    ((0, 2), (6, 9))
    """
    return FoldedText.of(text).find_all(quote, most)


def _folded(text: str) -> Changed:
    """The text folded. What stays one character is replaced first and needs no map; the rest are edits."""
    even = text.translate(_one_for_one())
    edits = []
    for match in _uneven().finditer(even):
        found, (start, end) = match[0], match.span()
        if match.lastgroup == "blank":
            new = "" if found == " " or not _separates(even, start, end, found) else " "
        elif match.lastgroup == "marks":
            start = max(start - 1, 0)
            found = even[start:end]
            new = unicodedata.normalize("NFC", found)
        else:
            new = _EXPANDED.get(found) or unicodedata.normalize("NFC", found)
        if new != found:
            edits.append(Edit(start, end, new))
    return apply(even, edits)


def _separates(text: str, start: int, end: int, space: str) -> bool:
    """Whether whitespace is between two words that it keeps apart; unseen characters alone never do."""
    if not any(character.isspace() for character in space):
        return False
    word = _spaced_word()
    return bool(start and word.match(text, start - 1) and word.match(text, end))


# Scripts that are written without spaces between words: kana, bopomofo and the ideographs.
_CJK = "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u312f\u3190-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_IDEOGRAPHS_BEYOND = "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
_ACCENTS = r"\u0300-\u036f\u0653-\u0655"
_WORD = rf"(?:[^\W_{_CJK}{_IDEOGRAPHS_BEYOND}]|[{_ACCENTS}])"
_EXPANDED = {"…": "...", "⋯": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


@cache
def _spaced_word() -> re.Pattern[str]:
    return re.compile(_WORD)


@cache
def _uneven() -> re.Pattern[str]:
    """Where folding changes the length: whitespace other than one space between words, marks to be composed, ligatures.

    It begins with one class of characters and asks which it was afterwards: that way `re` skips to it.
    """
    blank = rf"\s{CONTROLS}{SURROGATES}{UNSEEN}"
    marks = rf"{_ACCENTS}\u3099\u309a"
    expanded = "".join(_EXPANDED)
    return re.compile(
        rf"[{blank}{marks}\u1100-\u1112{expanded}](?:"
        rf"(?<=[{blank}])(?P<blank>[{blank}]+|(?<! )|(?<!{_WORD}.)|(?!{_WORD}))"
        rf"|(?<=[{marks}])(?<=[^\W\d_].)(?P<marks>[{marks}]*)"
        rf"|(?<=[\u1100-\u1112])(?P<hangul>[\u1161-\u1175][\u11a8-\u11c2]?)"
        rf"|(?<=[{expanded}])(?P<expanded>))",
        re.DOTALL,
    )


@cache
def _one_for_one() -> dict[int, str]:
    """The foldings that leave the length as it is."""
    table = dict(zip(map(ord, _PUNCTUATION), _PUNCTUATION_FOLDED, strict=True))
    for first, last in _COMPATIBLE:
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and code not in table:
                table[code] = plain
    # Full-width forms lead to punctuation that is folded itself, as half-width 「 does.
    return {code: table.get(ord(plain), plain) for code, plain in table.items()}


_COMPATIBLE = (
    *((0x2000, 0x200A), (0x2E80, 0x2FDF), (0x3000, 0x3000), (0x3038, 0x303A), (0xF900, 0xFAFF)),
    *((0xFE10, 0xFE6B), (0xFF01, 0xFF9F), (0xFFE0, 0xFFEE), (0x2F800, 0x2FA1F)),
)
"""Whitespace, radicals, full and half width, duplicate ideographs; not ① or ², which say more than 1 or 2."""
_PUNCTUATION = "、。“”„‟″«»「」『』〝〞‘’‚‛′‹›〈〉《》【】〔〕〖〗—–―‐‑‒−─～〜∼・•‧∶\u00a0"
_PUNCTUATION_FOLDED = ",." + '"' * 13 + "'" * 5 + "<><><>" + "[]" * 3 + "-" * 8 + "~~~" + "···" + ": "


ALIKE = 0.55
"""Share of character pairs in common (Dice) from which on two texts say the same."""


def alike(one: str, other: str) -> float:
    """How much two texts say the same: pairs of characters in common, 0 to 1; width, case and marks do not count.

    >>> alike("提交回归测试报告", "提交回归测试报告。") , alike("订货车", "签报关单") < 0.2
    (1.0, True)
    """
    first, second = pairs_of(one), pairs_of(other)
    if not first or not second:
        return float(letters_of(one) == letters_of(other))
    return 2 * len(first & second) / (len(first) + len(second))


def letters_of(text: str) -> str:
    """A text without width, case, whitespace and marks: two ways of writing one name are the same.

    >>> letters_of("ＡＢＣ (Shanghai) Co., Ltd.")
    'abcshanghaicoltd'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def pairs_of(text: str) -> frozenset[str]:
    """The pairs of adjacent characters in `letters_of`."""
    letters = letters_of(text)
    return frozenset(letters[at : at + 2] for at in range(len(letters) - 1))
