"""Figures in running text: numbers in Chinese and English words, money, percentages, each with its exact place.

    numerals     Chinese numbers, everyday (三千二) and for documents (叁仟贰佰)
    words        English numbers (thirty-six, one million two hundred thousand)
    capitals     人民币大写, both ways
    amounts      money with its currency; figures and words of one amount as a pair
    percentages  shares and rates, ranges, and the time a rate runs over

Patterns run on the folded text of `guard.private.folding` (full-width digits as ASCII, same offsets), so that every
span is one of the caller's own text. All of them are bounded: their work grows with the text and no faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.text.figures.amounts import Amount, parse_amounts
    from ollama_kit.text.figures.capitals import from_chinese_capital, to_chinese_capital
    from ollama_kit.text.figures.numerals import chinese_numeral
    from ollama_kit.text.figures.percentages import Percentage, parse_percentages

__all__ = [
    "Amount",
    "parse_amounts",
    "Percentage",
    "parse_percentages",
    "chinese_numeral",
    "to_chinese_capital",
    "from_chinese_capital",
]

_HOMES = {
    "Amount": "amounts",
    "parse_amounts": "amounts",
    "Percentage": "percentages",
    "parse_percentages": "percentages",
    "chinese_numeral": "numerals",
    "to_chinese_capital": "capitals",
    "from_chinese_capital": "capitals",
}


def __getattr__(name: str) -> Any:
    """The public name, imported when first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
