"""What the provisions of a contract give to one side alone, or let go on by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.facts.fact_values import Provision
from ollama_kit.jobs.contract.passages import ContractText

MOST_EACH = 5
"""Findings of one rule: a long contract says the same in many places."""


def find_provided(_: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every end without a reason that only one side may choose, and every renewal that needs nobody."""
    message, message_zh = "one side alone may end the contract at any time", "一方可随时单方解除合同"
    for one in islice(_unilateral(facts), MOST_EACH):
        yield Risk("unilateral_termination", "one-sided", message, message_zh, (one.evidence,))
    message, message_zh = "the contract goes on by itself unless notice is given in time", "不及时通知，合同将自动续期"
    for one in islice((one for one in facts.provisions if _is(one, "renewal", "automatic")), MOST_EACH):
        yield Risk("automatic_renewal", "one-sided", message, message_zh, (one.evidence,))


def _unilateral(facts: ContractFacts) -> Iterator[Provision]:
    """The ends without a reason that are one side's, where no other side has the same."""
    found = [(one, _sides(one)) for one in facts.provisions if _is(one, "termination", "convenience")]
    sides = {side for _, named in found for side in named}
    if len(sides) == 1 and not any(_both().search(side) for side in sides):
        yield from (one for one, named in found if named)


def _is(one: Provision, topic: str, kind: str) -> bool:
    return one.topic == topic and any(detail.name == "kind" and detail.value == kind for detail in one.details)


def _sides(one: Provision) -> set[str]:
    """Who may, in one way of writing."""
    named = {detail.value.casefold().removeprefix("the ").strip() for detail in one.details if detail.name == "who"}
    return {re.sub(r"\s+", " ", name) for name in named}


@cache
def _both() -> re.Pattern[str]:
    """A side that may be any."""
    return re.compile(
        r"双方|各方|任[何意]?一方|^一方|守约方|违约方|\b(?:either|neither|each|both|any|other|non)\b|parties"
    )
