"""Secrets: detect-secrets' rules as llm-guard chooses them, and the kit's own, over a text in memory.

llm-guard writes the text to a temporary file, opens that in the locale's encoding, keeps the rules in settings that
are the process's, and replaces one place of each value. Here the rules see the text alone.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from ollama_kit.guard.private.redaction import detect
from ollama_kit.guard.private.rulebook import SECRETS
from ollama_kit.guard.scanners.library import scanner_class
from ollama_kit.guard.scanners.outcome import PASSED, Asked, Check, Outcome, Span, joined
from ollama_kit.guard.scanners.rules import ScannerRule
from ollama_kit.text.spans import Edit

EVERYWHERE_CHARS = 6  # a shorter value is a common word as often as not, and replaced in its own line only
SHOWN_CHARS = 12  # of a shorter one, two letters at each end would be most of it

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_TWINS = {ord(wide): narrow for wide, narrow in zip("：＝，；“”‘’", ":=,;\"\"''", strict=True)}
_DIGEST = re.compile(
    r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})", re.IGNORECASE
)
_SECRET_WORD = re.compile(r"key|token|secret|passw|pwd|auth|credential|密码|口令|密钥|令牌|凭证", re.IGNORECASE)


def check_secrets(rule: ScannerRule) -> Check:
    """Finds every place of every secret; each is masked as `redact_mode` says."""
    found, module = scanner_class(rule.scanner, rule.side, light=True)
    mode = rule.option("redact_mode", "all")
    found(redact_mode=mode)
    plugins = tuple(_plugins(module._default_detect_secrets_config["plugins_used"]))

    def masked(value: str) -> str:
        return str(found.redact_value(value, "all" if len(value) < SHOWN_CHARS and mode == "partial" else mode))

    def check(asked: Asked) -> Outcome:
        spans = joined([*_by_plugins(asked, plugins), *_by_own_rules(asked.text)])
        if not spans:
            return PASSED
        edits = tuple(Edit(start, end, masked(asked.text[start:end])) for start, end in spans)
        return Outcome(True, "holds a secret", spans, edits, risk=1.0)

    return check


def _plugins(wanted: list[dict[str, Any]]) -> Iterator[Any]:
    """detect-secrets' plugins, made ready. Each is sought in all the files: two of llm-guard's name each other's."""
    util = importlib.import_module("detect_secrets.core.plugins.util")
    paths = sorted({settings["path"].removeprefix("file://") for settings in wanted if "path" in settings})
    built_in = util.get_mapping_from_secret_type_to_class.__wrapped__  # what its cache holds is the process's own
    kinds = [*built_in().values()]
    kinds += [kind for path in paths for kind in util.get_plugins_from_file(path)]
    named = {kind.__name__: kind for kind in kinds}
    for settings in wanted:
        yield named[settings["name"]](**{key: value for key, value in settings.items() if key not in ("name", "path")})


def _by_plugins(asked: Asked, plugins: tuple[Any, ...]) -> Iterator[Span]:
    """The places of what the plugins find, line by line. They know no letters but ASCII: all others are blanks to
    them, so that a key glued to Chinese stands free."""
    start, everywhere = 0, set()
    for line in asked.text.split("\n"):
        asked.deadline.left()
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
        asked.deadline.left()
        yield from _places(asked.text, value, 0)


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
