"""The scanners that need no model, with llm-guard's options and the matching that its own lack: every place of every
pattern, words beside Chinese, a time limit, and offsets."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.guard.private.redaction import detect
from ollama_kit.guard.private.rulebook import SECRETS
from ollama_kit.guard.scanners.config import ScannerRule
from ollama_kit.guard.scanners.library import scanner_class
from ollama_kit.guard.scanners.outcome import PASSED, Check, ScanOutcome, ScanRequest, Span, edits_of, joined
from ollama_kit.text.spans import Edit

MASK = "[REDACTED]"

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_UNSPACED}]"
BOUNDARY = rf"(?:\b|(?<={_LETTER})(?!{_LETTER})|(?<!{_LETTER})(?={_LETTER}))"
"""Where a word ends, also beside scripts that write without spaces: there `\\b` sees no end between 号 and 1."""

WORDS_A_MINUTE, CHARACTERS_A_MINUTE = 200, 300
_SIGNS = "\u3001-\u303f\uff01-\uff65"
_READ = re.compile(rf"([{_UNSPACED}{_SIGNS}])|[^\s{_UNSPACED}{_SIGNS}]+")


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
    """The patterns, compiled to search under a time limit, which the standard library cannot."""
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

    def places(pattern: Any, request: ScanRequest) -> Iterator[Span]:
        if whole:
            found = pattern.fullmatch(request.text, timeout=request.deadline.left(), concurrent=True)
            yield from [found.span()] if found else []
        else:
            for found in pattern.finditer(request.text, timeout=request.deadline.left(), concurrent=True):
                yield found.span()

    def check(request: ScanRequest) -> ScanOutcome:
        spans = [span for pattern in patterns for span in places(pattern, request)]
        if forbidden:
            return _found(spans, "matches a pattern that is not allowed")
        return (
            PASSED if spans else ScanOutcome(True, "matches none of the patterns required", ((0, len(request.text)),))
        )

    return check


def _found(spans: list[Span], detail: str) -> ScanOutcome:
    if not spans:
        return PASSED
    places = joined(span for span in spans if span[1] > span[0])
    return ScanOutcome(True, detail, places, tuple(Edit(start, end, MASK) for start, end in places), risk=1.0)


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

    def check(request: ScanRequest) -> ScanOutcome:
        found = [
            [match.span() for match in pattern.finditer(request.text, timeout=request.deadline.left(), concurrent=True)]
            for pattern in patterns
        ]
        if each and not all(found):
            return PASSED
        return _found([span for spans in found for span in spans], detail)

    return check


def _invisible(rule: ScannerRule) -> Check:
    """The kit's own rules: llm-guard's take the joiners out of emoji and of Persian, and leave what hides bytes."""
    _made(rule)

    def check(request: ScanRequest) -> ScanOutcome:
        changed, findings = normalize_text(request.text, "text")
        if not findings:
            return PASSED
        return ScanOutcome(
            True, "holds hidden characters", joined(f.span for f in findings), edits_of(changed), risk=1.0
        )

    return check


def _reading_time(rule: ScannerRule) -> Check:
    """Counts Chinese by its characters; llm-guard counts a page of it as one word."""
    limit = rule.option("max_time")
    _made(rule, max_time=limit)

    def check(request: ScanRequest) -> ScanOutcome:
        minutes, cut = 0.0, -1
        for found in _READ.finditer(request.text):
            minutes += 1 / (CHARACTERS_A_MINUTE if found.group(1) else WORDS_A_MINUTE)
            if minutes > limit and cut < 0:
                cut = found.start()
        if cut < 0:
            return PASSED
        rest = (cut, len(request.text))
        return ScanOutcome(True, f"takes {minutes:.1f} minutes to read", (rest,), (Edit(*rest, ""),), risk=1.0)

    return check


def _deanonymize(rule: ScannerRule) -> Check:
    """Exact, in one pass and the longest first: a restored value is never searched again."""
    vault_type = scanner_class(rule.scanner, rule.side, light=True)[1].Vault
    _made(rule, vault=vault_type(), **dict(rule.options))

    def check(request: ScanRequest) -> ScanOutcome:
        values = dict(request.vault)
        if not values:
            return PASSED
        names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
        found = re.finditer(names, request.text)
        return ScanOutcome(False, edits=tuple(Edit(*match.span(), values[match.group()]) for match in found))

    return check


# Secrets: detect-secrets' rules as llm-guard chooses them, and the kit's own, over a text in memory.
#
# llm-guard writes the text to a temporary file, opens that in the locale's encoding, keeps the rules in settings that
# are the process's, and replaces one occurrence of each value. Here the rules see the text alone.


EVERYWHERE_CHARS = 6  # a shorter value is a common word as often as not, and replaced in its own line only
SHOWN_CHARS = 12  # of a shorter one, two letters at each end would be most of it

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_TWINS = {ord(wide): narrow for wide, narrow in zip("：＝，；“”‘’", ":=,;\"\"''", strict=True)}
_DIGEST = re.compile(
    r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})", re.IGNORECASE
)
_SECRET_WORD = re.compile(r"key|token|secret|passw|pwd|auth|credential|密码|口令|密钥|令牌|凭证", re.IGNORECASE)


def check_secrets(rule: ScannerRule) -> Check:
    """Finds every place of every secret; each is _masked as `redact_mode` says."""
    found, module = scanner_class(rule.scanner, rule.side, light=True)
    mode = rule.option("redact_mode", "all")
    found(redact_mode=mode)
    plugins = tuple(_plugins(module._default_detect_secrets_config["plugins_used"]))

    def _masked(value: str) -> str:
        return str(found.redact_value(value, "all" if len(value) < SHOWN_CHARS and mode == "partial" else mode))

    def check(request: ScanRequest) -> ScanOutcome:
        spans = joined([*_by_plugins(request, plugins), *_by_own_rules(request.text)])
        if not spans:
            return PASSED
        edits = tuple(Edit(start, end, _masked(request.text[start:end])) for start, end in spans)
        return ScanOutcome(True, "holds a secret", spans, edits, risk=1.0)

    return check


def _plugins(wanted: list[dict[str, Any]]) -> Iterator[Any]:
    """detect-secrets' plugins, prepared. Each is looked for in all the files: two of llm-guard's name each other's."""
    util = importlib.import_module("detect_secrets.core.plugins.util")
    paths = sorted({settings["path"].removeprefix("file://") for settings in wanted if "path" in settings})
    built_in = util.get_mapping_from_secret_type_to_class.__wrapped__  # what its cache holds is the process's own
    kinds = [*built_in().values()]
    kinds += [kind for path in paths for kind in util.get_plugins_from_file(path)]
    named = {kind.__name__: kind for kind in kinds}
    for settings in wanted:
        yield named[settings["name"]](**{key: value for key, value in settings.items() if key not in ("name", "path")})


def _by_plugins(request: ScanRequest, plugins: tuple[Any, ...]) -> Iterator[Span]:
    """The places of what the plugins find, line by line. They know no letters but ASCII: all others become
    spaces, so that a key glued to Chinese is separate."""
    start, everywhere = 0, set()
    for line in request.text.split("\n"):
        request.deadline.left()
        plain = _NOT_ASCII.sub(" ", line.translate(_TWINS))
        values = {value for plugin in plugins for value in _values(plugin, plain)} if plain.strip() else set()
        for value in values:
            if _DIGEST.fullmatch(value) and not _SECRET_WORD.search(line):
                continue
            yield from _places(plain, value, start)
            if len(value) >= EVERYWHERE_CHARS:
                everywhere.add(value)
        start += len(line) + 1
    for value in everywhere:
        request.deadline.left()
        yield from _places(request.text, value, 0)


def _values(plugin: Any, line: str) -> Iterator[str]:
    measure = getattr(plugin, "calculate_shannon_entropy", None)
    for value in plugin.analyze_string(line):
        if value and value.strip() and (measure is None or measure(value) > plugin.entropy_limit):
            yield value


def _places(text: str, value: str, offset: int) -> Iterator[Span]:
    at = text.find(value)
    while at >= 0:
        yield offset + at, offset + at + len(value)
        at = text.find(value, at + len(value))


def _by_own_rules(text: str) -> Iterator[Span]:
    for hit in detect(text, SECRETS):
        yield hit.start, hit.end
