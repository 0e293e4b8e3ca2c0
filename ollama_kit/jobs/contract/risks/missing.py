"""Clauses that a contract should have, and blanks that were never filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.passages import ContractText

MOST_BLANKS = 20

_CLAUSES = {
    "liability": (
        "liability for breach",
        "违约责任",
        r"违约责任|违约金|赔偿|\bliab\w+|indemni\w+|\bdamages\b|\bbreach\b",
    ),
    "termination": ("termination", "合同的解除与终止", r"解除|终止|terminat\w+"),
    "confidentiality": ("confidentiality", "保密", r"保密|商业秘密|confidential\w*|non-?disclosure"),
    "force_majeure": (
        "force majeure",
        "不可抗力",
        r"不可抗力|force majeure|acts? of god|beyond (?:its|the) (?:reasonable )?control",
    ),
    "payment": ("payment", "付款", r"付款|支付|价款|租金|费用|\bpay(?:ment|able|s)?\b|\bfees?\b|\brent\b|compensation"),
    "notices": ("notices", "通知与送达", r"通知|送达|\bnotices?\b"),
}


def find_missing(text: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every clause that nothing in the text speaks of, every fact that is absent, and every blank."""
    for name, (called, called_zh, words) in _CLAUSES.items():
        if not re.search(words, text.lower):
            yield Risk(
                f"missing_{name}",
                "missing",
                f"nothing in the contract speaks of {called}",
                f"合同未提及{called_zh}",
            )
    yield from _absent(facts)
    for party in facts.parties:
        if party.seal == "blank" and party.seal_evidence:
            proof = (party.seal_evidence,)
            yield Risk("unsigned", "missing", f"{party.name} has not signed", f"{party.name}尚未签章", proof)
    for _, match in zip(range(MOST_BLANKS), _blank().finditer(text.folded), strict=False):
        # The words around it on its line say what is missing.
        start = max(text.plain.rfind("\n", 0, match.start()) + 1, match.start() - 16)
        line_end = text.plain.find("\n", match.end())
        end = min(line_end if line_end >= 0 else len(text.plain), match.end() + 8)
        proof = (text.evidence(start, end),)
        yield Risk("blank", "missing", "a blank that is not filled in", "空白处未填写", proof)


def _absent(facts: ContractFacts) -> Iterator[Risk]:
    """Every fact that is absent."""
    absent = (
        (
            facts.dispute_forum.state == "absent",
            "missing_dispute",
            "no court and no arbitration commission is named for disputes",
            "未约定争议由哪个法院或仲裁机构处理",
        ),
        (facts.governing_law.state == "absent", "missing_law", "no governing law is named", "未约定适用法律"),
        (
            facts.term.state == facts.end_date.state == "absent",
            "missing_term",
            "neither a term nor an end date is given",
            "未约定期限，也未约定终止日期",
        ),
        (
            len(facts.parties) < 2,
            "missing_party",
            f"{len(facts.parties)} of at least two parties could be told",
            f"至少应有两方当事人，只识别出{len(facts.parties)}方",
        ),
        (facts.signing_date.state == "absent", "missing_date", "no date of signing is given", "没有签订日期"),
    )
    for is_absent, rule, message, message_zh in absent:
        if is_absent:
            yield Risk(rule, "missing", message, message_zh)


@cache
def _blank() -> re.Pattern[str]:
    return re.compile(r"_{3,}|\[\s?[•●]\s?\]|\[TBD\]")
