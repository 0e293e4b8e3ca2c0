"""Placeholders: one a value, exact on the way back, never mistaken for a text that was there before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.private.placeholders import LONGEST, Placeholders, split_unfinished


def filled(count: int) -> Placeholders:
    hidden = Placeholders()
    for number in range(count):
        hidden.of("phone", f"138{number:08}")
    return hidden


def test_the_same_value_has_the_same_placeholder() -> None:
    """Otherwise the model could not tell that two places speak of one person."""
    hidden = Placeholders()
    assert [hidden.of("phone", value) for value in ("1", "2", "1")] == ["[PHONE_1]", "[PHONE_2]", "[PHONE_1]"]
    assert hidden.of("id_card", "3") == "[ID_CARD_1]"


def test_a_longer_number_is_another_placeholder() -> None:
    """[PHONE_1] is no part of [PHONE_12]."""
    assert filled(12).restore("[PHONE_12] [PHONE_1] [PHONE_13]") == "13800000011 13800000000 [PHONE_13]"


@pytest.mark.parametrize("altered", ["[phone_1]", "[PHONE_01]", "[PHONE 1]", "PHONE_1", "【PHONE_1】", "[PHONE_1 ]"])
def test_only_the_exact_placeholder_is_restored(altered: str) -> None:
    """What a model changed is left as it is: a guess could put a value where it does not belong."""
    assert filled(3).restore(altered) == altered


def test_restoring_reaches_into_nested_values_and_keys() -> None:
    """Everything that is not text comes back as it was."""
    hidden = filled(2)
    value: Any = {"[PHONE_1]": [1, None, True, "to [PHONE_2]", {"a": ["[PHONE_1]"]}], "n": 1.5}
    assert hidden.restore(value) == {
        "13800000000": [1, None, True, "to 13800000001", {"a": ["13800000000"]}],
        "n": 1.5,
    }


def test_restoring_changes_nothing_that_it_was_given() -> None:
    """The caller keeps what the model said."""
    value = {"a": ["[PHONE_1]"]}
    filled(1).restore(value)
    assert value == {"a": ["[PHONE_1]"]}


def test_no_entry_is_lost_where_two_keys_would_become_one() -> None:
    """The key that cannot be restored keeps its placeholder."""
    value = {"[PHONE_1]": "a", "13800000000": "b"}
    assert filled(1).restore(value) == value


def test_what_was_put_back_is_not_looked_at_again() -> None:
    """A value may look like a placeholder itself."""
    hidden = Placeholders()
    hidden.of("password", "[PHONE_1]")
    hidden.of("phone", "13800138000")
    assert hidden.restore("[PASSWORD_1] [PHONE_1]") == "[PHONE_1] 13800138000"


def test_taken_texts_keep_their_look_alikes() -> None:
    """A system prompt that explains [PHONE_1] goes on to mean what it says."""
    hidden = Placeholders(["numbers are written as [PHONE_1]"])
    assert hidden.of("phone", "13800138000") == "[PHONE_2]"


def test_hiding_is_the_way_back() -> None:
    """The longest value wins, so that a value inside another one does not tear it."""
    hidden = Placeholders()
    hidden.of("password", "abc123")
    hidden.of("url", "abc123456")
    assert hidden.hide("got abc123456, expected abc123") == "got [URL_1], expected [PASSWORD_1]"
    assert Placeholders().hide("nothing") == "nothing"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["[PHONE_1]", "[PHONE_12]", "[", "]", "_1", "PHONE", "text ", "[PHONE_99]"])), st.data()
)
def test_a_stream_is_restored_like_the_whole(parts: list[str], data: st.DataObject) -> None:
    """Wherever the pieces of a stream are cut, what is kept back is enough, and never more than one beginning."""
    hidden, text = filled(12), "".join(parts)
    cut = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    told, kept = "", ""
    for start, end in zip([0, *cut], [*cut, len(text)], strict=True):
        ready, kept = split_unfinished(kept + text[start:end])
        told += hidden.restore(ready)
        assert len(kept) <= LONGEST
    assert told + hidden.restore(kept) == hidden.restore(text)


def test_no_value_is_shown_by_accident() -> None:
    """A traceback prints what an object says of itself."""
    hidden = filled(2)
    assert "138" not in f"{hidden!r} {hidden}"
    assert len(hidden) == 2
