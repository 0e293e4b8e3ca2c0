"""The `scanners:` part of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import SpecError
from ollama_kit.guard.scanners import ScannerConfig, parse_scanners
from ollama_kit.guard.scanners.roster import KINDS, REFUSED
from ollama_kit.specs.source import Source, parse_yaml
from tests.guard.scanners.conftest import parsed

REGEX = {"scanner": "Regex", "options": {"patterns": ["a+"]}}


def test_a_policy_without_scanners_has_none() -> None:
    """A key that is empty or missing asks for nothing."""
    assert parse_scanners(None, Source(Path("p.yaml"), {})) == ScannerConfig()
    assert parsed().rules == ()


def test_a_rule_is_read_with_its_defaults() -> None:
    """A scanner that only has its name goes by it, and flags."""
    (rule,) = parsed(input=[REGEX]).input
    assert (rule.name, rule.on_fail, rule.model, rule.threshold) == ("Regex", "flag", None, None)
    assert rule.option("patterns") == ("a+",)


def test_everything_that_a_rule_may_say_is_read(tmp_path: Path) -> None:
    """A relative model folder is meant from the policy's own folder."""
    text = (
        "scanners:\n  input:\n  - {name: pi, scanner: PromptInjection, model: ./models/pi, threshold: 0.9,\n"
        "     on_fail: block, labels: {LABEL_1: INJECTION}, options: {use_onnx: false}}\n"
        "  download: true\n  timeout_s: 5\n  max_chars: 1000\n"
    )
    source = parse_yaml(text, tmp_path / "own.yaml")
    config = parse_scanners(source.data["scanners"], source)
    (rule,) = config.input
    assert (config.download, config.timeout_s, config.max_chars) == (True, 5.0, 1000)
    assert rule.model == str((tmp_path / "models" / "pi").resolve())
    assert not rule.hub
    assert rule.labels == (("LABEL_1", "INJECTION"),)
    assert hash(config)


def test_a_name_on_the_hub_stays_a_name() -> None:
    """What does not look like a path and is no folder is a model of the hub."""
    (rule,) = parsed(input=[{"scanner": "Toxicity", "model": "unitary/unbiased-toxic-roberta"}]).input
    assert rule.hub
    assert rule.model == "unitary/unbiased-toxic-roberta"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ([], "must be a mapping"),
        ({"inputs": []}, "did you mean `input`"),
        ({"input": {}}, "must be a list"),
        ({"input": [{"scaner": "Regex"}]}, "did you mean `scanner`"),
        ({"input": ["Regex"]}, "must be a mapping"),
        ({"input": [{}]}, "must be the name of a scanner"),
        ({"input": [{"scanner": "PromptInjektion"}]}, "did you mean `PromptInjection`"),
        ({"input": [{"scanner": "NoRefusal"}]}, "NoRefusal is not an input scanner"),
        ({"output": [{"scanner": "URLReachability"}]}, "fetches every address"),
        ({"output": [{"scanner": "JSON"}]}, "rewrites text that is not JSON"),
        ({"output": [{"scanner": "Deanonymize"}]}, "input scanner Anonymize"),
        (
            {
                "input": [{"scanner": "Anonymize", "on_fail": "redact"}],
                "output": [{"scanner": "Deanonymize", "options": {"matching_strategy": "fuzzy"}}],
            },
            "must be exact, not the text 'fuzzy'",
        ),
        ({"input": [REGEX, REGEX]}, "duplicate scanner name 'Regex'"),
        ({"input": [REGEX], "output": [REGEX]}, "duplicate scanner name 'Regex'"),
        ({"input": [{**REGEX, "name": " "}]}, "name must be text"),
        ({"input": [{**REGEX, "on_fail": "drop"}]}, "flag, redact or block"),
        ({"input": [{"scanner": "PromptInjection", "on_fail": "redact"}]}, "cannot redact"),
        ({"input": [{**REGEX, "model": "./m"}]}, "scanner Regex does not accept `model`"),
        ({"input": [{**REGEX, "threshold": 0.5}]}, "scanner Regex does not accept `threshold`"),
        ({"input": [{"scanner": "PromptInjection", "threshold": 1}]}, "between 0 and 1"),
        ({"input": [{"scanner": "PromptInjection", "threshold": 0}]}, "between 0 and 1"),
        ({"input": [{"scanner": "PromptInjection", "threshold": True}]}, "between 0 and 1"),
        ({"input": [{**REGEX, "labels": {"a": "b"}}]}, "scanner Regex does not accept `labels`"),
        ({"input": [{"scanner": "PromptInjection", "labels": ["a"]}]}, "maps a model's labels"),
        ({"input": [{"scanner": "PromptInjection", "model": 5}]}, "folder or a name"),
        ({"input": [{"scanner": "Regex"}]}, "Regex needs `patterns`"),
        ({"input": [{"scanner": "Regex", "options": {"patterns": []}}]}, "list of texts"),
        ({"input": [{"scanner": "Regex", "options": {"patterns": ["("]}}]}, "not a valid regular expression"),
        ({"input": [{"scanner": "Regex", "options": {"patterns": ["a*"]}}]}, "matches the empty text"),
        ({"input": [{"scanner": "Regex", "options": {"patern": ["a"]}}]}, "did you mean `patterns`"),
        ({"input": [{"scanner": "BanSubstrings", "options": {"substrings": [""]}}]}, "none empty"),
        ({"input": [{"scanner": "PromptInjection", "options": {"match_type": "chunks"}}]}, "unknown key 'match_type'"),
        ({"output": [{"scanner": "ReadingTime", "options": {"max_time": -1}}]}, "number above 0"),
        ({"input": [{"scanner": "TokenLimit", "options": {"limit": 1.5}}]}, "whole number"),
        ({"input": [{"scanner": "PromptInjection", "options": {"use_onnx": "yes"}}]}, "true or false"),
        ({"download": "no"}, "true or false"),
        ({"timeout_s": 0}, "number above 0"),
        ({"max_chars": True}, "whole number"),
    ],
)
def test_a_wrong_rule_is_refused_with_what_is_right(config: Any, said: str) -> None:
    """Every mistake is a SpecError that says what was expected, or which name is nearest."""
    with pytest.raises(SpecError) as caught:
        parse_scanners(config, Source(Path("p.yaml"), {}))
    assert said in str(caught.value)


def test_an_error_names_the_line() -> None:
    """The line is that of the key, not of the list that it is in."""
    source = parse_yaml(
        "policy: 1\nscanners:\n  input:\n  - scanner: Regex\n    options:\n      patterns:\n      - a\n      - '['\n",
        Path("own.yaml"),
    )
    with pytest.raises(SpecError, match=r"own\.yaml:8: '\['"):
        parse_scanners(source.data["scanners"], source)


def test_flagging_softens_what_blocks_and_nothing_else() -> None:
    """To see all that a text holds, nothing may stop at the first scanner that blocks."""
    rules = [{**REGEX, "name": word, "on_fail": word} for word in ("flag", "redact", "block")]
    assert [rule.on_fail for rule in parsed(input=rules).flagging().input] == ["flag", "redact", "flag"]


def test_every_scanner_of_llm_guard_is_listed_or_refused() -> None:
    """The names are those of the package's two `__all__` lists, release 0.3.16."""
    both = ["BanCode", "BanCompetitors", "BanSubstrings", "BanTopics", "Code", "Gibberish", "Language", "Regex"]
    both += ["Sentiment", "Toxicity"]
    only_input = ["Anonymize", "InvisibleText", "PromptInjection", "Secrets", "TokenLimit"]
    only_output = ["Bias", "Deanonymize", "FactualConsistency", "LanguageSame", "MaliciousURLs", "NoRefusal"]
    only_output += ["NoRefusalLight", "ReadingTime", "Relevance", "Sensitive"]
    assert set(KINDS) == {*both, *only_input, *only_output}
    assert {name for name, kind in KINDS.items() if kind.sides == ("input", "output")} == set(both)
    assert set(REFUSED) == {"JSON", "URLReachability"}
