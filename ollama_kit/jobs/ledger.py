"""What a batch has done so far, in one SQLite file: a run that was killed at any moment resumes where it stopped.

A task is named by the digest of everything that decides its outcome (its text, the model, the prompt, the schema, the
policy), so that a change of any of these is another task, and the same task is never done twice. An outcome is written
in one transaction: it is there whole, or not at all.

Until December 2026 a policy was in that digest as its `repr`, which any new field of a policy would have changed; now
it is there by what differs from the defaults. What was kept under a former name is found, and renamed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from ollama_kit.documents.pages.output_files import make_folder, unwritable
from ollama_kit.errors import UsageError
from ollama_kit.guard.kept import KeptValues
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.policy_digest import former_repr, policy_digest
from ollama_kit.text.private_files import create_private

VERSION = 1
SEALED = "sealed"
"""The only key of a value in which hidden values are behind placeholders."""

_TABLES = """
create table if not exists outcome (
    task text primary key,
    job text not null,
    label text not null,
    state text not null check (state in ('done', 'failed')),
    value text not null,
    seconds real not null,
    tokens integer not null,
    written text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) without rowid
"""


@dataclass(frozen=True)
class Outcome:
    """How a task ended. `value` is plain data for JSON: the result where it is done, else what went wrong."""

    task: str
    label: str
    done: bool
    value: Any
    seconds: float = 0.0
    tokens: int = 0


def task_key(job: str, parts: Iterable[Any]) -> str:
    """The name of a task: the SHA-256 of the job and of all that decides the outcome, as canonical JSON. A Policy among
    the parts is there by its digest.

    >>> task_key("wechat", ["a", {"x": 1}])[:8] == task_key("wechat", ["a", {"x": 1}])[:8]
    True
    """
    return _key(job, parts, policy_digest)


def former_task_key(job: str, parts: Iterable[Any]) -> str | None:
    """The name that the same task had when a policy was part of it by its `repr`; None where there was none such."""
    parts = list(parts)
    former = [former_repr(part) for part in parts if isinstance(part, Policy)]
    return None if None in former else _key(job, parts, former_repr)


def _key(job: str, parts: Iterable[Any], said: Callable[[Policy], str | None]) -> str:
    held = [said(part) if isinstance(part, Policy) else part for part in parts]
    text = json.dumps([job, *held], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Ledger:
    """The outcomes of one job, on disk at `path` (":memory:" for a run that need not be resumed). Threads may share it;
    several processes may work on one file."""

    def __init__(self, path: Path | str, job: str) -> None:
        self.path, self.job = path, job
        if isinstance(path, Path):
            make_folder(path.parent)
            self._create(path)
        self._lock = Lock()
        with self._understood():
            self._open = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except BaseException:
            self._open.close()
            raise

    def _create(self, path: Path) -> None:
        """The file for its owner alone; SQLite gives the files that it keeps beside it the same rights."""
        try:
            create_private(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem

    def _prepare(self) -> None:
        with self._understood():
            self._open.execute("pragma journal_mode = wal")
            self._open.execute("pragma synchronous = full")  # an outcome that was reported survives a power cut
            found = self._open.execute("pragma user_version").fetchone()[0]
            if found not in (0, VERSION):
                raise UsageError(
                    f"the ledger {self.path} was written by a newer ollama-kit",
                    hint=(
                        "Upgrade ollama-kit, or write into another folder.",
                        "请升级 ollama-kit，或换一个输出文件夹。",
                    ),
                )
            self._open.execute(_TABLES)
            self._open.execute(f"pragma user_version = {VERSION}")

    def find(
        self, task: str, former: str | None = None, hidden: Callable[[], KeptValues | None] = lambda: None
    ) -> Outcome | None:
        """How a task ended, None if it has not. What is kept under its `former` name only is renamed, for good.
        `hidden` gives the values that are behind placeholders in what is kept; it is asked where there are any."""
        with self._lock, self._understood():
            row = self._row(task)
            if row is None and former is not None and self._row(former) is not None:
                self._open.execute(
                    "update or replace outcome set task = ? where task = ? and job = ?", (task, former, self.job)
                )
                row = self._row(task)
        return None if row is None else _outcome(row, hidden)

    def _row(self, task: str) -> tuple[str, str, str, str, float, int] | None:
        found: tuple[str, str, str, str, float, int] | None = self._open.execute(
            "select task, label, state, value, seconds, tokens from outcome where task = ? and job = ?",
            (task, self.job),
        ).fetchone()
        return found

    def write(self, outcome: Outcome, hidden: KeptValues | None = None) -> None:
        """Keeps an outcome, with the `hidden` values behind placeholders; a task that failed may be tried again, and
        then the last outcome counts."""
        state = "done" if outcome.done else "failed"
        kept = {SEALED: hidden.sealed(outcome.value)} if hidden else outcome.value
        value = json.dumps(kept, ensure_ascii=True)
        # A file's name need not be Unicode, and SQLite's text is.
        label = outcome.label.encode("utf-8", "replace").decode("utf-8")
        row = (outcome.task, self.job, label, state, value, outcome.seconds, outcome.tokens)
        with self._lock, self._understood():
            self._open.execute(
                "insert or replace into outcome (task, job, label, state, value, seconds, tokens)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def speeds(self) -> Mapping[str, float]:
        """Tokens and seconds of all that is done: {"tokens", "seconds", "tasks"}; what an estimate is made from."""
        with self._lock, self._understood():
            tokens, seconds, tasks = self._open.execute(
                "select coalesce(sum(tokens), 0), coalesce(sum(seconds), 0), count(*) from outcome"
                " where state = 'done' and job = ?",
                (self.job,),
            ).fetchone()
        return {"tokens": tokens, "seconds": seconds, "tasks": tasks}

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"the ledger {self.path} cannot be used: {error}",
                hint=(
                    "Move this file away, and what it holds is done again; or write into another folder.",
                    "请移走该文件（其中记录的工作会重做），或换一个输出文件夹。",
                ),
            ) from error


def _outcome(row: tuple[str, str, str, str, float, int], hidden: Callable[[], KeptValues | None]) -> Outcome:
    task, label, state, text, seconds, tokens = row
    value = json.loads(text)
    if isinstance(value, dict) and list(value) == [SEALED]:
        value, known = value[SEALED], hidden()
        value = known.opened(value) if known else value
    return Outcome(task, label, state == "done", value, seconds, tokens)
