"""What is asked of one contract: the rules' facts, and every group of questions with the windows it is asked of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ollama_kit.guard.profile import Profile
from ollama_kit.jobs.contract.asking import Ask, Subject
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.proof.prover import Prover
from ollama_kit.jobs.contract.questions.questionnaire import (
    FACTS,
    SUMMARY,
    Question,
    Questionnaire,
    load_questionnaire,
)
from ollama_kit.jobs.contract.windows.packing import Packer
from ollama_kit.jobs.contract.windows.retrieval import Index
from ollama_kit.jobs.contract.windows.segments import segments_of
from ollama_kit.jobs.documents.document import ReadDocument
from ollama_kit.jobs.prompts import render_prompt

Purpose = Literal["facts", "summary"]
TEMPLATES = {"facts": "jobs/contract/extract.{language}.jinja", "summary": "jobs/contract/summary.{language}.jinja"}
ANSWER_EIGHTHS = 3  # of the window are for the answer and what is said about a failed one
AROUND_TOKENS = 300  # the fence and the chat template
LEAST_TOKENS = 128
WHOLE = {"zh": "全文", "en": "the whole text"}


@dataclass(frozen=True)
class Group:
    """Questions that are asked together, of each window. `searched` says what they were asked of, `unread` what speaks
    of them and had no room."""

    questions: tuple[Question, ...]
    asks: tuple[Ask, ...]
    searched: tuple[str, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """One contract of a batch, and all that will be asked of it."""

    document: ReadDocument
    facts: ContractFacts
    text: ContractText
    questionnaire: Questionnaire
    groups: tuple[Group, ...]

    @property
    def asks(self) -> Iterator[Ask]:
        for group in self.groups:
            yield from group.asks


@dataclass(frozen=True)
class Planner:
    """Plans contracts for one model. `own` is a user's schema, in the place of ours."""

    profile: Profile
    purpose: Purpose = "facts"
    own: Path | None = None
    _known: dict[str, Questionnaire] = field(default_factory=dict, compare=False)

    def plan(self, document: ReadDocument) -> Plan:
        """Reads the contract by rules and cuts it into windows. SchemaError where the user's schema is wrong."""
        text = ContractText.of(document)
        facts = extract_facts(document)
        questionnaire = self._questionnaire(facts.language)
        segments = segments_of(text, facts.structure)
        grouped = list(questionnaire.groups().values())
        packer = Packer(text, segments, self._count, self._limit(document.name, facts.language, grouped))
        subject = Subject(document.name, facts.language, text, Index(text, segments), packer, Prover(text))
        groups = tuple(self._group(subject, questionnaire, questions) for questions in grouped)
        return Plan(document, facts, text, questionnaire, groups)

    def _questionnaire(self, language: str) -> Questionnaire:
        """The questions in a language; read once for a batch."""
        if language not in self._known:
            name = SUMMARY if self.purpose == "summary" else FACTS
            self._known[language] = load_questionnaire(language, name=name, path=self.own)
        return self._known[language]

    def _group(self, subject: Subject, questionnaire: Questionnaire, questions: tuple[Question, ...]) -> Group:
        windows, unread = subject.packer.windows(subject.index.scores(questions))
        template = TEMPLATES[self.purpose]
        asks = tuple(Ask.of(subject, questionnaire, questions, window, template) for window in windows)
        labels = (label for window in windows for label in window.labels)
        whole = bool(windows) and windows[0].whole
        searched = (WHOLE[subject.language],) if whole else tuple(dict.fromkeys(labels))
        return Group(questions, asks, searched, unread)

    def _limit(self, name: str, language: str, groups: Sequence[Sequence[Question]]) -> int:
        """Tokens of a window: what the model's context leaves beside the answer and the longest prompt."""
        template = TEMPLATES[self.purpose].format(language=language)
        prompts = (render_prompt(template, {"questions": one, "name": name, "whole": False}) for one in groups)
        longest = max(map(self._count, prompts))
        context = self.profile.context_tokens
        return max(LEAST_TOKENS, context - context * ANSWER_EIGHTHS // 8 - longest - AROUND_TOKENS)

    def _count(self, text: str) -> int:
        return self.profile.tokenizer.count(text, add_bos=False)
