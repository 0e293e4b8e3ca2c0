"""The parties of an English contract: by and between X, Inc. ("Buyer"), a Delaware corporation, and Y."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.chinese_parties import Named
from ollama_kit.jobs.contract.passages import sentence_boundary

LONGEST_PREAMBLE = 2_500
MOST_PLACES = 12
"""Places with the word "between" at which the parties are looked for; they stand near the beginning."""

_SUFFIX = (
    r"(?:Inc|INC|Incorporated|INCORPORATED|LLC|L\.L\.C|LLP|L\.P|LP|Ltd|LTD|Limited|LIMITED|Corp|CORP|Corporation|"
    r"CORPORATION|Company|COMPANY|Co|CO|GmbH|AG|S\.A|SA|N\.V|B\.V|BV|PLC|plc|Pte|Trust|TRUST|N\.A|Partnership|Bank|"
    r"University|Foundation|Association|Group|Holdings)\b\.?"
)


def find_in_preamble(plain: str) -> tuple[Named, ...]:
    """The parties behind the first "between" that lists two with their short names, else behind the first that lists
    two; empty where none does."""
    best: tuple[Named, ...] = ()
    for _, match in zip(range(MOST_PLACES), _between().finditer(plain, 0, max(8_000, len(plain) // 6)), strict=False):
        found = tuple(_listed(plain, match.end()))
        if len(found) >= 2 and (not best or all(one.roles for one in found)):
            best = found
            if all(one.roles for one in found):
                break
    return best


def _listed(plain: str, start: int) -> Iterator[Named]:
    """Each party of the list that begins at `start`."""
    stop = _stop().search(plain, start, start + LONGEST_PREAMBLE)
    end = stop.start() if stop else min(len(plain), start + LONGEST_PREAMBLE)
    aliases = [match for match in _alias().finditer(plain, start, end) if _quoted_roles(match[0])]
    if len(aliases) < 2 or _between().search(plain, start, aliases[0].start()):
        # Without short names, or a title page: there the parties are listed behind a later "between".
        yield from _plain_pair(plain, start, end)
        return
    at, named = start, 0
    for alias in aliases:
        if named >= 2 and _is_over(plain, at, alias.start(), named + 1):
            return
        name = _first_name(plain, at, alias.start())
        if name is not None:
            named += 1
            yield Named(_quoted_roles(alias[0]), *name, "preamble")
        at = alias.end()


def _is_over(plain: str, start: int, end: int, number: int) -> bool:
    """Whether the list of parties ends between two short names: its sentence does, and no item of that number follows.

    What a later sentence calls something, (the "Initial Term"), is no party."""
    stop = sentence_boundary().search(plain, start, end) or _paragraph().search(plain, start, end)
    return stop is not None and re.compile(rf"\W{{0,3}}{number}\W").match(plain, stop.end()) is None


@cache
def _paragraph() -> re.Pattern[str]:
    """A paragraph that ended with a full stop."""
    return re.compile(r"[.\u201d\")]\n(?!\W*(?:and|AND|And)\b)")


def _first_name(plain: str, start: int, end: int) -> tuple[int, int] | None:
    """The name in `[start:end]`, which runs from behind the party before to the short name: what begins with a
    capital behind the last "and" or "between", up to a comma that no "Inc." follows."""
    joints = [match.end() for match in _and().finditer(plain, start, end)]
    begin = next((at for at in joints if _looks_named(plain, at, end)), joints[0] if joints else start)
    name = _name().search(plain, begin, end)
    if name is None or _is_no_name().match(name[0]):
        return None
    return name.start(), _without_tail(plain, *name.span())


@cache
def _is_no_name() -> re.Pattern[str]:
    """What stands in forms and lists where a name would: Company Name, 1. For, Employee of."""
    return re.compile(
        r"(?i:(?:company|employee|your|the) ?name\b|\d+\b(?! ?[A-Z]\w+ )|confidential information)"
        r"|[A-Z]\w* (?:of|the)\b\W*\Z"
    )


def _looks_named(plain: str, start: int, end: int) -> bool:
    found = _name().match(plain, start, end)
    return found is not None and (_suffix_at_end().search(found[0]) is not None or found.end() >= end - 2)


def _without_tail(plain: str, start: int, end: int) -> int:
    return start + len(plain[start:end].rstrip(" ,;("))


def _plain_pair(plain: str, start: int, end: int) -> Iterator[Named]:
    """Two companies without short names: between A, Inc. and B LLC."""
    pair = _pair().match(plain, start, end)
    if pair is not None:
        yield Named((), *pair.span("first"), "preamble")
        yield Named((), *pair.span("second"), "preamble")


@cache
def _between() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:between|BETWEEN|Between|among|AMONG|by the following parties)\b(?:\s(?:and among|the "
        r"following\s\w+\sparties))?"
    )


@cache
def _stop() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:WHEREAS|Whereas|WITNESSETH|RECITALS|NOW,? THEREFORE|Now,? Therefore|BACKGROUND|TABLE OF CONTENTS)\b"
    )


@cache
def _alias() -> re.Pattern[str]:
    return re.compile(r"\((?=[^()]{0,80}[\"“])[^()]{1,160}\)")


def _quoted_roles(alias: str) -> tuple[str, ...]:
    """The short names in an alias; none for what is no party: "Agreement", "Effective Date", "Parties"."""
    names = [name.strip(" ,.;") for name in re.findall(r"[\"“]([^\"“”]{1,60})[\"”]", alias)]
    return () if any(_no_party().fullmatch(name) for name in names) else tuple(names)


@cache
def _no_party() -> re.Pattern[str]:
    return re.compile(
        r"(?i:(?:this |the )?(?:[\w-]+ )?agreement|(?:effective|commencement|execution|closing|signing) "
        r"date|contract|party|parties|prc|"
        r"lease|website|services?|products?|territory|act|amendment|plan|date|site|.{0,12}date|"
        r"(?:\w+ ){0,2}(?:term|period|property|premises|fees?|price|rent|deposit|programs?|data|information|marks?|"
        r"purpose|products?|services?|territory))"
    )


@cache
def _and() -> re.Pattern[str]:
    return re.compile(r"(?:\b(?:and|AND|And|between|BETWEEN)\b|:)\s+(?=[A-Z0-9\"])|^\s?(?=[A-Z0-9])", re.MULTILINE)


@cache
def _name() -> re.Pattern[str]:
    word = r"(?:[A-Z0-9&][\w.&'’\-]*|of|the|de|&|\([A-Z][\w\s.]{1,30}\))"
    return re.compile(rf"[A-Z0-9][\w.&'’\-]*(?:\s{word})*(?:,\s{_SUFFIX}(?:\s{_SUFFIX})?)*")


@cache
def _suffix_at_end() -> re.Pattern[str]:
    return re.compile(rf"{_SUFFIX}\Z")


@cache
def _pair() -> re.Pattern[str]:
    words = rf"(?:[A-Z0-9][\w.&'’\-]*\s){{1,8}}?(?:\([A-Z]\w+\)\s)?{_SUFFIX}(?:,?\s{_SUFFIX})?"
    return re.compile(
        rf"\W{{1,4}}(?P<first>{words}|"
        rf"(?:[A-Z0-9][\w.&'’\-]*,?\s){{1,6}}?{_SUFFIX})(?:[^\n]{{0,200}}?)\s(?:and|AND|"
        rf"And)\s(?P<second>{words})"
    )
