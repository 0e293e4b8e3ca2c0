"""Puts together what the windows of a contract gave: an answer that two of them saw is one, what differs is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ollama_kit.jobs.contract.answers import Answer, Answered, Notice
from ollama_kit.jobs.contract.meaning import meaning_of
from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.jobs.contract.proof.prover import Claim
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.likeness import ALIKE, alike

ORDERS = "injection/"
"""Findings of this stage say that words talk to the model; an answer that rests on nothing else is not proven."""
GRAVE = ("medium", "high")


def answered(question: Question, claims: Iterable[Claim], text: ContractText, notices: Sequence[Notice]) -> Answered:
    """The answers to a question, each once, in the order of their evidence; those that are not proven come last."""
    once: list[Claim] = []
    for claim in claims:
        at = next((at for at, known in enumerate(once) if _same(question, known, claim)), -1)
        if at < 0:
            once.append(claim)
        else:
            once[at] = _joined(once[at], claim)
    answers = [_answer(claim, text, notices) for claim in once]
    answers.sort(key=lambda answer: (not answer.is_proven, answer.evidence[0].start if answer.evidence else 0))
    return Answered(question.name, question.label, question.several, tuple(answers))


def notices_of(found: Iterable[Mapping[str, Any]], text: ContractText) -> tuple[Notice, ...]:
    """What the guard found, each thing once, though it stood in several windows."""
    kept: dict[Notice, None] = {}
    for item in found:
        evidence = text.evidence(*item["span"])
        kept[Notice(item["rule"], item["severity"], item["action"], evidence)] = None
    return tuple(sorted(kept, key=lambda notice: (notice.evidence.start, notice.rule)))


def _answer(claim: Claim, text: ContractText, notices: Sequence[Notice]) -> Answer:
    evidence = tuple(text.evidence(*span) for span in claim.spans)
    suspect = bool(evidence) and all(_gives_orders(one, notices) for one in evidence)
    return Answer(claim.value, evidence, () if claim.is_proven else claim.invented, claim.doubts, suspect)


def _gives_orders(evidence: Evidence, notices: Sequence[Notice]) -> bool:
    return any(
        notice.rule.startswith(ORDERS)
        and notice.severity in GRAVE
        and notice.evidence.start < evidence.end
        and evidence.start < notice.evidence.end
        for notice in notices
    )


def _same(question: Question, one: Claim, other: Claim) -> bool:
    """Whether two claims say the same: by meaning; of what may have several answers, also where they rest on the same
    words and are said alike."""
    if meaning_of(one.value) == meaning_of(other.value):
        return True
    if not question.several:
        return False
    shares = any(start < end_too and start_too < end for start, end in one.spans for start_too, end_too in other.spans)
    return shares and alike(str(_words(one.value)), str(_words(other.value))) >= ALIKE and _figures_agree(one, other)


def _figures_agree(one: Claim, other: Claim) -> bool:
    digits = ["".join(filter(str.isdigit, _words(claim.value))) for claim in (one, other)]
    return digits[0] == digits[1]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        value = list(value.values())
    return " ".join(map(_words, value)) if isinstance(value, list) else str(value)


def _joined(one: Claim, other: Claim) -> Claim:
    """The better proven of two claims, with the words of both."""
    best, rest = (other, one) if other.is_proven and not one.is_proven else (one, other)
    if not best.is_proven:
        return replace(best, invented=tuple(dict.fromkeys((*best.invented, *rest.invented))))
    return replace(best, spans=tuple(dict.fromkeys((*best.spans, *(rest.spans if rest.is_proven else ())))))
