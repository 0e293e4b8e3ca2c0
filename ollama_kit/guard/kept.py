"""What is kept on disk of an answer: hidden values stay behind placeholders there, and come back when it is read.

Nothing but the texts of the task and the policy is needed for the way back: the same texts hide the same values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.placeholders import Placeholders

_QUIET = {"injection": "off", "control_tokens": "off", "markup": "off", "fence": "off", "scanners": None, "judge": None}


@cache
def _marks() -> re.Pattern[str]:
    """A placeholder as it is kept: with one `=` more than where it was text already."""
    return re.compile(r"\[(=*)([A-Z_]{1,24}_[0-9]{1,9})\]")


@dataclass(frozen=True)
class KeptValues:
    """The values that a policy hides in the texts of one task.

    >>> kept = KeptValues.of(Policy().with_settings(personal="redact"), ("电话13800138000",))
    >>> kept.sealed({"tel": "13800138000", "said": "[PHONE_1]"})
    {'tel': '[PHONE_1]', 'said': '[=PHONE_1]'}
    >>> kept.opened(kept.sealed({"tel": "13800138000", "said": "[PHONE_1]"}))
    {'tel': '13800138000', 'said': '[PHONE_1]'}
    """

    placeholders: Placeholders

    @classmethod
    def of(cls, policy: Policy, texts: Iterable[str]) -> KeptValues:
        """The values that a call with these texts would hide."""
        return _kept(policy.softened().with_settings(**_QUIET), tuple(texts))

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.placeholders)

    def sealed(self, value: Any) -> Any:
        """Plain data with every one of the values behind its placeholder."""
        if not self:
            return value
        return _over(value, self._seal)

    def opened(self, value: Any) -> Any:
        """The inverse of `sealed`."""
        if not self:
            return value
        values = self.placeholders.values

        def put_back(found: re.Match[str]) -> str:
            if found[1]:
                return f"[{found[1][1:]}{found[2]}]"
            return values.get(found[0], found[0])

        return _over(value, lambda text: _marks().sub(put_back, text))

    def _seal(self, text: str) -> str:
        parts = self._pattern.split(text)
        for at in range(0, len(parts), 2):
            parts[at] = _marks().sub(r"[=\1\2]", parts[at])
        for at in range(1, len(parts), 2):
            parts[at] = self.placeholders.hide(parts[at])
        return "".join(parts)

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _any_of(tuple(self.placeholders.values.values()))


@lru_cache(maxsize=8)
def _any_of(values: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"({'|'.join(map(re.escape, sorted(values, key=len, reverse=True)))})")


@lru_cache(maxsize=8)
def _kept(policy: Policy, texts: tuple[str, ...]) -> KeptValues:
    pipeline = Pipeline.of(policy)
    for text in texts:
        pipeline.clean(text, "text", "document")
    return KeptValues(pipeline.context.placeholders)


def _over(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key) if isinstance(key, str) else key: _over(inner, change) for key, inner in value.items()}
    return [_over(item, change) for item in value] if isinstance(value, (list, tuple)) else value
