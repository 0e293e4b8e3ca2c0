"""The scanners that need no model, with llm-guard's options and the matching that its own lack: every place of every
pattern, words beside Chinese, a time limit, and offsets."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.guard.scanners.library import scanner_class
from ollama_kit.guard.scanners.outcome import PASSED, Asked, Check, Outcome, Span, edits_of, joined
from ollama_kit.guard.scanners.rules import ScannerRule
from ollama_kit.guard.scanners.secret_values import check_secrets
from ollama_kit.text.spans import Edit

MASK = "[REDACTED]"

_NO_BLANKS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_NO_BLANKS}]"
BOUNDARY = rf"(?:\b|(?<={_LETTER})(?!{_LETTER})|(?<!{_LETTER})(?={_LETTER}))"
"""Where a word ends, also against scripts that write without blanks: there `\\b` sees no end between 号 and 1."""

WORDS_A_MINUTE, CHARACTERS_A_MINUTE = 200, 300
_SIGNS = "\u3001-\u303f\uff01-\uff65"
_READ = re.compile(rf"([{_NO_BLANKS}{_SIGNS}])|[^\s{_NO_BLANKS}{_SIGNS}]+")


def checks() -> dict[str, Callable[[ScannerRule], Check]]:
    """How each scanner without a model is made."""
    return {
        "Regex": _regex,
        "BanSubstrings": _substrings,
        "NoRefusalLight": _refusal,
        "Secrets": check_secrets,
        "InvisibleText": _invisible,
        "ReadingTime": _reading_time,
        "Deanonymize": _deanonymize,
    }


def _made(rule: ScannerRule, **arguments: Any) -> Any:
    """llm-guard's own scanner of a rule, which checks the options by its own measure."""
    found, _ = scanner_class(rule.scanner, rule.side, light=True)
    try:
        return found(**{name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()})
    except (TypeError, ValueError) as problem:
        raise UsageError(f"llm-guard refuses the options of {rule.name!r}: {problem}") from problem


def _compiled(patterns: list[str], rule: ScannerRule, *, fold: bool = False) -> list[Any]:
    """The patterns ready to search under a time limit, which the standard library's cannot."""
    regex = importlib.import_module("regex")
    try:
        return [regex.compile(with_boundaries(text), regex.V0 | (regex.IGNORECASE if fold else 0)) for text in patterns]
    except regex.error as problem:
        raise UsageError(f"a pattern of {rule.name!r} cannot be searched with a time limit: {problem}") from problem


def with_boundaries(pattern: str) -> str:
    """A pattern whose `\\b` also ends a word beside Chinese; it finds all that it found before.

    >>> bool(re.search(with_boundaries(r"\\b\\d{4}\\b"), "房号1203室"))
    True
    """
    parts = re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[]+|.", pattern, re.DOTALL)
    return "".join(BOUNDARY if part.group() == r"\b" else part.group() for part in parts)


def _regex(rule: ScannerRule) -> Check:
    made = _made(rule, **dict(rule.options))
    inner = getattr(made, "_scanner", made)
    patterns = _compiled([pattern.pattern for pattern in inner._patterns], rule)
    whole, forbidden = rule.option("match_type") == "fullmatch", rule.option("is_blocked", True)

    def places(pattern: Any, asked: Asked) -> Iterator[Span]:
        if whole:
            found = pattern.fullmatch(asked.text, timeout=asked.deadline.left(), concurrent=True)
            yield from [found.span()] if found else []
        else:
            for found in pattern.finditer(asked.text, timeout=asked.deadline.left(), concurrent=True):
                yield found.span()

    def check(asked: Asked) -> Outcome:
        spans = [span for pattern in patterns for span in places(pattern, asked)]
        if forbidden:
            return _found(spans, "matches a pattern that is not allowed")
        return PASSED if spans else Outcome(True, "matches none of the patterns asked for", ((0, len(asked.text)),))

    return check


def _found(spans: list[Span], detail: str) -> Outcome:
    if not spans:
        return PASSED
    places = joined(span for span in spans if span[1] > span[0])
    return Outcome(True, detail, places, tuple(Edit(start, end, MASK) for start, end in places), risk=1.0)


def _substrings(rule: ScannerRule) -> Check:
    _made(rule, **dict(rule.options))
    return _banned(rule, list(rule.option("substrings")), "holds a text that is not allowed")


def _refusal(rule: ScannerRule) -> Check:
    made = _made(rule)
    return _banned(rule, list(made._scanner._substrings), "reads like a refusal")


def _banned(rule: ScannerRule, texts: list[str], detail: str) -> Check:
    edge = r"\b" if rule.option("match_type") == "word" else ""
    quoted = [edge + re.escape(text) + edge for text in texts]
    patterns = _compiled(quoted, rule, fold=not rule.option("case_sensitive", False))
    each = rule.option("contains_all", False)

    def check(asked: Asked) -> Outcome:
        found = [
            [match.span() for match in pattern.finditer(asked.text, timeout=asked.deadline.left(), concurrent=True)]
            for pattern in patterns
        ]
        if each and not all(found):
            return PASSED
        return _found([span for spans in found for span in spans], detail)

    return check


def _invisible(rule: ScannerRule) -> Check:
    """The kit's own rules: llm-guard's take the joiners out of emoji and of Persian, and leave what hides bytes."""
    _made(rule)

    def check(asked: Asked) -> Outcome:
        changed, findings = normalize_text(asked.text, "text")
        if not findings:
            return PASSED
        return Outcome(True, "holds hidden characters", joined(f.span for f in findings), edits_of(changed), risk=1.0)

    return check


def _reading_time(rule: ScannerRule) -> Check:
    """Counts Chinese by its characters; llm-guard takes a page of it for one word."""
    limit = rule.option("max_time")
    _made(rule, max_time=limit)

    def check(asked: Asked) -> Outcome:
        minutes, cut = 0.0, -1
        for found in _READ.finditer(asked.text):
            minutes += 1 / (CHARACTERS_A_MINUTE if found.group(1) else WORDS_A_MINUTE)
            if minutes > limit and cut < 0:
                cut = found.start()
        if cut < 0:
            return PASSED
        rest = (cut, len(asked.text))
        return Outcome(True, f"takes {minutes:.1f} minutes to read", (rest,), (Edit(*rest, ""),), risk=1.0)

    return check


def _deanonymize(rule: ScannerRule) -> Check:
    """Exact, in one pass and the longest first: what is put in is never searched again."""
    vault_type = scanner_class(rule.scanner, rule.side, light=True)[1].Vault
    _made(rule, vault=vault_type(), **dict(rule.options))

    def check(asked: Asked) -> Outcome:
        values = dict(asked.vault)
        if not values:
            return PASSED
        names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
        found = re.finditer(names, asked.text)
        return Outcome(False, edits=tuple(Edit(*match.span(), values[match.group()]) for match in found))

    return check
