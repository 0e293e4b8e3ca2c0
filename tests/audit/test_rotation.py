"""Rotation: within age and size after every call, the oldest first, the newest never, and no call pays for all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.audit import storage
from ollama_kit.audit.log import AuditLog
from tests.audit.rows import START, row
from tests.intensity import examples

DAY = 24 * 60 * 60
KIB = 1024


@settings(deadline=None, max_examples=examples(15))
@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=25), st.integers(64, 160))
def test_the_size_is_within_its_limit_after_every_row(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], limit_kib: int
) -> None:
    """What is left are the newest rows without a gap, and no more was deleted than one row and a few pages need."""
    with AuditLog(
        tmp_path_factory.mktemp("size") / "a.sqlite3", True, max_bytes=limit_kib * KIB, clock=lambda: START
    ) as log:
        for at, length in enumerate(lengths):
            newest = log.record(row(at, "x" * length))
            assert log._connection is not None
            used = storage.used_bytes(log._connection)
            assert used <= limit_kib * KIB
            kept = list(log.rows())
            assert [item.id for item in kept] == list(range(newest - len(kept) + 1, newest + 1))
            if kept[0].id > 1:  # the last one that went was needed: rows of 30,000 take 8 pages, and some are half full
                assert used > limit_kib * KIB - 30_000 - 5 * 4096 or len(kept) == 1


def test_a_row_beyond_the_limit_stays_alone(tmp_path: Path) -> None:
    """What was just recorded is there when `record` returns, even if it is too much."""
    with AuditLog(tmp_path / "a.sqlite3", True, max_bytes=64 * KIB, clock=lambda: START) as log:
        for at in range(3):
            log.record(row(at, "small"))
        log.record(row(3, "x" * 200_000))
        assert [item.id for item in log.rows()] == [4]
        log.record(row(4, "small"))
        assert [item.id for item in log.rows()] == [5]


@settings(deadline=None, max_examples=examples(15))
@given(st.lists(st.integers(0, 40), min_size=1, max_size=20))
def test_what_is_too_old_goes(tmp_path_factory: pytest.TempPathFactory, days: list[int]) -> None:
    """By the row's own time, in whatever order the rows came (a clock may be set back)."""
    now = START + timedelta(days=40)
    with AuditLog(tmp_path_factory.mktemp("age") / "a.sqlite3", max_age_days=30, clock=lambda: now) as log:
        for day in days:
            log.record(row(day * DAY))
        kept = [item.time for item in log.rows()]
    assert kept == [row(day * DAY).time for at, day in enumerate(days) if day >= 10 or at == len(days) - 1]


def test_a_lowered_limit_is_reached_over_some_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call deletes more than its share, nor gives back more pages than its share; at last the file is short."""
    path = tmp_path / "a.sqlite3"
    with AuditLog(path, True, clock=lambda: START) as log:
        for at in range(60):
            log.record(row(at, "x" * 20_000))
    grown = path.stat().st_size
    monkeypatch.setattr(storage, "ROWS_PER_CALL", 5)
    monkeypatch.setattr(storage, "SPARE_PAGES", 4)
    monkeypatch.setattr(storage, "PAGES_PER_CALL", 30)
    counts = []
    with AuditLog(path, True, max_bytes=100 * KIB, clock=lambda: START) as log:
        for at in range(20):
            log.record(row(100 + at))
            counts.append(len(list(log.rows())))
    assert grown > 1200 * KIB
    assert counts[:3] == [56, 52, 48]
    assert path.stat().st_size < 150 * KIB


def test_free_pages_are_used_again(tmp_path: Path) -> None:
    """A log at its limit stays as long as it is."""
    path = tmp_path / "a.sqlite3"
    sizes = []
    for at in range(40):
        with AuditLog(path, True, max_bytes=200 * KIB, clock=lambda: START) as log:
            log.record(row(at, "x" * 15_000))
        sizes.append(path.stat().st_size)
    assert max(sizes[20:]) <= max(sizes[:20]) <= 200 * KIB + storage.SPARE_PAGES * 4096
