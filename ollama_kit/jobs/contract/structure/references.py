"""Cross-references (第三条第（二）项, Section 3.2(a), 附件一) and the clauses or attachments that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.jobs.contract.structure.back_matter import Attachment
from ollama_kit.jobs.contract.structure.clause_numbers import HAN, NUMBER_WORDS, ordinal, tried
from ollama_kit.jobs.contract.structure.outline import Clause, Outline
from ollama_kit.text.pattern_search import any_of, matches_near


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference and the place in the outline of the clause it means; -1 where there is no such clause.

    `attachment` is the place among the attachments, -1 likewise. `exact`: the whole of it was found, not only the
    clause around it. `beyond`: of that clause the parts are numbered, and this number is past the last of them."""

    evidence: Evidence
    clause: int = -1
    attachment: int = -1
    exact: bool = False
    beyond: bool = False

    @property
    def resolved(self) -> bool:
        return (self.clause >= 0 or self.attachment >= 0) and not self.beyond


def read_references(text: ContractText, outline: Outline, attachments: Sequence[Attachment]) -> tuple[Reference, ...]:
    """Every reference to a part of this contract, in order; those to laws and to other contracts are left out."""
    headings = {clause.start for clause in outline.clauses} | {one.start for one in attachments}
    keys = _keys(outline)
    last = _last_parts(keys)
    written = _Written(text)
    letters = {_bare(one.number): at for at, one in reversed(list(enumerate(attachments)))}
    found = []
    for match in matches_near(_reference(), text.folded, _words(), 0, 64):
        if text.original(match.start()) in headings or _is_elsewhere(text.folded, match):
            continue
        evidence = text.evidence(*match.span())
        if match["attachment"]:
            found.append(Reference(evidence, attachment=letters.get(_bare(match["attachment"]), -1), exact=True))
        else:
            clause, exact = _resolved(_steps(match), keys)
            decimals = _numbers(match["cn"] or match["en"])
            beyond = not exact and _is_beyond(decimals, keys, last) and decimals not in written.numbers
            found.append(Reference(evidence, clause, exact=exact, beyond=beyond))
    return tuple(found)


Key = tuple[str, ...]


def _keys(outline: Outline) -> dict[Key, int]:
    """Each clause by the figures of its path, counted from the first level that is no chapter; the first one wins."""
    keys: dict[Key, int] = {}
    own: list[Key] = []
    for at, clause in enumerate(outline.clauses):
        above = own[clause.parent] if clause.parent >= 0 else ()
        own.append(_key(clause, above))
        keys.setdefault(own[-1], at)
    for at, clause in enumerate(outline.clauses):
        if clause.kind == "chapter":
            keys.setdefault(("chapter", *_numbers(clause.number)), at)
    return keys


def _key(clause: Clause, above: Key) -> Key:
    numbers = _numbers(clause.number)
    if clause.kind == "chapter":
        return numbers
    if clause.kind == "article" or (clause.kind == "decimal" and len(numbers) > 1):
        return numbers
    return (*above, *numbers)


def _numbers(number: str) -> Key:
    """The figures in a number as written: 第十二条 is 12, (a) is a, 1.2 is 1 and 2."""
    found = []
    for piece in _pieces().findall(number):
        value = ordinal(piece) if len(piece) > 1 or not piece.isascii() or piece.isdigit() else None
        found.append(str(value) if value is not None else piece.lower())
    return tuple(found)


@cache
def _pieces() -> re.Pattern[str]:
    words = "|".join(NUMBER_WORDS)
    return re.compile(rf"\d+|[{HAN}]+|[IVXLC]+\b|[ivx]+\b|\b[A-Za-z]\b|(?i:\b(?:{words})\b)")


def _steps(match: re.Match[str]) -> Key:
    return _numbers(match["cn"] or match["en"]) + _numbers(match["cn_parts"] or match["en_parts"] or "")


def _resolved(steps: Key, keys: dict[Key, int]) -> tuple[int, bool]:
    """The clause of the longest beginning of `steps` that there is, and whether that is all of it."""
    for length in range(len(steps), 0, -1):
        if steps[:length] in keys:
            return keys[steps[:length]], length == len(steps)
    return -1, False


@dataclass(frozen=True)
class _Written:
    """The numbers with a point that stand in the text and are no references, read when first asked for: a number that
    the outline did not see, in a table or behind a heading, is not missing."""

    text: ContractText

    @cached_property
    def numbers(self) -> frozenset[Key]:
        return frozenset(
            tuple(str(int(piece)) for piece in match[0].split("."))
            for match in tried(_decimals(), self.text.folded, _decimal_places(self.text.folded))
            if not _refers().search(self.text.folded, max(0, match.start() - 12), match.start())
        )


def _last_parts(keys: dict[Key, int]) -> dict[Key, int]:
    """For each clause the highest number of its parts that are numbered in decimals below it: 4 for 12 with 12.4."""
    last: dict[Key, int] = {}
    for key in keys:
        if len(key) > 1 and key[-1].isdigit():
            last[key[:-1]] = max(last.get(key[:-1], 0), int(key[-1]))
    return last


def _is_beyond(decimals: Key, keys: dict[Key, int], last: dict[Key, int]) -> bool:
    """Whether a part is meant that is past the last one of a clause of which the first is there. A clause whose parts
    the outline did not see at all says nothing, and neither does a gap between them."""
    for length in range(len(decimals), 1, -1):
        above = decimals[: length - 1]
        if above in last and decimals[length - 1].isdigit():
            return (*above, "1") in keys and int(decimals[length - 1]) > last[above]
    return False


def _decimal_places(folded: str) -> Iterator[int]:
    """Where figures with a point between them begin."""
    for point in _point().finditer(folded):
        head = folded[max(0, point.start() - 3) : point.start()]
        yield point.start() - len(head) + len(head.rstrip("0123456789"))


@cache
def _point() -> re.Pattern[str]:
    return re.compile(r"\.\d(?<=\d\.\d)")  # begins with a point, which lets `re` skip to it


@cache
def _decimals() -> re.Pattern[str]:
    return re.compile(r"\d{1,3}(?:\.\d{1,3}){1,4}(?!\d)")


@cache
def _refers() -> re.Pattern[str]:
    """Before the number of a reference."""
    english = r"(?i:(?:sections?|articles?|clauses?|paragraphs?|and|or|to|through)\s?)"
    return re.compile(rf"(?:{english}|[第、,至和或及与]\s?)\Z")


def _bare(number: str) -> str:
    return "".join(_numbers(re.sub(r"(?i)exhibit|schedule|annex|appendix|attachment", " ", number)))


def _is_elsewhere(folded: str, match: re.Match[str]) -> bool:
    """Whether a law or another document is meant: 《民法典》第五百条, Section 409A of the Code, Exhibit 10.1."""
    before = folded[max(0, match.start() - 4) : match.start()]
    if "》" in before or before.rstrip().endswith(("法", "条例", "规定")):
        return True
    return _other().match(folded, match.end()) is not None


@cache
def _other() -> re.Pattern[str]:
    return re.compile(
        r"\s?(?:of|to|under)\s(?:the\s|that\s|such\s)?(?:[A-Z][\w.]*\s){0,5}"
        r"(?:Act|Code|Law|Laws|Rules?|Regulations?|Convention|Treaty|[A-Z]\w+ Agreement)\b"
    )


@cache
def _words() -> re.Pattern[str]:
    heads = ("Section", "Article", "Clause", "Paragraph", "SECTION", "ARTICLE", "section", "clause")
    attached = ("EXHIBIT", "SCHEDULE", "Exhibit", "Schedule", "Annex", "Appendix", "Attachment")
    return any_of(["第", "附", *heads, *attached])


@cache
def _reference() -> re.Pattern[str]:
    part = rf"(?:\s?\([a-zA-Z0-9{HAN}]{{1,4}}\)|第?\s?\(?[{HAN}\d]{{1,3}}\)?[款项])"
    return re.compile(
        rf"第\s?(?P<cn>[{HAN}\d]{{1,5}}(?=\s?条)|\d{{1,3}}(?:\.\d{{1,3}}){{1,4}}(?=\s?[条款项]))\s?[条款项](?P<cn_parts>{part}{{0,3}})"
        rf"|(?:Section|Article|Clause|Paragraph|SECTION|ARTICLE|section|clause)s?\s"
        rf"(?P<en>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}(?![A-Za-z\d])|[IVXLC]{{1,6}}\b)(?P<en_parts>{part}{{0,3}})"
        rf"|(?P<attachment>附[件录表]\s?(?:[{HAN}]{{1,3}}|\d{{1,2}})"
        r"|(?:Exhibit|Schedule|Annex|Appendix|Attachment|EXHIBIT|SCHEDULE)\s[\"“]?(?:[A-Z]\b|\d{1,2}\b(?!\.\d)))"
    )
