"""Asks a model about a part of a contract: one question group, one window, and once more for what was not proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ollama_kit.client.blocking import Client
from ollama_kit.errors import OutputInvalid
from ollama_kit.guard.conversation import Document
from ollama_kit.guard.exchange import Result
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.jobs.contract.questions.form import form_of, passage_form, said
from ollama_kit.jobs.contract.questions.questionnaire import Question, Questionnaire
from ollama_kit.jobs.contract.windows.packing import Packer, Window
from ollama_kit.jobs.contract.windows.retrieval import Index
from ollama_kit.jobs.prompts import render_prompt

PASSAGE = "jobs/contract/passage.{language}.jinja"
PASSAGE_TOKENS = 1_200
"""Of the contract when quotes are asked for again: a few clauses."""
MOST_AGAIN = 12
"""Statements asked about again at once; what is beyond is marked as unproven."""


@dataclass(frozen=True)
class Subject:
    """A contract that is asked about: its text, what finds its clauses, cuts it into windows and proves claims."""

    name: str
    language: str
    text: ContractText
    index: Index
    packer: Packer
    prover: Prover

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole text."""
        return sha256(self.text.plain.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Ask:
    """What is asked of one window. `prompt` and `form` are what is sent with it."""

    subject: Subject
    questions: tuple[Question, ...]
    window: Window
    prompt: str
    form: Mapping[str, Any]

    @staticmethod
    def of(
        subject: Subject, questionnaire: Questionnaire, questions: Sequence[Question], window: Window, template: str
    ) -> Ask:
        """The ask with the prompt of `template` in the contract's language."""
        values = {"questions": questions, "name": subject.name, "whole": window.whole}
        prompt = render_prompt(template.format(language=subject.language), values)
        form = form_of(questions, questionnaire.definitions)
        return Ask(subject, tuple(questions), window, prompt, form)


@dataclass(frozen=True)
class Asker:
    """Asks through a guarded client, with a policy."""

    client: Client
    model: str
    policy: str

    def ask(self, ask: Ask, seed: int) -> dict[str, Any]:
        """The claims of the answer, proven as far as they can be, and what the guard found, as plain data.

        Raises what `Client.chat` raises; only a repeated question that gets no valid answer leaves its claims as they
        were."""
        result = self._chat(ask.prompt, ask.window.text, ask.subject.name, ask.form, seed)
        schemas = {question.name: question.schema for question in ask.questions}
        claims = []
        for name, answers in result.value.items():
            for answer in answers:
                if not _says_nothing(answer["value"]):
                    claim = Claim(name, answer["value"])
                    claims.append(ask.subject.prover.prove(claim, answer["quotes"], schemas[name]))
        claims = self._again(ask, claims, schemas, seed)
        return {"claims": [claim.as_dict() for claim in claims], "found": list(_found(result, ask.window))}

    def _again(self, ask: Ask, claims: list[Claim], schemas: Mapping[str, Mapping[str, Any]], seed: int) -> list[Claim]:
        """The claims, after the model was asked for the quotes of those not proven with the passages likest to them."""
        open_at = [at for at, claim in enumerate(claims) if not claim.is_proven][:MOST_AGAIN]
        if not open_at:
            return claims
        labels = {question.name: question for question in ask.questions}
        told = [
            {"number": number, "text": said(labels[claims[at].question], claims[at].value)}
            for number, at in enumerate(open_at, 1)
        ]
        window = self._passage(ask, [claims[at] for at in open_at])
        if window is None:
            return claims
        prompt = render_prompt(PASSAGE.format(language=ask.subject.language), {"claims": told})
        try:
            result = self._chat(prompt, window.text, ask.subject.name, passage_form(len(open_at)), seed)
        except OutputInvalid:
            return claims
        for item in result.value["quotes"]:
            at = open_at[item["claim"] - 1]
            if item["quote"].strip():
                claims[at] = ask.subject.prover.prove(claims[at], [item["quote"]], schemas[claims[at].question])
        return claims

    def _passage(self, ask: Ask, claims: Sequence[Claim]) -> Window | None:
        """The segments likest to the claims, each claim's best first."""
        asked = {question.name: question for question in ask.questions}
        ranked = []
        for claim in claims:
            question = asked[claim.question]
            words = f"{said(question, claim.value)} {' '.join(claim.invented)}"
            ranked.append(ask.subject.index.likest(question, words))
        wanted = dict.fromkeys(at for rank in range(3) for places in ranked for at in places[rank : rank + 1])
        return ask.subject.packer.passage(list(wanted), PASSAGE_TOKENS) if wanted else None

    def _chat(self, prompt: str, text: str, name: str, form: Mapping[str, Any], seed: int) -> Result:
        return self.client.chat(
            self.model,
            prompt,
            documents=[Document(text, name)],
            schema=form,
            options={"seed": seed},
            policy={"extends": self.policy, "context": "error"},
        )


def _found(result: Result, window: Window) -> Iterator[dict[str, Any]]:
    """What the guard found in the window, with its place in the contract's plain text."""
    for finding in result.report.findings:
        if finding.source == "document 0":
            yield {
                "rule": f"{finding.stage}/{finding.rule}",
                "severity": finding.severity,
                "action": finding.action,
                "span": list(window.plain_span(*finding.span)),
            }


def _says_nothing(value: Any) -> bool:
    """Whether a value is empty through and through: a model that has no answer and gives one all the same."""
    if isinstance(value, Mapping):
        return all(map(_says_nothing, value.values()))
    if isinstance(value, list):
        return all(map(_says_nothing, value))
    return value is None or (isinstance(value, str) and not value.strip())
