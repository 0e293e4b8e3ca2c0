"""Asks a model about a part of a contract: one question group, one window, and once more for what was not proven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ollama_kit.client.client import Client
from ollama_kit.errors import OllamaKitError, ServerError
from ollama_kit.guard.conversation import Document
from ollama_kit.guard.exchange import Result
from ollama_kit.guard.kept import KeptValues
from ollama_kit.guard.policy import Policy
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.jobs.contract.questions.form import passage_form, said
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.contract.windows.packing import Packer, Window
from ollama_kit.jobs.contract.windows.retrieval import Index
from ollama_kit.jobs.contract.windows.segments import Segment, cut_long
from ollama_kit.templating import render_prompt

PASSAGE = "jobs/contract/passage.{language}.jinja"
PASSAGE_TOKENS = 1_200
"""Of the contract when quotes are asked for again: a few clauses."""
LEAST_PASSAGE = 256
"""Tokens of the contract without which it is no use to ask again."""
PASSAGE_PIECE = 400
"""Tokens of a clause from which on only the likest pieces of it are shown again."""
MOST_AGAIN = 12
"""Statements asked about again at once; what is beyond is marked as unproven."""


@dataclass(frozen=True)
class Subject:
    """A contract that is asked about: its text, what finds its clauses, cuts it into windows and proves claims.

    `room` are the tokens that the model's context has for a prompt and a part of the contract together."""

    name: str
    language: str
    text: ContractText
    segments: tuple[Segment, ...]
    index: Index
    packer: Packer
    prover: Prover
    room: int

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole text."""
        return sha256(self.text.plain.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def pieces(self) -> Index:
        """The contract in pieces of at most PASSAGE_PIECE tokens, for what is shown again."""
        cut = cut_long(self.text.plain, self.segments, self.packer.count, PASSAGE_PIECE, PASSAGE_PIECE)
        return Index(self.text, cut)


@dataclass(frozen=True)
class Ask:
    """What is asked of one window. `prompt` and `form` are what is sent with it; `key` is its name in the ledger: the
    digest of all that decides what comes of it; `former` is the one that it had in ledgers of earlier versions."""

    subject: Subject
    questions: tuple[Question, ...]
    window: Window
    prompt: str
    form: Mapping[str, Any]
    key: str
    former: str | None = None

    @property
    def seed(self) -> int:
        """The seed of the first attempt. It comes from the name, so that a run done again gives the same."""
        return int(self.key[:7], 16) + 1


@dataclass(frozen=True)
class Asker:
    """Asks through a guarded client, with a policy."""

    client: Client
    model: str
    policy: Policy

    def ask(self, ask: Ask) -> dict[str, Any]:
        """What the model answered, as it said it, and what the guard found, as plain data for the ledger:
        {"answers": [{"question", "value", "quotes", "again"}], "found": […]}. `again` are the quotes that it gave when
        it was asked again for those that prove nothing.

        Raises what `Client.chat` raises; a repeated question that cannot be asked, or gets no valid answer, leaves the
        answers as they were, but for a server that is away."""
        result = self._chat(ask, ask.prompt, ask.window, ask.form)
        answers = [
            {"question": name, "value": answer["value"], "quotes": answer["quotes"], "again": []}
            for name, given in result.value.items()
            for answer in given
            if not _says_nothing(answer["value"])
        ]
        found = [*_found(result, ask.window), *self._again(ask, answers)]
        return {"answers": answers, "found": found}

    def hidden(self, ask: Ask) -> KeptValues:
        """What the policy hides in a contract: a repeated question may show any part of it."""
        return KeptValues.of(self.policy, (ask.subject.text.plain, ask.window.text, ask.prompt, ask.subject.name))

    def _again(self, ask: Ask, answers: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Asks for the quotes of the answers that are not proven, with the passages likest to them, and puts them
        there. Gives what the guard found in those passages."""
        claims = claims_of(ask, answers)
        open_at = [at for at, claim in enumerate(claims) if not claim.is_proven][:MOST_AGAIN]
        prompt, room = render_prompt(PASSAGE.format(language=ask.subject.language), {}), 0
        statements = Document("")
        while open_at:
            statements = self._statements(ask, [claims[at] for at in open_at])
            room = ask.subject.room - ask.subject.packer.count(prompt) - ask.subject.packer.count(statements.text)
            if room >= LEAST_PASSAGE:
                break
            open_at.pop()
        window = self._passage(ask, [claims[at] for at in open_at], min(room, PASSAGE_TOKENS)) if open_at else None
        if window is None:
            return
        try:
            result = self._chat(ask, prompt, window, passage_form(len(open_at)), statements)
        except ServerError:
            raise
        except OllamaKitError:  # what was proven stays proven
            return
        for item in result.value["quotes"]:
            if item["quote"].strip():
                answers[open_at[int(item["claim"]) - 1]]["again"].append(item["quote"])
        yield from _found(result, window)

    def _statements(self, ask: Ask, claims: Sequence[Claim]) -> Document:
        """Some claims by their numbers from 1. They are a document, for their words come from the contract."""
        asked = {question.name: question for question in ask.questions}
        lines = (f"{number}: {said(asked[one.question], one.value)}" for number, one in enumerate(claims, 1))
        return Document("\n".join(lines))

    def _passage(self, ask: Ask, claims: Sequence[Claim], limit_tokens: int) -> Window | None:
        """The pieces likest to the claims, each claim's best first."""
        subject = ask.subject
        asked = {question.name: question for question in ask.questions}
        ranked = []
        for claim in claims:
            question = asked[claim.question]
            words = f"{said(question, claim.value)} {' '.join(claim.invented)}"
            ranked.append(subject.pieces.likest(question, words))
        wanted = dict.fromkeys(at for rank in range(3) for places in ranked for at in places[rank : rank + 1])
        return subject.packer.passage(subject.pieces.segments, list(wanted), limit_tokens) if wanted else None

    def _chat(self, ask: Ask, prompt: str, window: Window, form: Mapping[str, Any], *more: Document) -> Result:
        return self.client.chat(
            self.model,
            prompt,
            documents=[Document(window.text, ask.subject.name), *more],
            schema=form,
            options={"seed": ask.seed},
            policy=self.policy,
        )


def claims_of(ask: Ask, answers: Iterable[Mapping[str, Any]]) -> list[Claim]:
    """The answers of an ask, as `Asker.ask` gives them, proven as far as they can be. A quote is looked for first where
    the model was reading; one that it gave when it was asked again, in the whole contract."""
    schemas = {question.name: question.schema for question in ask.questions}
    prove = ask.subject.prover.prove
    claims = []
    for answer in answers:
        schema = schemas[answer["question"]]
        claim = prove(Claim(answer["question"], answer["value"]), answer["quotes"], schema, near=ask.window.spans)
        claims.append(prove(claim, answer["again"], schema) if answer["again"] else claim)
    return claims


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
