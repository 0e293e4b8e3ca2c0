"""How much two texts say the same."""

from __future__ import annotations

import unicodedata

ALIKE = 0.55
"""Share of character pairs in common (Dice) from which on two texts say the same."""


def alike(one: str, other: str) -> float:
    """How much two texts say the same: pairs of characters in common, 0 to 1; width, case and marks do not count.

    >>> alike("提交回归测试报告", "提交回归测试报告。") , alike("订货车", "签报关单") < 0.2
    (1.0, True)
    """
    first, second = pairs_of(one), pairs_of(other)
    if not first or not second:
        return float(letters_of(one) == letters_of(other))
    return 2 * len(first & second) / (len(first) + len(second))


def letters_of(text: str) -> str:
    """A text without width, case, blanks and marks: two ways of writing one name are the same.

    >>> letters_of("ＡＢＣ (Shanghai) Co., Ltd.")
    'abcshanghaicoltd'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def pairs_of(text: str) -> frozenset[str]:
    """The pairs of characters that stand beside each other in `letters_of`."""
    letters = letters_of(text)
    return frozenset(letters[at : at + 2] for at in range(len(letters) - 1))
