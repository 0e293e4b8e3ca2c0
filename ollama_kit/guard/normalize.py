"""Takes out of a text what a person does not see and a model reads: the ways to hide an instruction in plain sight.

Where such a character belongs to the writing (the joiners of emoji, Persian and the Indic scripts, the variation of
an ideograph, the break between Thai words) it stays. Which emoji and ideographs there are is read from Unicode's
blocks and not from the interpreter's tables, so that next year's are left alone too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from ollama_kit.records.report import Finding, Severity, capped
from ollama_kit.text import characters
from ollama_kit.text.characters import hidden_text, rule_of
from ollama_kit.text.spans import Changed, Edit, apply

STAGE = "normalize"
ZWSP, ZWNJ, ZWJ, BOM = "\u200b", "\u200c", "\u200d", "\ufeff"
BLACK_FLAG = "\U0001f3f4"
BETWEEN = 2  # visible characters that may stand between the pieces of one hidden thing: "i|g|n|o|r|e"
MANY = 8


@dataclass(frozen=True, slots=True)
class _Hidden:
    """Characters of one rule that were taken out, not always in one piece; `in_word` if out of a Latin word."""

    rule: str
    start: int
    end: int
    characters: str
    in_word: bool = False


def normalize_text(text: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
    """The text without hidden characters, and a finding for each place that held some.

    Taken out are lone surrogates, control characters (not tab and line ends), bidi overrides and isolates, tag
    characters, variation selectors and zero-width characters, except where they belong to the writing. A form feed,
    a vertical tab and U+0085 become a line feed; two surrogates that make a character become that character. `detail`
    holds the text that was hidden, where there was one. Idempotent.

    >>> changed, findings = normalize_text("ig\\u200bnore", "document 0")
    >>> changed.text, findings[0].rule, findings[0].severity, findings[0].span
    ('ignore', 'zero_width', 'medium', (2, 3))
    """
    edits: list[Edit] = []

    def grouped() -> Iterator[Finding]:
        for found in _grouped(_hidden(text, edits)):
            yield _finding(found, source)

    findings = capped(grouped())
    return apply(text, edits), findings


def _hidden(text: str, edits: list[Edit]) -> Iterator[_Hidden]:
    """Everything that does not stay, in order of place; what becomes of it is added to `edits`."""
    for match in _suspects().finditer(text):
        for piece in _pieces().finditer(text, match.start(), match.end()):
            kind = piece.lastgroup
            if kind == "run":
                for found in _taken_out(text, *piece.span()):
                    edits.append(Edit(found.start, found.end, ""))
                    yield found
            else:
                edits.append(Edit(*piece.span(), _joined(piece[0]) if kind == "pair" else "\n"))
                yield _Hidden("surrogate_pair" if kind == "pair" else "page_break", *piece.span(), piece[0])


@cache
def _suspects() -> re.Pattern[str]:
    return re.compile(f"[{characters.CONTROLS}{characters.SURROGATES}{characters.UNSEEN}]+")


@cache
def _pieces() -> re.Pattern[str]:
    # A pair that makes a hidden character (tags and selectors are D83x-DB40) is not joined but taken out.
    pair = "(?!\udb40|\ud834[\udd73-\udd7a]|\ud82f[\udca0-\udca3])[\ud800-\udbff][\udc00-\udfff]"
    return re.compile(f"(?P<pair>{pair})|(?P<page>[\x0b\x0c\x85])|(?P<run>(?:(?!{pair})[^\x0b\x0c\x85])+)")


def _joined(pair: str) -> str:
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _taken_out(text: str, start: int, end: int) -> Iterator[_Hidden]:
    """What has to go of a run of suspects, in pieces of one rule. The run's neighbors are characters that stay, so
    that what is decided here holds when the text is looked at again."""
    before = _joined(text[start - 2 : start]) if _pair_ends(text, start) else text[max(0, start - 1) : start]
    after = _joined(text[end : end + 2]) if _pair_ends(text, end + 2) else text[end : end + 1]
    kept = _kept(before, text[start:end], after)
    in_word = _is_latin(before) and _is_latin(after)
    going = (at for at in range(start, end) if at - start not in kept)
    for (rule, _), group in groupby(enumerate(going), lambda pair: (rule_of(text[pair[1]]), pair[1] - pair[0])):
        places = [at for _, at in group]
        yield _Hidden(rule, places[0], places[-1] + 1, text[places[0] : places[-1] + 1], in_word)


def _pair_ends(text: str, end: int) -> bool:
    return 2 <= end <= len(text) and "\udc00" <= text[end - 1] <= "\udfff" and "\ud800" <= text[end - 2] <= "\udbff"


def _kept(before: str, run: str, after: str) -> set[int]:
    """The indices of `run` that belong to the writing: at most one of each kind, in the order that writing has."""
    kept: set[int] = set()
    so_far = ""
    if before == BLACK_FLAG and (flag := _flag().search(run)):
        return set(range(*flag.span()))
    marks_allowed = 2 if sum(map(run.count, characters.DIRECTION_MARKS)) <= 2 else 1
    for at, character in enumerate(run):
        if character in characters.DIRECTION_MARKS:
            fits = marks_allowed > 0
            marks_allowed -= 1
        elif character == ZWJ and so_far in ("\ufe0e", "\ufe0f"):
            fits = _is_emoji(before) and _is_emoji(after)
        else:
            fits = not so_far and _belongs(before, character, after)
        if fits:
            kept.add(at)
            so_far += character
    return kept


@cache
def _flag() -> re.Pattern[str]:
    """The tags of a flag of a part of a country, as in England's: gbeng and the end tag (Unicode TS 51, annex C)."""
    letter, digit = "\U000e0061-\U000e007a", "\U000e0030-\U000e0039"
    return re.compile(f"[{letter}]{{2}}[{letter}{digit}]{{1,3}}\U000e007f")


def _belongs(before: str, character: str, after: str) -> bool:
    """Whether a lone suspect between two characters is how that writing is spelt."""
    if character in (ZWJ, ZWNJ) and (_joins(before) or _joins(after)):
        return True
    if character == ZWJ:
        return _is_emoji(before) and _is_emoji(after)
    if character == ZWSP:
        return _has_no_blanks(before) and _has_no_blanks(after)
    if character in "\ufe0e\ufe0f":
        return _is_emoji(before) or (before in tuple("0123456789#*") and after == "\u20e3")
    if rule_of(character) == "variation_selector":
        return _varies(before, character)
    if character == "\u034f":  # the grapheme joiner stands among combining marks
        return any(side and unicodedata.combining(side) != 0 for side in (before, after))
    if character == "\u115f":
        return "\u1161" <= after <= "\u11a7"
    if character == "\u1160":
        return "\u1100" <= before <= "\u115e"
    return character == "\u180e" and _is_mongolian(before) and _is_mongolian(after)


def _varies(before: str, selector: str) -> bool:
    if selector < "\u1810":
        return _is_mongolian(before)
    if selector >= "\U000e0100":  # no ideograph has more than a few dozen variants; letters as bytes lie beyond
        return selector <= "\U000e013f" and _is_within(_IDEOGRAPHS, before)
    return selector <= "\ufe02" and _is_within(_STANDARD_VARIANTS, before)


_EMOJI = (
    *((0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2100, 0x214F), (0x2190, 0x21FF)),
    *((0x2300, 0x23FF), (0x2460, 0x24FF), (0x25A0, 0x27BF), (0x2900, 0x297F), (0x2B00, 0x2BFF), (0x3030, 0x3030)),
    *((0x303D, 0x303D), (0x3297, 0x3299), (0x1F000, 0x1FBFF)),
)
_IDEOGRAPHS = (
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_STANDARD_VARIANTS = (
    *_IDEOGRAPHS,
    *((0x1000, 0x109F), (0x2200, 0x22FF), (0x2A00, 0x2AFF), (0x3000, 0x303F), (0xA840, 0xA877), (0xAA60, 0xAA7F)),
    (0xFF00, 0xFF60),
)
_NO_BLANKS = ((0xE00, 0xFFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19FF), (0x1A20, 0x1B7F), (0xA980, 0xAADF))
_JOINING = (
    *((0x600, 0xDFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0x1900, 0x194F), (0x1A20, 0x1BFF), (0xA800, 0xABFF)),
    *((0xFB50, 0xFDFF), (0xFE70, 0xFEFE), (0x10A00, 0x11FFF), (0x1E900, 0x1EEFF)),
)


def _is_within(ranges: tuple[tuple[int, int], ...], character: str) -> bool:
    return bool(character) and any(first <= ord(character) <= last for first, last in ranges)


def _is_emoji(character: str) -> bool:
    return _is_within(_EMOJI, character)


def _has_no_blanks(character: str) -> bool:
    """Whether a script writes its words without blanks, so that a zero-width one says where a line may break."""
    return _is_within(_NO_BLANKS, character)


def _joins(character: str) -> bool:
    """Whether the letters of a script join: Arabic and its kin, the Indic scripts, Mongolian."""
    return _is_within(_JOINING, character)


def _is_mongolian(character: str) -> bool:
    return "\u1800" <= character <= "\u18af"


def _is_latin(character: str) -> bool:
    return character.isalpha() and character < "\u0250"


def _grouped(hidden: Iterable[_Hidden]) -> Iterator[_Hidden]:
    """Hidden things of one rule that stand close together, as one."""
    open_groups: dict[str, list[_Hidden]] = {}
    for found in hidden:
        group = open_groups.setdefault(found.rule, [])
        if group and found.start - group[-1].end > BETWEEN:
            yield _as_one(group)
            group.clear()
        group.append(found)
    for group in open_groups.values():
        yield _as_one(group)


def _as_one(group: list[_Hidden]) -> _Hidden:
    characters = "".join(found.characters for found in group)
    in_word = any(found.in_word for found in group)
    return _Hidden(group[0].rule, group[0].start, group[-1].end, characters, in_word)


def _finding(found: _Hidden, source: str) -> Finding:
    hides = hidden_text(found.rule, found.characters)
    names = [f"U+{ord(character):04X}" for character in dict.fromkeys(found.characters[: 4 * MANY])]
    count = f"{len(found.characters)} × " if len(found.characters) > 1 else ""
    detail = f"hides {hides!r}" if hides else count + " ".join(names[:4]) + (" …" if len(names) > 4 else "")
    rule = "byte_order_mark" if found.start == 0 and found.characters == BOM else found.rule
    return Finding(STAGE, rule, _severity(found, hides), "removed", source, (found.start, found.end), detail)


def _severity(found: _Hidden, hides: str) -> Severity:
    if found.rule == "tag_character" or (hides and found.rule != "control_character"):
        return "high"
    if found.rule == "bidi_control":
        return "high" if any(character in "\u202d\u202e" for character in found.characters) else "low"
    if found.rule in ("lone_surrogate", "control_character"):
        return "low"
    if found.rule in ("surrogate_pair", "page_break") or found.characters == "\u00ad":
        return "info"
    if len(found.characters) >= MANY or (found.in_word and found.rule == "zero_width"):
        return "medium"
    return "info" if len(found.characters) == 1 else "low"
