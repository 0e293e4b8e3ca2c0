"""JSON found inside a model's reply: whole, in a fence, or between sentences; never repaired, never half of it.

The named rule. Documents are read from left to right; one that is in a fence comes before one that is not, a
longer one before a shorter one, a later one before an earlier one of the same length. What begins like JSON and is not
(a Python literal, a sketch with dots) is passed over whole, so that no fragment of it is taken for an answer; where it
has no end, nothing is found. Each character is read a bounded number of times.

JSON is what RFC 8259 has, and nothing that Python's reader lets through besides (`decoder`).
"""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import dataclass
from typing import Any

from ollama_kit.structured.thinking import strip_thinking

_BLANK = " \t\r\n"
_OPENING = re.compile(r"[{\[]")
_STRUCTURE = re.compile(r'[{}\[\]"]')
_STRING_REST = re.compile(r'(?:[^"\\]+|\\.)*"', re.DOTALL)
_FENCE_WORDS = frozenset(("", "json", "jsonc", "json5", "javascript", "js"))
_CUT_VALUE = re.compile(r"(?:-|t|tr|tru|f|fa|fal|fals|n|nu|nul)?")
_CUT_NUMBER = re.compile(r"\.|[eE][+-]?")
_MAX_CANDIDATES = 50
_LOOK_AHEAD = 256
# Each failure costs a pass over the text before it: Python counts its lines for the message.
_MAX_FAILURES = 200
_FIRST = frozenset('{["-0123456789tfnNI]')
_MAX_DIGITS = 4300  # Python's own limit since 3.10.7; beyond it int() raises, or takes quadratic time


@dataclass(frozen=True)
class Candidate:
    """One JSON document: `text[start:end]`; `how` is `whole`, `fenced` or `prose`."""

    value: Any
    start: int
    end: int
    how: str


@dataclass(frozen=True)
class Found:
    """At least one document: the best by the named rule, and `others`, the next best first."""

    value: Any
    start: int
    end: int
    how: str
    others: tuple[Candidate, ...] = ()

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All of them, best first."""
        return (Candidate(self.value, self.start, self.end, self.how), *self.others)


@dataclass(frozen=True)
class NotFound:
    """No document. `cut_off` says that one had begun when the text ended; `offset` is where that was."""

    reason: str
    offset: int = 0
    cut_off: bool = False


def find_json(text: str) -> Found | NotFound:
    """The JSON in a reply, or why there is none.

    >>> find_json('Here you are:\\n```json\\n{"a": 1}\\n```').value
    {'a': 1}
    >>> find_json('{"a": [1, 2').reason
    'the JSON is cut off at offset 11'
    """
    start = _after_blanks(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return NotFound("the reply is empty", start)
    if text[start] in "{[":
        return _search(text, start)
    after_thinking = _after_blanks(text, len(text) - len(strip_thinking(text)[1]))
    return _scalar(text, start) or _scalar(text, after_thinking) or _search(text, after_thinking)


def _search(text: str, start: int) -> Found | NotFound:
    found: list[Candidate] = []
    problem: NotFound | None = None
    at, fences, counted, failures = start, 0, start, 0
    while len(found) < _MAX_CANDIDATES and (opening := _OPENING.search(text, at)):
        if text[opening.start()] == "[" and not _may_begin(text, opening.end()):
            at = opening.end()
            continue
        fences, counted = fences + text.count("```", counted, opening.start()), opening.start()
        outcome = _read(text, opening.start(), fences % 2 == 1)
        if isinstance(outcome, Candidate):
            found.append(outcome)
            at = counted = outcome.end
            continue
        failures += 1
        if outcome.cut_off:
            return outcome
        if failures > _MAX_FAILURES:
            return NotFound("too many brackets that are not JSON", opening.start())
        if text[opening.start()] == "[" and outcome.offset <= _after_blanks(text, opening.start() + 1):
            # A bracket in a sentence: a footnote, a link. What follows it is read as usual.
            problem = problem or outcome
            at = opening.start() + 1
            continue
        end = _end_of_region(text, opening.start())
        if end is None:
            return outcome
        problem = problem or outcome
        at = counted = end
    if not found:
        return problem or NotFound("there is no JSON in the reply", start)
    if len(found) == 1 and found[0].start == start and not text[found[0].end :].strip(_BLANK):
        only = found[0]
        return Found(only.value, only.start, only.end, "whole")
    best, *others = sorted(found, key=lambda one: (one.how == "fenced", one.end - one.start, one.start), reverse=True)
    return Found(best.value, best.start, best.end, best.how, tuple(others))


def _read(text: str, start: int, in_fence: bool) -> Candidate | NotFound:
    try:
        value, end = decoder().raw_decode(text, start)
        refuse_half_characters(value, text[start:end])
    except json.JSONDecodeError as error:
        if _is_cut(text, error):
            return NotFound(f"the JSON is cut off at offset {len(text)}", len(text), cut_off=True)
        return NotFound(f"broken JSON at offset {error.pos}: {error.msg}", error.pos)
    except RecursionError:
        return NotFound(f"JSON nested too deep at offset {start}", len(text))
    except Refused as error:
        return NotFound(f"JSON at offset {start} refused: {error}", len(text))
    return Candidate(value, start, end, "fenced" if in_fence and _is_fenced(text, start) else "prose")


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the reader stopped because the text did."""
    if error.msg.startswith("Unterminated string"):
        return True
    # Only what is at the very end matters: a look at the whole rest, once per bracket, would add up.
    rest = text[error.pos : error.pos + _LOOK_AHEAD]
    if len(rest) == _LOOK_AHEAD:
        return not rest.strip(_BLANK) and not text[error.pos :].strip(_BLANK)
    rest = rest.rstrip(_BLANK)
    return (
        not rest
        or (error.msg.startswith("Invalid \\u") and '"' not in rest)
        or (error.msg == "Expecting value" and _CUT_VALUE.fullmatch(rest) is not None)
        or (error.msg.startswith("Expecting ','") and _CUT_NUMBER.fullmatch(rest) is not None)
    )


def _end_of_region(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed, strings passed over; None where it is not."""
    depth, at = 0, start
    while mark := _STRUCTURE.search(text, at):
        at = mark.end()
        if mark[0] == '"':
            string = _STRING_REST.match(text, at)
            if string is None:
                return None
            at = string.end()
        elif mark[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at
    return None


def _is_fenced(text: str, start: int) -> bool:
    """Whether an opening fence, with at most a language's name, is before `start`."""
    before = text[max(0, start - 40) : start]
    fence = before.rfind("```")
    return fence >= 0 and before[fence + 3 :].strip(_BLANK).lower() in _FENCE_WORDS


def _scalar(text: str, start: int) -> Found | None:
    """A reply that is one string, number, true, false or null, and nothing else."""
    if start < len(text) and text[start] in "{[":
        return None
    try:
        value, end = decoder().raw_decode(text, start)
        refuse_half_characters(value, text[start:end])
    except ValueError:
        return None
    return None if text[end:].strip(_BLANK) else Found(value, start, end, "whole")


def _may_begin(text: str, at: int) -> bool:
    """Whether an array could continue here; at the end of the text it could."""
    at = _after_blanks(text, at)
    return at == len(text) or text[at] in _FIRST


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


class Refused(ValueError):
    """Text that Python would read and JSON forbids, or that would not survive: the message says what."""


@functools.cache
def decoder() -> json.JSONDecoder:
    """Refuses double keys, NaN and Infinity, numbers that become infinite or are longer than 4,300 digits."""
    return json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)


def refuse_half_characters(value: Any, text: str) -> None:
    r"""Raises Refused where a string holds half a surrogate pair (`"\ud83d"`): it cannot be written as UTF-8."""
    if "\\u" not in text and text.isascii():
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("a string holds half of a surrogate pair") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        double = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        # Models read this as feedback: its words are part of the prompt.
        raise Refused(f"the key {double!r} stands twice in one object")
    return found


def _constant(text: str) -> Any:
    raise Refused(f"{text} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise Refused(f"the number {text[:40]} is too large")
    return number


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise Refused(f"a number of {len(text)} digits")
    return int(text)
