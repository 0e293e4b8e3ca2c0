"""What a policy says of single kinds of private data: each has its own switch, and its own way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.errors import GuardBlocked, SpecError
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import Policy, load_policy
from ollama_kit.guard.policy_digest import policy_digest
from ollama_kit.guard.private.policy_keys import PersonalKinds, RestoreRules
from ollama_kit.guard.private.rulebook import PERSONAL, RULES
from ollama_kit.guard.scan import scan
from tests.guard.private.corpus import lines

SHOWN = {kind: line.text for line in reversed(lines()) for kind, _, _ in line.finds if len(line.finds) == 1}
"""A line for each kind that holds nothing else."""


def actions(text: str, **policy: object) -> set[tuple[str, str]]:
    """What the stage does with a text under a policy: (kind, action) of its findings."""
    pipeline = Pipeline.of(load_policy(policy))
    found = pipeline.clean(text, "text", "document").findings
    return {(RULES.get(one.rule, ""), one.action) for one in found if one.stage == "private_data"}


@pytest.mark.parametrize("kind", sorted(PERSONAL))
def test_each_kind_has_its_own_switch(kind: str) -> None:
    """Off, flagged, hidden or refused, whatever the others are."""
    text = SHOWN[kind]
    assert actions(text, extends="strict", personal_kinds={kind: "off"}) == set()
    assert actions(text, extends="strict", personal_kinds={kind: "flag"}) == {(kind, "flagged")}
    assert actions(text, extends="off", personal_kinds={kind: "redact"}) == {(kind, "redacted")}
    with pytest.raises(GuardBlocked) as raised:
        actions(text, personal_kinds={kind: "block"})
    assert raised.value.stage == "private_data"
    others = dict.fromkeys(PERSONAL - {kind}, "off")
    assert actions(text, personal_kinds=others) == {(kind, "flagged")}


def test_a_rule_has_a_switch_of_its_own() -> None:
    """Which counts before that of its kind: the speakers of a chat may stay where names in its text are hidden."""
    text = "陈静：请王建国先生看一下"
    policy = {"personal_kinds": {"name": "redact", "speaker": "off"}}
    found = Pipeline.of(load_policy(policy)).clean(text, "text", "document")
    assert found.text == "陈静：请[NAME_1]先生看一下"


def test_secrets_are_none_of_the_kinds() -> None:
    """They have a key of their own, and cannot be switched off by the way."""
    with pytest.raises(SpecError, match="unknown kind 'password'"):
        load_policy({"personal_kinds": {"password": "off"}})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("personal_kinds: {birthdy: off}", "unknown kind 'birthdy'; did you mean 'birthday'"),
        ("personal_kinds: {birthday: hide}", "personal_kinds.birthday must be redact, flag, block or off"),
        ("personal_kinds: off and on", "personal_kinds must be a mapping"),
        ("restore: always", "restore must be never, text or everywhere"),
        ("restore: {phone: always}", "restore.phone must be never, text or everywhere"),
        ("restore: {phones: never}", "restore: unknown kind 'phones'; did you mean 'phone'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(written: str, said: str, tmp_path: Path) -> None:
    """And with what could be meant."""
    path = tmp_path / "mine.yaml"
    path.write_text(f"policy: 1\n# mine\n{written}\n", encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_policy(str(path))
    assert said in str(raised.value)
    assert "mine.yaml:3" in str(raised.value)


@pytest.mark.parametrize(("written", "word"), [(None, "text"), ("never", "never"), ({"phone": "never"}, "never")])
def test_restore_is_a_word_or_words_by_kind(written: object, word: str) -> None:
    """`text` where nothing is said."""
    rules = load_policy({"restore": written}).setting("restore") or RestoreRules()
    assert rules.of("phone") == word
    assert rules.of("email") == (word if isinstance(written, str) else "text")


def test_what_says_nothing_new_changes_no_digest() -> None:
    """The key of what a job has done: a policy that means the same is the same."""
    plain = policy_digest(Policy())
    assert policy_digest(load_policy({"restore": "text", "personal_kinds": {}})) == plain
    assert policy_digest(load_policy({"restore": {"phone": "text"}})) == plain
    assert policy_digest(load_policy({"restore": "never"})) != plain
    assert policy_digest(load_policy({"personal_kinds": {"phone": "off"}})) != plain


def test_a_switch_turns_the_stage_on_and_restore_does_not() -> None:
    """Where nothing is hidden there is nothing to put back."""

    def names(**policy: object) -> list[str]:
        return [stage.name for stage in Pipeline.of(load_policy(policy))]

    assert "private_data" in names(extends="off", personal_kinds={"phone": "flag"})
    assert "private_data" not in names(extends="off", restore="never")


def test_softened_switches_refuse_nothing() -> None:
    """What would block, flags: for those who want to see all there is."""
    assert PersonalKinds((("name", "block"), ("phone", "redact"))).softened().words == (
        ("name", "flag"),
        ("phone", "redact"),
    )


def test_scan_says_what_is_done_with_each_kind() -> None:
    """And with the rules that differ from their kind."""
    said = scan("", {"personal_kinds": {"birthday": "off", "speaker": "redact"}}).private_data
    assert said["birthday"] == "off"
    assert said["speaker"] == "redact"
    assert said["phone"] == "flag"
    assert said["password"] == "redact"
    assert set(said) >= PERSONAL
