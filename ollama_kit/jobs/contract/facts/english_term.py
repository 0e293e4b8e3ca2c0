"""How long an English contract runs: the sentence that most looks like its term clause, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from ollama_kit.jobs.contract.facts.found_moments import Found
from ollama_kit.jobs.contract.facts.written_days import days_in
from ollama_kit.jobs.contract.passages import ContractText, sentences_with
from ollama_kit.text.pattern_search import any_of

LEAST_SCORE = 4
"""Below it, a sentence with a length of time in it is about something else than the contract's term."""
REACH = 30
"""Characters behind "until" in which a date begins and ends."""

_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

_WEIGHTS = (
    (
        (
            r"\bterm of (?:this|the) (?:agreement|contract|lease|franchise)\b|\b(?:initial|cooperation) "
            r"term\b.{0,60}(?:shall|is|will)"
        ),
        2,
    ),
    (
        (
            r"\bterm:|\b(?:agreement|contract|lease|term|license|licence)\b.{0,60}\b(?:shall|will|is|"
            r"be)\b.{0,50}?(?:commenc|continu|effective|remain|in force|begin|"
            r"run|start|for a (?:term|period))"
        ),
        2,
    ),
    (
        (
            r"\bterm of\b.{0,60}\b(?:will|shall) be\b|\bthe term shall\b|\bhave a term of\b|\bfor a "
            r"(?:term|period) of\b"
        ),
        2,
    ),
    (
        (
            r"(?:term|continu\w*|effect|force|period|remain|until|be)\b.{0,80}?(?:\d|one|two|three|four|"
            r"five|six|seven|eight|nine|ten|twelve|twenty)\w*[\s)\-]"
            r".{0,12}(?:year|month)"
        ),
        2,
    ),
    (r"\b(?:until|through|ending on|expir\w+ on|terminating|to)\b.{0,30}(?:19|20)\d{2}", 2),
    (r"unless (?:sooner|earlier|otherwise|terminated)|until terminated|earlier terminated", 2),
    (r"\beffective date\b|date of (?:this|the) agreement|date hereof|date first|its execution|of signature", 1),
    (r"\bperpetual\b.{0,40}(?:term|licen)|\bin perpetuity\b|licen[sc]e\b.{0,60}\bperpetual", 4),
    (r"\banniversary of the\b", 2),
    (r"^\W{0,4}(?:if|in the event|upon|either party|after)\b", -3),
    (
        (
            r"\bsurviv|confidential|warrant|audit|\bnon-?compet|\brenewal term\b.{0,20}means|\bfollowing "
            r"(?:the )?(?:termination|expiration)|after (?:the )?termination"
        ),
        -3,
    ),
    (r"\b(?:days?|months?)['’]? (?:prior )?(?:written )?notice\b", -1),
)
"""Patterns of a sentence in lower case, and how much each speaks for its being the clause on the term."""

Running = tuple[tuple[Found, ...], tuple[Found, ...], tuple[Found, ...]]


def find_term(text: ContractText) -> Running:
    """The end, or the event it ends with, and the term, of the sentence that most looks like the term clause."""
    scored = []
    for start, end in sentences_with(text.plain, _about_term(), text.lower, _words()):
        score = _score(text, start, end)
        if score >= LEAST_SCORE:
            scored.append((score, start, end))
    if not scored:
        return (), (), ()
    best = max(score for score, _, _ in scored)
    chosen = next((start, end) for score, start, end in scored if score == best)
    ends: list[Found] = []
    for score, start, end in scored:
        if score == best or (start, end) == chosen:
            ends += _last_days(text, start, end)
    terms = tuple(_lengths(text, *chosen))
    conditions = tuple(_conditions(text, *chosen, terms))
    return tuple(ends), conditions, terms


def _score(text: ContractText, start: int, end: int) -> int:
    sentence = text.lower[start:end]
    score = sum(weight for pattern, weight in _weights() if pattern.search(sentence))
    heading = _term_heading().search(text.lower, max(0, start - 60), start)
    return score + (2 if heading else 0)


def _last_days(text: ContractText, start: int, end: int) -> Iterator[Found]:
    for match in _until().finditer(text.plain, start, end):
        for day in days_in(text.plain, match.end(), min(len(text.plain), match.end() + REACH))[:1]:
            yield Found(start, day.end, "runs until", day.iso)


def _lengths(text: ContractText, start: int, end: int) -> Iterator[Found]:
    """The first length of months or years in the sentence, with what it runs from."""
    for length in text.numbers.terms.within(start, end):
        if length.unit in ("year", "month", "quarter"):
            at, stop = length.start, length.end
            behind = text.lower[stop : stop + 60]
            other = _other_anchor().search(text.lower, start, end) is not None
            own = _own_anchor().search(text.lower, start, end) is not None
            anchored = (own or not other) and (
                _own_anchor().search(behind) is not None or not _other_anchor().search(behind)
            )
            yield Found(at, stop, "term", "", length.count, length.unit, anchored, (start, end))
            return
    for match in _anniversary().finditer(text.lower, start, end):
        count = Fraction(_ORDINALS.index(match["ordinal"]) + 1)
        yield Found(*match.span(), "anniversary", "", count, "year", True, (start, end))
        return


def _conditions(text: ContractText, start: int, end: int, terms: tuple[Found, ...]) -> Iterator[Found]:
    if terms:
        yield Found(start, end, "term that runs from another event")
    else:
        open_end = _open_end().search(text.lower, start, end)
        yield Found(start, end, "runs until it is terminated" if open_end else "the clause on the term")


@cache
def _anniversary() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})\s(?:\(\d{{1,2}}(?:st|nd|rd|th)\)\s)?(?:annual\s)?anniversary"
    )


@cache
def _words() -> re.Pattern[str]:
    return any_of(["term", "expir", "force", "continu", "perpetual", "period of", "duration", "effective"])


@cache
def _about_term() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:term\b|expir|(?<=full )force|continu\w+ (?:in effect|for|until|in force|through)|perpetual|"
        r"period of\b|duration\b|"
        r"(?<=be )effective)"
    )


@cache
def _weights() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(pattern), weight) for pattern, weight in _WEIGHTS)


@cache
def _term_heading() -> re.Pattern[str]:
    return re.compile(r"\bterm\b[^.]{0,30}[.:\n]|\bduration\b|effectiveness")


@cache
def _until() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:until|through|to|till|ending(?: on)?|expir\w+(?: on)?|terminat\w+(?: on)?)\s(?:and "
        r"including\s)?(?:the\s)?(?=[^.;]{0,16}(?:19|20)\d{2})"
    )


@cache
def _own_anchor() -> re.Pattern[str]:
    return re.compile(
        r"effective date|date of (?:this|the) agreement|date hereof|date first|execution|signature|"
        r"becomes? effective|be effective"
    )


@cache
def _other_anchor() -> re.Pattern[str]:
    return re.compile(
        r"(?:following|after|from|upon|of) (?:the )?(?!effective|date of (?:this|the) agree|"
        r"execution)(?:\w+ ){0,3}(?:date|uploaded|launch|delivery|acceptance|completion)"
    )


@cache
def _open_end() -> re.Pattern[str]:
    return re.compile(
        r"until (?:\w+ ){0,2}terminated|perpetual|in perpetuity|unless (?:sooner|earlier|otherwise)? "
        r"?terminated|anniversary"
    )
