"""What is found in lines that talk to a model, and in lines that only use the same words."""

from __future__ import annotations

import pytest

from ollama_kit.guard.injection import find_injection
from tests.guard.injection.lines import Line, attacks, harmless, labelled


@pytest.mark.parametrize("line", attacks(), ids=lambda line: f"{line.family}: {line.text[:24]!r}")
def test_orders_to_the_model_are_found(line: Line) -> None:
    """Each kind of attack is found in more than one wording and language."""
    assert find_injection(line.text, "document 0")


@pytest.mark.parametrize("line", harmless(), ids=lambda line: repr(line.text[:30]))
def test_what_people_write_to_each_other_is_left_alone(line: Line) -> None:
    """Requests, notices, contract terms, recipes, code and talk about injection are not orders to a model."""
    assert find_injection(line.text, "document 0") == ()


def test_labelled_attacks_are_found() -> None:
    """None of the attacks among the project's own labelled lines is missed."""
    missed = {line.id for line in labelled() if line.attack and not find_injection(line.text, "document 0")}
    assert missed == set()


def test_labelled_harmless_lines_are_not_flagged() -> None:
    """None of the project's own hard negatives is taken for an attack."""
    flagged = {line.id for line in labelled() if not line.attack and find_injection(line.text, "document 0")}
    assert flagged == set()
