"""The labeled lines: each find at its very place, and nothing where nothing is."""

from __future__ import annotations

import pytest

from ollama_kit.guard.private.redaction import detect
from ollama_kit.guard.private.rulebook import KINDS, RULES
from tests.guard.private.corpus import Line, lines

LINES = lines()


@pytest.mark.parametrize("line", LINES, ids=[f"{line.language}-{at}" for at, line in enumerate(LINES)])
def test_exactly_what_is_labeled_is_found(line: Line) -> None:
    """Kind, start and end of every find agree with the labels; lines without labels stay silent."""
    found = tuple((RULES[hit.rule], hit.start, hit.end) for hit in detect(line.text, KINDS))
    assert found == line.finds


def test_the_corpus_is_large_and_balanced() -> None:
    """At least 150 lines, each language and both sides with a fair share."""
    assert len(LINES) >= 150
    for language in ("zh", "en"):
        positives = [line for line in LINES if line.language == language and line.finds]
        negatives = [line for line in LINES if line.language == language and not line.finds]
        assert min(len(positives), len(negatives)) >= 50


def test_every_kind_is_in_the_corpus() -> None:
    """No kind is without a line that shows it."""
    assert {kind for line in LINES for kind, _, _ in line.finds} == KINDS


def test_the_key_file_of_the_corpus_would_not_alarm_anybody_in_transit() -> None:
    """As committed, with the broken bar, a key of a vendor is not one: only the loader makes it so."""
    from tests.guard.private.corpus import BROKEN, FOLDER

    raw = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.jsonl")))
    assert BROKEN in raw
    assert not [
        hit
        for hit in detect(raw, frozenset({"api_key", "private_key"}))
        if hit.rule in ("stripe_key", "github_token", "slack_token", "aws_key_id", "private_key_block")
    ]
