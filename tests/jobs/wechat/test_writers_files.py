"""Summaries as files: names that Windows takes, no chat written over another, nothing half-written."""

from __future__ import annotations

import json
import ntpath
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers import FORMATS, file_stem, files, write_summaries, write_summary
from tests.jobs.wechat.summaries import delivery, english

AWKWARD = st.text(alphabet='abC中😀é1 .-_/\\:*?"<>|\n\t\x00\x7f\u202e\u200d\ufe0f', max_size=90)


def named(chat: str, *, dated: bool = True) -> Summary:
    return replace(english(), chat=chat) if dated else replace(english(), chat=chat, first=None, last=None)


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


def is_reserved(name: str) -> bool:
    """Whether Windows keeps a name for itself; Python 3.13 moved the question to ntpath."""
    asked = getattr(ntpath, "isreserved", None)
    return bool(asked(name) if asked else PureWindowsPath(name).is_reserved())


@settings(deadline=None, max_examples=300)
@given(AWKWARD, st.booleans())
@example("CON", False)
@example("nul.txt", True)
@example("COM¹", False)
@example("家" * 90, True)
@example("-rf", False)
@example("..", True)
def test_a_name_is_one_that_windows_takes(chat: str, dated: bool) -> None:
    """No character or end that Windows refuses, no device, nothing hidden, short enough with its end."""
    stem = file_stem(named(chat, dated=dated))
    assert stem
    assert not set(stem) & set('\\/:*?"<>|')
    assert stem.isprintable() or "\u200d" in stem or "\ufe0f" in stem
    assert stem.strip(" .") == stem
    assert stem[0] not in ".-"
    assert not is_reserved(f"{stem}.json")
    assert len(f".{stem}.json.1234567.part".encode()) <= 200


@settings(deadline=None, max_examples=100)
@given(AWKWARD, AWKWARD)
@example("a/b", "a:b")
@example("CON", "_CON")
@example("", "chat")
def test_two_chats_are_not_made_one_by_their_names(one: str, other: str) -> None:
    """A name that had to be changed says so with a hash, so that it is not another chat's."""
    if " ".join(one.split()) != " ".join(other.split()):
        stems = file_stem(named(one)), file_stem(named(other))
        assert stems[0] != stems[1] or files.one_line(one) == files.one_line(other)


def test_chats_of_one_name_are_numbered(tmp_path: Path) -> None:
    """Two groups of one run that a file system can not tell apart get files of their own, the same in every run."""
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
