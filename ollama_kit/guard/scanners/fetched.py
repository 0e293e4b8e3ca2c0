"""The scanners that stand on data of another library: a lexicon, a table of tokens."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.scanners.library import quieten, scanner_class
from ollama_kit.guard.scanners.outcome import PASSED, Asked, Check, Outcome, difference
from ollama_kit.guard.scanners.rules import ScannerRule
from ollama_kit.text.spans import Edit

LEXICON = "sentiment/vader_lexicon.zip"
DEFAULT_TABLE = "cl100k_base"


Placed = Callable[[str, str, "list[tuple[str, str]]"], "tuple[Edit, ...]"]


def fetched(rule: ScannerRule, download: bool) -> Check:
    """The check of a rule that needs another library's data; UsageError if they are missing and may not be fetched."""
    quieten()
    found, _ = scanner_class(rule.scanner, rule.side, light=True)
    arguments = dict(rule.options)
    if rule.threshold is not None:
        arguments["threshold"] = rule.threshold
    if rule.scanner == "TokenLimit" and not download:
        _have_table(rule)
    with _no_lexicon_fetched(rule, download) if rule.scanner == "Sentiment" else nullcontext():
        made = found(**arguments)
    return plainly(lambda asked: made.scan(asked.text) if rule.side == "input" else made.scan(asked.prompt, asked.text))


def _apart(old: str, new: str, vault: list[tuple[str, str]]) -> tuple[Edit, ...]:
    return difference(old, new)


def plainly(scan: Callable[[Asked], tuple[str, bool, float]], placed: Placed = _apart) -> Check:
    """A check by llm-guard's own answer; `placed` gives the edits that made its text of the one asked about."""

    def check(asked: Asked) -> Outcome:
        if not asked.text.strip():
            return Outcome(failed=False, unread="the text is blank")
        asked.deadline.left()
        after, passed, risk = scan(asked)
        if passed:
            return PASSED
        edits = placed(asked.text, after, asked.vault)
        spans = tuple((edit.start, edit.end) for edit in edits) or ((0, len(asked.text)),)
        return Outcome(True, f"risk {risk:.1f}", spans, edits, risk)

    return check


def _have_table(rule: ScannerRule) -> None:
    """Refuses to fetch: tiktoken asks the network for a table that its cache lacks, whatever a hub's settings say."""
    load: Any = importlib.import_module("tiktoken_ext.openai_public")
    table = rule.option("encoding_name", DEFAULT_TABLE)
    if table not in load.ENCODING_CONSTRUCTORS:
        raise UsageError(f"{rule.name!r} names no table of tiktoken's: {table!r}")
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
