"""Summaries as files: names that Windows takes, no chat written over another, nothing half-written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers import FORMATS, file_stem, files, write_summaries, write_summary
from tests.jobs.wechat.summaries import delivery, english


def named(chat: str) -> Summary:
    return replace(english(), chat=chat)


def test_every_format_is_written_where_it_was_asked(tmp_path: Path) -> None:
    """One file a format, in the order asked, each once, into a folder that need not exist."""
    folder = tmp_path / "合同 文件夹" / "out"
    paths = write_summary(delivery(), folder, ("json", "md", "json"))
    assert [path.name for path in paths] == [
        "华澜项目 v2.3 交付群 2026-03-10.json",
        "华澜项目 v2.3 交付群 2026-03-10.md",
    ]
    assert sorted(folder.iterdir()) == sorted(paths)
    assert json.loads(paths[0].read_text(encoding="utf-8"))["chat"] == delivery().chat
    assert len(write_summary(delivery(), folder, FORMATS)) == len(FORMATS) == 5


def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    """A calendar and a table keep CR LF, the others LF, on every system."""
    for path in write_summary(delivery(), tmp_path, FORMATS):
        data = path.read_bytes()
        assert (b"\r\n" in data) == (path.suffix in (".ics", ".csv"))


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """The error names what was meant; the folder is not even made."""
    with pytest.raises(UsageError, match="'htm'") as caught:
        write_summary(delivery(), tmp_path / "out", ("md", "htm"))
    assert "html" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_a_writer_that_fails_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is rendered before the first file is replaced."""
    (old,) = write_summary(delivery(), tmp_path, ("md",))
    before = old.read_bytes()

    def broken(summary: Summary) -> str:
        raise UsageError("broken")

    monkeypatch.setitem(files.WRITERS, "csv", broken)
    with pytest.raises(UsageError, match="broken"):
        write_summary(replace(delivery(), model="another"), tmp_path, ("md", "csv"))
    assert old.read_bytes() == before
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("chat", ["CON", "a/b: c?", "家" * 90, "..", ""])
def test_a_chat_of_any_name_has_a_file_of_its_own(chat: str, tmp_path: Path) -> None:
    """Its name as far as systems take it, then the day of the last message."""
    (path,) = write_summary(named(chat), tmp_path / "out", ("json",))
    assert path.is_file()
    assert path.stem == file_stem(named(chat)).strip(" .")
    assert path.stem.endswith(" 2026-04-14")


def test_chats_of_one_name_are_numbered(tmp_path: Path) -> None:
    """Two groups of one run that a file system cannot tell apart get files of their own, the same in every run."""
    run = [
        replace(named(chat), model=model)
        for chat, model in (("Team", "1"), ("team", "2"), ("other", "3"), ("Team", "4"))
    ]
    for _ in range(2):
        paths = write_summaries(run, tmp_path, ("json",))
        assert [path.stem.removesuffix(" 2026-04-14") for path in paths] == [
            "Team",
            "team 2026-04-14 (2)",
            "other",
            "Team 2026-04-14 (3)",
        ]
        assert [json.loads(path.read_text(encoding="utf-8"))["model"] for path in paths] == list("1234")
    assert len(list(tmp_path.iterdir())) == 4
