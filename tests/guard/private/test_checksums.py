"""Check digits: what is valid is found between any neighbors, and one changed digit makes it nobody's number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.private.redaction import detect
from ollama_kit.guard.private.rulebook import RULES
from ollama_kit.text.checksums import is_bank_card, is_credit_code, is_id_card, is_old_id_card, luhn_holds
from tests.guard.private.made import bank_cards, credit_codes, digits, id_cards
from tests.intensity import examples

NUMBERS = frozenset({"id_card", "bank_account", "credit_code"})
NEIGHBORS = st.sampled_from(["", "，", "号", " ", "：", "\n", "（", "”"])
SETTINGS = settings(deadline=None, max_examples=examples(150))


def kinds_in(text: str) -> list[tuple[str, str]]:
    return [(RULES[hit.rule], text[hit.start : hit.end]) for hit in detect(text, NUMBERS)]


@pytest.mark.parametrize(
    ("kind", "numbers"), [("id_card", id_cards), ("bank_account", bank_cards), ("credit_code", credit_codes)]
)
def test_a_valid_number_is_found_between_any_neighbors(kind: str, numbers: st.SearchStrategy[str]) -> None:
    """Neither Chinese characters nor punctuation hide a number, and the span is the number itself."""

    @SETTINGS
    @given(numbers, NEIGHBORS, NEIGHBORS)
    def found(number: str, before: str, after: str) -> None:
        hits = detect(f"{before}{number}{after}", frozenset({kind}))
        assert [(hit.start, hit.end) for hit in hits] == [(len(before), len(before) + len(number))]

    found()


@pytest.mark.parametrize(("numbers", "holds"), [(id_cards, is_id_card), (bank_cards, is_bank_card)])
def test_one_changed_digit_is_noticed(numbers: st.SearchStrategy[str], holds: Callable[[str], bool]) -> None:
    """Both sums catch every single wrong digit, in every place."""

    @SETTINGS
    @given(numbers, st.data())
    def noticed(number: str, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(number) - 2))
        wrong = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[at]]))
        changed = number[:at] + wrong + number[at + 1 :]
        assert holds(number)
        assert not holds(changed)
        assert (changed, changed) not in kinds_in(changed)

    noticed()


@SETTINGS
@given(credit_codes, st.integers(8, 16), st.sampled_from("0123456789ABCDEFGHJKLMNPQRTUWXY"))
def test_one_changed_character_of_a_credit_code_is_noticed(code: str, at: int, wrong: str) -> None:
    """31 is prime and no weight is a multiple of it, so no single change goes unseen."""
    changed = code[:at] + wrong + code[at + 1 :]
    assert is_credit_code(changed) == (changed == code)


@pytest.mark.parametrize("number", ["11010519491231002X", "440524188001010014"])
def test_the_examples_of_the_standard_hold(number: str) -> None:
    """The two numbers printed in GB 11643-1999."""
    assert is_id_card(number)


def test_a_day_that_does_not_exist_is_nobodys_birthday() -> None:
    """The check digit alone is right one time in eleven."""
    assert not is_id_card("110105194902301003")
    assert not is_old_id_card("110105490230100")
    assert is_old_id_card("110105491231002")


@SETTINGS
@given(digits(16))
def test_luhn_agrees_with_privyscope(number: str) -> None:
    """Another implementation of the same sum says the same."""
    from privyscope._core import verification

    assert luhn_holds(number) == bool(verification.verify("luhn", number))


@SETTINGS
@given(id_cards, credit_codes)
def test_valid_numbers_are_valid_to_privyscope_too(id_card: str, code: str) -> None:
    """Another implementation accepts what is made here from the standards."""
    from privyscope._core import verification

    if not id_card.startswith("83"):  # which it does not know
        assert verification.verify("cn_national_id_valid", id_card)
    if code[0].isdigit():
        assert verification.verify("uscc_valid", code)
