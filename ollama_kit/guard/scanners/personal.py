"""Anonymize and Sensitive: names and numbers of people, by Presidio, spaCy and a model that marks words."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.fetched import plainly
from ollama_kit.guard.scanners.folders import WINDOW_TOKENS, labels_of, read_folder, window_tokens
from ollama_kit.guard.scanners.learned import explained
from ollama_kit.guard.scanners.library import own_module, quieten, scanner_class
from ollama_kit.guard.scanners.outcome import Asked, Check, difference
from ollama_kit.guard.scanners.rules import ScannerRule
from ollama_kit.text.spans import Edit

SPARE_TOKENS = 16
_PLACEHOLDER = re.compile(r"\[REDACTED_[A-Z_]+_\d+\]")
_MODELS = {"en": "DEBERTA_AI4PRIVACY_v2_CONF", "zh": "BERT_ZH_NER_CONF"}


def personal(rule: ScannerRule, download: bool) -> Check:
    """The check of a rule for Anonymize or Sensitive. UsageError if the model is none that they can use."""
    quieten()
    found, _ = scanner_class(rule.scanner, rule.side, light=False)
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in rule.options}
    if rule.threshold is not None:
        arguments["threshold"] = rule.threshold
    with explained(rule):
        arguments["recognizer_conf"] = _recognizer(rule)
        if not download:
            _keep_suffixes()
        if rule.scanner == "Sensitive":
            made = found(redact=rule.on_fail == "redact", **arguments)
            return plainly(lambda asked: made.scan(asked.prompt, asked.text))
        return _anonymize(rule, found, arguments)


def _recognizer(rule: ScannerRule) -> dict[str, Any]:
    """llm-guard's description of its model for the language, with the rule's own model in its place, and pieces of
    text that it can take: llm-guard's have 600 characters, which in Chinese are 600 tokens."""
    mapping = own_module("input_scanners.anonymize_helpers.ner_mapping")
    described: dict[str, Any] = getattr(mapping, _MODELS[rule.option("language", "en")])
    if rule.hub:
        return described
    config = read_folder(rule)
    marked = {label.partition("-")[2] or label for label in labels_of(config)}
    meant = {*described["MODEL_TO_PRESIDIO_MAPPING"], *described["PRESIDIO_SUPPORTED_ENTITIES"]}
    if not marked & meant:
        raise UsageError(
            f"{rule.scanner} ({rule.name!r}) knows none of its model's labels, {', '.join(sorted(marked))}; "
            f"it knows {', '.join(sorted(meant))}"
        )
    size = window_tokens(config, Path(rule.model or ""), WINDOW_TOKENS) - SPARE_TOKENS
    model = own_module("model").Model(path=rule.model, pipeline_kwargs={"aggregation_strategy": "simple"})
    return {**described, "DEFAULT_MODEL": model, "CHUNK_SIZE": min(described["CHUNK_SIZE"], size)}


def _keep_suffixes() -> None:
    """Lets the e-mail rule know the domains that its library came with, instead of asking the network for newer."""
    tldextract: Any = importlib.import_module("tldextract")
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def _anonymize(rule: ScannerRule, found: type[Any], arguments: dict[str, Any]) -> Check:
    """The vault is the call's: one that is the scanner's would give one caller's names to the next."""
    vault = own_module("vault").Vault
    made = found(vault(), **arguments)

    def scan(asked: Asked) -> tuple[str, bool, float]:
        made._vault = vault(asked.vault if rule.on_fail == "redact" else list(asked.vault))
        after, passed, risk = made.scan(asked.text)
        return after, passed, risk

    return plainly(scan, placed)


def placed(old: str, new: str, vault: list[tuple[str, str]]) -> tuple[Edit, ...]:
    """Each value of a vault that a placeholder stands for in `new`, as an edit of `old`; one edit in all where the
    texts differ in more.

    >>> placed("to Ann and Bo", "to [REDACTED_PERSON_1] and Bo", [("[REDACTED_PERSON_1]", "Ann")])
    (Edit(start=3, end=6, new='[REDACTED_PERSON_1]'),)
    """
    values, edits, at, done = dict(vault), [], 0, 0
    for found in _PLACEHOLDER.finditer(new):
        kept, value = new[done : found.start()], values.get(found.group(), found.group())
        start = at + len(kept)
        if old[at:start] != kept or not old.startswith(value, start):
            return difference(old, new)
        if value != found.group():
            edits.append(Edit(start, start + len(value), found.group()))
        at, done = start + len(value), found.end()
    return tuple(edits) if old[at:] == new[done:] else difference(old, new)
