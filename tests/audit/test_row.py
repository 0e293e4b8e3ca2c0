"""What a row of the audit says of a call, and what it never says."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.audit.row import input_text, row_of, utc
from ollama_kit.errors import ContextOverflow, GuardBlocked, OutputInvalid
from ollama_kit.guard.conversation import Message, Request
from tests.audit.rows import START, finished
from tests.intensity import examples


def test_a_row_says_what_the_call_was() -> None:
    """Model and digest, host, policy, tokens, findings by kind, attempts, seconds and the verdict."""
    row = row_of(finished(), at=START)
    assert row.time == "2026-01-31T08:05:00.000000Z"
    assert (row.model, row.digest, row.host, row.policy) == ("m", "d" * 64, "http://127.0.0.1:11434", "standard")
    assert (row.predicted_tokens, row.counted_tokens, row.answer_tokens) == (33, 30, 4)
    assert (row.seconds, row.verdict) == (1.5, "valid")
    assert row.findings == (
        {"stage": "private", "rule": "aws_key", "severity": "high", "action": "redacted", "count": 2},
        {"stage": "control_tokens", "rule": "chat", "severity": "low", "action": "neutralized", "count": 1},
    )
    assert [attempt["outcome"] for attempt in row.attempts] == ["schema", "valid"]
    assert row.attempts[0]["reply_sha256"] == hashlib.sha256(b"SECRET REPLY").hexdigest()


def test_no_word_of_a_text_is_in_a_row_unless_asked_for() -> None:
    """Neither of what went in nor of what came out, in no field."""
    ended = finished("SECRET QUESTION", "SECRET ANSWER")
    assert "SECRET" not in repr(row_of(ended))
    with_texts = row_of(ended, texts=True)
    assert all(f"SECRET {what}" in repr(with_texts) for what in ("QUESTION", "DOCUMENT", "ANSWER", "REPLY", "DETAIL"))
    assert with_texts.without_texts() == row_of(ended, at=datetime.fromisoformat(with_texts.time[:-1] + "+00:00"))


def test_the_digests_can_be_made_again_from_the_texts() -> None:
    """Whoever has the texts can prove that they are the ones of the row."""
    row = row_of(finished("问题", "答案"), texts=True)
    assert row.input is not None
    assert json.loads(row.input)["messages"] == [["user", "问题", [], "", []]]
    assert hashlib.sha256(row.input.encode()).hexdigest() == row.input_sha256
    assert hashlib.sha256("答案".encode()).hexdigest() == row.output_sha256


@settings(deadline=None, max_examples=examples(60))
@given(st.text(), st.text())
def test_two_inputs_have_one_text_only_if_they_are_equal(first: str, second: str) -> None:
    """No way to write one conversation so that it looks like another."""
    one = Request("m", (Message("user", first), Message("assistant", second)))
    other = Request("m", (Message("user", first + second), Message("assistant", "")))
    assert (input_text(one) == input_text(other)) == (second == "")


def test_a_call_that_was_refused_says_by_what() -> None:
    """The stage that blocked is among the findings; the reason, which may quote the text, is not."""
    error = GuardBlocked("refused", stage="secrets", reason="holds SECRET")
    row = row_of(finished(report=None, answer="", error=error, findings=(), attempts=()))
    assert row.verdict == "guard.blocked"
    assert row.findings == (
        {"stage": "secrets", "rule": "refused", "severity": "high", "action": "blocked", "count": 1},
    )
    assert (row.output_sha256, row.attempts, row.counted_tokens) == ("", (), None)
    assert "SECRET" not in repr(row)


def test_a_prompt_that_did_not_fit_says_how_long_it_was() -> None:
    """The number that was needed stands where the prediction does."""
    error = ContextOverflow("too long", needed_tokens=5000, available_tokens=4000)
    row = row_of(finished(report=None, answer="", error=error, attempts=()))
    assert (row.verdict, row.predicted_tokens) == ("context.overflow", 5000)


def test_a_call_without_a_valid_answer_keeps_its_attempts() -> None:
    """The verdict is the error's code."""
    row = row_of(finished(report=None, answer="", error=OutputInvalid("no", attempts=())))
    assert (row.verdict, len(row.attempts), row.counted_tokens) == ("output.invalid", 2, 30)


def test_a_call_that_was_left_is_abandoned() -> None:
    """Neither an answer nor an error: the caller went away."""
    assert row_of(finished(report=None, answer="")).verdict == "abandoned"


def test_half_a_character_does_not_stop_a_row() -> None:
    """JSON can bring a lone surrogate, which UTF-8 has not."""
    row = row_of(finished("\ud83d", "\udc00"), texts=True)
    assert row.output == "\\udc00"
    assert row.input is not None
    row.input.encode()


@settings(deadline=None, max_examples=examples(60))
@given(st.datetimes(), st.datetimes(), st.integers(-14, 14))
def test_times_sort_as_they_pass(first: datetime, second: datetime, hours: int) -> None:
    """As text too, whatever the zone they are given in."""
    zone = timezone(timedelta(hours=hours))
    try:
        one, other = first.replace(tzinfo=timezone.utc), second.replace(tzinfo=timezone.utc).astimezone(zone)
    except OverflowError:
        return
    assert (utc(one) < utc(other)) == (one < other)


def test_a_row_as_data_has_texts_only_where_it_has_them() -> None:
    """A reader of the export need not look at empty fields."""
    assert "input" not in row_of(finished()).as_dict()
    assert row_of(finished(), texts=True).as_dict()["output"] == "book the truck"


@pytest.mark.parametrize("year", [1, 999, 9999])
def test_years_have_four_digits(year: int) -> None:
    """Some C libraries write fewer, and the order would break."""
    assert utc(datetime(year, 6, 1, tzinfo=timezone.utc)).startswith(f"{year:04}-06-01")
