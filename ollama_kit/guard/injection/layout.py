"""Lines that do not belong where they are: a demand between the items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.injection.sentences import trimmed
from ollama_kit.guard.injection.tables import concepts

DEMAND = 0.55
"""Minutes and lists record; a line between their items that asks for something, and is not one, is for the model."""

_ITEM = r"[ \t]*(?:[-*•·–]|\(?\d{1,3}[.、)）])[ \t]?"
_ASKS = (
    r"(?:please |can you |could you |would you |will you |do you |i (?:need|want) you to |help me |let me know )",
    r"(?:what|how|why|who|whom|when|where|which|is|are|was|were|does|did|should)\b[^\n]{3,300}\?",
    r"\b{verbs}\b[^\n]{8}",
    r"(?:encrypt|decrypt|decode|using |with |by )[^\n]{8}",
    r"[^\n]{0,200}\b(?:your|the|this|each) (?:\w+ )?(?:answer|response|reply|output|message|text)\b",
    "(?:请|把|将|不要|别|帮|给我|给出|写|列出|解释|说明|推荐|介绍|总结|翻译|计算|分析|比较|告诉|回答|输出|描述|用|以)[^\\n]{4}",
    "[^\\n]{0,40}(?:为什么|什么|如何|怎么|怎样|哪些|哪个|多少|是否|吗)[^\\n]{0,40}[?？]",
)


def stray_lines(folded: str) -> Iterator[tuple[tuple[int, int], float]]:
    """Each line between two items of a list that is not an item itself and asks for something, with its weight."""
    for match in _stray().finditer(folded):
        start, end = trimmed(folded, *match.span(1))
        if _demand().match(folded, start, end):
            yield (start, end), DEMAND


@cache
def _stray() -> re.Pattern[str]:
    return re.compile(rf"^{_ITEM}[^\n]*\n(?!{_ITEM})[ \t]*([^\s][^\n]{{3,400}})(?=\n{_ITEM}\S)", re.MULTILINE)


@cache
def _demand() -> re.Pattern[str]:
    return re.compile("|".join(_ASKS).replace("{verbs}", concepts("layout")["verbs"]))
