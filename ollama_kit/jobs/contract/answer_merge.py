"""Puts together what the windows of a contract gave: an answer that two of them saw is one, what differs is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ollama_kit.jobs.contract.answers import Answer, Answered, Notice
from ollama_kit.jobs.contract.meaning import figures_alike, meaning_of
from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.jobs.contract.proof.own_words import sides_in_order
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.text.locate import alike, letters_of

ORDERS = "injection/"
"""Findings of this stage say that words talk to the model; an answer that rests on nothing else is not proven."""
GRAVE = ("medium", "high")
VERY_LIKE = 0.8
"""Share of character pairs in common from which on two answers that rest on the same words are one."""


def answered(question: Question, claims: Iterable[Claim], text: ContractText, notices: Sequence[Notice]) -> Answered:
    """The answers to a question, each once, in the order of their evidence; those that are not proven come last."""
    once: list[Claim] = []
    for claim in claims:
        at = next((at for at, known in enumerate(once) if _same(question, known, claim)), -1)
        if at < 0:
            once.append(claim)
        else:
            once[at] = _joined(once[at], claim)
    answers = [_answer(claim, question, text, notices) for claim in once]
    answers.sort(key=lambda answer: (not answer.is_proven, answer.evidence[0].start if answer.evidence else 0))
    return Answered(question.name, question.label, question.several, tuple(answers))


def notices_of(found: Iterable[Mapping[str, Any]], text: ContractText) -> tuple[Notice, ...]:
    """What the guard found, each thing once, though it stood in several windows."""
    kept: dict[Notice, None] = {}
    for item in found:
        evidence = text.evidence(*item["span"])
        kept[Notice(item["rule"], item["severity"], item["action"], evidence)] = None
    return tuple(sorted(kept, key=lambda notice: (notice.evidence.start, notice.rule)))


def _answer(claim: Claim, question: Question, text: ContractText, notices: Sequence[Notice]) -> Answer:
    """The answer that a claim is. What rests on words that give orders to a model is proven again without them."""
    trusted = tuple(span for span in claim.spans if not _gives_orders(text.evidence(*span), notices))
    suspect = False
    if trusted != claim.spans:
        again = Prover(text).prove(replace(claim, spans=trusted, doubts=()), (), question.schema)
        suspect = not again.is_proven
        claim = claim if suspect else again
    evidence = tuple(text.evidence(*span) for span in claim.spans)
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
    """Whether two claims say the same: by meaning; or they rest on the same words, of the same sides and figures, and
    one is said like the other. Where one answer alone can be right, one may be a part of the other then."""
    if meaning_of(one.value) == meaning_of(other.value):
        return True
    shares = any(start < end_too and start_too < end for start, end in one.spans for start_too, end_too in other.spans)
    first, second = _words(one.value), _words(other.value)
    if not shares or sides_in_order(first) != sides_in_order(second) or not figures_alike(first, second):
        return False
    within = letters_of(first) in letters_of(second) or letters_of(second) in letters_of(first)
    return alike(first, second) >= VERY_LIKE or (within and not question.several)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        value = list(value.values())
    return "，".join(map(_words, value)) if isinstance(value, list) else str(value)


def _joined(one: Claim, other: Claim) -> Claim:
    """The better proven of two claims, with the words of both."""
    best, rest = (other, one) if other.is_proven and not one.is_proven else (one, other)
    if not best.is_proven:
        return replace(best, invented=tuple(dict.fromkeys((*best.invented, *rest.invented))))
    return replace(best, spans=tuple(dict.fromkeys((*best.spans, *(rest.spans if rest.is_proven else ())))))
