"""Reads the provisions of a contract: only in sentences that have a word of the topic, each looked at once a rule."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.fact_values import Detail, Provision
from ollama_kit.jobs.contract.facts.provisions.ending import ENDING
from ollama_kit.jobs.contract.facts.provisions.liability import LIABILITY
from ollama_kit.jobs.contract.facts.provisions.provision_rule import Rule
from ollama_kit.jobs.contract.facts.provisions.renewal import RENEWAL
from ollama_kit.jobs.contract.facts.provisions.secrecy import SECRECY
from ollama_kit.jobs.contract.facts.provisions.trade import TRADE
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.outline import Clause, Outline
from ollama_kit.jobs.contract.topics import PROVISIONS, TOPICS
from ollama_kit.text.pattern_search import any_of

RULES: tuple[Rule, ...] = (*RENEWAL, *TRADE, *LIABILITY, *SECRECY, *ENDING)
LONGEST = 1_000
"""Characters of a title that is looked at; a longer one is none."""
CELLS = 3
"""Cells that make a line a row of a table."""


def read_provisions(text: ContractText, outline: Outline) -> tuple[Provision, ...]:
    """Every sentence that provides something on one of PROVISIONS, by topic and then in the order of the text."""
    touched = _touched(text)
    found: dict[tuple[str, int], Provision] = {}
    titles: dict[int, tuple[str, str]] = {}
    sentences: dict[int, bool] = {}
    tabs = "\t" in text.document.text
    for rule in RULES:
        numbers = sorted({number for word in rule.words for number in touched.get(word, ())})
        for number in numbers:
            start, end = text.sentences[number]
            if number not in sentences:
                no_sentence = _is_no_sentence(text.lower, start, end) or (tabs and _is_row(text, start, end))
                sentences[number] = not no_sentence
            if sentences[number] and (rule.topic, number) not in found:
                made = _provision(text, outline, rule, (start, end), titles)
                if made is not None:
                    found[rule.topic, number] = made
    order = {topic: at for at, topic in enumerate(PROVISIONS)}
    return tuple(found[key] for key in sorted(found, key=lambda key: (order[key[0]], key[1])))


def _touched(text: ContractText) -> dict[str, list[int]]:
    """For each word of the rules the sentences it stands in, by number."""
    starts = [start for start, _ in text.sentences]
    pattern, parts = _words()
    found: dict[str, list[int]] = {}
    for match in pattern.finditer(text.lower):
        number = bisect_right(starts, match.start()) - 1
        for word in parts[match[0]]:
            found.setdefault(word, []).append(number)
    return found


@cache
def _words() -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """A pattern for the words of all rules, and for each the words that it holds: a trade secret is a secret."""
    words = list(dict.fromkeys(word for rule in RULES for word in rule.words))
    return any_of(words), {word: tuple(part for part in words if part in word) for word in words}


def _provision(
    text: ContractText, outline: Outline, rule: Rule, span: tuple[int, int], titles: dict[int, tuple[str, str]]
) -> Provision | None:
    by_itself = rule.applies(text.lower, *span)
    if not by_itself and not rule.titled:
        return None
    number, title = _clause(outline, text.original(_first(text.plain, *span)), titles)
    if by_itself and rule.elsewhere_titled(title.lower()):
        return None
    if not by_itself and not (TOPICS[rule.topic].is_titled(title.lower()) and rule.applies_titled(text.lower, *span)):
        return None
    details = tuple(
        Detail(name, value, text.evidence(first, last)) for name, value, first, last in rule.read(text, *span)
    )
    if not details:
        return None
    return Provision(rule.topic, number, title, details, text.evidence(*span))


def _first(plain: str, start: int, end: int) -> int:
    """The first character of the sentence that is no blank."""
    return end - len(plain[start:end].lstrip()) if plain[start:end].strip() else start


def _clause(outline: Outline, offset: int, titles: dict[int, tuple[str, str]]) -> tuple[str, str]:
    """The number of the innermost clause there, and the title of the innermost that has one."""
    clause = outline.at(offset)
    if clause is None:
        return "", ""
    if clause.start not in titles:
        titled = next((one.title for one in _up(outline, clause) if one.title), "")
        titles[clause.start] = clause.number, titled[:LONGEST]
    return titles[clause.start]


def _up(outline: Outline, clause: Clause) -> Iterator[Clause]:
    yield clause
    while clause.parent >= 0:
        clause = outline.clauses[clause.parent]
        yield clause


def _is_no_sentence(lower: str, start: int, end: int) -> bool:
    """Whether it is a heading, a line of a table or of a table of contents, or says what a word means."""
    sentence = lower[start:end]
    if sentence.count("|") >= 3 or _contents().search(sentence) or len(_page_numbers().findall(sentence)) >= 3:
        return True
    if any(word in sentence for word in _MEANS) and _meaning().match(sentence):
        return True
    return _chinese().search(sentence) is None and _verb().search(sentence) is None


def _is_row(text: ContractText, start: int, end: int) -> bool:
    """Whether it is a row of cells, in none of which a sentence stands."""
    if _clause_mark().search(text.folded, start, end) or _chinese_verb().search(text.folded, start, end):
        return False
    return text.document.text.count("\t", *text.map.span(start, end)) >= CELLS - 1


@cache
def _clause_mark() -> re.Pattern[str]:
    return re.compile(r"[,;](?!\d)|。|\.\s")


@cache
def _chinese_verb() -> re.Pattern[str]:
    return re.compile(r"应|须|不得|负责|承担|可以|有权|(?i:\b(?:shall|will|must|may)\b)")


_MEANS = ("mean", "refer", "includ", "defined", "指", "含义")


@cache
def _contents() -> re.Pattern[str]:
    return re.compile(r"(?:\.{4,}|…{2,}|\t)\s?\d{0,4}\s*\Z")


@cache
def _page_numbers() -> re.Pattern[str]:
    """Behind one heading and before the next, where a table of contents was run together."""
    return re.compile(r"\s\d{1,3}\s\d{1,2}\.\d{1,2}\s")


@cache
def _meaning() -> re.Pattern[str]:
    return re.compile(
        r"\W{0,4}(?:\(?\w{1,4}\)\s|[\d.]{1,8}\s{0,2})?(?:for\s(?:the\s)?purposes?\sof[^,]{1,40},\s)?(?:[\w "
        r"]{1,40}:\s)?(?:the\s)?"
        r"[\"“「][^\"”」\n]{1,60}[\"”」],?\s?(?:\([^()\n]{1,60}\)\s?)?(?:with\s[^,]{1,40},\s)?"
        r"(?:(?:shall\s|will\s)?(?:means?|refers?|includes?|ha(?:s|ve)\sthe\smeaning)\b|is\sdefined|是?指|系指"
        r"|的?含义)"
        r"|[^.:;\n]{0,4}[\d.()]{0,8}\s?[\w -]{1,40}:?\smeans\s"
        r"|[^\n。]{1,16}(?:是指|系指|指的是)"
    )


@cache
def _chinese() -> re.Pattern[str]:
    return re.compile(r"[\u4e00-\u9fff]")


@cache
def _verb() -> re.Pattern[str]:
    """What an English sentence has and a heading has not."""
    return re.compile(
        r"\b(?:shall|will|may|must|can|is|are|was|be|has|have|does|do|not|hereby|agrees?|grants?|assigns?|retains?"
        r"|owns?|"
        r"warrants?|represents?|exceeds?|survives?|renews?|terminates?|passes|acknowledges?|covenants?|undertakes?"
        r"|pays?|bears?|continues?|remains?|keeps?|lasts?|applies|begins?|belongs?)\b"
    )
