"""The words that a contract defines: “服务”是指…, （以下简称“甲方”）, "Products" means …, (the "Company")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ollama_kit.jobs.contract.passages import ContractText, Evidence


@dataclass(frozen=True, slots=True)
class Definition:
    """A defined term, and the words that define it."""

    term: str
    evidence: Evidence


def read_definitions(text: ContractText) -> tuple[Definition, ...]:
    """Every definition, in order; a term defined twice stands there twice."""
    found = []
    for match in _defined().finditer(text.folded):
        term = text.plain[slice(*match.span(match.lastgroup or 0))].strip()
        found.append(Definition(term, text.evidence(*match.span())))
    return tuple(found)


@cache
def _defined() -> re.Pattern[str]:
    quoted = r"[\"“「『]"
    closed = r"[\"”」』]"
    inside = r"[^\"“”「」『』\n]{1,60}"
    rest = r"(?:(?!\.\s)[^\n。;]){0,300}"
    return re.compile(
        rf"{quoted}(?P<means>{inside}){closed}\s?(?:\([^()\n]{{1,30}}\)\s?)?"
        rf"(?:(?:shall\s)?(?:means?|have\sthe\smeanings?|has\sthe\smeaning|refers?\sto|includes?)\b|是?指|系指|的?含义|:\s?[是系]?指){rest}"
        rf"|\((?:以下|下称|简称)[^()\n“\"「]{{0,10}}{quoted}?(?P<short>[^()\n“”\"「」]{{1,30}}?){closed}?\)"
        rf"|\((?:(?:the|this|each,?\sa|hereinafter[^()\n\"“]{{0,40}}|collectively,?(?:\sthe)?|individually[^()\n\"“]{{0,30}})\s)?"
        rf"{quoted}(?P<the>{inside}){closed}[^()\n]{{0,60}}\)"
    )
