"""A report for programs, as templates/schemas/contract_report.schema.json describes it."""

from __future__ import annotations

import json
from typing import Any

from ollama_kit.documents.pages.escaping import whole_characters
from ollama_kit.jobs.contract.answers import Answer, Answered, Answers, Notice, PlainSummary, Sentence
from ollama_kit.jobs.contract.report import ContractReport
from ollama_kit.jobs.contract.writers.data import evidence_as_dict, facts_as_dict


def write_json(report: ContractReport) -> str:
    """Everything that is known of the contract, with its evidence."""
    return whole_characters(json.dumps(report_as_dict(report), ensure_ascii=False, indent=2)) + "\n"


def report_as_dict(report: ContractReport) -> dict[str, Any]:
    """The facts with two more members: `answers` and `summary`, null where no model was asked for them."""
    return {
        **facts_as_dict(report.facts),
        "answers": _answers(report.answers) if report.answers else None,
        "summary": _summary(report.summary) if report.summary else None,
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
