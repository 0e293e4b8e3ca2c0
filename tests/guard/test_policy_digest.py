"""A policy's digest says what differs from the defaults, and the text of former keys is what it was, to the byte."""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from typing import Any

import pytest

from ollama_kit.guard.policy import Policy, load_policy
from ollama_kit.guard.policy_digest import former_repr, policy_digest

EVERYTHING = {
    "context": "middle_out",
    "normalize": "off",
    "injection_threshold": 0.5,
    "max_context": 2048,
    "attempts": 1,
    "max_seconds": 30,
    "max_tokens": 900,
    "image_side": 800,
    "judge": {"model": "llama-guard3", "on": "both", "action": "block", "timeout_s": 5},
    "scanners": {
        "input": [
            {
                "name": "words",
                "scanner": "BanSubstrings",
                "on_fail": "block",
                "options": {"substrings": ["绝密", "it's"]},
            }
        ],
        "output": [{"name": "tox", "scanner": "Toxicity", "threshold": 0.7}],
        "timeout_s": 20,
    },
}
FORMER = [
    (
        {"extends": "standard", "context": "middle_out"},
        (
            "Policy(name='custom', normalise='on', secrets='redact', personal='flag', injection='flag', "
            "control_tokens='break', markup='disarm', fence='on', context='middle_out', evidence='error', leak='flag', "
            "on_failure='error', injection_threshold=None, max_context=None, attempts=3, max_seconds=None, "
            "max_tokens=None, judge=None, scanners=None, image_side=1536, image_megapixels=50.0, image_megabytes=20.0)"
        ),
    ),
    (
        {"extends": "strict", "context": "error"},
        (
            "Policy(name='custom', normalise='on', secrets='redact', personal='redact', injection='cut', "
            "control_tokens='break', markup='disarm', fence='on', context='error', evidence='error', leak='error', "
            "on_failure='error', injection_threshold=None, max_context=None, attempts=3, max_seconds=None, "
            "max_tokens=None, judge=None, scanners=None, image_side=1536, image_megapixels=50.0, image_megabytes=20.0)"
        ),
    ),
    (
        {"extends": "off", "context": "middle_out"},
        (
            "Policy(name='custom', normalise='off', secrets='off', personal='off', injection='off', "
            "control_tokens='off', markup='off', fence='off', context='middle_out', evidence='error', leak='off', "
            "on_failure='error', injection_threshold=None, max_context=None, attempts=3, max_seconds=None, "
            "max_tokens=None, judge=None, scanners=None, image_side=1536, image_megapixels=50.0, image_megabytes=20.0)"
        ),
    ),
    (
        EVERYTHING,
        (
            "Policy(name='custom', normalise='off', secrets='redact', personal='flag', injection='flag', "
            "control_tokens='break', markup='disarm', fence='on', context='middle_out', evidence='error', leak='flag', "
            "on_failure='error', injection_threshold=0.5, max_context=2048, attempts=1, max_seconds=30.0, "
            "max_tokens=900, judge=JudgeConfig(model='llama-guard3', form='llama-guard', timeout_s=5.0, "
            "on_error='closed', on='both', action='block', question=''), scanners=ScannerConfig(input=(ScannerRule("
            "name='words', scanner='BanSubstrings', side='input', on_fail='block', model=None, threshold=None, "
            "labels=(), options=(('substrings', ('绝密', \"it's\")),)),), "
            "output=(ScannerRule(name='tox', scanner='Toxicity', "
            "side='output', on_fail='flag', model=None, threshold=0.7, labels=(), options=()),), download=False, "
            "timeout_s=20.0, max_chars=400000), image_side=800, image_megapixels=50.0, image_megabytes=20.0)"
        ),
    ),
]
"""What `repr` gave for these policies at 76efa57."""


@dataclass(frozen=True)
class Watched:
    """What a later version may put in a policy."""

    level: int = 1


def later(policy: Policy, **more: Any) -> Any:
    """The policy of a version that has one key of a stage and one field more, `watched`, off by default."""
    kind = make_dataclass("Policy", [("bounded", Any, None)], bases=(Policy,), frozen=True)
    said = {field.name: getattr(policy, field.name) for field in fields(policy)}
    return kind(**{**said, "settings": tuple(sorted({**dict(policy.settings), **more}.items()))})


@pytest.mark.parametrize(("said", "written"), FORMER)
def test_the_text_of_former_keys(said: dict[str, Any], written: str) -> None:
    """As the version before wrote it, whatever the fields are called today."""
    assert former_repr(load_policy(said)) == written
    assert former_repr(later(load_policy(said))) == written


def test_what_the_version_before_did_not_know_it_never_asked() -> None:
    """Such a policy has no former key, be it that the new field is in the policy or in what the policy holds."""
    policy = load_policy(EVERYTHING)
    assert former_repr(later(policy, watched=Watched())) is None
    assert policy.judge is not None
    judge = make_dataclass("JudgeConfig", [("twice", bool, False)], bases=(type(policy.judge),), frozen=True)
    assert former_repr(policy.with_settings(judge=judge(**vars(policy.judge)))) == FORMER[3][1]
    assert former_repr(policy.with_settings(judge=judge(**vars(policy.judge), twice=True))) is None


def test_a_new_field_changes_no_digest_until_it_says_something() -> None:
    for said, _ in FORMER:
        policy = load_policy(said)
        assert policy_digest(later(policy)) == policy_digest(policy)
        assert policy_digest(later(policy, watched=Watched())) != policy_digest(policy)
        assert policy_digest(later(policy, watched=Watched(2))) != policy_digest(later(policy, watched=Watched()))


@pytest.mark.parametrize(
    "change",
    [
        {"personal": "redact"},
        {"attempts": 2},
        {"injection_threshold": 0.0},
        {"judge": {"model": "llama-guard3"}},
        {"judge": {"model": "llama-guard3", "timeout_s": 5}},
        {"scanners": {"input": [{"name": "words", "scanner": "BanSubstrings", "options": {"substrings": ["a"]}}]}},
        {"scanners": {"input": [{"name": "words", "scanner": "BanSubstrings", "options": {"substrings": ["b"]}}]}},
    ],
)
def test_each_difference_is_another_digest(change: dict[str, Any]) -> None:
    others = [{}, {"personal": "off"}, {"judge": {"model": "shieldgemma"}}, EVERYTHING]
    assert policy_digest(load_policy(change)) not in {policy_digest(load_policy(other)) for other in others}
    assert policy_digest(load_policy(change)) == policy_digest(load_policy(dict(change)))


def test_the_digests_of_the_presets() -> None:
    """They change where a default or a preset changes: then unfinished batches start again, and the log says so."""
    digests = {name: policy_digest(load_policy(name))[:12] for name in ("standard", "strict", "off")}
    assert digests == {"standard": "44136fa355b3", "strict": "04deebea10ac", "off": "fce43b0d0a82"}
