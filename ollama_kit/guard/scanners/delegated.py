"""The scanners whose own answer is used as it is: what they read lies in other libraries.

TokenLimit and Sentiment need a table or a lexicon that their library fetches; Anonymize and Sensitive need Presidio,
spaCy and a model that marks words. `plainly` makes a check of any of them: the edits are read off the text they return.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.config import ScannerRule
from ollama_kit.guard.scanners.learned import explained
from ollama_kit.guard.scanners.library import own_module, quieten, scanner_class
from ollama_kit.guard.scanners.local_models import WINDOW_TOKENS, labels_of, read_folder, window_tokens
from ollama_kit.guard.scanners.outcome import PASSED, Check, ScanOutcome, ScanRequest, difference
from ollama_kit.text.spans import Edit

LEXICON = "sentiment/vader_lexicon.zip"
DEFAULT_TABLE = "cl100k_base"


Placed = Callable[[str, str, "list[tuple[str, str]]"], "tuple[Edit, ...]"]


def fetched(rule: ScannerRule, download: bool) -> Check:
    """The check of a rule that needs another library's data; UsageError if it is missing and must not be fetched."""
    quieten()
    found, _ = scanner_class(rule.scanner, rule.side, light=True)
    arguments = dict(rule.options)
    if rule.threshold is not None:
        arguments["threshold"] = rule.threshold
    if rule.scanner == "TokenLimit" and not download:
        _have_table(rule)
    with _no_lexicon_fetched(rule, download) if rule.scanner == "Sentiment" else nullcontext():
        made = found(**arguments)
    return plainly(
        lambda request: made.scan(request.text) if rule.side == "input" else made.scan(request.prompt, request.text)
    )


def _apart(old: str, new: str, vault: list[tuple[str, str]]) -> tuple[Edit, ...]:
    return difference(old, new)


def plainly(scan: Callable[[ScanRequest], tuple[str, bool, float]], placed: Placed = _apart) -> Check:
    """A check by llm-guard's own answer; `placed` gives the edits that made its text of the one asked about."""

    def check(request: ScanRequest) -> ScanOutcome:
        if not request.text.strip():
            return ScanOutcome(failed=False, unread="the text is blank")
        request.deadline.left()
        after, passed, risk = scan(request)
        if passed:
            return PASSED
        edits = placed(request.text, after, request.vault)
        spans = tuple((edit.start, edit.end) for edit in edits) or ((0, len(request.text)),)
        return ScanOutcome(True, f"risk {risk:.1f}", spans, edits, risk)

    return check


def _have_table(rule: ScannerRule) -> None:
    """Refuses to fetch: tiktoken asks the network for a table that its cache lacks, whatever a hub's settings say."""
    load: Any = importlib.import_module("tiktoken_ext.openai_public")
    table = rule.option("encoding_name", DEFAULT_TABLE)
    if table not in load.ENCODING_CONSTRUCTORS:
        raise UsageError(f"{rule.name!r} names a table that tiktoken does not have: {table!r}")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    kept = Path(folder) if folder else Path(gettempdir()) / "data-gym-cache"
    if not kept.is_dir() or not any(kept.iterdir()):
        raise _absent(rule, f"the table {table}, which is not in {kept}")


@contextmanager
def _no_lexicon_fetched(rule: ScannerRule, download: bool) -> Iterator[None]:
    """Lets the scanner be made without its asking the network for a lexicon that is there."""
    nltk: Any = importlib.import_module("nltk")
    try:
        nltk.data.find(LEXICON)
    except LookupError:
        if not download:
            raise _absent(rule, f"nltk's {LEXICON}, which is not installed") from None
        yield
        return
    fetch, nltk.download = nltk.download, lambda *_, **__: True
    try:
        yield
    finally:
        nltk.download = fetch


def _absent(rule: ScannerRule, what: str) -> UsageError:
    return UsageError(
        f"{rule.scanner} ({rule.name!r}) needs {what}",
        hint=("Let the policy fetch it with `download: true`.", "可在策略中写 `download: true` 以允许下载。"),
    )


# Anonymize and Sensitive: names and numbers of people, by Presidio, spaCy and a model that marks words.


SPARE_TOKENS = 16
_PLACEHOLDER = re.compile(r"\[REDACTED_[A-Z_]+_\d+\]")
_MODELS = {"en": "DEBERTA_AI4PRIVACY_v2_CONF", "zh": "BERT_ZH_NER_CONF"}


def personal(rule: ScannerRule, download: bool) -> Check:
    """The check of a rule for Anonymize or Sensitive. UsageError if they cannot use the model."""
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
            return plainly(lambda request: made.scan(request.prompt, request.text))
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
    expected = {*described["MODEL_TO_PRESIDIO_MAPPING"], *described["PRESIDIO_SUPPORTED_ENTITIES"]}
    if not marked & expected:
        raise UsageError(
            f"{rule.scanner} ({rule.name!r}) knows none of its model's labels, {', '.join(sorted(marked))}; "
            f"it knows {', '.join(sorted(expected))}"
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

    def scan(request: ScanRequest) -> tuple[str, bool, float]:
        made._vault = vault(request.vault if rule.on_fail == "redact" else list(request.vault))
        after, passed, risk = made.scan(request.text)
        return after, passed, risk

    return plainly(scan, placed)


def placed(old: str, new: str, vault: list[tuple[str, str]]) -> tuple[Edit, ...]:
    """Each value of a vault that a placeholder replaces in `new`, as an edit of `old`; one edit in all where the
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
