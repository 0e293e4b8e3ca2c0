"""Two other finders, each as its makers ship it, asked the same question: which characters of a text are private?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

Spans = tuple[tuple[int, int], ...]
Oracle = Callable[[Sequence[str]], "list[Spans]"]

NOT_OURS = frozenset({"URL", "DATE", "LOC", "CRYPTO"})
"""What privyscope reports besides and we do not look for; it is not held against it."""


def detect_secrets(texts: Sequence[str]) -> list[Spans]:
    """Per text, where detect-secrets with its default plugins and filters finds secrets; each text as a file."""
    from detect_secrets.core.secrets_collection import SecretsCollection
    from detect_secrets.settings import default_settings

    spans: list[Spans] = []
    with TemporaryDirectory() as folder, default_settings():
        for at, text in enumerate(texts):
            path = Path(folder) / f"{at}.txt"
            path.write_text(text, encoding="utf-8")
            found = SecretsCollection()
            found.scan_file(str(path))
            values = {secret.secret_value for _, secret in found if secret.secret_value}
            spans.append(tuple((at, at + len(value)) for value in values for at in _places(text, value)))
    return spans


def _places(text: str, value: str) -> list[int]:
    places, at = [], text.find(value)
    while at >= 0:
        places.append(at)
        at = text.find(value, at + 1)
    return places


def privyscope(texts: Sequence[str]) -> list[Spans]:
    """Per text, where the rules of privyscope-zh-hans find private data: its first stage, which needs no model."""
    rules = _privyscope()
    return [tuple((span.start, span.end) for span in rules.find(text) if span.label not in NOT_OURS) for text in texts]


@cache
def _privyscope():  # type: ignore[no-untyped-def]
    from privyscope._core.plugins import get_plugin
    from privyscope._core.regex_filter import RegexFilter

    return RegexFilter.from_yaml(get_plugin("zh-Hans").regex_rules_path())


ORACLES: dict[str, Oracle] = {"detect-secrets": detect_secrets, "privyscope-zh-hans": privyscope}


def touches(spans: Spans, start: int, end: int) -> bool:
    """Whether one of `spans` has a character of `start`:`end`."""
    return any(left < end and start < right for left, right in spans)
