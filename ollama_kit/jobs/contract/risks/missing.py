"""Clauses that a contract should have, and blanks that were never filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.passages import ContractText

MOST_BLANKS = 20

_CLAUSES = {
    "liability": ("liability for breach", r"违约责任|违约金|赔偿|\bliab\w+|indemni\w+|\bdamages\b|\bbreach\b"),
    "termination": ("termination", r"解除|终止|terminat\w+"),
    "confidentiality": ("confidentiality", r"保密|商业秘密|confidential\w*|non-?disclosure"),
    "force_majeure": (
        "force majeure",
        r"不可抗力|force majeure|acts? of god|beyond (?:its|the) (?:reasonable )?control",
    ),
    "payment": ("payment", r"付款|支付|价款|租金|费用|\bpay(?:ment|able|s)?\b|\bfees?\b|\brent\b|compensation"),
    "notices": ("notices", r"通知|送达|\bnotices?\b"),
}


def find_missing(text: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every clause that nothing in the text speaks of, every fact that is absent, and every blank."""
    for name, (called, words) in _CLAUSES.items():
        if not re.search(words, text.lower):
            yield Risk(f"missing_{name}", "missing", f"nothing in the contract speaks of {called}")
    if facts.dispute_forum.state == "absent":
        yield Risk("missing_dispute", "missing", "no court and no arbitration commission is named for disputes")
    if facts.governing_law.state == "absent":
        yield Risk("missing_law", "missing", "no governing law is named")
    if facts.term.state == "absent" and facts.end_date.state == "absent":
        yield Risk("missing_term", "missing", "neither a term nor an end date is given")
    if len(facts.parties) < 2:
        yield Risk("missing_party", "missing", f"{len(facts.parties)} of at least two parties could be told")
    if facts.signing_date.state == "absent":
        yield Risk("missing_date", "missing", "no date of signing is given")
    for party in facts.parties:
        if party.seal == "blank" and party.seal_evidence:
            yield Risk("unsigned", "missing", f"{party.name} has not signed", (party.seal_evidence,))
    for _, match in zip(range(MOST_BLANKS), _blank().finditer(text.folded), strict=False):
        # The words around it on its line say what is missing.
        start = max(text.plain.rfind("\n", 0, match.start()) + 1, match.start() - 16)
        line_end = text.plain.find("\n", match.end())
        end = min(line_end if line_end >= 0 else len(text.plain), match.end() + 8)
        yield Risk("blank", "missing", "a blank that is not filled in", (text.evidence(start, end),))


@cache
def _blank() -> re.Pattern[str]:
    return re.compile(r"_{3,}|\[\s?[•●]\s?\]|\[TBD\]")
