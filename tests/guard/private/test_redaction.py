"""The stage: nothing asked for stays behind, everything comes back, findings point at it and do not repeat it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import UsageError
from ollama_kit.guard.private import KINDS, PERSONAL, SECRETS, Placeholders, redact_private_data
from ollama_kit.guard.private.redaction import detect
from tests.guard.private.corpus import Line, lines
from tests.guard.private.made import bank_cards, credit_codes, id_cards, keys, mobiles, passwords
from tests.intensity import examples

POSITIVES = [line for line in lines() if line.finds]
VALUES = st.one_of(id_cards, bank_cards, credit_codes, mobiles, keys, passwords)
LOOK_ALIKES = st.sampled_from(
    ["[PHONE_1]", "[PHONE_2]", "[LITERAL_1]", "[ID_CARD_1]", "[API_KEY_", "_1]", "[PASSWORD_1]"]
)
PROSE = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["电话：", "密码：", "token=", "\n", "，", " "]
)
TEXTS = st.lists(VALUES | LOOK_ALIKES | PROSE, max_size=12).map("".join)
SETTINGS = settings(deadline=None, max_examples=examples(150))


@SETTINGS
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_redacting_then_restoring_is_the_identity(texts: list[str]) -> None:
    """For every text of a call, whatever look-alikes it holds, even after all the others were redacted."""
    hidden = Placeholders()
    redacted = [redact_private_data(text, "message 0", hidden, redact=KINDS)[0].text for text in texts]
    assert hidden.restore(redacted) == texts


@SETTINGS
@given(st.lists(VALUES | LOOK_ALIKES, max_size=6).map("，".join))
def test_redacted_text_holds_nothing_more_to_redact(text: str) -> None:
    """A second pass, by a call of its own, changes nothing."""
    once = redact_private_data(text, "message 0", Placeholders(), redact=KINDS)[0].text
    again, findings = redact_private_data(once, "message 0", Placeholders(), redact=KINDS)
    assert again.text == once
    assert findings == ()


@SETTINGS
@given(TEXTS)
def test_findings_lie_in_order_beside_one_another(text: str) -> None:
    """Spans are inside the text, do not overlap, and what stands there is what the placeholder stands for."""
    hidden = Placeholders()
    changed, findings = redact_private_data(text, "message 0", hidden, redact=SECRETS, flag=PERSONAL)
    at, rebuilt = 0, []
    for finding in findings:
        start, end = finding.span
        assert at <= start < end <= len(text)
        value = text[start:end]
        rebuilt += [text[at:start], hidden.of("", value) if finding.action == "redacted" else value]
        at = end
    assert "".join((*rebuilt, text[at:])) == changed.text


@pytest.mark.parametrize("line", POSITIVES, ids=range(len(POSITIVES)))
def test_values_are_in_the_placeholders_alone(line: Line) -> None:
    """Neither the redacted text nor a finding repeats a value, and the map leads back to it."""
    hidden = Placeholders()
    changed, findings = redact_private_data(line.text, "document 0", hidden, redact=KINDS)
    assert [finding.span for finding in findings] == [(start, end) for _, start, end in line.finds]
    for kind, start, end in line.finds:
        value = line.text[start:end]
        assert value not in changed.text
        assert not any(value in finding.detail for finding in findings), kind
        at = changed.text.index(hidden.of(kind, value))
        assert changed.map.original(at) <= end
    assert hidden.restore(changed.text) == line.text


def test_values_survive_a_trip_through_json() -> None:
    """A key file has line ends, which JSON would have to escape: it is restored after the JSON is read."""
    text = next(line.text for line in POSITIVES if line.finds[0][0] == "private_key")
    hidden = Placeholders()
    changed, _ = redact_private_data(text, "document 0", hidden, redact=SECRETS)
    assert hidden.restore(json.loads(json.dumps({"key": changed.text}))) == {"key": text}


def test_kinds_that_are_flagged_stay_in_the_text() -> None:
    """The policy `standard`: a password goes, a telephone number stays and is reported."""
    text = "密码：Abc@123456，电话13800138000"
    changed, findings = redact_private_data(text, "document 2", Placeholders(), redact=SECRETS, flag=PERSONAL)
    assert changed.text == "密码：[PASSWORD_1]，电话13800138000"
    assert [(finding.rule, finding.action, finding.severity) for finding in findings] == [
        ("labeled_password", "redacted", "high"),
        ("mobile", "flagged", "low"),
    ]
    assert [finding.detail for finding in findings] == ["password: ****", "phone: 138****8000"]
    assert {finding.source for finding in findings} == {"document 2"}


def test_kinds_not_asked_for_are_not_looked_for() -> None:
    """Nothing asked, nothing said."""
    changed, findings = redact_private_data("13800138000", "answer", Placeholders(), redact=frozenset())
    assert (changed.text, findings) == ("13800138000", ())


def test_a_password_is_hidden_where_no_label_gives_it_away() -> None:
    """In the same text, before its label, and in later ones; not inside a longer word."""
    hidden = Placeholders()
    text = "用Abc@123456登录。密码：Abc@123456，不是Abc@1234567"
    changed, findings = redact_private_data(text, "message 0", hidden, redact=SECRETS)
    assert changed.text == "用[PASSWORD_1]登录。密码：[PASSWORD_1]，不是Abc@1234567"
    assert [finding.rule for finding in findings] == ["repeated_secret", "labeled_password"]
    later, _ = redact_private_data("Abc@123456 不对", "message 1", hidden, redact=SECRETS)
    assert later.text == "[PASSWORD_1] 不对"


def test_a_look_alike_that_comes_too_late_is_hidden_itself() -> None:
    """Else the answer would carry a telephone number where the second text said [PHONE_1]."""
    hidden = Placeholders()
    redact_private_data("电话13800138000", "message 0", hidden, redact=KINDS)
    changed, findings = redact_private_data("写成[PHONE_1]", "message 1", hidden, redact=KINDS)
    assert changed.text == "写成[LITERAL_1]"
    assert [finding.rule for finding in findings] == ["placeholder_look_alike"]
    assert hidden.restore("[LITERAL_1] [PHONE_1]") == "[PHONE_1] 13800138000"


def test_of_overlapping_finds_the_most_severe_names_the_whole() -> None:
    """Nothing of the loser stays behind."""
    text = "password: 13800138000@example.com"
    changed, findings = redact_private_data(text, "message 0", Placeholders(), redact=KINDS)
    assert changed.text == "password: [PASSWORD_1]"
    assert len(findings) == 1


def test_what_is_hidden_is_not_flagged_as_well() -> None:
    """An e-mail address that is a password's end is no finding of its own."""
    text = "password: 13800138000@example.com"
    _, findings = redact_private_data(text, "message 0", Placeholders(), redact=SECRETS, flag=PERSONAL)
    assert [finding.rule for finding in findings] == ["labeled_password"]


def test_full_width_values_come_back_full_width() -> None:
    """Folding is for looking only."""
    hidden = Placeholders()
    changed, _ = redact_private_data("电话：１３８００１３８０００", "message 0", hidden, redact=KINDS)
    assert changed.text == "电话：[PHONE_1]"
    assert hidden.restore(changed.text) == "电话：１３８００１３８０００"


def test_an_unknown_kind_is_refused() -> None:
    """A misspelt policy would otherwise guard nothing, in silence."""
    with pytest.raises(UsageError, match=r"phones; known kinds: .*phone"):
        redact_private_data("", "message 0", Placeholders(), redact=frozenset({"phones"}))


def test_every_kind_belongs_to_one_of_the_two_sets() -> None:
    """Policies can name them all with SECRETS and PERSONAL."""
    assert KINDS == SECRETS | PERSONAL
    assert not SECRETS & PERSONAL
    assert detect("nothing", KINDS) == ()
