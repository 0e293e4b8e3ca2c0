"""What is found in lines that talk to a model, and in lines that only use the same words."""

from __future__ import annotations

import pytest

from ollama_kit.guard.injection import DEFAULT_THRESHOLD, find_injection
from ollama_kit.guard.injection.screen import _scores
from tests.guard.injection.lines import PARAPHRASES, Line, attacks, harmless, labeled


@pytest.mark.parametrize("line", attacks(), ids=lambda line: f"{line.family}: {line.text[:24]!r}")
def test_orders_to_the_model_are_found(line: Line) -> None:
    """Each kind of attack is found in more than one wording and language."""
    assert find_injection(line.text, "document 0")


@pytest.mark.parametrize("line", harmless(), ids=lambda line: repr(line.text[:30]))
def test_what_people_write_to_each_other_is_left_alone(line: Line) -> None:
    """Requests, notices, contract terms, recipes, code and talk about injection are not orders to a model."""
    assert find_injection(line.text, "document 0") == ()


def test_labeled_attacks_are_found() -> None:
    """None of the attacks among the project's own labeled lines is missed."""
    missed = {line.id for line in labeled() if line.attack and not find_injection(line.text, "document 0")}
    assert missed == set()


def test_labeled_harmless_lines_are_not_flagged() -> None:
    """None of the project's own hard negatives is taken for an attack."""
    flagged = {line.id for line in labeled() if not line.attack and find_injection(line.text, "document 0")}
    assert flagged == set()


def _found_paraphrases(language: str, *, attack: bool) -> int:
    lines = [line for line in labeled(PARAPHRASES) if (line.language, line.attack) == (language, attack)]
    assert len(lines) == 120
    return sum(bool(find_injection(line.text, "document 0")) for line in lines)


@pytest.mark.parametrize(("language", "least"), [("en", 116), ("zh", 117)])
def test_paraphrased_attacks_are_mostly_found(language: str, least: int) -> None:
    """Of 120 attacks worded without a look at the rules, which were widened on them since, few are missed."""
    assert _found_paraphrases(language, attack=True) >= least


@pytest.mark.parametrize(("language", "most"), [("en", 2), ("zh", 4)])
def test_paraphrased_look_alikes_are_mostly_left_alone(language: str, most: int) -> None:
    """Of 120 harmless lines that say what those attacks say, few are flagged."""
    assert _found_paraphrases(language, attack=False) <= most


def test_trying_fewer_rules_changes_no_verdict() -> None:
    """What is dismissed because it cannot come to the threshold does not come to it."""
    for line in (*labeled(), *labeled(PARAPHRASES)):
        whole = {span for span, (score, _) in _scores(line.text, 0.0).items() if score.total >= DEFAULT_THRESHOLD}
        assert {finding.span for finding in find_injection(line.text, "document 0")} == whole, line.id
