"""What a model is told about its last answer: in the words that it has seen itself, so that no hidden value shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ollama_kit.guard.verdict import Verdict
from ollama_kit.structured.dialect import join
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validation import Problem, failing_part, feedback, feedback_on_no_json, shorten, validate

UNSHOWN = "…"


def correction(verdict: Verdict, schema: Schema | None, language: str, hide: Callable[[str], str]) -> str:
    """The message for the next attempt, in "zh" or "en"; empty where there is nothing to mend.

    An answer is judged with the caller's values put back, and talked about as the model wrote it: once a value is
    written as JSON, or cut in the middle to be short, it could no longer be found and hidden again. `hide` is for
    what is left, the names of keys.
    """
    if verdict.missing is not None:
        return hide(feedback_on_no_json(verdict.missing, verdict.written, language=language))
    if not verdict.problems:
        return ""
    shown = validate(schema, verdict.written) if schema is not None and verdict.outcome == "schema" else ()
    if not shown:  # what is wrong is seen only with the values put back
        shown = tuple(_as_written(problem, verdict.written, hide) for problem in verdict.problems)
    return hide(feedback(shown, failing_part(verdict.written, shown[0].path), language=language))


def _as_written(problem: Problem, written: Any, hide: Callable[[str], str]) -> Problem:
    parts = [hide(part.replace("~1", "/").replace("~0", "~")) for part in problem.path.split("/")[1:]]
    found, value = _look_up(written, parts)
    return replace(problem, path=join(parts), got=shorten(value) if found else UNSHOWN)


def _look_up(value: Any, parts: Sequence[str]) -> tuple[bool, Any]:
    for part in parts:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False, None
    return True, value
