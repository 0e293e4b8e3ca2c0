"""Files as they really are: cut, re-saved, half broken, empty, or something else altogether."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat import Message, ReadOptions, read_chat, read_messages
from tests.jobs.wechat.renderings import CHATS, said

V2_HEADER = "消息ID,类型,发送人,时间,内容,备注,昵称,更多信息\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_text(text: str) -> Path:
        path = tmp_path / "chat"
        path.write_bytes(text.encode("utf-8"))
        return path

    return write_text


def row(number: int, text: str = "好") -> str:
    return f"{number},文本,林知远,2026-03-09 09:{number:02}:00,{text},,,more\n"


def texts(path: Path) -> list[str]:
    return [message.text for message in read_chat(path).messages]


def test_a_bad_line_costs_that_line_only() -> None:
    """A cut line of a JSONL is reported with its number; comments and empty lines are no fault."""
    chat = read_chat(CHATS / "quirks" / "synthetic_A_chatlab_badline.jsonl")
    (report,) = chat.reports
    assert [row.line for row in report.broken] == [10]
    assert len(chat.messages) == len(said("A")) - 1


def test_a_cut_json_gives_what_was_whole() -> None:
    """Every message before the cut is read, and where it was cut is said."""
    path = CHATS / "quirks" / "synthetic_A_chatlog_truncated.json"
    chat = read_chat(path)
    (broken,) = chat.reports[0].broken
    assert [message.time for message in chat.messages] == [row.time for row in said("A")][: len(chat.messages)]
    assert broken.line == len(chat.messages) + 1
    assert "cut short at character" in broken.reason


@pytest.mark.parametrize("at", range(0, 4000, 331))
def test_a_json_cut_anywhere_is_read_or_refused(at: int, write: Callable[[str], Path]) -> None:
    """No cut raises anything but ChatError, and none gives a message that was not there."""
    whole = (CHATS / "weflow" / "synthetic_en_mixed_group.json").read_text(encoding="utf-8")
    path = write(whole[:at])
    try:
        messages = read_chat(path).messages
    except ChatError:
        return
    assert [message.time for message in messages] == [row.time for row in said("B")][: len(messages)]


def test_a_header_alone_is_no_error_and_is_said() -> None:
    """Nothing was exported: no messages, with a warning."""
    chat = read_chat(CHATS / "quirks" / "synthetic_empty.csv")
    assert chat.messages == ()
    assert chat.reports[0].warnings == ("nothing but the header: no messages",)


@pytest.mark.parametrize("text", ["", "\n\n", "[]", '{"weflow":{},"session":{},"messages":[]}', '{"_type":"header"}\n'])
def test_an_empty_export_is_no_error_and_is_said(text: str, write: Callable[[str], Path]) -> None:
    """An empty file or list has no messages either."""
    chat = read_chat(write(text))
    assert chat.messages == ()
    assert "no messages" in chat.reports[0].warnings[0]


@pytest.mark.parametrize("content", ["just some notes\n", '{"a": 1}', "[1, 2]", "a,b,c\n1,2,3\n", "# title\n\ntext\n"])
def test_what_is_no_chat_is_refused_with_what_can_be_read(content: str, write: Callable[[str], Path]) -> None:
    """The error names the file, shows its beginning and lists the formats."""
    with pytest.raises(ChatError, match="none of the formats") as caught:
        read_chat(path := write(content))
    assert str(path) in str(caught.value)
    assert "MemoTrace" in caught.value.hint


def test_an_encrypted_database_is_refused(tmp_path: Path) -> None:
    """Bytes that are no text and no database: the hint says that a database has to be decrypted first."""
    path = tmp_path / "MSG0.db"
    path.write_bytes(bytes(range(256)) * 64)
    with pytest.raises(ChatError, match="neither a text") as caught:
        read_chat(path)
    assert "decrypted" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error is ours, not the system's."""
    with pytest.raises(ChatError, match=r"gone\.csv: cannot be read"):
        read_chat(tmp_path / "gone.csv")


def test_a_quote_that_is_never_closed_costs_one_line(write: Callable[[str], Path]) -> None:
    """The rows behind it are read, not swallowed."""
    path = write(V2_HEADER + row(1) + row(2, '"half') + row(3) + row(4, '"a ""whole"" one"') + row(5))
    chat = read_chat(path)
    assert [broken.line for broken in chat.reports[0].broken] == [3]
    assert [message.text for message in chat.messages] == ["好", "好", 'a "whole" one', "好"]
    assert [message.source.line for message in chat.messages] == [2, 4, 5, 6]


def test_a_quote_that_is_never_closed_in_the_last_row(write: Callable[[str], Path]) -> None:
    """A file that was cut within a cell is read up to there."""
    chat = read_chat(write(V2_HEADER + row(1) + '2,文本,林知远,2026-03-09 09:02:00,"cut\nhere'))
    assert len(chat.messages) == 1
    assert [broken.line for broken in chat.reports[0].broken] == [3, 4]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,文本,林知远,not a time,好,,,more\n", "no time: 'not a time'"),
        ("1,文本,林知远,2026-13-09 09:00:00,好,,,more\n", "month must be in"),
        ("1,文本,林知远\n", "3 cells instead of 8"),
    ],
)
def test_a_broken_row_says_why(line: str, reason: str, write: Callable[[str], Path]) -> None:
    """Line and reason stand in the report; the rest is read."""
    chat = read_chat(write(V2_HEADER + line + row(2)))
    assert len(chat.messages) == 1
    assert chat.reports[0].broken[0].line == 2
    assert reason in chat.reports[0].broken[0].reason


def test_beyond_the_limit_the_file_is_refused(write: Callable[[str], Path]) -> None:
    """The limit is said in the error and in the report."""
    path = write(V2_HEADER + row(1) + "x\n" * 4)
    assert read_chat(path, limit_broken=4).reports[0].limit == 4
    with pytest.raises(ChatError, match="4 broken rows, at most 3 are passed over") as caught:
        read_chat(path, limit_broken=3)
    assert caught.value.line == 3


def test_a_file_of_broken_rows_only_is_refused(write: Callable[[str], Path]) -> None:
    """A header that fits and rows that do not: nothing was read, which must not look like an empty chat."""
    with pytest.raises(ChatError, match="nothing but broken rows"):
        read_chat(write(V2_HEADER + "x\n"))


def test_a_broken_item_costs_that_item(write: Callable[[str], Path]) -> None:
    """Reading goes on at the next item, not at what is quoted within the broken one."""
    items = json.loads((CHATS / "chatlog" / "synthetic_zh_group_delivery.json").read_text(encoding="utf-8"))
    parts = [json.dumps(item, ensure_ascii=False) for item in items]
    parts[6] = parts[6].replace('"isSelf": true', '"isSelf": tru')  # the item with the quote, before its quote
    chat = read_chat(write("[" + ",\n".join(parts) + "]"))
    assert [broken.line for broken in chat.reports[0].broken] == [7]
    times = [row.time for row in said("A")]
    assert [message.time for message in chat.messages] == times[:6] + times[7:]


@pytest.mark.parametrize(
    ("old", "new"), [('"version": "1.0.3"', '"version" "1.0.3"'), ('"localId": 1,', '"localId" 1,')]
)
def test_what_breaks_before_or_in_the_first_item(old: str, new: str, write: Callable[[str], Path]) -> None:
    """A broken head costs what it says, a broken first item that item; the messages are found all the same."""
    whole = (CHATS / "weflow" / "synthetic_en_mixed_group.json").read_text(encoding="utf-8")
    chat = read_chat(write(whole.replace(old, new, 1)))
    assert len(chat.reports[0].broken) == 1
    assert [message.time for message in chat.messages][-29:] == [row.time for row in said("B")][1:]


def test_an_item_that_is_no_message_is_broken(write: Callable[[str], Path]) -> None:
    """Numbers, lists and objects without the keys of a message are counted, not raised."""
    items = json.loads((CHATS / "chatlog" / "synthetic_en_mixed_group.json").read_text(encoding="utf-8"))
    odd = [1, [], None, {"seq": 1}, {**items[2], "time": 7}, {**items[2], "content": 7}, {**items[2], "type": None}]
    chat = read_chat(write(json.dumps(items[:2] + odd + items[2:])))
    assert len(chat.reports[0].broken) >= len(odd) - 1
    assert [m.time for m in chat.messages if m.kind == "quote"] == [r.time for r in said("B") if r.kind == "quote"]


def test_gb18030_behind_a_long_plain_head_is_read(tmp_path: Path) -> None:
    """64 KB of ASCII say nothing about the encoding; the first Chinese character does."""
    head = "Time,SenderName,Sender,TalkerName,Talker,Content\n"
    plain = "2026-03-09 09:00:00,Tom,wxid_t,Group,1@chatroom,hello\n" * 6000
    path = tmp_path / "chat.csv"
    path.write_bytes((head + plain + plain.replace("hello", "付款")).encode("gb18030"))
    chat = read_chat(path)
    assert chat.messages[-1].text == "付款"
    assert any("gb18030" in warning for warning in chat.reports[0].warnings)


def test_bytes_that_fit_no_encoding_are_shown_and_said(tmp_path: Path) -> None:
    """One bad byte in a large UTF-8 file does not make it unreadable, and does not pass without a word."""
    head = "Time,SenderName,Sender,TalkerName,Talker,Content\n"
    plain = "2026-03-09 09:00:00,汤姆,wxid_t,Group,1@chatroom,hello\n" * 6000
    path = tmp_path / "chat.csv"
    path.write_bytes((head + plain).encode() + b"2026-03-09 09:00:00,Tom,wxid_t,Group,1@chatroom,a\xffb\n")
    chat = read_chat(path)
    assert chat.messages[-1].text == "a\ufffdb"
    assert any("U+FFFD" in warning for warning in chat.reports[0].warnings)


@pytest.mark.parametrize(
    "name", ["chatlog/synthetic_zh_group_delivery.json", "memotrace_v2/synthetic_zh_group_delivery.txt"]
)
def test_one_bad_byte_does_not_make_another_encoding(name: str, tmp_path: Path) -> None:
    """GB18030 would read the file too, as other words: the rest of it says that it is UTF-8."""
    path = tmp_path / "chat"
    path.write_bytes((CHATS / name).read_bytes().replace("验收".encode(), "验收".encode()[:-1] + b"\xff", 1))
    chat = read_chat(path)
    changed = [message.text for message in chat.messages if "\ufffd" in message.text]
    assert len(changed) == 1
    assert {row.text for row in said("A") if row.kind == "text"} - {message.text for message in chat.messages} <= {
        text for text in (row.text for row in said("A")) if "验收" in text
    }
    assert any("U+FFFD" in warning for warning in chat.reports[0].warnings)


def test_half_a_surrogate_pair_can_be_written_again(write: Callable[[str], Path]) -> None:
    """An emoji that an exporter cut in two becomes U+FFFD, in words and names."""
    items = json.loads((CHATS / "chatlog" / "synthetic_en_mixed_group.json").read_text(encoding="utf-8"))[1:2]
    items[0] |= {"content": "ok \ud83d", "senderName": "Tom \ude00"}
    (message,) = read_chat(write(json.dumps(items))).messages
    assert (message.text, message.name) == ("ok \ufffd", "Tom \ufffd")


def test_a_nickname_with_a_line_break_does_not_hide_who_wrote(write: Callable[[str], Path]) -> None:
    """In chatlog's text the message behind such a name still is its own, with its sender's id."""
    text = "林(wxid_a) 09:00:00\n早\n\nevil\nname(wxid_b) 09:01:00\n你好\n\n林(wxid_a) 09:02:00\n好\n"
    messages = read_chat(write(text), day=date(2026, 3, 9)).messages
    assert [(message.sender, message.text) for message in messages] == [
        ("wxid_a", "早\n\nevil"),
        ("wxid_b", "你好"),
        ("wxid_a", "好"),
    ]


def test_times_without_a_year_end_at_the_day_given(write: Callable[[str], Path]) -> None:
    """A range over New Year keeps its order, and the report says which day was taken."""
    text = "林(wxid_a) 12-31 23:59:00\n新年好\n\n林(wxid_a) 01-01 00:01:00\n新年好\n"
    chat = read_chat(write(text), day=date(2026, 1, 1))
    assert [f"{message.time:%Y-%m-%d %H:%M}" for message in chat.messages] == ["2025-12-31 23:59", "2026-01-01 00:01"]
    assert "at or before 2026-01-01 (as given)" in chat.reports[0].warnings[0]


def test_a_private_chat_of_wechatmsg_1_has_nine_cells(write: Callable[[str], Path]) -> None:
    """Who wrote is in IsSender alone."""
    header = "localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,NickName,Sender\n"
    lines = "1,3,1,0,1,1773018131,3,在吗,2026-03-09 09:02:11\n2,3,1,0,0,1773018132,3,在,2026-03-09 09:02:12\n"
    messages = read_chat(write(header + lines)).messages
    assert [(m.sender, m.name, m.own, m.group.private) for m in messages] == [
        ("self", "我", True, True),
        ("talker:3", "对方", False, True),
    ]


def test_several_files_are_one_reading() -> None:
    """Ids go on from file to file, and every file has its report, its group and its places."""
    paths = [CHATS / "chatlog" / f"synthetic_{name}.json" for name in ("zh_group_delivery", "en_mixed_group")]
    reading = read_messages(paths)
    messages = list(reading)
    assert [message.id for message in messages] == [f"m{number}" for number in range(1, 81)]
    assert [report.messages for report in reading.reports] == [50, 30]
    assert messages[50].source == (str(paths[1]), 1)
    assert messages[50].group.name == "Atlas x 星河 integration"


def test_a_message_read_is_a_message_made() -> None:
    """The short way in which the reader makes messages sets every field, and nothing else."""
    message = read_chat(CHATS / "chatlog" / "synthetic_en_mixed_group.json").messages[7]
    assert message == Message(**{name: getattr(message, name) for name in Message.__dataclass_fields__})
    assert list(vars(message)) == list(Message.__dataclass_fields__)


def peak_bytes(path: Path) -> int:
    tracemalloc.start()
    try:
        for _ in read_messages(path, ReadOptions()):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["chatlog/synthetic_zh_group_delivery.csv", "weflow/synthetic_zh_group_delivery.json"])
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    """Four times the messages need no more memory."""
    whole = (CHATS / name).read_text(encoding="utf-8")
    if name.endswith("csv"):
        head, _, body = whole.partition("\n")
        sizes = [head + "\n" + body * times for times in (60, 240)]
    else:
        items = json.dumps(json.loads(whole)["messages"], ensure_ascii=False)[1:-1]
        sizes = ['{"session":{},"messages":[' + ",".join([items] * times) + "]}" for times in (30, 120)]
    peaks = []
    for number, text in enumerate(sizes):
        path = tmp_path / str(number)
        path.write_text(text, encoding="utf-8")
        del text
        peaks.append(peak_bytes(path))
    assert peaks[1] < peaks[0] * 1.3 + 2_000_000


@pytest.mark.process
def test_reading_loads_no_library_and_no_database() -> None:
    """Text readers need neither sqlite3 nor what only the summary needs."""
    program = (
        "import json, sys; from ollama_kit.jobs import wechat; wechat.read_chat(sys.argv[1]);"
        "print(json.dumps(sorted(sys.modules)))"
    )
    path = CHATS / "chatlog" / "synthetic_en_mixed_group.json"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"httpx", "ollama", "requests", "jinja2", "tokenizers", "yaml", "sqlite3", "zstandard", "rich"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-03-09T09:02:11.123456789+08:00", "2026-03-09 09:02:11"),
        ("2026-03-09T01:02:11Z", "2026-03-09 09:02:11"),
        ("2026/3/9 9:02", "2026-03-09 09:02:00"),
        ("2026.3.9 9:02:11", "2026-03-09 09:02:11"),
        ("2026年3月9日 晚上9:02", "2026-03-09 21:02:00"),
        ("2026/3/9 12:02 AM", "2026-03-09 00:02:00"),
        ("2026年3月9日 中午12:02", "2026-03-09 12:02:00"),
    ],
)
def test_times_of_spreadsheets_and_of_other_zones(written: str, read: str, write: Callable[[str], Path]) -> None:
    """A file that was saved anew keeps its times, whatever the program made of them."""
    (message,) = read_chat(write(V2_HEADER + f"1,文本,林知远,{written},好,,,more\n")).messages
    assert f"{message.time:%Y-%m-%d %H:%M:%S %z}" == f"{read} +0800"
