"""Rows and ended calls, made for a test."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from ollama_kit.audit.row import AuditRow, row_of, utc
from ollama_kit.guard.conversation import Document, Message, Request
from ollama_kit.guard.exchange import Finished
from ollama_kit.records.report import Attempt, Finding, Report

START = datetime(2026, 1, 31, 8, 5, tzinfo=timezone.utc)


def finished(question: str = "what is to do?", answer: str = "book the truck", **changes: Any) -> Finished:
    """A call that ended well, with a finding and two attempts."""
    attempts = (
        Attempt(1, "schema", "/task is 1", "SECRET REPLY", request_sha256="a" * 64, prompt_tokens=20, seconds=0.5),
        Attempt(2, "valid", "", answer, request_sha256="b" * 64, prompt_tokens=30, answer_tokens=4, seconds=0.25),
    )
    findings = (
        Finding("private", "aws_key", "high", "redacted", "document 0", (0, 20), "SECRET DETAIL"),
        Finding("private", "aws_key", "high", "redacted", "document 0", (30, 50), "another"),
        Finding("control_tokens", "chat", "low", "neutralized", "message 0", (0, 3), "<s>"),
    )
    report = Report(
        model="m",
        host="http://127.0.0.1:11434",
        context_tokens=4096,
        context_from="the spec",
        predicted_tokens=33,
        predicted_as="bound",
        counted_tokens=30,
        answer_tokens=4,
        findings=findings,
        attempts=attempts,
    )
    request = Request("m", (Message("user", question),), (Document("SECRET DOCUMENT", "chat.txt"),))
    ended = Finished(
        request, report, answer, None, "d" * 64, "http://127.0.0.1:11434", "standard", findings, attempts, 1.5
    )
    return replace(ended, **changes)


def row(at: int = 0, text: str = "", **changes: Any) -> AuditRow:
    """A row of a call that ended `at` seconds after START; `text` fills its input."""
    made = row_of(finished(), at=START + timedelta(seconds=at))
    return replace(made, input=text or None, time=utc(START + timedelta(seconds=at)), **changes)
