"""What is asked of one contract: the rules' facts, and every group of questions with the windows it is asked of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from ollama_kit.documents.document import ReadDocument
from ollama_kit.errors import UsageError
from ollama_kit.guard.fit import TokenBudget
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.profile import Profile
from ollama_kit.jobs.contract.asking import PASSAGE, Ask, Subject
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.extraction import facts_of
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.proof.prover import Prover
from ollama_kit.jobs.contract.questions.form import form_of
from ollama_kit.jobs.contract.questions.questionnaire import (
    FACTS,
    SUMMARY,
    Question,
    Questionnaire,
    load_questionnaire,
)
from ollama_kit.jobs.contract.windows.packing import Packer, Window
from ollama_kit.jobs.contract.windows.retrieval import Index
from ollama_kit.jobs.contract.windows.segments import segments_of
from ollama_kit.jobs.ledger import former_task_key, task_key
from ollama_kit.templating import find_template, render_prompt, template_text

JOB = "contract"
VERSION = 2
"""Of what the ledger keeps of an ask, and of how a contract is cut: another one is another task."""
Purpose = Literal["facts", "summary"]
TEMPLATES = {"facts": "jobs/contract/extract.{language}.jinja", "summary": "jobs/contract/summary.{language}.jinja"}
ANSWER_EIGHTHS = 3  # of the window are for the answer and what is said about a failed one
AROUND_TOKENS = 300  # the fence and the chat template
LEAST_TOKENS = 128
"""Of a contract in a window, without which there is nothing to read."""
WHOLE = {"zh": "全文", "en": "the whole text"}


@dataclass(frozen=True)
class Group:
    """Questions that are asked together, of each window. `searched` says what they were asked of, `unread`, by the
    question, what speaks of it and had no room, `missed` of which questions nothing at all had room."""

    questions: tuple[Question, ...]
    asks: tuple[Ask, ...]
    searched: tuple[str, ...]
    unread: Mapping[str, tuple[str, ...]]
    missed: frozenset[str]


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


def sides_of(facts: ContractFacts) -> tuple[frozenset[str], ...]:
    """What each party is called, in lower case: its roles and its names."""
    called = ((*party.roles, *(name.value for name in party.names)) for party in facts.parties)
    return tuple(frozenset(word.lower() for word in words if word) for words in called)


@dataclass(frozen=True)
class Planner:
    """Plans contracts for one model under one policy. `own` is a user's schema, in the place of ours; `thinks`: the
    model thinks before it answers."""

    profile: Profile
    policy: Policy
    purpose: Purpose = "facts"
    own: Path | None = None
    thinks: bool = False
    _known: dict[str, Questionnaire] = field(default_factory=dict, compare=False)

    def plan(self, document: ReadDocument) -> Plan:
        """Reads the contract by rules and cuts it into windows. SchemaError where the user's schema is wrong,
        UsageError where the model's context is too small to ask anything."""
        text = ContractText.of(document)
        facts = facts_of(text)
        questionnaire = self._questionnaire(facts.language)
        grouped = list(questionnaire.groups().values())
        room = self._room(document.name)
        limit = room - self._longest(document.name, facts.language, grouped)
        if limit < LEAST_TOKENS:
            raise self._too_small(document.name, LEAST_TOKENS - limit)
        segments = segments_of(text, facts.structure)
        packer = Packer.of(text, segments, self._count, limit)
        index = Index(text, packer.segments, floor=int(not facts.structure.outline.clauses))
        prover = Prover(text, sides_of(facts))
        subject = Subject(document.name, facts.language, text, segments, index, packer, prover, room)
        groups = tuple(self._group(subject, questionnaire, questions) for questions in grouped)
        return Plan(document, facts, text, questionnaire, groups)

    def _questionnaire(self, language: str) -> Questionnaire:
        """The questions in a language; read once for a batch."""
        if language not in self._known:
            name = SUMMARY if self.purpose == "summary" else FACTS
            self._known[language] = load_questionnaire(language, name=name, path=self.own)
            # What is wrong with the template is told now, and not when half of a contract was asked about.
            render_prompt(PASSAGE.format(language=language), {})
        return self._known[language]

    def _group(self, subject: Subject, questionnaire: Questionnaire, questions: tuple[Question, ...]) -> Group:
        index, packer = subject.index, subject.packer
        windows, left = packer.windows(index.scores(questions))
        out = frozenset(left)
        unread, missed = {}, set()
        for question in questions if left else ():
            speaking = [at for at, score in enumerate(index.scores([question])) if score]
            unread[question.name] = packer.labels([at for at in speaking if at in out])
            if speaking and out.issuperset(speaking):
                missed.add(question.name)
        asks = tuple(self._ask(subject, questionnaire, questions, window) for window in windows)
        labels = (label for window in windows for label in window.labels)
        whole = bool(windows) and windows[0].whole
        searched = (WHOLE[subject.language],) if whole else tuple(dict.fromkeys(labels))
        return Group(questions, asks, searched, unread, frozenset(missed))

    def _ask(
        self, subject: Subject, questionnaire: Questionnaire, questions: tuple[Question, ...], window: Window
    ) -> Ask:
        """The ask with its name. The whole text decides too what comes of it: passages of it are shown again."""
        values = {"questions": questions, "name": subject.name, "whole": window.whole}
        prompt = render_prompt(TEMPLATES[self.purpose].format(language=subject.language), values)
        form = form_of(questions, questionnaire.definitions)
        how = [VERSION, self.profile.facts.digest, self.profile.context_tokens, self.thinks, self.policy]
        asked = [prompt, form, [asdict(question) for question in questions]]
        again = template_text(find_template(PASSAGE.format(language=subject.language)))
        read = [subject.name, subject.digest, window.text]
        deciding = [*how, *asked, again, *read]
        key, former = task_key(JOB, deciding), former_task_key(JOB, deciding)
        return Ask(subject, questions, window, prompt, form, key, former)

    def _room(self, name: str) -> int:
        """Tokens that the model's context has for a prompt and a text, beside the answer, the fence and the chat
        template."""
        context = self.profile.context_tokens
        asked = TokenBudget(None, self.thinks, self.policy.attempts > 1, self.policy.max_context)
        most = min(context - context * ANSWER_EIGHTHS // 8, asked.for_prompt(context))
        return most - AROUND_TOKENS - self._count(name)

    def _longest(self, name: str, language: str, groups: Sequence[Sequence[Question]]) -> int:
        """Tokens of the longest prompt."""
        template = TEMPLATES[self.purpose].format(language=language)
        prompts = (render_prompt(template, {"questions": one, "name": name, "whole": False}) for one in groups)
        return max(map(self._count, prompts))

    def _too_small(self, name: str, missing: int) -> UsageError:
        context = self.profile.context_tokens
        bound = self.policy.max_context
        least = -(-8 * missing // (8 - ANSWER_EIGHTHS)) + context
        limited = f" and a max_context of {bound:,}" if bound is not None and bound < context else ""
        return UsageError(
            f"{name}: a context of {context:,} tokens{limited} leaves no room for the contract: the questions and the "
            f"answer need {missing:,} more",
            hint=(
                f"Set `context` in the model's spec to {least:,} or more and build it, or take another model.",
                f"请在模型的规格文件里把 `context` 设为 {least:,} 或更大并重新构建，或换用其他模型。",
            ),
        )

    def _count(self, text: str) -> int:
        return self.profile.tokenizer.count(text, add_bos=False)
