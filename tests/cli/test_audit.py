"""`ollama-kit audit` as a user runs it: the table, the filters, the exports, and where there is nothing."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest

from ollama_kit.audit.log import AuditLog
from tests.audit.rows import row
from tests.cli.conftest import Run

UTC = {"TZ": "UTC"}


@pytest.fixture
def recorded(project: Path) -> Path:
    """A user whose settings name an audit with four calls, one a minute."""
    home = Path(os.environ["OLLAMA_KIT_HOME"])
    home.mkdir(parents=True)
    (home / "ollama-kit.yaml").write_text(f"audit: {project / 'calls.sqlite3'}\n", encoding="utf-8")
    with AuditLog(project / "calls.sqlite3", texts=True, max_age_days=1e5) as log:
        log.record(row(0, "=1+1", model="m", output="甲"))
        log.record(row(60, model="m:latest", verdict="server.refused"))
        log.record(row(120, model="other", verdict="output.invalid", counted_tokens=None))
        log.record(row(180, model="other"))
    return project / "calls.sqlite3"


def test_the_table_shows_the_newest_last(run: Run, recorded: Path) -> None:
    """Time, model, verdict, tries, tokens, seconds and what was found."""
    shown = run("audit", env=UTC)
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["time", "model", "verdict", "tries", "prompt", "answer", "seconds", "found"]
    assert [line.split()[1] for line in lines[1:]] == ["08:05:00", "08:06:00", "08:07:00", "08:08:00"]
    assert lines[1].split()[2:7] == ["m", "valid", "2", "30", "4"]
    assert lines[1].endswith("private/aws_key ×2, control_tokens/chat ×1")
    assert not shown.stderr


def test_filters_are_joined(run: Run, recorded: Path) -> None:
    """By time, model (any tag), verdict (any below it) and number."""

    def ids(*arguments: str) -> list[int]:
        return [found["id"] for found in json.loads(run("audit", "--json", *arguments, env=UTC).stdout)["calls"]]

    assert ids() == [1, 2, 3, 4]
    assert ids("--model", "m") == [1, 2]
    assert ids("--verdict", "server") == [2]
    assert ids("--since", "2026-01-31T08:06", "--until", "2026-01-31T08:08") == [2, 3]
    assert ids("--since", "2026-01-31", "--until", "2026-01-31", "--limit", "2") == [3, 4]
    assert ids("--until", "2026-01-30") == []
    assert ids("--model", "other", "--verdict", "valid", "--limit", "9") == [4]


def test_json_lines_hold_whole_rows(run: Run, recorded: Path) -> None:
    """One object a line, in any console: nothing is lost."""
    for encoding in ("utf-8", "gbk"):
        shown = run("audit", "--export", "jsonl", encoding=encoding)
        rows = [json.loads(line) for line in shown.stdout.splitlines()]
        assert [found["verdict"] for found in rows] == ["valid", "server.refused", "output.invalid", "valid"]
        assert rows[0]["output"] == "甲"
        assert rows[0]["findings"][0] == {
            "stage": "private",
            "rule": "aws_key",
            "severity": "high",
            "action": "redacted",
            "count": 2,
        }


def test_csv_is_safe_for_a_spreadsheet(run: Run, recorded: Path) -> None:
    """Headings, a row a call, lists as JSON; what would be a formula is text."""
    table = list(csv.DictReader(io.StringIO(run("audit", "--export", "csv").stdout)))
    assert len(table) == 4
    assert table[0]["input"] == "'=1+1"
    assert json.loads(table[0]["attempts"])[1]["outcome"] == "valid"
    assert table[2]["counted_tokens"] == ""


def test_an_export_goes_to_a_file(run: Run, recorded: Path, project: Path) -> None:
    """UTF-8, a CSV with the mark that Excel needs; nothing half-written is left."""
    assert run("audit", "--export", "csv", "--out", "审计.csv").stdout == ""
    assert run("audit", "--export", "jsonl", "--out", "a.jsonl").returncode == 0
    assert (project / "审计.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert "甲" in (project / "审计.csv").read_text(encoding="utf-8-sig")
    assert len((project / "a.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    assert not list(project.glob("*.part"))
    assert run("audit", "--out", "x").returncode == 2
    assert run("audit", "--export", "csv", "--out", "no/x").returncode == 2


def test_an_audit_that_is_off_is_said(run: Run, project: Path) -> None:
    """An empty table, how to turn it on, and no file made."""
    shown = run("audit")
    assert shown.returncode == 0
    assert "audit: on" in shown.stderr
    assert len(shown.stdout.splitlines()) == 1
    assert json.loads(run("audit", "--json").stdout)["calls"] == []
    assert list(project.iterdir()) == [project / "modelfiles"]


def test_a_file_that_can_not_be_read_ends_in_2(run: Run, project: Path) -> None:
    """Missing, or no audit."""
    missing = run("audit", "--path", "none.sqlite3")
    assert missing.returncode == 2
    assert "there is no audit file" in missing.stderr
    (project / "text").write_text("x" * 2000, encoding="utf-8")
    assert "not a database" in run("audit", "--path", "text").stderr
    assert run("audit", "--since", "soon").returncode == 2


def test_a_table_longer_than_a_screen_shows_the_newest(run: Run, recorded: Path) -> None:
    """Twenty, unless more are asked for."""
    with AuditLog(recorded, max_age_days=1e5) as log:
        for at in range(30):
            log.record(row(300 + at))
    assert len(run("audit").stdout.splitlines()) == 1 + 20
    assert len(run("audit", "--limit", "25").stdout.splitlines()) == 1 + 25
    assert len(json.loads(run("audit", "--json").stdout)["calls"]) == 34
