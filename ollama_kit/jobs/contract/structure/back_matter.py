"""The parts of a contract beside its clauses: attachments and the page where it is signed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.clause_numbers import HAN
from ollama_kit.text.pattern_search import any_of, matches_near, windows


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment at `[start:end]` of the document, `number` as written: 附件一, Exhibit A."""

    number: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts of a contract stand, in characters of `ContractText.plain`.

    `body` is where the clauses end; `signatures` is the span of the signature block, None where there is none."""

    body: int
    attachments: tuple[Attachment, ...]
    signatures: tuple[int, int] | None


LONGEST_HEADING = 90
LONGEST_BLOCK = 6_000
"""Characters of a signature block; two parties with all their particulars take a fifth of it."""


def read_parts(text: ContractText) -> Parts:
    """The attachments and the signature block. A heading counts as that of an attachment on a line of its own, and
    not in the first tenth of the text: there it is the number under which the contract itself was filed."""
    near = matches_near(_attachment(), text.folded, _attachment_words(), 8, LONGEST_HEADING + 24)
    headings = [match for match in near if match.start() > len(text.plain) // 10]
    signatures = _signatures(text, headings)
    starts = [match.start("number") for match in headings]
    stops = [*starts[1:], len(text.plain)] if starts else []
    made = []
    for match, start, stop in zip(headings, starts, stops, strict=True):
        if signatures and start < signatures[0] < stop:
            stop = signatures[0]
        first, last = text.map.span(start, stop)
        title = text.plain[match.start("title") : match.end("title")].strip(" :：-—\"'")
        made.append(Attachment(text.plain[slice(*match.span("number"))].strip(), title, first, last))
    body = min([*starts, *([signatures[0]] if signatures else []), len(text.plain)])
    return Parts(body, tuple(made), signatures)


def _signatures(text: ContractText, headings: list[re.Match[str]]) -> tuple[int, int] | None:
    """The last place where the parties sign, and what follows up to the next attachment."""
    found = None
    last = 0
    folded = text.folded
    places = windows(text.lower, _signing_words(), 64, 64)
    for match in (match for start, end in places for match in _signing().finditer(folded, start, end)):
        if found is None or match.start() - last > LONGEST_BLOCK // 2:
            found = match.start()
        last = match.start()
    if found is None or found < len(folded) // 4:
        return None
    after = next((match.start() for match in headings if match.start() > found), len(folded))
    return found, min(after, found + LONGEST_BLOCK)


@cache
def _attachment_words() -> re.Pattern[str]:
    english = ("Exhibit", "Schedule", "Annex", "Appendix", "Attachment")
    return any_of(["附件", "附录", "附表", *english, *map(str.upper, english)])


@cache
def _signing_words() -> re.Pattern[str]:
    """Of which one stands where parties sign, in lower case."""
    chinese = ("签", "盖章", "公章", "以下无正文", "___")
    return any_of([*chinese, "witness whereof", "signature page", "signed by", "/s/", "by:"])


@cache
def _attachment() -> re.Pattern[str]:
    number = rf"附[件录表][ ]?(?:[{HAN}]{{1,3}}|\d{{1,2}}|[A-Z])?(?![^\n]{{0,40}}[。;,])"
    english = r"(?:EXHIBIT|Exhibit|SCHEDULE|Schedule|ANNEX|Annex|APPENDIX|Appendix|ATTACHMENT|Attachment)\s[\"“]?"
    return re.compile(
        rf"^\W{{0,4}}(?P<number>{number}|{english}(?:[A-Z]{{1,2}}|\d{{1,2}}(?:\.\d)?|[IVX]{{1,4}})[\"”]?(?![\w.]))"
        rf"(?P<title>[^\n.]{{0,{LONGEST_HEADING}}})$",
        re.MULTILINE,
    )


@cache
def _signing() -> re.Pattern[str]:
    sides = "[甲乙丙丁]方|买方|卖方|出租方|承租方|委托方|受托方|供方|需方|发包人|承包人"
    return re.compile(
        rf"^\W{{0,4}}(?:(?:{sides})(?:\([^()\n]{{1,6}}\))?\s?(?:\(?(?:盖章|签字|签章|公章|签名|签署)[^()\n]{{0,12}}\)?|:\s?_{{3,}})"
        r"|签\s?署\s?页|签\s?字\s?页|\(?以下无正文|签署\s?[:/])"
        r"|IN WITNESS WHEREOF|in witness whereof|In Witness Whereof|^\W{0,4}(?i:signature page|signed by\b|/s/)"
        r"|^By:\s?(?:_|/s/)",
        re.MULTILINE,
    )
