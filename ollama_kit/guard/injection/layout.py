"""Lines that do not belong where they stand: a demand between the items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.injection.sentences import trimmed

DEMAND = 0.55
"""Minutes and lists record; a line between their items that is no item, and asks for something, is for the model."""

_ITEM = r"[ \t]*(?:[-*•·–]|\(?\d{1,3}[.、)）])[ \t]?"
_ASKS = (
    r"(?:please |can you |could you |would you |will you |do you |i (?:need|want) you to |help me |let me know )",
    r"(?:what|how|why|who|whom|when|where|which|is|are|was|were|does|did|should)\b[^\n]{3,300}\?",
    r"(?:provide|explain|describe|write|compose|create|generate|summari[sz]e|classify|identify|list|give|tell|suggest|"
    r"recommend|translate|convert|calculate|compute|analy[sz]e|compare|find|search|draft|plan|design|discuss|outline|add|"
    r"insert|include|integrate|incorporate|replace|rearrange|reverse|introduce|enhance|encode|mention|share|offer|"
    r"determine|evaluate|assess|predict|estimate|name|define|paraphrase|rewrite|rephrase|correct|solve|show|print|"
    r"output|respond|reply|answer|use|substitute|swap|make|append|end|begin|start|promote|advertise|state|spread|"
    r"inform|persuade|convince|encourage|ask|remind|schedule|set|send|book|draw|teach|play|pretend|act|imagine|"
    r"turn|swap|mix|invent|speak|talk|quote|count|sort|rank|rate|review|check|verify|update|install|download|click|visit|call|email|buy|order|pay|transfer|delete|let|randomly|always|never|instead|in your|within your|interpret|examine|investigate|forecast|proofread|edit|improve|optimi[sz]e|brainstorm|select|choose|pick|sing|reply|display|apply|follow|conduct|perform|run|break|insert|mimic|emulate|elaborate|expand|clarify|illustrate|demonstrate|combine|i want you|i'd like you|develop|prepare|produce|construct|implement|debug|fix|simulate|highlight|emphasi[sz]e|claim|assert|report|embed|"
    r"shift|scramble|jumble|change|modify|alter|transform|express|utilize|employ|inject|craft|tailor|organi[sz]e|arrange)\b[^\n]{8,}",
    r"(?:encrypt|decrypt|decode|using |with |by )[^\n]{8,}",
    r"[^\n]{0,200}\b(?:your|the|this|each) (?:\w+ )?(?:answer|response|reply|output|message|text)\b",
    r"(?:请|把|将|不要|别|帮|给我|给出|写|列出|解释|说明|推荐|介绍|总结|翻译|计算|分析|比较|告诉|回答|输出|描述|用|以)[^\n]{4,}",
    r"[^\n]{0,40}(?:为什么|什么|如何|怎么|怎样|哪些|哪个|多少|是否|吗)[^\n]{0,40}[?？]",
)


def stray_lines(folded: str) -> Iterator[tuple[tuple[int, int], float]]:
    """Each line between two items of a list that is no item itself and asks for something, with its weight."""
    for match in _stray().finditer(folded):
        start, end = trimmed(folded, *match.span(1))
        if _demand().match(folded, start, end):
            yield (start, end), DEMAND


@cache
def _stray() -> re.Pattern[str]:
    return re.compile(rf"^{_ITEM}[^\n]*\n(?!{_ITEM})[ \t]*([^\s][^\n]{{3,400}})(?=\n{_ITEM}\S)", re.MULTILINE)


@cache
def _demand() -> re.Pattern[str]:
    return re.compile("|".join(_ASKS))
