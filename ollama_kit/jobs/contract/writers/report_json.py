"""A report for programs, as templates/schemas/contract_report.schema.json describes it, and the facts alone, as
contract_facts.schema.json beside it does."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from ollama_kit import resources
from ollama_kit.documents.pages.escaping import whole_characters
from ollama_kit.jobs.contract.answers import Answer, Answered, Answers, Notice, PlainSummary, Sentence
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk, Structure
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.facts.fact_values import (
    Detail,
    Fact,
    Length,
    Money,
    Party,
    Payment,
    Provision,
    Rate,
    Value,
)
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.topics import PROVISIONS, searched_for

FORMAT = 1
"""The version of the form; a change that a reader must know of raises it."""


def write_json(report: ContractReport) -> str:
    """Everything that is known of the contract, with its evidence."""
    return whole_characters(json.dumps(report_as_dict(report), ensure_ascii=False, indent=2)) + "\n"


def report_as_dict(report: ContractReport) -> dict[str, Any]:
    """The facts with two more members: `answers` and `summary`, null where no model was asked for them; and, where
    there are any, the files that were used in place of shipped `templates`."""
    templates = list(map(str, resources.overriding("templates", "jobs/contract", "schemas")))
    return {
        **facts_as_dict(report.facts),
        "answers": _answers(report.answers) if report.answers else None,
        "summary": _summary(report.summary) if report.summary else None,
        **({"templates": templates} if templates else {}),
    }


def _answers(answers: Answers) -> dict[str, Any]:
    return {
        "model": answers.model,
        "host": answers.host,
        "complete": answers.is_complete and not any(question.unread for question in answers.questions),
        "questions": [_answered(question) for question in answers.questions],
        "notices": [_notice(notice) for notice in answers.notices],
        "value": answers.value,
        "problems": list(answers.problems),
    }


def _answered(question: Answered) -> dict[str, Any]:
    return {
        "name": question.name,
        "label": question.label,
        "several": question.several,
        "state": question.state,
        "answers": [{"value": answer.value, **_proof(answer)} for answer in question.answers],
        "searched": list(question.searched),
        "unread": list(question.unread),
        "agreement": question.agreement,
        "differences": list(question.differences),
        "failure": question.failure,
    }


def _proof(said: Answer | Sentence) -> dict[str, Any]:
    return {
        "proven": said.is_proven,
        "evidence": [evidence_as_dict(one) for one in said.evidence],
        "invented": list(said.invented),
        "doubts": list(said.doubts),
        "suspect": said.suspect,
    }


def _notice(notice: Notice) -> dict[str, Any]:
    return {
        "rule": notice.rule,
        "severity": notice.severity,
        "action": notice.action,
        "evidence": evidence_as_dict(notice.evidence),
    }


def _summary(summary: PlainSummary) -> dict[str, Any]:
    return {
        "model": summary.model,
        "host": summary.host,
        "complete": not summary.failures and not summary.unread,
        "sentences": [{"topic": one.topic, "text": one.text, **_proof(one)} for one in summary.sentences],
        "failures": list(summary.failures),
        "left_out": summary.left_out,
        "unread": list(summary.unread),
        "notices": [_notice(notice) for notice in summary.notices],
    }


def facts_as_dict(facts: ContractFacts) -> dict[str, Any]:
    """The facts as plain data. Amounts are decimal text and rates fractions as text, so that nothing is rounded."""
    return {
        "format": FORMAT,
        "document": facts.name,
        "kind": facts.kind,
        "language": facts.language,
        "facts": {name: _fact(found) for name, found in facts.facts.items()},
        "parties": {
            "state": "found" if facts.parties else "absent",
            "items": [_party(party) for party in facts.parties],
            "searched": list(facts.parties_searched),
        },
        "amounts": [_money(amount) for amount in facts.amounts],
        "rates": [_rate(rate) for rate in facts.rates],
        "warranties": [_length(length) for length in facts.warranties],
        "payments": [_payment(payment) for payment in facts.payments],
        "provisions": {topic: _provided(topic, facts) for topic in PROVISIONS},
        "risks": [_risk(risk) for risk in facts.risks],
        "structure": _structure(facts.structure),
        "warnings": list(facts.warnings),
    }


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """A quote and its place."""
    return {
        "quote": evidence.quote,
        "start": evidence.start,
        "end": evidence.end,
        "page": evidence.page,
        "paragraph": evidence.paragraph,
    }


def _value(value: Value) -> dict[str, Any]:
    return {
        "value": value.value,
        "rule": value.rule,
        "evidence": evidence_as_dict(value.evidence),
        "basis": [evidence_as_dict(one) for one in value.basis],
    }


def _maybe(value: Value | None) -> dict[str, Any] | None:
    return None if value is None else _value(value)


def _fact(found: Fact) -> dict[str, Any]:
    return {
        "state": found.state,
        "values": [_value(value) for value in found.values],
        "searched": list(found.searched),
    }


def _party(party: Party) -> dict[str, Any]:
    return {
        "roles": list(party.roles),
        "names": [_value(name) for name in party.names],
        "representative": _maybe(party.representative),
        "registration": _maybe(party.registration),
        "registration_valid": party.registration_valid,
        "address": _maybe(party.address),
        "seal": party.seal,
        "seal_evidence": evidence_as_dict(party.seal_evidence) if party.seal_evidence else None,
    }


def _decimal(number: Decimal | None) -> str | None:
    return None if number is None else f"{number:f}"


def _money(amount: Money) -> dict[str, Any]:
    return {
        "about": amount.about,
        "currency": amount.currency,
        "value": _decimal(amount.value),
        "figures": _decimal(amount.figures),
        "words": _decimal(amount.words),
        "conflict": amount.conflict,
        "clause": amount.clause,
        "evidence": evidence_as_dict(amount.evidence),
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "kind": rate.kind,
        "low": str(rate.low),
        "high": str(rate.high),
        "per": rate.per,
        "conflict": rate.conflict,
        "clause": rate.clause,
        "evidence": evidence_as_dict(rate.evidence),
    }


def _length(length: Length) -> dict[str, Any]:
    return {
        "about": length.about,
        "count": str(length.count),
        "unit": length.unit,
        "conflict": length.conflict,
        "clause": length.clause,
        "evidence": evidence_as_dict(length.evidence),
    }


def _payment(payment: Payment) -> dict[str, Any]:
    return {
        "stage": payment.stage,
        "share": None if payment.share is None else str(payment.share),
        "currency": payment.currency,
        "amount": _decimal(payment.amount),
        "trigger": payment.trigger,
        "due": payment.due,
        "clause": payment.clause,
        "evidence": evidence_as_dict(payment.evidence),
    }


def _provided(topic: str, facts: ContractFacts) -> dict[str, Any]:
    found = [provision for provision in facts.provisions if provision.topic == topic]
    return {
        "state": "found" if found else "absent",
        "items": [_provision(provision) for provision in found],
        "searched": list(searched_for(topic)),
    }


def _provision(provision: Provision) -> dict[str, Any]:
    return {
        "clause": provision.clause,
        "title": provision.title,
        "details": [_detail(detail) for detail in provision.details],
        "evidence": evidence_as_dict(provision.evidence),
    }


def _detail(detail: Detail) -> dict[str, Any]:
    return {"name": detail.name, "value": detail.value, "evidence": evidence_as_dict(detail.evidence)}


def _risk(risk: Risk) -> dict[str, Any]:
    return {
        "rule": risk.rule,
        "kind": risk.kind,
        "message": risk.message,
        "message_zh": risk.message_zh,
        "evidence": [evidence_as_dict(one) for one in risk.evidence],
    }


def _structure(structure: Structure) -> dict[str, Any]:
    return {
        "clauses": [
            {
                "number": clause.number,
                "title": clause.title,
                "kind": clause.kind,
                "path": list(clause.path),
                "depth": clause.depth,
                "parent": clause.parent,
                "start": clause.start,
                "end": clause.end,
            }
            for clause in structure.outline.clauses
        ],
        "definitions": [
            {"term": one.term, "evidence": evidence_as_dict(one.evidence)} for one in structure.definitions
        ],
        "attachments": [
            {"number": one.number, "title": one.title, "start": one.start, "end": one.end}
            for one in structure.attachments
        ],
        "references": [
            {
                "clause": one.clause,
                "attachment": one.attachment,
                "exact": one.exact,
                "evidence": evidence_as_dict(one.evidence),
            }
            for one in structure.references
        ],
        "signatures": evidence_as_dict(structure.signatures) if structure.signatures else None,
    }
