"""One row of the audit: what a call was, by digests and counts; texts only where they were asked for. And rows as lines
of text: JSON lines, or CSV for a spreadsheet.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from typing import Any, Literal

from ollama_kit.errors import ContextOverflow, GuardBlocked
from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.exchange import Finished
from ollama_kit.records.report import Attempt, Finding

TEXTS = ("details", "reply")
"""The keys of a finding and of an attempt that are there only where texts are kept."""

Form = Literal["jsonl", "csv"]
FORMAT = 1
"""The version of the keys of a JSON line: templates/schemas/audit_call.schema.json."""


@dataclass(frozen=True)
class AuditRow:
    """One call. `time` is its end in UTC, `2026-01-31T08:05:00.000000Z`. `verdict` is "valid", "length" (cut as the
    caller asked), "abandoned" (they left before the end) or an error's code. Digests are SHA-256 in hexadecimal:
    `input_sha256` of `input_text`, `output_sha256` of the answer in UTF-8, empty where there was none. Tokens are None
    where they were not counted. `findings` are {stage, rule, severity, action, count}, `attempts` {outcome, seconds,
    request_sha256, reply_sha256}. `id` is given by the log, 0 before."""

    time: str
    model: str
    digest: str
    host: str
    policy: str
    input_sha256: str
    output_sha256: str
    predicted_tokens: int | None
    counted_tokens: int | None
    answer_tokens: int | None
    findings: tuple[Mapping[str, Any], ...]
    attempts: tuple[Mapping[str, Any], ...]
    seconds: float
    verdict: str
    input: str | None = None
    output: str | None = None
    id: int = 0

    def without_texts(self) -> AuditRow:
        """The row with every word of a text taken out."""
        return replace(self, input=None, output=None, findings=_bare(self.findings), attempts=_bare(self.attempts))

    def as_dict(self) -> dict[str, Any]:
        """The row as plain data for JSON; `input` and `output` only where it has them."""
        whole = asdict(self)
        return {name: value for name, value in whole.items() if value is not None or name not in ("input", "output")}


def row_of(finished: Finished, *, texts: bool = False, at: datetime | None = None) -> AuditRow:
    """The row of a call that ended `at` (default: now). With `texts` it has the caller's own words as given,
    before anything was hidden, the answer, every reply and what the findings found."""
    given = input_text(finished.request)
    report, attempts = finished.report, finished.attempts
    last = attempts[-1] if attempts else None
    needed = finished.error.needed_tokens if isinstance(finished.error, ContextOverflow) else None
    return AuditRow(
        time=utc(at or datetime.now(timezone.utc)),
        model=finished.request.model,
        digest=finished.digest,
        host=finished.host,
        policy=finished.policy,
        input_sha256=_sha256(given),
        output_sha256=_sha256(finished.answer) if finished.answer else "",
        predicted_tokens=report.predicted_tokens if report else needed,
        counted_tokens=last.prompt_tokens if last else report.counted_tokens if report else None,
        answer_tokens=last.answer_tokens if last else None,
        findings=_findings(finished, texts),
        attempts=tuple(_attempt(attempt, texts) for attempt in attempts),
        seconds=finished.seconds,
        verdict=finished.verdict,
        input=_storable(given) if texts else None,
        output=_storable(finished.answer) if texts else None,
    )


def input_text(request: Request) -> str:
    """What the caller gave, as one text that is the same for the same request: JSON with sorted keys and no whitespace,
    of {documents: [[name, text], …], messages: [[role, content, tool calls, tool's name, SHA-256 of images], …], raw,
    tools}."""
    value = {
        "documents": [[document.name, document.text] for document in request.documents],
        "messages": [_message(message) for message in request.messages],
        "raw": request.raw,
        "tools": list(request.tools),
    }
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


def _message(message: Message) -> list[Any]:
    images = [hashlib.sha256(image.data).hexdigest() for image in message.prepared_images]
    return [message.role, message.content, list(message.tool_calls), message.tool_name, images]


def utc(moment: datetime) -> str:
    """A moment in UTC to the microsecond, in a form that sorts as it passes.

    >>> utc(datetime(2026, 1, 31, 8, 5, tzinfo=timezone.utc))
    '2026-01-31T08:05:00.000000Z'
    """
    return moment.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _findings(finished: Finished, texts: bool) -> tuple[Mapping[str, Any], ...]:
    """The findings, counted by kind, in the order in which they were first found; a refusal is one of them."""
    found = list(finished.findings)
    error = finished.error
    if isinstance(error, GuardBlocked) and not any(finding.action == "blocked" for finding in found):
        found.append(Finding(error.stage, "refused", "high", "blocked", "", (0, 0), error.reason))
    counts = Counter((finding.stage, finding.rule, finding.severity, finding.action) for finding in found)
    rows = []
    for kind, count in counts.items():
        row: dict[str, Any] = dict(zip(("stage", "rule", "severity", "action"), kind, strict=True))
        row["count"] = count
        if texts:
            details = [finding.detail for finding in found if _kind(finding) == kind and finding.detail]
            row["details"] = list(dict.fromkeys(map(_storable, details)))
        rows.append(row)
    return tuple(rows)


def _kind(finding: Finding) -> tuple[str, str, str, str]:
    return finding.stage, finding.rule, finding.severity, finding.action


def _attempt(attempt: Attempt, texts: bool) -> Mapping[str, Any]:
    row: dict[str, Any] = {
        "outcome": attempt.outcome,
        "seconds": round(attempt.seconds, 6),
        "request_sha256": attempt.request_sha256,
        "reply_sha256": _sha256(attempt.reply) if attempt.reply else "",
    }
    return {**row, "reply": _storable(attempt.reply)} if texts else row


def _bare(items: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple({key: value for key, value in item.items() if key not in TEXTS} for item in items)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _storable(text: str) -> str:
    """The text as SQLite takes it: a lone surrogate, which JSON can bring, as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    """Of a value that JSON does not have, its digest or its text."""
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes | bytearray) else str(value)


def lines(rows: Iterable[AuditRow], form: Form) -> Iterator[str]:
    """Each row as text, without its line end; of CSV the headings first."""
    return json_lines(rows) if form == "jsonl" else csv_lines(rows)


def json_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    """One JSON object per row, not escaped; `format` is the version of its keys."""
    for row in rows:
        yield json.dumps({"format": FORMAT, **row.as_dict()}, ensure_ascii=False)


def csv_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    """CSV (RFC 4180) with headings; findings and attempts as JSON in one cell. A text that a spreadsheet would take
    for a formula has an apostrophe before it."""
    names = [item.name for item in fields(AuditRow)]
    yield _line(names)
    for row in rows:
        yield _line([_cell(getattr(row, name)) for name in names])


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _line(cells: list[Any]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(cells)
    return written.getvalue()
