"""What a model is told about its last answer before it tries again: the rule, the place, what stood there."""

from __future__ import annotations

from collections.abc import Sequence

from ollama_kit.structured.dialect import Json
from ollama_kit.structured.find import NotFound
from ollama_kit.structured.validate import Problem, shorten

MAX_PART = 600
"""Characters of the answer that feedback repeats at most."""

_TEXTS = {
    "en": {
        "intro": "Your last answer is not valid.",
        "line": "- at {path}: expected {expected}; got {got}",
        "whole": "the top",
        "part": "The part of it that failed:",
        "outro": "Answer again with one complete, corrected JSON document and nothing else.",
        "no_json": "Your last answer holds no JSON that can be read: {reason}.",
    },
    "zh": {
        "intro": "你上一次的回答不符合要求。",
        "line": "- 位置 {path}:应为{expected};实际为 {got}",
        "whole": "最外层",
        "part": "出错的部分:",
        "outro": "请重新回答:只输出一个完整、正确的 JSON,不要任何其他内容。",
        "no_json": "你上一次的回答中没有可读取的 JSON:{reason}。",
    },
}
_EXPECTED_ZH = {
    "type": "类型 {limit}",
    "enum": "以下之一 {limit}",
    "const": "{limit}",
    "required": "包含缺少的键 {limit}",
    "additionalProperties": "除 {limit} 外没有其他键",
    "unevaluatedProperties": "除 {limit} 外没有其他键",
    "minimum": "不小于 {limit}",
    "maximum": "不大于 {limit}",
    "exclusiveMinimum": "大于 {limit}",
    "exclusiveMaximum": "小于 {limit}",
    "multipleOf": "{limit} 的倍数",
    "minLength": "至少 {limit} 个字符",
    "maxLength": "至多 {limit} 个字符",
    "minItems": "至少 {limit} 项",
    "maxItems": "至多 {limit} 项",
    "uniqueItems": "各项互不相同",
    "pattern": "匹配 {limit} 的文本",
    "format": "格式 {limit}",
    "anyOf": "模式允许的形式之一",
    "oneOf": "模式允许的形式中恰好一种",
    "not": "模式未排除的内容",
    "x-evidence": "逐字摘自文档的原文",
    "false": "此处没有内容",
}


def feedback(problems: Problem | Sequence[Problem], failing_part: str = "", *, language: str = "en") -> str:
    """The message for a retry: each problem with its place, what was expected, what was got, then the part itself.

    `language` is `en` or `zh`. The part is cut to `MAX_PART` characters: nothing older, and no more, is repeated.
    """
    texts = _TEXTS["zh" if language.startswith("zh") else "en"]
    listed = [problems] if isinstance(problems, Problem) else problems
    lines = [texts["intro"]]
    for problem in listed:
        lines.append(
            texts["line"].format(
                path=problem.path or texts["whole"], expected=_expected(problem, language), got=problem.got
            )
        )
    return "\n".join([*lines, *_ending(failing_part, texts)])


def feedback_on_no_json(missing: NotFound, reply: str, *, language: str = "en") -> str:
    """The message for a retry after a reply in which no JSON was found; repeats the place where reading stopped."""
    texts = _TEXTS["zh" if language.startswith("zh") else "en"]
    half = MAX_PART // 2
    part = reply[max(0, missing.offset - half) : missing.offset + half]
    return "\n".join([texts["no_json"].format(reason=missing.reason), *_ending(part, texts)])


def failing_part(value: Json, path: str, most: int = MAX_PART) -> str:
    """The smallest part of an answer around a place that fits `most` characters, as JSON; else that part, shortened.

    >>> failing_part({"a": {"b": [1, "x"]}, "c": "y" * 900}, "/a/b/1")
    '{"b": [1, "x"]}'
    """
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    around = [value]
    for part in parts:
        inner = around[-1]
        if isinstance(inner, dict) and part in inner:
            around.append(inner[part])
        elif isinstance(inner, list) and part.isdigit() and int(part) < len(inner):
            around.append(inner[int(part)])
        else:
            break
    # Two levels above the place tell which item it is; more would only distract.
    for candidate in around[-3:]:
        if len(text := shorten(candidate, most + 1)) <= most:
            return text
    return shorten(around[-1], most)


def _ending(part: str, texts: dict[str, str]) -> list[str]:
    quoted = [texts["part"], part if len(part) <= MAX_PART else part[: MAX_PART - 1] + "…"] if part else []
    return [*quoted, texts["outro"]]


def _expected(problem: Problem, language: str) -> str:
    if language.startswith("zh") and (template := _EXPECTED_ZH.get(problem.keyword)):
        return template.format(limit=shorten(problem.limit))
    return problem.expected
