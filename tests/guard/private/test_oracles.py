"""Beside detect-secrets and privyscope: what they find of the labeled finds, we find; and what they take for keys."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import Phase, given, settings, strategies as st

from ollama_kit.guard.private.redaction import detect
from ollama_kit.guard.private.rulebook import KINDS, SECRETS
from tests.guard.private.corpus import lines
from tests.guard.private.oracles import ORACLES, Spans, touches
from tests.intensity import examples

LINES = lines()
ASCII = st.characters(min_codepoint=33, max_codepoint=126)


@cache
def found_by(name: str) -> list[Spans]:
    return ORACLES[name]([line.text for line in LINES])


@pytest.mark.parametrize("name", ORACLES)
def test_we_find_whatever_it_finds_of_the_labeled_finds(name: str) -> None:
    """The oracle does find something, so that the comparison means something, and we are never behind."""
    theirs_in_all, behind = 0, []
    for line, theirs in zip(LINES, found_by(name), strict=True):
        ours = tuple((hit.start, hit.end) for hit in detect(line.text, KINDS))
        for _, start, end in line.finds:
            if touches(theirs, start, end):
                theirs_in_all += 1
                if not touches(ours, start, end):
                    behind.append(line.text[start:end])
    assert theirs_in_all >= 20
    assert behind == []


@pytest.mark.parametrize("name", ORACLES)
def test_it_raises_alarms_where_we_raise_none(name: str) -> None:
    """The lines without labels are hard: each oracle takes some of them for private data."""
    alarms = [line for line, theirs in zip(LINES, found_by(name), strict=True) if theirs and not line.finds]
    assert alarms
    assert not any(detect(line.text, KINDS) for line in alarms)


PLUGINS = {
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "stripe": "StripeDetector",
    "sendgrid": "SendGridDetector",
    "square_oauth": "SquareOAuthDetector",
    "openai": "OpenAIDetector",
    "mailchimp": "MailchimpDetector",
    "discord": "DiscordBotTokenDetector",
}


@pytest.mark.parametrize("module", PLUGINS)
def test_whatever_fits_a_pattern_of_detect_secrets_is_found(module: str) -> None:
    """Texts made from the patterns of another project's rules for tokens, each as a word of a Chinese sentence."""
    from importlib import import_module

    plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), PLUGINS[module])
    patterns = [re.compile(f"(?a:{pattern.pattern})", pattern.flags & ~re.UNICODE) for pattern in plugin.denylist]

    @settings(deadline=None, max_examples=examples(60), phases=[Phase.generate])
    @given(st.one_of([st.from_regex(pattern, fullmatch=True, alphabet=ASCII) for pattern in patterns]))
    def found(token: str) -> None:
        if len(set(token)) < 12 or "\\" in token:
            return  # sixteen zeros fit the patterns as well, and Square's allows a backslash
        text = f"用这个{token}，别外传"
        assert [hit for hit in detect(text, SECRETS) if hit.end - hit.start >= len(token) - 2], text

    found()
