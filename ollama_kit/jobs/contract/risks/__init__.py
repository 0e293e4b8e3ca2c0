"""What whoever signs should look at: clauses that are missing, that contradict each other, or that favor one side.

A rule says what it saw and quotes it. This is not legal advice, and what it does not list is not thereby sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.risks.contradictory import find_contradictions
from ollama_kit.jobs.contract.risks.missing import find_missing
from ollama_kit.jobs.contract.risks.orders import find_orders
from ollama_kit.jobs.contract.risks.provided import find_provided
from ollama_kit.jobs.contract.risks.risky_wording import find_wording

RULES: tuple[Callable[[ContractText, ContractFacts], Iterator[Risk]], ...] = (
    find_contradictions,
    find_missing,
    find_wording,
    find_provided,
    find_orders,
)
"""The rules in the order of their findings."""


def find_risks(text: ContractText, facts: ContractFacts) -> tuple[Risk, ...]:
    """Every finding of every rule."""
    return tuple(risk for rule in RULES for risk in rule(text, facts))
