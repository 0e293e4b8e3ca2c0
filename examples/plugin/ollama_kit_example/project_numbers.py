"""Numbers of secret projects (PRJ-1234) are flagged, or hidden behind [project]: a stage of the guard.

A policy turns it on with `project_numbers: flag` or `project_numbers: hide`."""

from __future__ import annotations

import re

from ollama_kit.guard import Finding, Passage, Stage, StageContext, Words
from ollama_kit.text.spans import Edit, apply

_NUMBER = re.compile(r"\bPRJ-\d{4}\b")


def hide_project_numbers(passage: Passage, context: StageContext) -> Passage:
    """The passage with each number on record, and hidden where the policy says so."""
    hides = context.policy.setting("project_numbers") == "hide"
    spans = [found.span() for found in _NUMBER.finditer(passage.text)]
    done = "redacted" if hides else "flagged"
    passage = passage.flag(*(Finding("project_numbers", "number", "medium", done, passage.source, at) for at in spans))
    if not hides:
        return passage
    return passage.change(apply(passage.text, [Edit(*at, "[project]") for at in spans]))


STAGE = Stage(
    "project_numbers", "input", hide_project_numbers, {"project_numbers": Words(("flag", "hide", "off"), "off")}
)
