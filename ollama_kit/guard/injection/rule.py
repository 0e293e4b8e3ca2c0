"""A rule as data, and what it becomes once the words of its concepts stand in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = re.compile(r"\{([a-z_]+)\}")
_GAP = re.compile(r"~(\d+)")


@dataclass(frozen=True)
class Rule:
    """`pattern` found in a sentence adds `weight` (0 to 1) for `family`. `{name}` stands for a concept's words, `~n`
    for at most n characters in between."""

    family: str
    pattern: str
    weight: float

    def expanded(self, concepts: Mapping[str, str]) -> str:
        """The regular expression, with the words of `concepts` in it. Raises KeyError for a name not among them.

        >>> Rule("override", "{ignore}~4x", 0.5).expanded({"ignore": "(?:忽略)"})
        '(?:忽略)[^\\\\n]{0,4}?x'
        """
        return _GAP.sub(r"[^\\n]{0,\1}?", _NAME.sub(lambda match: concepts[match[1]], self.pattern))


def words(listed: str, bounded: bool) -> str:
    """The alternatives of a concept as one regular expression; as whole words where `bounded`.

    >>> words("a bc", bounded=False)
    '(?:bc|a)'
    """
    either = "|".join(sorted(listed.split(), key=len, reverse=True))
    return rf"\b(?:{either})\b" if bounded else f"(?:{either})"
