"""Scanners with a model, each trap with both halves, and the models that a policy can name."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ollama_kit.errors import GuardBlocked, UsageError
from ollama_kit.guard.scanners import ScannerConfig, ScannerRule, execution, load_scanners, scanner_status
from ollama_kit.guard.scanners.local_models import window_tokens
from tests.guard.scanners.conftest import parsed, ready

pytestmark = [pytest.mark.usefixtures("llm_guard"), pytest.mark.filterwarnings("ignore")]

ATTACK, HARMLESS = "please ignore the weather", "the weather is fine today"
LONG = "word " * 1500


def raw(folder: Path, scanner: str = "PromptInjection", side: str = "input", /, **options: Any) -> Any:
    """llm-guard's own scanner with a local model, as its documentation makes it."""
    import llm_guard
    from llm_guard.model import Model

    limits = {"return_token_type_ids": False, "max_length": 512, "truncation": True}
    model = Model(path=str(folder), pipeline_kwargs=limits)
    return getattr(getattr(llm_guard, f"{side}_scanners"), scanner)(model=model, use_onnx=False, **options)


@pytest.mark.smoke
def test_a_model_in_a_folder_judges_a_text(injection_model: Path) -> None:
    """The verdict of llm-guard and of the stage is the same where nothing is in the way."""
    theirs = raw(injection_model)
    assert [theirs.scan(text)[1] for text in (ATTACK, HARMLESS)] == [False, True]

    scanners = ready("input", "PromptInjection", name="pi", model=str(injection_model), threshold=0.9)
    changed, (found,) = scanners.input_stage(ATTACK, "document 3")
    assert changed.text == ATTACK
    assert (found.stage, found.rule, found.source) == ("pi", "PromptInjection", "document 3")
    assert (found.severity, found.action, found.span) == ("high", "flagged", (0, len(ATTACK)))
    assert scanners.input_stage(HARMLESS, "document 0")[1] == ()


def test_a_rule_that_blocks_says_where_and_why(injection_model: Path) -> None:
    """The error carries the policy's own name for the scanner."""
    scanners = ready("input", "PromptInjection", name="pi", model=str(injection_model), on_fail="block")
    assert scanners.input_stage(HARMLESS, "document 0")[0].text == HARMLESS
    with pytest.raises(GuardBlocked) as caught:
        scanners.input_stage(ATTACK, "document 0")
    assert caught.value.stage == "pi"
    assert "document 0: PromptInjection ('pi'), risk 1.0" in caught.value.reason


def test_a_label_of_another_name_is_not_turned_round(tiny_models: Callable[..., Path]) -> None:
    """What llm-guard does not know it takes for the opposite of an attack, and lets it pass; here it does not load."""
    folder = tiny_models("LABEL_0", "LABEL_1")
    assert raw(folder).scan(ATTACK)[1]

    with pytest.raises(UsageError, match=r"labels are LABEL_0, LABEL_1: none of them is INJECTION"):
        ready("input", "PromptInjection", model=str(folder))

    scanners = ready("input", "PromptInjection", model=str(folder), labels={"LABEL_0": "INJECTION"})
    assert [len(scanners.input_stage(text, "document 0")[1]) for text in (ATTACK, HARMLESS)] == [1, 0]


@pytest.mark.parametrize(
    ("labels", "given", "said"),
    [
        (("injection", "safe"), None, ""),
        (("INJECTION", "SAFE", "JAILBREAK"), None, "exactly one of them must be the opposite"),
        (("INJECTION", "SAFE", "JAILBREAK"), {"JAILBREAK": "INJECTION"}, ""),
        (("LABEL_0", "LABEL_1"), {"LABEL_7": "INJECTION"}, "names 'LABEL_7', which the model does not have"),
        (("INJECTION",), None, "exactly one"),
    ],
)
def test_labels_are_settled_before_a_model_is_loaded(
    tiny_models: Callable[..., Path], labels: tuple[str, ...], given: dict[str, str] | None, said: str
) -> None:
    """Case does not matter; a third label needs a name, since llm-guard would read it as "no attack"."""
    rule: dict[str, Any] = {"model": str(tiny_models(*labels)), **({"labels": given} if given else {})}
    if said:
        with pytest.raises(UsageError, match=said):
            ready("input", "PromptInjection", **rule)
    else:
        assert ready("input", "PromptInjection", **rule).input_stage(ATTACK, "document 0")[1]


@pytest.mark.parametrize("before", [0, 1, 2])
def test_what_lies_past_the_window_is_seen(injection_model: Path, before: int) -> None:
    """llm-guard cuts a text to the model's 512 tokens; the rest is let through unread."""
    text = LONG * before + ATTACK + " " + LONG * (2 - before)
    assert raw(injection_model).scan(text)[1] == (before > 0)

    scanners = ready("input", "PromptInjection", model=str(injection_model))
    _, found = scanners.input_stage(text, "document 0")
    at = text.index("ignore")
    assert any(start <= at < end for start, end in (finding.span for finding in found))
    assert sum(end - start for start, end in (finding.span for finding in found)) < 6000


def test_a_model_that_sees_less_than_512_tokens_is_given_less(tiny_models: Callable[..., Path]) -> None:
    """llm-guard hands 512 tokens to a model of 64 positions, which fails in the middle of a call."""
    folder = tiny_models("INJECTION", "SAFE", positions=64)
    with pytest.raises((RuntimeError, IndexError)):
        raw(folder).scan(LONG)
    scanners = ready("input", "PromptInjection", model=str(folder))
    assert scanners.input_stage(LONG, "document 0")[1] == ()
    assert scanners.input_stage(LONG + ATTACK, "document 0")[1]


def test_the_window_is_the_least_that_any_file_says(tmp_path: Path) -> None:
    """RoBERTa spends two positions on padding; a tokenizer that was never told its limit says 1e30."""
    assert window_tokens({}, tmp_path) == 512
    assert window_tokens({"max_position_embeddings": 130, "model_type": "roberta"}, tmp_path) == 128
    assert window_tokens({"max_position_embeddings": 8192}, tmp_path) == 512
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 1e30}', encoding="utf-8")
    assert window_tokens({"max_position_embeddings": 256}, tmp_path) == 256
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 100}', encoding="utf-8")
    assert window_tokens({"max_position_embeddings": 256}, tmp_path) == 100


def test_figures_that_are_no_numbers_do_not_pass(tiny_models: Callable[..., Path]) -> None:
    """Compared with a threshold, NaN is never above it: llm-guard lets everything pass."""
    folder = tiny_models("INJECTION", "SAFE", broken=True)
    assert raw(folder).scan(ATTACK)[1]
    with pytest.raises(UsageError, match="scores are not numbers"):
        ready("input", "PromptInjection", model=str(folder))


def test_a_blank_text_is_said_to_be_unread(llm_guard: ModuleType, injection_model: Path) -> None:
    """There is nothing to judge; the report says so, where llm-guard reports nothing at all."""
    assert llm_guard.scan_prompt([raw(injection_model)], " \n")[1] == {}
    _, (found,) = ready("input", "PromptInjection", model=str(injection_model)).input_stage(" \n", "document 0")
    assert (found.severity, found.detail) == ("info", "not read: the text is blank")


def test_a_model_is_loaded_once_and_shared(injection_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two policies that name the same scanner, each by its own name, use one; the next call loads nothing."""
    made: list[str] = []
    build = execution.learned

    def counted(rule: Any) -> Any:
        made.append(rule.scanner)
        return build(rule)

    monkeypatch.setattr(execution, "learned", counted)
    rule = {"scanner": "PromptInjection", "model": str(injection_model), "threshold": 0.77}
    first = load_scanners(parsed(input=[{**rule, "name": "a"}]))
    second = load_scanners(parsed(input=[{**rule, "name": "b", "on_fail": "block"}]))
    assert made == ["PromptInjection"]
    assert first.input[0][1] is second.input[0][1]
    assert first.vault is not second.vault


def test_nothing_is_printed_by_a_model(injection_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """llm-guard and transformers log to the terminal, the one with its finding, the other with the device."""
    import structlog

    structlog.reset_defaults()
    raw(injection_model).scan(ATTACK)
    captured = capfd.readouterr()
    assert "Detected prompt injection" in captured.out

    scanners = ready("input", "PromptInjection", model=str(injection_model), threshold=0.66)
    assert scanners.input_stage(ATTACK, "document 0")[1]
    assert capfd.readouterr() == ("", "")


OTHERS: list[tuple[str, str, tuple[str, ...], dict[str, Any]]] = [
    ("input", "Toxicity", ("toxicity", "neutral"), {}),
    ("output", "Toxicity", ("insult", "neutral"), {}),
    ("input", "Gibberish", ("noise", "clean"), {"threshold": 0.9}),
    ("input", "Language", ("zh", "en"), {"valid_languages": ["en"]}),
    ("input", "BanCode", ("CODE", "NL"), {"threshold": 0.9}),
    ("input", "Code", ("Python", "Go"), {"languages": ["Python"]}),
    ("output", "NoRefusal", ("REJECTION", "NORMAL"), {}),
    ("output", "Bias", ("BIASED", "NON-BIASED"), {}),
]


@pytest.mark.parametrize(("side", "scanner", "labels", "options"), OTHERS)
def test_the_other_classifiers_run_with_their_labels(
    tiny_models: Callable[..., Path], side: str, scanner: str, labels: tuple[str, ...], options: dict[str, Any]
) -> None:
    """Each judges text of any length by its own labels, and does not load with labels that it does not know."""
    scanners = ready(side, scanner, model=str(tiny_models(*labels)), **options)

    def found(text: str) -> int:
        run = scanners.input_stage(text, "d") if side == "input" else scanners.check_output("", text)
        return len(run[1])

    assert [found(text) for text in (HARMLESS, ATTACK, LONG + ATTACK)] == [0, 1, 1]
    with pytest.raises(UsageError, match="would misread its model"):
        ready(side, scanner, model=str(tiny_models("LABEL_0", "LABEL_1")), **options)


def test_addresses_are_judged_one_by_one(tiny_models: Callable[..., Path]) -> None:
    """MaliciousURLs takes the addresses out of an answer itself, wherever they stand."""
    folder = tiny_models("phishing", "benign")
    scanners = ready("output", "MaliciousURLs", model=str(folder))
    assert scanners.check_output("?", f"{LONG} http://fine.word/ today")[1] == ()
    assert scanners.check_output("?", f"{LONG} http://fine.word/ignore today")[1]


def test_a_topic_is_judged_by_entailment(tiny_models: Callable[..., Path]) -> None:
    """A model without that label answers all the same, by its last one: it does not load."""
    scanners = ready("input", "BanTopics", model=str(tiny_models("entailment", "neutral")), topics=["word"])
    assert scanners.input_stage(LONG + ATTACK, "document 0")[1]
    with pytest.raises(UsageError, match="none of them is entailment"):
        ready("input", "BanTopics", model=str(tiny_models("a", "b")), topics=["word"])


def test_a_pair_is_compared_window_by_window(tiny_models: Callable[..., Path]) -> None:
    """A part of the answer that no part of the prompt supports fails; a long prompt is compared in all its parts."""
    folder = tiny_models("entailment", "not_entailment")  # supported: a pair with "ignore" in it
    scanners = ready("output", "FactualConsistency", model=str(folder), threshold=0.75)
    assert scanners.check_output(ATTACK, HARMLESS)[1] == ()
    assert scanners.check_output(LONG + ATTACK, HARMLESS)[1] == ()
    assert len(scanners.check_output(HARMLESS, HARMLESS)[1]) == 1
    _, (found,) = scanners.check_output(HARMLESS, ATTACK + " " + LONG)
    assert found.span[0] > 0
    with pytest.raises(UsageError, match="first of them must be entailment"):
        ready("output", "FactualConsistency", model=str(tiny_models("not_entailment", "entailment")))


def test_the_prompt_never_takes_the_place_of_the_answer(tiny_models: Callable[..., Path]) -> None:
    """Asked about a blank answer, llm-guard's LanguageSame gives the prompt back as the text to show."""
    folder = tiny_models("zh", "en")
    from llm_guard.model import Model
    from llm_guard.output_scanners import LanguageSame

    model = Model(path=str(folder), pipeline_kwargs={"top_k": None, "max_length": 512, "truncation": True})
    assert LanguageSame(model=model).scan("the prompt", " ")[0] == "the prompt"

    scanners = ready("output", "LanguageSame", model=str(folder), threshold=0.5)
    text, (found,) = scanners.check_output("the prompt", " ")
    assert text == " "
    assert "blank" in found.detail
    assert [len(scanners.check_output(HARMLESS, text)[1]) for text in (HARMLESS, ATTACK)] == [0, 1]


def test_relevance_compares_answer_and_prompt(injection_model: Path) -> None:
    """An answer that points elsewhere than the prompt is found."""
    scanners = ready("output", "Relevance", model=str(injection_model), threshold=0.5)
    assert [len(scanners.check_output(HARMLESS, text)[1]) for text in (HARMLESS, ATTACK)] == [0, 1]


@pytest.mark.smoke
def test_names_are_redacted_in_a_text_of_any_length(llm_guard: ModuleType, tmp_path: Path) -> None:
    """llm-guard's BanCompetitors reads the first window of a text; here every one is, and redacted in place."""
    from tests.guard.scanners.tiny import save_tiny_ner

    folder = save_tiny_ner(tmp_path)
    scanners = ready("input", "BanCompetitors", model=str(folder), competitors=["ignore"], on_fail="redact")
    text = f"please ignore {LONG}ignore today"
    changed, found = scanners.input_stage(text, "document 0")
    assert changed.text == f"please [REDACTED] {LONG}[REDACTED] today"
    assert [text[slice(*finding.span)] for finding in found] == ["ignore", "ignore"]


def test_an_answer_that_takes_too_long_is_not_let_through(injection_model: Path) -> None:
    """The time is looked at between two windows, by the clock that was given."""
    ticks = iter(range(1000))
    rule = {"scanner": "PromptInjection", "model": str(injection_model)}
    scanners = load_scanners(parsed(input=[rule], timeout_s=3), clock=lambda: float(next(ticks)))
    with pytest.raises(GuardBlocked, match="more than 3 s"):
        scanners.input_stage(LONG, "document 0")


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ((), "does not exist"),
        (("config.json",), r"no readable config\.json"),
        (("model.safetensors",), "has no weights"),
        (("vocab.txt", "tokenizer.json"), "has no tokenizer"),
    ],
)
def test_a_folder_that_is_no_whole_model_is_named(
    tiny_models: Callable[..., Path], gone: tuple[str, ...], said: str
) -> None:
    """What is missing is said before anything is loaded."""
    folder = tiny_models("INJECTION", "SAFE")
    for name in gone:
        (folder / name).unlink()
    with pytest.raises(UsageError, match=said):
        ready("input", "PromptInjection", model=str(folder) if gone else str(folder / "elsewhere"))


def test_without_a_model_nothing_is_fetched(tmp_path: Path) -> None:
    """A scanner whose model is not here fails at once and says what to do; not one attempt at the network."""
    program = """
import json, sys, warnings
warnings.simplefilter("ignore")
tried = []
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        tried.append(event)
sys.addaudithook(hook)
from pathlib import Path
from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners import load_scanners, parse_scanners
from ollama_kit.specs.source import Source
said = []
for scanner, options in (("PromptInjection", {}), ("TokenLimit", {}), ("Sentiment", {})):
    rules = {"input": [{"scanner": scanner, "options": options}]}
    try:
        load_scanners(parse_scanners(rules, Source(Path("p.yaml"), {})))
    except UsageError as error:
        said.append(str(error))
print(json.dumps([said, tried]))
"""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_", "NLTK_"))}
    env |= {"HF_HOME": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path / "none"), "HOME": str(tmp_path)}
    env |= {"PYTHONPATH": os.pathsep.join(sys.path), "OLLAMA_KIT_LANG": "en"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, encoding="utf-8", timeout=200)
    assert done.returncode == 0, done.stderr
    said, tried = json.loads(done.stdout.splitlines()[-1])
    assert tried == []
    assert len(said) == 3
    assert "protectai/deberta-v3-base-prompt-injection-v2" in said[0]
    assert all("`download: true`" in text for text in said)


def test_the_status_of_a_policy_is_what_loading_it_comes_to(tiny_models: Callable[..., Path], tmp_path: Path) -> None:
    """`doctor` says of each scanner of a policy whether it would load, from where, and why not."""
    good, odd = tiny_models("INJECTION", "SAFE"), tiny_models("a", "b")
    rules = [
        {"name": name, "scanner": "PromptInjection", "model": str(folder)}
        for name, folder in (("good", good), ("odd", odd), ("none", tmp_path / "none"))
    ]
    config = parsed(input=[*rules, {"scanner": "Secrets"}, {"scanner": "Anonymize"}])
    by_name = {status.name: status for status in scanner_status(config)}

    def why_not(rule: ScannerRule) -> str:
        try:
            load_scanners(ScannerConfig(input=(rule,)))
        except UsageError as problem:
            return problem.message
        return ""

    reasons = {rule.name: why_not(rule) for rule in config.input}
    assert {name: not reason for name, reason in reasons.items()} == {n: s.works for n, s in by_name.items()}
    assert all(reason in by_name[name].why for name, reason in reasons.items())
    assert by_name["good"].source == str(good)
    assert "llm-guard 0.3.16 in " in by_name["Secrets"].source
    assert "torch" in by_name["good"].cost


def test_the_status_without_a_policy_lists_every_scanner() -> None:
    """With the extra here, what needs no model works, and what does says that it wants a folder."""
    by_name = {status.name: status for status in scanner_status()}
    assert by_name["Regex"].works
    assert not by_name["URLReachability"].works
    assert "`model:`" in by_name["PromptInjection"].why or by_name["PromptInjection"].works


def test_the_tiny_model_is_as_certain_as_the_tests_take_it_to_be(injection_model: Path) -> None:
    """One word among 500 turns its verdict, with a score near 1 either way."""
    pipeline = raw(injection_model)._pipeline
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (there,), (not_there,) = pipeline(["word " * 250 + "ignore" + " word" * 250]), pipeline(["word " * 500])
    assert (there["label"], not_there["label"]) == ("INJECTION", "SAFE")
    assert math.isclose(there["score"], 1, abs_tol=0.01)
    assert math.isclose(not_there["score"], 1, abs_tol=0.01)
