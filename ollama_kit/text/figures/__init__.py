"""Figures in running text: numbers in Chinese and English words, money, percentages, each with its exact place.

    numerals     numbers in Chinese, everyday (三千二) and for documents (叁仟贰佰), in English words, and 人民币大写
    amounts      money with its currency; figures and words of one amount as a pair
    percentages  shares and rates, ranges, and the time a rate runs over

Patterns run on the folded text of `text.folding` (full-width digits as ASCII, same offsets), so that every span is one
of the caller's own text. All of them are bounded: their work grows with the text and no faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.text.figures.amounts import Amount as Amount, parse_amounts as parse_amounts
    from ollama_kit.text.figures.numerals import (
        chinese_numeral as chinese_numeral,
        from_chinese_capital as from_chinese_capital,
        to_chinese_capital as to_chinese_capital,
    )
    from ollama_kit.text.figures.percentages import Percentage as Percentage, parse_percentages as parse_percentages
else:
    __getattr__, __dir__ = exports(__name__)
