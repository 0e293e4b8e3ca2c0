"""An answer checked against its schema: the problems, the likeliest cause first; and the words that tell the model.

Feedback says the rule, the place and what was there, before the model tries again.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import SchemaError
from ollama_kit.structured.dialect import Json, TooMuchWork, bounded_work, join
from ollama_kit.structured.find import NotFound
from ollama_kit.structured.schema import Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_PART = 600
"""Characters of the answer that feedback repeats at most."""
_MAX_COLLECTED = 200
_MAX_TEXT = 120

_EXPECTED = {
    "type": "the type {limit}",
    "enum": "one of {limit}",
    "const": "exactly {limit}",
    "required": "the missing keys {limit}",
    "additionalProperties": "no keys besides {limit}",
    "unevaluatedProperties": "no keys besides {limit}",
    "minimum": "at least {limit}",
    "maximum": "at most {limit}",
    "exclusiveMinimum": "more than {limit}",
    "exclusiveMaximum": "less than {limit}",
    "multipleOf": "a multiple of {limit}",
    "minLength": "at least {limit} characters",
    "maxLength": "at most {limit} characters",
    "minItems": "at least {limit} items",
    "maxItems": "at most {limit} items",
    "uniqueItems": "items that all differ",
    "pattern": "text that matches {limit}",
    "format": "the format {limit}",
    "anyOf": "one of the forms the schema allows",
    "oneOf": "exactly one of the forms the schema allows",
    "not": "anything but what the schema excludes",
    "false": "nothing here",
}
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


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of an answer: `path` is a JSON Pointer, empty for the answer as a whole.

    `keyword` is the rule of the schema that failed and `limit` its value; `got` is the value found, shortened.
    """

    path: str
    expected: str
    got: str
    keyword: str = ""
    limit: Json = None

    @property
    def message(self) -> str:
        """One line for a log or a person."""
        return f"{self.path or '(the whole answer)'}: expected {self.expected}, got {self.got}"


def validate(schema: Schema, value: Json, *, most: int = 5) -> tuple[Problem, ...]:
    """The problems of `value`, at most `most`, the most telling first; empty where it is valid. Raises nothing but
    SchemaError for a schema that takes more work than one answer may.

    Where the schema came from a class, what the class itself refuses counts too.
    """
    from referencing.exceptions import Unresolvable

    try:
        with bounded_work():
            errors = list(itertools.islice(schema.validator.iter_errors(value), _MAX_COLLECTED))
    except TooMuchWork as problem:
        raise _too_much(schema, problem) from None
    except (RecursionError, Unresolvable, re.error, OverflowError) as error:
        return (Problem("", "an answer that can be checked", shorten(value), "", str(error)[:_MAX_TEXT]),)
    if errors:
        return _ranked(errors, most)
    return _refused_by_class(schema, value)[:most]


def _too_much(schema: Schema, problem: TooMuchWork) -> SchemaError:
    return SchemaError(
        f"{schema.source}: {problem}",
        hint=(
            "Make the pattern plain (no repetition inside a repetition), and alternatives few and flat.",
            "请简化 pattern（不要在重复里嵌套重复），并减少、拉平 anyOf 等分支。",
        ),
    )


def _ranked(errors: Iterable[ValidationError], most: int) -> tuple[Problem, ...]:
    from jsonschema.exceptions import best_match, relevance

    problems: dict[tuple[str, str, str], Problem] = {}
    for error in sorted(errors, key=relevance, reverse=True):
        # Inside an anyOf the failure that a reader can act on is that of the branch that nearly fits.
        problem = _problem(best_match([error]) or error)
        problems.setdefault((problem.path, problem.keyword, problem.expected), problem)
    return tuple(itertools.islice(problems.values(), most))


def _problem(error: ValidationError) -> Problem:
    keyword, limit = str(error.validator or "false"), error.validator_value
    expected, got = _EXPECTED.get(keyword, "{limit}"), shorten(error.instance)
    if keyword == "required" and isinstance(error.instance, dict) and isinstance(limit, list):
        limit = [name for name in limit if name not in error.instance]
        got = "an object without " + ", ".join(map(shorten, limit)) if limit else got
    elif keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(error.instance, dict):
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        limit = list(known)
        got = "also " + ", ".join(shorten(name) for name in list(error.instance)[:20] if name not in known)
    elif keyword not in _EXPECTED:
        expected, limit = "what `{keyword}` asks for: {limit}", error.message
    text = expected.format(keyword=keyword, limit=shorten(limit))
    return Problem(join(error.absolute_path), text, got, keyword, limit)


def _refused_by_class(schema: Schema, value: Json) -> tuple[Problem, ...]:
    try:
        schema.to_python(value)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        listed = getattr(error, "errors", None)
        if not callable(listed):
            return (Problem("", str(error)[:_MAX_TEXT], shorten(value), "class", str(error)[:_MAX_TEXT]),)
        unwrapped = dataclasses.is_dataclass(schema.target)
        return tuple(_refusal(one, value, unwrapped=unwrapped) for one in listed())
    return ()


def _refusal(error: dict[str, Any], value: Json, *, unwrapped: bool) -> Problem:
    """One of pydantic's errors: a place, a message, the input. `unwrapped`: the words of a `__post_init__` alone,
    without what pydantic puts before them."""
    said = error["msg"]
    if unwrapped and error["type"] == "value_error":
        said = str(error["ctx"]["error"])
    return Problem(join(_leading_into(value, error["loc"])), said, shorten(error.get("input")), "class", said)


def _leading_into(value: Json, place: Iterable[str | int]) -> Iterator[str | int]:
    """The parts of one of pydantic's places that are keys and indexes: it names branches of a union among them.

    >>> list(_leading_into({"a": [1]}, ("a", "list[int]", 0)))
    ['a', 0]
    """
    for part in place:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            yield part
            value = value[part]


def shorten(value: Any, most: int = _MAX_TEXT) -> str:
    """A value as JSON on one line, cut in the middle where it is longer than `most` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


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
