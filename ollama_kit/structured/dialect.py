"""Which dialect of JSON Schema a document is written in, what compiling it takes, and how places in it are named.

Compiled validators resolve references inside the document and inside the meta-schemas that jsonschema ships, and
nowhere else: a registry is passed that cannot retrieve, because without one jsonschema would fetch remote schemas.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import SchemaError

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.protocols import Validator
    from referencing import Registry, Specification

Json = Any
"""What `json.loads` returns."""

LEGACY = frozenset({"draft-03", "draft-04", "draft-06", "draft-07"})
"""Dialects in which the neighbors of a `$ref` mean nothing."""

_DIALECT = re.compile(r"https?://json-schema\.org/(draft-0[34678]|draft/(?:2019-09|2020-12)|schema)(?:/schema)?#?/?")
_CHEAP_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid", "regex")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)


def dialect_of(document: Json, source: str) -> str:
    """The dialect's short name (`draft-07`, `2020-12`); documents that name none are 2020-12.

    Raises SchemaError where `$schema` names a dialect that cannot be checked here.
    """
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is None:
        return "2020-12"
    match = _DIALECT.fullmatch(named) if isinstance(named, str) else None
    if match is None or match[1] == "draft-08":
        raise SchemaError(
            f"{source}: $schema names the dialect {named!r}, which is not one of JSON Schema's",
            hint=(
                'Use "https://json-schema.org/draft/2020-12/schema", or leave $schema out.',
                '请使用 "https://json-schema.org/draft/2020-12/schema"，或删去 $schema。',
            ),
        )
    return "2020-12" if match[1] == "schema" else match[1].removeprefix("draft/")


MOST_STEPS = 150_000
"""Keywords that are looked at while one answer is checked. A megabyte of plain rows takes half of that."""
PATTERN_SECONDS = 1.0
"""How long one pattern may be tried on one text."""

_COSTLY = dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "not", "if"), 4)
"""Steps that some keywords count for, by what they take."""

_steps: ContextVar[list[int] | None] = ContextVar("steps of a check", default=None)


class TooMuchWork(Exception):
    """Checking an answer has taken more steps than it may; the message names the keyword."""


@contextmanager
def bounded_work() -> Iterator[None]:
    """Within it a check ends: alternatives within alternatives multiply, and patterns can run for years."""
    token = _steps.set([0])
    try:
        yield
    finally:
        _steps.reset(token)


@functools.cache
def validator_class(dialect: str) -> type[Validator]:
    """jsonschema's validator for a dialect's short name, whose work `bounded_work` bounds."""
    from jsonschema import validators

    plain = _plain_validator(dialect)
    counted: dict[str, Any] = {name: _counted(name, check) for name, check in plain.VALIDATORS.items()}
    bounded: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]
        plain, {**counted, **_patterns(plain)}
    )
    return bounded


def _counted(name: str, check: Callable[..., Any]) -> Callable[..., Any]:
    def counting(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _step(name)
        return check(validator, value, instance, schema)

    return counting


def _step(name: str) -> None:
    steps = _steps.get()
    if steps is not None:
        steps[0] += _COSTLY.get(name, 1)
        if steps[0] > MOST_STEPS:
            raise TooMuchWork(f"`{name}`: more than {MOST_STEPS:,} steps to check one answer")


def _patterns(plain: type[Validator]) -> dict[str, Callable[..., Any]]:
    """The keywords with regular expressions, searched with a time limit."""
    from jsonschema.exceptions import ValidationError

    def pattern(validator: Any, wanted: str, instance: Any, schema: Any) -> Any:
        _step("pattern")
        if validator.is_type(instance, "string") and not found(wanted, instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    def pattern_properties(validator: Any, wanted: Mapping[str, Any], instance: Any, schema: Any) -> Any:
        _step("patternProperties")
        if not validator.is_type(instance, "object"):
            return
        for expression, subschema in wanted.items():
            for key, value in instance.items():
                if found(expression, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=expression)

    known: dict[str, Any] = {"pattern": pattern, "patternProperties": pattern_properties}
    return {name: check for name, check in known.items() if name in plain.VALIDATORS}


def found(expression: str, text: str) -> bool:
    """Whether a regular expression is found in a text. TooMuchWork where that takes too long: `^(a+)+$` would take
    longer than anybody lives."""
    import regex

    try:
        return regex.search(expression, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise TooMuchWork(f"`pattern` {expression[:80]!r}: more than {PATTERN_SECONDS:g} s on one text") from None
    except regex.error:
        return re.search(expression, text) is not None


def _plain_validator(dialect: str) -> type[Validator]:
    import jsonschema

    return {
        "draft-03": jsonschema.Draft3Validator,
        "draft-04": jsonschema.Draft4Validator,
        "draft-06": jsonschema.Draft6Validator,
        "draft-07": jsonschema.Draft7Validator,
        "2019-09": jsonschema.Draft201909Validator,
        "2020-12": jsonschema.Draft202012Validator,
    }[dialect]


def specification(dialect: str) -> Specification[Any]:
    """How identifiers and anchors are read in a dialect."""
    from referencing import jsonschema as known

    return {
        "draft-03": known.DRAFT3,
        "draft-04": known.DRAFT4,
        "draft-06": known.DRAFT6,
        "draft-07": known.DRAFT7,
        "2019-09": known.DRAFT201909,
        "2020-12": known.DRAFT202012,
    }[dialect]


def registry() -> Registry[Any]:
    """The meta-schemas that come with jsonschema; it retrieves nothing."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    found: Registry[Any] = REGISTRY
    return found


@functools.cache
def format_checker() -> FormatChecker:
    """The formats that are enforced: those that a few lines decide. Any other is an annotation."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=_CHEAP_FORMATS)
    checker.checks("date-time")(lambda value: not isinstance(value, str) or is_date_time(value))
    checker.checks("time")(lambda value: not isinstance(value, str) or is_time(value))
    return checker


def is_date_time(text: str) -> bool:
    """Whether `text` is a date-time of RFC 3339, offset included.

    >>> is_date_time("2026-02-28T08:00:00Z"), is_date_time("2026-02-30T08:00:00Z"), is_date_time("2026-02-28T08:00")
    (True, False, False)
    """
    if len(text) < 11 or text[10] not in "Tt" or not re.fullmatch(r"\d{4}-\d\d-\d\d", text[:10], re.ASCII):
        return False
    try:
        datetime.date.fromisoformat(text[:10])
    except ValueError:
        return False
    return is_time(text[11:])


def is_time(text: str) -> bool:
    """Whether `text` is a full-time of RFC 3339; second 60 only where a leap second can be (23:59:60 UTC)."""
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second = (int(match[part]) for part in (1, 2, 3))
    offset_hour, offset_minute = int(match[5] or 0), int(match[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    offset = (offset_hour * 60 + offset_minute) * (-1 if match[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def join(parts: Iterable[str | int]) -> str:
    """The JSON Pointer (RFC 6901) to a path of keys and indexes: every place in a schema or an answer is named so. The
    whole document is the empty text.

    >>> join(["messages", 3, "a/b"])
    '/messages/3/a~1b'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
