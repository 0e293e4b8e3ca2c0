"""What replaces a private value in the text that a model sees, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

LONGEST = 36
"""Characters of the longest text that look_alikes matches."""

LITERAL = "literal"
"""Kind of a placeholder for a text that looked like a placeholder already given out."""


@cache
def look_alikes() -> re.Pattern[str]:
    """Texts that a placeholder could be: `[PHONE_1]`. None can begin or end inside another."""
    return re.compile(r"\[[A-Z_]{1,24}_[0-9]{1,9}\]")


@cache
def changed_look_alikes() -> re.Pattern[str]:
    """Texts that a placeholder could have become in an answer: `[phone_1]`, 【PHONE_1】, `\\[PHONE\\_1\\]`. The kind
    and the number are groups 1 and 2; bounded everywhere."""
    opening = r"(?:\\{0,2}\[|[［【〔]|&#91;|&#x5[bB];|&lsqb;|&lbrack;)"
    closing = r"(?:\\{0,2}\]|[］】〕]|&#93;|&#x5[dD];|&rsqb;|&rbrack;)"
    kind, space = r"[A-Za-zＡ-Ｚａ-ｚ][A-Za-zＡ-Ｚａ-ｚ_＿\\ -]{1,40}?", r"[ \u3000*`]{0,3}"
    return re.compile(rf"{opening}{space}({kind})[ \u3000_＿\\-]{{0,3}}([0-9０-９]{{1,9}}){space}{closing}")


def split_unfinished(text: str) -> tuple[str, str]:
    """`text` in two: what can be restored now, and an end that may be the beginning of a placeholder, to be kept until
    more of a stream has come.

    >>> split_unfinished("call [PHON")
    ('call ', '[PHON')
    """
    at = text.rfind("[", max(0, len(text) - LONGEST))
    if at < 0 or not _beginning().fullmatch(text, at):
        return text, ""
    return text[:at], text[at:]


@cache
def _beginning() -> re.Pattern[str]:
    return re.compile(r"\[[A-Z_]{0,25}[0-9]{0,9}")


class Placeholders:
    """The values hidden during one call, in memory only. The same value always has the same placeholder.

    No placeholder equals a text that the model sees for another reason: `taken` are texts that are sent as they are
    (a trusted system prompt), and what `redact_private_data` reads is reserved as it goes; a text that comes later
    and holds a placeholder already given out has it hidden behind one of its own.

    >>> hidden = Placeholders()
    >>> hidden.of("phone", "13800138000"), hidden.restore({"call": ["[PHONE_1]", "[PHONE_10]"]})
    ('[PHONE_1]', {'call': ['13800138000', '[PHONE_10]']})
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._values: dict[str, str] = {}
        self._by_value: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._given: dict[str, int] = {}
        self._reserved: set[str] = set()
        self._seen: set[str] = set()
        for text in taken:
            self.reserve(text)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, placeholder: object) -> bool:
        """Whether it was given out."""
        return placeholder in self._values

    def value_of(self, placeholder: str) -> str:
        """What one that was given out stands for."""
        return self._values[placeholder]

    def is_taken(self, text: str) -> bool:
        """Whether a text that reads like a placeholder was in what the model was given."""
        return text in self._reserved or text in self._seen

    def __repr__(self) -> str:
        return f"<Placeholders for {len(self._values)} values>"  # no value may reach a log by way of a traceback

    @property
    def values(self) -> Mapping[str, str]:
        """Placeholder → the value it stands for."""
        return dict(self._values)

    def kinds_of_values(self) -> Mapping[str, str]:
        """Value → the kind it was first found as."""
        return dict(self._kinds)

    def of(self, kind: str, value: str) -> str:
        """The placeholder of `value`; a new one, with a number of its kind, if it has none yet."""
        if value not in self._by_value:
            self._by_value[value] = self._next(kind)
            self._values[self._by_value[value]] = value
            self._kinds[value] = kind
        return self._by_value[value]

    def _next(self, kind: str) -> str:
        while True:
            self._given[kind] = self._given.get(kind, 0) + 1
            placeholder = f"[{kind.upper()}_{self._given[kind]}]"
            if placeholder not in self._reserved:
                return placeholder

    def reserve(self, text: str) -> tuple[tuple[int, int], ...]:
        """Keeps the look-alikes in `text` from being given out. Returns the spans of those that already are."""
        self._seen.update(found[0] for found in changed_look_alikes().finditer(text))
        already = []
        for found in look_alikes().finditer(text):
            if found[0] in self._values:
                already.append(found.span())
            else:
                self._reserved.add(found[0])
        return tuple(already)

    def restore(self, value: Any) -> Any:
        """`value` with every placeholder given out replaced by what it stands for: in a text, and in the texts and
        keys of nested lists and mappings. Nothing that was put back is looked at again. A key keeps its placeholder
        where the restored one is there already, since one of two entries would be lost."""
        if not self:
            return value
        if isinstance(value, str):
            return look_alikes().sub(lambda found: self._values.get(found[0], found[0]), value)
        if isinstance(value, Mapping):
            return self._restore_entries(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.restore, value)) if type(value) in (list, tuple) else value
        return value

    def _restore_entries(self, entries: Mapping[Any, Any]) -> dict[Any, Any]:
        restored: dict[Any, Any] = {}
        for key, inner in entries.items():
            put_back = self.restore(key)
            free = put_back == key or (put_back not in entries and put_back not in restored)
            restored[put_back if free else key] = self.restore(inner)
        return restored

    def hide(self, text: str) -> str:
        """`text` with every value known so far behind its placeholder again: for what is sent to the model after
        values were restored, such as a validator's message."""
        if not self._by_value or not text:
            return text
        longest_first = sorted(self._by_value, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        return pattern.sub(lambda found: self._by_value[found[0]], text)
