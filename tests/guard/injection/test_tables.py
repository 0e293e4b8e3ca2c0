"""The tables of words and rules: complete, bounded, and nobody's wording."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from ollama_kit.guard.injection.scoring import rule_set
from ollama_kit.guard.injection.tables import LANGUAGES, concepts, rules, word_lists
from ollama_kit.text.pattern_search import required
from tests.guard.injection.lines import labeled

PARSER = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
LONGEST_WORDING = 8  # Chinese characters; a word or two, not a sentence


def repeats(tree: Any, inside: int = 0) -> Iterator[tuple[int, bool]]:
    """Each repetition without bound: how many others it is inside of."""
    for kind, value in tree:
        name = str(kind)
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            endless = int(value[1] == PARSER.MAXREPEAT)
            if endless:
                yield inside, True
            yield from repeats(value[2], inside + endless)
        elif name == "SUBPATTERN":
            yield from repeats(value[-1], inside)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from repeats(branch, inside)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_is_complete(language: str) -> None:
    """Each rule names only concepts that exist, and weighs more than nothing and less than certainty."""
    for rule in rules(language):
        for part in rule.expanded(concepts(language)):
            re.compile(part)
        assert 0 < rule.weight < 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_concept_is_used(language: str) -> None:
    """No list of words is dead weight."""
    spoken = {"reported", "parties", "machine", "supplied", "narrated", "uttered", "device"}
    for name in word_lists(language).keys() - spoken:
        assert any(f"{{{name}}}" in rule.pattern for rule in rules(language)), name


def test_no_rule_is_tried_without_a_literal() -> None:
    """Every rule has literals that it cannot match without, so that most text never meets it."""
    bare = [rule.parts for rule in rule_set().rules if not any(map(required, rule.parts))]
    assert bare == []


def test_no_rule_nests_endless_repetition() -> None:
    """Within a rule nothing without bound stands inside something without bound."""
    for part in (part for rule in rule_set().rules for part in rule.parts):
        assert all(inside == 0 for inside, _ in repeats(PARSER.parse(part))), part


def test_what_begins_an_order_stands_first() -> None:
    """`{start}` is looked for last, before the rest; `^` binds all of a rule. Neither stands among alternatives."""
    for rule in rules("en"):
        assert "{start}" not in rule.pattern.removeprefix("{start}")
    for part in (part for rule in rule_set().rules for part in rule.parts if part[0] == "^"):
        assert str(PARSER.parse(part)[0][0]) == "AT", part


def test_no_rule_quotes_a_line() -> None:
    """No run of characters in a table is long enough to be the wording of a labeled attack."""
    said = "\n".join(line.text for line in labeled() if line.attack)
    for language in ("zh", "marks"):
        text = "\n".join(
            [rule.pattern for rule in rules(language)] + [w for ws in word_lists(language).values() for w in ws]
        )
        for run in re.findall(rf"[\u4e00-\u9fff]{{{LONGEST_WORDING},}}", text):
            assert run not in said


def test_a_rule_is_tried_wherever_it_would_match() -> None:
    """Skipping by literals changes no score: all rules tried on each line give the same."""
    everything = range(len(rule_set().rules))
    for line in labeled():
        for sentence in line.text.lower().splitlines():
            assert rule_set().score(sentence).families == rule_set().score(sentence, everything).families
