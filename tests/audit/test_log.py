"""The audit's file: what is recorded stays, comes out by a filter, and what cannot be recorded is said."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.audit.log import AuditLog, Wanted, moment, read_rows
from ollama_kit.audit.row import lines
from ollama_kit.audit.storage import open_for_writing
from ollama_kit.errors import AuditError, UsageError
from tests.audit.rows import START, row
from tests.intensity import examples


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "合同 文件夹" / "audit #1%20.sqlite3"


def open_log(path: Path, texts: bool = False) -> AuditLog:
    return AuditLog(path, texts, clock=lambda: START)


def test_a_row_comes_out_as_it_went_in(path: Path) -> None:
    """Every field, numbers and lists too; the id is the log's."""
    with open_log(path, texts=True) as log:
        ids = [log.record(row(0)), log.record(row(1, "文本", predicted_tokens=None, counted_tokens=None))]
        first, second = log.rows()
    assert ids == [1, 2]
    assert first == row(0, id=1)
    assert second == row(1, "文本", predicted_tokens=None, counted_tokens=None, id=2)


def test_texts_need_the_second_switch(path: Path) -> None:
    """A row that has texts loses them in a log that keeps none: not a byte of them is in the file."""
    with open_log(path) as log:
        told = row(0, "SECRET", output="SECRET", findings=({"rule": "x", "details": ["SECRET"]},))
        log.record(told)
        (kept,) = log.rows()
        assert (kept.input, kept.output, kept.findings) == (None, None, ({"rule": "x"},))
        written = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert b"SECRET" not in written
        assert kept.input_sha256.encode() in written


def test_it_is_still_there_when_opened_again(path: Path) -> None:
    """By a second log and by a reader, while the first is open and after it was closed."""
    with open_log(path) as log:
        log.record(row(0))
        with open_log(path) as other:
            other.record(row(1))
        assert len(list(log.rows())) == 2
    assert len(list(read_rows(path))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such mode")
def test_others_can_not_read_it(path: Path) -> None:
    """The file and the log beside it are the owner's."""
    with open_log(path) as log:
        log.record(row(0))
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}


def test_it_keeps_a_write_ahead_log_and_gives_pages_back(path: Path) -> None:
    """Readers do not wait for writers, and the file can be shortened without being rewritten."""
    open_log(path).close()
    with open_for_writing(path, 1) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    connection.close()


def test_a_newer_file_is_not_touched(path: Path) -> None:
    """The error names both versions, and says what to do."""
    open_log(path).close()
    change(path, "PRAGMA user_version = 7")
    before = path.read_bytes()
    for use in (lambda: open_log(path), lambda: list(read_rows(path))):
        with pytest.raises(AuditError, match="its schema is 7, and this one knows 1") as caught:
            use()
        assert str(path) in str(caught.value)
        assert "Upgrade ollama-kit" in caught.value.hint
    assert path.read_bytes() == before


def test_another_programs_database_is_not_touched(tmp_path: Path) -> None:
    """Nor is a file that is no database at all."""
    other, text = tmp_path / "other.db", tmp_path / "notes.txt"
    change(other, "PRAGMA auto_vacuum = FULL", "CREATE TABLE bookmarks (url TEXT)")
    text.write_text("not a database, and long enough to look like the header of one" * 20, encoding="utf-8")
    for path, said in ((other, "another program's database"), (text, "not a database")):
        before = path.read_bytes()
        with pytest.raises(AuditError, match=said):
            open_log(path)
        with pytest.raises(AuditError, match=said):
            list(read_rows(path))
        assert path.read_bytes() == before


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    """As soon as the log is opened, not after the first call."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(AuditError, match="cannot be opened"):
        open_log(tmp_path / "file" / "audit.sqlite3")


def test_reading_makes_no_file(path: Path) -> None:
    """Who looks for an audit that is not there is told, and leaves nothing."""
    with pytest.raises(AuditError, match="there is no audit file"):
        list(read_rows(path))
    assert not path.parent.exists()


def test_a_closed_log_records_nothing_silently(path: Path) -> None:
    """A row that comes too late is an error."""
    log = open_log(path)
    log.close()
    log.close()
    with pytest.raises(AuditError, match="closed"):
        log.record(row(0))


def test_a_row_that_sqlite_refuses_leaves_the_log_usable(path: Path) -> None:
    """The transaction is undone, and the next row goes in."""
    with open_log(path) as log:
        with pytest.raises(AuditError):
            log.record(row(0, verdict=None))
        log.record(row(1))
        assert [kept.time for kept in log.rows()] == [row(1).time]


def test_threads_share_a_log(path: Path) -> None:
    """Every row of every thread, each once."""
    with open_log(path) as log:
        threads = [threading.Thread(target=record_many, args=(log, f"t{at}", 25)) for at in range(8)]
        run(threads)
        found = [(kept.model, kept.policy) for kept in log.rows()]
    assert len(found) == 200
    assert set(found) == {(f"t{at}", str(number)) for at in range(8) for number in range(25)}


def test_logs_that_are_opened_at_once_make_one_file(path: Path) -> None:
    """The table is made by one of them; none is refused, and none starts afresh."""
    logs: list[AuditLog] = []
    barrier = threading.Barrier(8)

    def use() -> None:
        barrier.wait(30)
        log = open_log(path)
        logs.append(log)
        log.record(row(0))

    run([threading.Thread(target=use) for _ in range(8)])
    for log in logs:
        log.close()
    assert len(logs) == len(list(read_rows(path))) == 8


def test_rows_are_read_while_others_write(path: Path) -> None:
    """A reader that stops half-way holds up nobody, and sees no row twice."""
    with open_log(path) as log:
        for at in range(1200):
            log._connection.execute("BEGIN") if at == 0 else None  # type: ignore[union-attr]  # one transaction: fast
            insert(log, at)
        log._connection.execute("COMMIT")  # type: ignore[union-attr]
        reading = log.rows()
        seen = [next(reading).id for _ in range(700)]
        log.record(row(5000))
        seen += [kept.id for kept in reading]
    assert seen == list(range(1, 1202))


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_forks_goes_on_on_both_sides(path: Path) -> None:
    """As a web server's workers do; even if another thread held the lock at that moment."""
    with open_log(path) as log:
        log.record(row(0, model="before"))
        log._lock.acquire()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                log.record(row(1, model="child"))
                log.close()
                code = 0
            finally:
                os._exit(code)
        log._lock.release()
        log.record(row(2, model="parent"))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        log.record(row(3, model="parent"))
        assert sorted(kept.model for kept in log.rows()) == ["before", "child", "parent", "parent"]


MODELS, VERDICTS = ("m", "m:latest", "mm", "n:1"), ("valid", "server", "server.refused", "serverless")


@settings(deadline=None, max_examples=examples(25))
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(MODELS), st.sampled_from(VERDICTS)), max_size=12),
    st.tuples(
        st.integers(-1, 10), st.integers(-1, 10), st.sampled_from(("", *MODELS)), st.sampled_from(("", *VERDICTS))
    ),
    st.integers(1, 14) | st.none(),
)
def test_a_filter_gives_the_newest_of_what_it_says(
    tmp_path_factory: pytest.TempPathFactory,
    given_rows: list[tuple[int, str, str]],
    asked: tuple[int, int, str, str],
    limit: int | None,
) -> None:
    """The same rows as a plain loop over all of them would give, oldest first."""
    since, until, model, verdict = asked
    wanted = Wanted(row(since).time, row(until).time, model, verdict, limit)
    with open_log(tmp_path_factory.mktemp("filter") / "a.sqlite3") as log:
        for at, named, ended in given_rows:
            log.record(row(at, model=named, verdict=ended))
        found = list(log.rows(wanted))
        expected = [
            kept
            for kept in log.rows()
            if row(since).time <= kept.time < row(until).time
            and (not model or kept.model == model or kept.model.startswith(model + ":"))
            and (not verdict or kept.verdict == verdict or kept.verdict.startswith(verdict + "."))
        ]
    assert found == (expected if limit is None else expected[-limit:])


def test_dates_as_people_write_them() -> None:
    """A date is its beginning, as an end the beginning of the next; a zone is obeyed; else it is local time."""
    assert moment("2026-01-31T08:05Z") == moment("2026-01-31T16:05+08:00") == "2026-01-31T08:05:00.000000Z"
    assert moment("2026-01-31", end=True) == moment("2026-02-01")
    assert moment("2026-01-31T10:00", end=True) == moment("2026-01-31T10:00")
    for wrong in ("yesterday", "31.1.2026", "", "0001-01-01T00:00+14:00"):
        with pytest.raises(UsageError):
            moment(wrong)


def test_findings_of_an_older_version_are_read_and_exported_in_todays_spelling(tmp_path: Path) -> None:
    """What was stored as `neutralised` or `labelled_secret` comes out under the names that new rows have; the file
    stays as it is."""
    old = '[{"stage":"normalise","rule":"labelled_secret","severity":"low","action":"neutralised","count":2}]'
    with AuditLog(tmp_path / "a.sqlite3") as log:
        log.record(row())
        change(log.path, f"UPDATE calls SET findings = '{old}'")
        (found,) = log.rows()
    kind = {"stage": "normalize", "rule": "labeled_secret", "severity": "low", "action": "neutralized", "count": 2}
    assert found.findings == (kind,)
    (line,) = lines([found], "jsonl")
    assert json.loads(line)["findings"] == [kind]
    assert '""action"": ""neutralized""' in list(lines([found], "csv"))[1]
    stored = sqlite3.connect(log.path)
    assert stored.execute("SELECT findings FROM calls").fetchone() == (old,)
    stored.close()


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def record_many(log: AuditLog, model: str, count: int) -> None:
    for number in range(count):
        log.record(row(number, model=model, policy=str(number)))


def insert(log: AuditLog, at: int) -> None:
    from ollama_kit.audit.log import _INSERT, _values

    assert log._connection is not None
    log._connection.execute(_INSERT, _values(row(at)))


def run(threads: list[threading.Thread]) -> None:
    """Runs threads to their end; what one of them raises fails the test as an unhandled thread exception."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
