"""Everything that is known of one contract: what the writers write."""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.documents.document import ReadDocument
from ollama_kit.jobs.contract.answers import Answers, PlainSummary
from ollama_kit.jobs.contract.contract_facts import ContractFacts


@dataclass(frozen=True, slots=True)
class ContractReport:
    """A contract, what the rules read in it, and, where a model was asked, its answers or its summary.

    Offsets of all evidence are characters of `document.text`."""

    document: ReadDocument
    facts: ContractFacts
    answers: Answers | None = None
    summary: PlainSummary | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the model gave a valid answer to all that it was asked."""
        return not (self.answers and not self.answers.is_complete) and not (self.summary and self.summary.failures)

    @property
    def is_page(self) -> bool:
        """Whether it is a summary and nothing else: one page, where the facts have their own report."""
        return self.summary is not None and self.answers is None

    @property
    def unread(self) -> tuple[str, ...]:
        """The clauses that speak of a question and were not shown to the model for want of room, each once."""
        asked = self.answers.questions if self.answers else ()
        found = (label for question in asked for label in question.unread)
        return tuple(dict.fromkeys((*found, *(self.summary.unread if self.summary else ()))))
