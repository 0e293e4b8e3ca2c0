"""Wording that favors one side, binds for longer than it seems, or speaks to a machine instead of the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.passages import ContractText, sentence_around
from ollama_kit.text.pattern_search import any_of, matches_near

REACH = 140
"""Characters beside a word in which what it makes one-sided stands."""
MOST_EACH = 5
"""Findings of one rule: a long contract says the same in many places."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """`words` is the pattern for text in lower case; each match holds one of `near` (| stands for a blank)."""

    name: str
    message: str
    message_zh: str
    near: str
    words: str


_RULES = (
    _Rule(
        "unilateral_change",
        "one side alone may change the contract or its price",
        "一方可单方变更合同或价格",
        "单方 随时 自行 at|any|time sole|discretion without|notice",
        r"(?:甲方|乙方|出租方|平台|公司)(?:有权)?(?:单方|随时|自行)[^,。;\n]{0,12}(?:变更|调整|修改)"
        r"|(?<!each party )(?<!either party )(?<!parties )(?:may|reserves the right to)"
        r"[^.;\n]{0,30}(?:modify|amend|change|increase)(?! its\b| their\b)[^.;\n]{0,40}(?:at any time"
        r"|sole discretion|without notice)",
    ),
    _Rule(
        "sole_interpretation",
        "the right to interpret the contract is one side's",
        "解释权归一方所有",
        "解释权 sole|judge sole|and|final",
        r"最终解释权|解释权归|sole (?:judge|and final interpretation)",
    ),
    _Rule(
        "sole_discretion",
        "one side decides at its discretion",
        "由一方自行决定",
        "单方 自行决定 discretion",
        r"sole (?:and absolute )?discretion|单方(?:面)?决定|自行决定",
    ),
    _Rule(
        "unlimited_liability",
        "liability has no limit, or one side has none",
        "责任没有上限，或一方不承担责任",
        "承担 概不负责 liab",
        r"承担(?:一切|全部|无限)[^,。;\n]{0,8}(?:责任|后果|损失)|不承担任何(?:责任|法律责任)|概不负责"
        r"|unlimited liability|"
        r"shall (?:not|have no) (?:be )?liab(?:le|ility)[^.;\n]{0,40}(?:any|under any circumstances)",
    ),
    _Rule(
        "waiver",
        "a right is waived in advance",
        "预先放弃权利",
        "放弃 waive",
        r"放弃[^,。;\n]{0,16}(?:权利|抗辩|诉讼|追索)|waives? (?:any|all|its) (?:right|claim|defen[cs]e)",
    ),
)


def find_wording(text: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every such wording with its sentence; and hidden text, which stands in the file and not on the paper."""
    for rule, pattern, near in _compiled():
        for match in islice(matches_near(pattern, text.lower, near, REACH, REACH), MOST_EACH):
            sentence = text.evidence(*sentence_around(text.folded, *match.span()))
            yield Risk(rule.name, "one-sided", rule.message, rule.message_zh, (sentence,))
    for hidden in text.document.hidden:
        orders = " that gives orders to a model" if hidden.orders else ""
        shown = " ".join(hidden.text.split())[:120]
        orders_zh = "，内容是对模型的指令" if hidden.orders else ""
        message = f"text nobody sees ({hidden.rule}){orders}: {shown}"
        yield Risk("hidden_text", "hidden", message, f"隐藏文字（{hidden.rule}）{orders_zh}：{shown}")


@cache
def _compiled() -> tuple[tuple[_Rule, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (rule, re.compile(rule.words), any_of(word.replace("|", " ") for word in rule.near.split())) for rule in _RULES
    )
