"""What a model answered about a contract, each answer with the words that prove it, or marked as unproven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ollama_kit.jobs.contract.passages import Evidence

AnswerState = Literal["found", "conflict", "unproven", "absent", "unread", "failed"]
"""conflict: more than one answer where one alone can be right · unproven: there are answers, and the words that would
prove them stand nowhere · absent: the model found nothing in what it read, or no clause speaks of it · unread: for none
of the clauses that speak of it was there room · failed: no valid answer."""
Agreement = Literal["agree", "differ", "rules_only", "model_only", "neither", "not_compared"]
"""How the model's answers stand to those of the rules; not_compared: rules read nothing on the question."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `value` is plain data, as the question's schema describes it. `evidence` are the quotes that were
    found in the contract, `invented` those that were not, even when the model was asked again with the passage.

    `doubts` are figures, dates or names of the value that its quotes do not hold; `suspect`: it rests on nothing but
    words that give orders to a model."""

    value: Any
    evidence: tuple[Evidence, ...] = ()
    invented: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    suspect: bool = False

    @property
    def is_proven(self) -> bool:
        return bool(self.evidence) and not self.doubts and not self.suspect


@dataclass(frozen=True, slots=True)
class Answered:
    """All that came of one question. `label` is what people call it, in the contract's language; `several`: more than
    one answer may be right; `searched` are the clauses that the model was shown, or, where none of a long contract
    speaks of it and so none was `shown`, the words that were looked for; `unread` are those that speak of it and for
    which there was no room.

    `differences` say in words what the rules read and the model did not, and the other way round; `failure` why there
    is no valid answer, or not from every part of the contract."""

    name: str
    label: str
    several: bool
    answers: tuple[Answer, ...] = ()
    searched: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    agreement: Agreement = "not_compared"
    differences: tuple[str, ...] = ()
    failure: str = ""
    shown: bool = True

    @property
    def state(self) -> AnswerState:
        proven = sum(answer.is_proven for answer in self.answers)
        if not self.answers:
            return "failed" if self.failure else "unread" if self.unread and not self.searched else "absent"
        if not proven:
            return "unproven"
        return "conflict" if proven > 1 and not self.several else "found"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the guard found in what was sent: its rule, how grave it is, and the words."""

    rule: str
    severity: str
    action: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one model, in the order of the questions. `value` is the plain value for a user's own schema
    (None for ours), and `problems` is what that schema says against it."""

    model: str
    host: str
    questions: tuple[Answered, ...]
    notices: tuple[Notice, ...] = ()
    value: Any = None
    problems: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every question has a valid answer from every part of the contract that it was asked of."""
        return not self.problems and not any(question.failure for question in self.questions)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the summary under the heading `topic`, in the contract's language; see Answer for the rest."""

    topic: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    invented: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    suspect: bool = False

    @property
    def is_proven(self) -> bool:
        return bool(self.evidence) and not self.doubts and not self.suspect


@dataclass(frozen=True, slots=True)
class PlainSummary:
    """One page in plain words for whoever must sign. `failures` say which parts gave no valid answer, `left_out` how
    many sentences would not have fitted on the page, `unread` which clauses there was no room for."""

    model: str
    host: str
    sentences: tuple[Sentence, ...]
    failures: tuple[str, ...] = ()
    left_out: int = 0
    unread: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
