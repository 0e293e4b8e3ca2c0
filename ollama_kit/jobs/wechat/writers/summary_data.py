"""A summary for programs: JSON with everything, and a table of the to-dos that spreadsheets open as it is meant."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from io import StringIO

from ollama_kit.documents.pages.escaping import inert, whole_characters
from ollama_kit.jobs.wechat.summary import Summary, Todo
from ollama_kit.jobs.wechat.writers.view import urgency
from ollama_kit.jobs.wechat.writers.wording import wording

COLUMNS = ("chat", "task", "person", "deadline", "day", "time", "status", "confidence", "messages")


def write_json(summary: Summary) -> str:
    """The whole summary as templates/schemas/wechat_summary.schema.json describes it."""
    return whole_characters(json.dumps(summary.as_dict(), ensure_ascii=False, indent=2)) + "\n"


def write_csv(summary: Summary) -> str:
    """The to-dos, open ones first, one a row, with a heading in the chat's language.

    A byte-order mark stands first, or Excel on Windows reads Chinese as GBK. No cell is a formula.
    """
    words = wording(summary.language, summary.last).words
    out = StringIO(newline="")
    table = csv.writer(out, lineterminator="\r\n")
    table.writerow(words[f"column_{name}"] for name in COLUMNS)
    for todo in sorted(summary.todos, key=lambda todo: (todo.done, urgency(todo))):
        status = words["done" if todo.done else "open"]
        day, time = _due(todo)
        cells = (summary.chat, todo.task, todo.person, todo.deadline, day, time, status, words[todo.confidence])
        table.writerow([*map(inert, cells), " ".join(todo.messages)])
    return "\ufeff" + out.getvalue()


def _due(todo: Todo) -> tuple[str, str]:
    if todo.due is None:
        return "", ""
    return todo.due.isoformat()[:10], f"{todo.due:%H:%M}" if isinstance(todo.due, datetime) else ""
