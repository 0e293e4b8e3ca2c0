"""The answers to a user's own schema as the plain value that it describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ollama_kit.jobs.contract.answers import Answered
from ollama_kit.jobs.contract.questions.questionnaire import Questionnaire
from ollama_kit.structured.schema import load_schema
from ollama_kit.structured.validation import validate


def plain_value(questions: Sequence[Answered]) -> dict[str, Any]:
    """The proven answers by the names of their questions: all of a question that has several, else the first one. What
    has no proven answer is left out."""
    value: dict[str, Any] = {}
    for question in questions:
        proven = [answer.value for answer in question.answers if answer.is_proven]
        if question.several:
            value[question.name] = proven
        elif proven:
            value[question.name] = proven[0]
    return value


def problems_of(value: dict[str, Any], questionnaire: Questionnaire) -> tuple[str, ...]:
    """What the user's schema says against the value: a required answer that the contract does not give, most often."""
    return tuple(problem.message for problem in validate(load_schema(questionnaire.source), value))
