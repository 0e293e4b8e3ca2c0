"""Our keywords in a schema of questions, each in the form that it must have.

`x-ask` (what is asked) and `x-label` (what it is called), each a text or one a language; `x-group` (questions of one
group are asked together); `x-topics` (names of `topics.TOPICS`) and `x-search` (words), each one or a list, say where
in a long contract to look; `x-verbatim` says that a text must stand in the contract as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ollama_kit.errors import SchemaError, nearest_names
from ollama_kit.jobs.contract.topics import TOPICS
from ollama_kit.structured.validation import shorten

SPOKEN = frozenset({"x-ask", "x-label"})
"""Those that hold a text for people, maybe one a language."""


def check_keywords(node: Mapping[str, Any], source: str, place: str) -> None:
    """Nothing where each keyword of ours has its form; else SchemaError with the file and the place."""
    for name, (fits, form) in _FORMS.items():
        if name in node and not fits(node[name]):
            raise SchemaError(
                f"{source}: at {place or '/'}: {name} must be {form[0]}, not {shorten(node[name])}",
                hint=(f"{name} is {form[0]}.", f"{name} 应为{form[1]}。"),
            )
    for topic in several(node.get("x-topics")):
        if topic not in TOPICS:
            near = nearest_names(topic, tuple(TOPICS))
            meant = (f"Did you mean {near[0]}? ", f"是否想写 {near[0]}？") if near else ("", "")
            raise SchemaError(
                f"{source}: at {place or '/'}: there is no topic {topic!r}",
                hint=(
                    f"{meant[0]}There are {', '.join(TOPICS)}; x-search takes any words.",
                    f"{meant[1]}可选：{'、'.join(TOPICS)}；x-search 可以写任何词。",
                ),
            )


def several(said: Any) -> tuple[str, ...]:
    """What is said once or as a list, as a list.

    >>> several("押金"), several(["押金", "保证金"]), several(None)
    (('押金',), ('押金', '保证金'), ())
    """
    return (said,) if isinstance(said, str) else tuple(said or ())


def in_language(text: Any, language: str) -> str:
    """A text in a language; where it is not there in that one, the first there is."""
    if isinstance(text, Mapping):
        return text.get(language) or next(filter(None, text.values()), "")
    return str(text)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_spoken(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, Mapping) and all(map(_is_text, value.values())))


def _are_words(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_text(word) and word.strip() for word in value)
    return _is_text(value) and bool(value.strip())


_TEXT = ('a text, or one a language: {"zh": "…", "en": "…"}', '一段文字，或每种语言一段：{"zh": "…", "en": "…"}')
_FORMS: Mapping[str, tuple[Callable[[Any], bool], tuple[str, str]]] = {
    "x-ask": (_is_spoken, _TEXT),
    "x-label": (_is_spoken, _TEXT),
    "x-group": (_is_text, ("a name", "一个名称")),
    "x-topics": (_are_words, ("a topic or a list of topics", "一个主题或主题列表")),
    "x-search": (_are_words, ("a word or a list of words", "一个词或词的列表")),
    "x-verbatim": (lambda value: isinstance(value, bool), ("true or false", " true 或 false")),
}
OURS = frozenset(_FORMS)
"""The keywords that only we know."""
