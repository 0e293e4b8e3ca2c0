"""The words that users see: plain current English, Chinese with full-width punctuation, nobody called he."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure import modules

ROOT = Path(__file__).parents[1]
ODD = {
    "cannot, in one word": r"\bcan not\b",
    "per, not a": r"\bone \w+ an? (?:call|question|vector|text|row|module|page|request|file)\b",
    "does not match, has no": r"(?<!there )\b(?:is none|is no [a-z]+)\b",
    "is or appears": r"\bstands?\b(?! for\b| twice in one object)",
    "reported or said": r"\b(?:was|is|are|were|be) told\b",
    "continues or resumes": r"\bgo(?:es)? on\b",
    "refers to": r"\bis meant\b",
    "whitespace": r"\bblanks\b",
    "they": r"\b(?:he|him|himself)\b",
    "US spelling": r"\b(?:\w{3,}(?:ised|ising|isation)|summarise|normalise|colour|behaviour|favour|licence)\b",
}
"""What is said instead, and the phrase. ("stands twice in one object" is what models have always been told.)"""
RIGHT = re.compile(r"\b(?:raised|advised|comprised|promised|supervised|revised|disguised|praised|rising|`normalise`)\b")
"""Words that only look British, and an old key that a message has to name."""
SHOWING = ("warn", "echo", "styled", "option", "argument", "Check")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
HALF = re.compile(r"[\u4e00-\u9fff][,;:!?(]|[,;:!?)][\u4e00-\u9fff]")
PATTERN = re.compile(r"\\|\(\?|\[\^|\|")


def said() -> Iterator[tuple[str, str]]:
    """(place, text) of every text in an error, a hint, a warning, an option's help and a command's own help."""
    for module in modules():
        for node in ast.walk(module.tree):
            shown = isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _name(node.func) in SHOWING)
            if shown:
                yield from ((f"{module.name}:{node.lineno}", text) for text in _texts(node))
            if isinstance(node, ast.FunctionDef) and any("command" in ast.dump(one) for one in node.decorator_list):
                yield f"{module.name}:{node.lineno}", ast.get_docstring(node) or ""


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and " " in one.value:
            yield one.value


@pytest.mark.parametrize("kind", ODD)
def test_what_is_said_to_people_is_plain_current_english(kind: str) -> None:
    odd = re.compile(ODD[kind])
    found = [f"{place}: {text[:100]}" for place, text in said() if odd.search(RIGHT.sub("", text))]
    assert not found, f"{kind}: {found}"


def test_there_is_something_to_read() -> None:
    assert len({text for _, text in said()}) > 400


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_pages_are_written_so_too(name: str) -> None:
    text = RIGHT.sub("", re.sub(r"```.*?```|`[^`]*`", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL))
    found = {kind: match[0] for kind, odd in ODD.items() if kind != "is or appears" and (match := re.search(odd, text))}
    assert not found


def chinese() -> Iterator[tuple[str, str]]:
    """(place, text) of every Chinese text that people or models read: literals that are more Chinese than not, and are
    no pattern and no docstring; lines of the shipped templates, prompts and specs."""
    for module in modules():
        docstrings = {
            id(body[0].value)
            for node in ast.walk(module.tree)
            if (body := getattr(node, "body", None)) and isinstance(body, list) and isinstance(body[0], ast.Expr)
        }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                text = node.value
                letters = len(re.findall("[A-Za-z]", text))
                if len(CHINESE.findall(text)) > letters and not PATTERN.search(text):
                    yield f"{module.name}:{node.lineno}", text
    for folder in ("templates", "modelfiles"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".jinja", ".yaml", ".json"):
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    shown = re.sub(r"\{[{%#].*?[}%#]\}", "", line)
                    if len(CHINESE.findall(shown)) > len(re.findall("[A-Za-z]", shown)):
                        yield f"{path.relative_to(ROOT)}:{number}", shown


READ_BY_PROGRAMS = (
    *("readers.", "facts.", "private.", "text.", "injection."),
    *("risks.", "questions.", "structure.", "proof."),
)
"""Modules whose literals are what documents and chats say, half-width marks and all."""


def test_chinese_has_full_width_punctuation() -> None:
    found = [
        f"{place}: {text[:80]}"
        for place, text in chinese()
        if HALF.search(text) and not any(part in place for part in READ_BY_PROGRAMS)
    ]
    assert not found
