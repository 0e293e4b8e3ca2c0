"""The dates of an English contract: made as of June 21, 1999 (the "Effective Date"); a term of five (5) years."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.english_term import find_term
from ollama_kit.jobs.contract.facts.found_moments import Found, Moments
from ollama_kit.jobs.contract.facts.written_days import days_in
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.back_matter import Parts
from ollama_kit.text.pattern_search import any_of, windows

HEAD = 8_000
"""Characters from the beginning in which a contract gives its date."""


def find_english(text: ContractText, parts: Parts) -> Moments:
    """What English wording says of dates."""
    made = _made(text)
    effective, on_signing = _effective(text)
    beside = _beside_signatures(text, parts)
    ends, conditions, terms = find_term(text)
    return Moments((*made[:1], *beside), effective, on_signing, made, ends, conditions, terms)


def _made(text: ContractText) -> tuple[Found, ...]:
    """The date that the contract gives itself: in its first sentence, on its title page, or in a closing formula."""
    found = []
    for match in _made_on().finditer(text.plain, 0, min(HEAD, len(text.plain))):
        found += [Found(day.start, day.end, "made as of", day.iso) for day in _next_day(text, match.end(), 60)]
    for match in _near(_is_dated(), text, "is dated", 48):
        found += [Found(match.start(), day.end, "is dated", day.iso) for day in _next_day(text, match.end(), 30)]
    if not found:
        title = days_in(text.plain, 0, min(1_500, len(text.plain)))
        found += [Found(day.start, day.end, "on the title page", day.iso) for day in title[:1] if _is_english(text)]
    return tuple(found[:1])


def _near(pattern: re.Pattern[str], text: ContractText, words: str, reach: int) -> Iterator[re.Match[str]]:
    """Matches in `plain` around the words that each has."""
    for start, end in windows(text.lower, _words(words), 48, reach):
        yield from pattern.finditer(text.plain, start, end)


@cache
def _words(words: str) -> re.Pattern[str]:
    return any_of(word.replace("|", " ") for word in words.split())


def _is_english(text: ContractText) -> bool:
    return sum(1 for c in text.plain[:2000] if "\u4e00" <= c <= "\u9fff") < 40


def _next_day(text: ContractText, start: int, reach: int) -> list[Found]:
    days = days_in(text.plain, start, min(len(text.plain), start + reach))[:1]
    return [Found(day.start, day.end, "", day.iso) for day in days]


def _beside_signatures(text: ContractText, parts: Parts) -> tuple[Found, ...]:
    if parts.signatures is None:
        return ()
    found = []
    for match in _date_label().finditer(text.plain, *parts.signatures):
        for day in _next_day(text, match.end(), 24):
            found.append(Found(day.start, day.end, "date beside a signature", day.iso))
    return tuple(found)


def _effective(text: ContractText) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    days = []
    for match in _near(_effective_on(), text, "effective commenc", 48):
        before = text.lower[max(0, match.start() - 120) : match.start()]
        if _own_subject().search(re.split(r"\.\s|\n", before)[-1] + text.lower[slice(*match.span())]):
            for day in _next_day(text, match.end(), 30):
                days.append(Found(match.start(), day.end, "effective on", day.iso))
    named = []
    for match in _named_date().finditer(text.plain):
        near = days_in(text.plain, max(0, match.start() - 60), match.start() + 1)
        named += [Found(day.start, match.end(), 'the "Effective Date"', day.iso) for day in near[-1:]]
    days = named or days
    signing = [
        Found(*match.span(), "effective when signed")
        for match in _near(_effective_when_signed(), text, "effective in|force", 240)
        if not days
    ]
    return tuple(days), tuple(signing)


@cache
def _made_on() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:(?:is |are )?(?:made|entered)(?: and entered)?(?: an entered)?(?: into)?(?:,? and "
        r"(?:is )?effective)?(?: by and between[^.]{0,200})?"
        r"|dated|executed|signed)[\s,]+(?:on|as of|as|of|this|the|to be effective as of|into as of|"
        r"in)*\s{0,2}(?:on |as of |of |this |the )*"
        r"(?=[^.;]{0,40}(?:19|20)\d{2})"
    )


@cache
def _is_dated() -> re.Pattern[str]:
    return re.compile(r"(?i)\bthis (?:agreement|contract|lease) is dated(?: as of)?\s")


@cache
def _date_label() -> re.Pattern[str]:
    return re.compile(r"\b(?:Date|DATE|Dated|Date signed|Signed on)\s?:\s?")


@cache
def _effective_on() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:(?:is|be|become|becomes|made|shall be) effective(?: \w+)? (?:on|as of|from)|"
        r"commenc(?:e|es|ing)(?: on| as of| from)?"
        r"|effective date(?:\"|”)? (?:of this agreement )?(?:is|means|shall mean|shall be)|effective as of)\s"
        r"(?:the |this )?(?:day of |date of )?(?=[^.;,]{0,24}(?:19|20)\d{2}|[A-Z][a-z]{2,8} \d|\d|_|\[)"
    )


@cache
def _own_subject() -> re.Pattern[str]:
    """The contract itself takes effect, and nothing that it speaks of."""
    return re.compile(
        r"\b(?:this|the) (?:[\w-]+ ){0,4}(?:agreement|contract|lease|amendment|term)\b|effective date|"
        r"\bterm\b|agreement\b.{0,12}\Z"
    )


@cache
def _named_date() -> re.Pattern[str]:
    return re.compile(
        r"\((?:the|hereinafter,?(?: the)?|hereinafter referred to as the)?\s?[\"“](?i:effective date|"
        r"commencement date)[\"”]\)"
    )


@cache
def _effective_when_signed() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:(?:effective|in force)\s(?:on|as of|from|upon)|effective date[\"”]?:?\s(?:means?|shall "
        r"mean|is|shall be))\s(?:the\s)?(?:date\s)?"
        r"[^.;]{0,40}?(?:sign(?:ed|ature|ing)|execut(?:ed|ion)|first (?:above )?written|of this agreement)[^.;]{0,40}"
    )
