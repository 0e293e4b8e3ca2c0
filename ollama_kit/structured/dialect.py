"""Which dialect of JSON Schema a document is written in, what compiling it takes, and how places in it are named.

Compiled validators resolve references inside the document and inside the meta-schemas that jsonschema ships, and
nowhere else: a registry is passed that cannot retrieve, because without one jsonschema would fetch remote schemas.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Iterable
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


def validator_class(dialect: str) -> type[Validator]:
    """jsonschema's validator for a dialect's short name."""
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
