"""Chinese that people read has full-width punctuation: every hint's second language, found in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.structure import modules

CHINESE = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?:[A-Za-z]{2,}\W+){2}")
HALF = re.compile(r"[\u4e00-\u9fff][,;:!?()]|[,;:!?][\u4e00-\u9fff]")
"""A Chinese character beside a half-width mark. Figures (18:00), commands and addresses keep theirs."""
STAND_IN = "X"


def chinese_hints() -> Iterator[tuple[str, str]]:
    """(place, text) of each pair of an English and a Chinese text; what is filled in is X."""
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Tuple) and len(node.elts) == 2:
                text = _text(node.elts[1])
                if CHINESE.search(text) and ENGLISH.search(_text(node.elts[0])):
                    yield f"{module.name}:{node.lineno}", text


def _text(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    said = (part.value if isinstance(part, ast.Constant) else STAND_IN for part in parts)
    return "".join(value for value in said if isinstance(value, str))


def test_hints_have_full_width_punctuation() -> None:
    found = list(chinese_hints())
    assert len(found) > 50
    assert not [f"{place}: {text}" for place, text in found if HALF.search(text)]
