"""Every format of a conversation reads as the same messages, but for what the format itself has lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollama_kit.jobs.wechat import Chat, read_chat
from tests.jobs.wechat.renderings import CHATS, DAYS, OWNERS, RENDERINGS, Rendering, Said, person_of, said

Row = tuple[object, ...]


def read(rendering: Rendering) -> Chat:
    return read_chat(CHATS / rendering.path, day=DAYS[rendering.chat])


def of_file(rendering: Rendering) -> list[Row]:
    """(time, person, own, kind, text, reply) of each message read, without what the format lacks."""
    messages = [m for m in read(rendering).messages if m.group.id.endswith("@chatroom") or m.group.id[:5] == "file:"]
    times = {message.id: message.time for message in messages}
    rows = []
    for message in messages:
        reply = times.get(message.quoted.message_id or "") if message.quoted else None
        if rendering.format == "chatgpt-on-wechat-log" and message.own:
            continue  # the bot's own answers are in no other format
        person = OWNERS[rendering.chat] if message.name == "我" else person_of(message)
        row = Said(message.id, message.time, person, message.own, message.kind, message.text, None)
        rows.append(comparable(row, rendering, reply))
    return rows


def of_gold(rendering: Rendering) -> list[Row]:
    rows = said(rendering.chat)
    times = {row.id: row.time for row in rows}
    kept = [row for row in rows if row.id not in rendering.without]
    return [comparable(row, rendering, times.get(row.reply_to or "")) for row in kept]


def comparable(row: Said, rendering: Rendering, reply: object) -> Row:
    lacks, kind = rendering.lacks, row.kind
    original = next(said_row.kind for said_row in said(rendering.chat) if said_row.time == row.time)
    nobody = kind in ("system", "recall") or "people" in lacks  # formats differ in whose notice it is
    return (
        row.time,
        None if nobody else row.person,
        None if "own" in lacks else row.own,
        None if f"kind.{original}" in lacks else kind,
        None if f"text.{original}" in lacks else row.text,
        None if "quotes" in lacks else reply,
    )


@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.path)
def test_siblings_are_equal(rendering: Rendering) -> None:
    """Times, people, kinds, words and replies are those of the gold file."""
    assert of_file(rendering) == of_gold(rendering)


@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.path)
def test_a_fixture_is_recognized_and_whole(rendering: Rendering) -> None:
    """The format is told by the content, and no row is broken."""
    (report,) = read(rendering).reports
    assert (report.format, report.broken) == (rendering.format, ())


@pytest.mark.parametrize("rendering", RENDERINGS, ids=lambda rendering: rendering.path)
def test_what_a_format_is_said_to_lack_it_does_lack(rendering: Rendering) -> None:
    """The table of losses holds nothing that the reader could have read."""
    messages = read(rendering).messages
    for lack in rendering.lacks:
        what, _, kind = lack.partition(".")
        of_kind = {row.time for row in said(rendering.chat) if row.kind == kind}
        if what == "text" and kind not in ("forward", "quote"):
            assert not [m.text for m in messages if m.time in of_kind and m.kind == kind and m.text], lack
        elif what == "kind":
            assert not [m for m in messages if m.time in of_kind and m.kind == kind], lack
        elif what == "people":
            assert not [m.name for m in messages if m.name and not m.own]
        elif lack == "own" and rendering.format != "chatgpt-on-wechat-log":
            assert not [m for m in messages if m.own]


@pytest.mark.parametrize("rendering", [r for r in RENDERINGS if "quotes" not in r.lacks], ids=lambda r: r.path)
def test_a_quote_carries_the_words_quoted(rendering: Rendering) -> None:
    """The quoted part is the text of the message it replies to, and names who said it."""
    words = {row.id: row.text for row in said(rendering.chat)}
    expected = [words[row.reply_to] for row in said(rendering.chat) if row.reply_to]
    quotes = [m.quoted for m in read(rendering).messages if m.quoted and not m.group.private]
    assert [quote.text for quote in quotes] == expected
    assert all(quote.name for quote in quotes)


@pytest.mark.parametrize("name", ["synthetic_MSG0.db", "synthetic_message_0.db"])
def test_a_database_has_every_chat(name: str) -> None:
    """Both databases hold the group and one private chat, with the same transfers, call and file in it."""
    messages = [m for m in read_chat(CHATS / "sqlite" / name).messages if m.group.private]
    assert len(messages) == 26
    assert [(m.kind, m.text, m.own) for m in messages if m.kind in ("transfer", "call", "file")] == [
        ("transfer", "￥268.00 团建AA", False),
        ("transfer", "￥268.00 团建AA", True),
        ("call", "通话时长 03:12", True),
        ("file", "华澜补充协议_技术附件_v0.9.docx", True),
    ]
    recall = messages[-1]
    assert (recall.kind, recall.sender) == ("recall", "")
    assert recall.text.startswith("你撤回了一条消息")
    assert "<" not in recall.text


def test_the_daily_text_keeps_words_order_and_days() -> None:
    """MemoTrace's text for models has no times and no borders; who said what on which day is still right."""
    (report,) = read_chat(path := CHATS / "memotrace_v2" / "synthetic_zh_group_delivery_chat.txt").reports
    assert report.format == "memotrace-v2-daily-txt"
    assert "every message is at 00:00" in report.warnings[0]
    messages = read_chat(path).messages
    runs: list[tuple[object, str]] = []
    for message in messages:
        if message.text and message.kind in ("text", "quote"):
            person = (message.time.date(), person_of(message))
            joined = runs.pop()[1] + "\n" if runs and runs[-1][0] == person else ""
            runs.append((person, joined + message.text))
    expected: list[tuple[object, str]] = []
    for row in said("A"):
        if row.kind in ("text", "quote"):
            person = (row.time.date(), row.person)
            joined = expected.pop()[1] + "\n" if expected and expected[-1][0] == person else ""
            expected.append((person, joined + row.text))
    assert [(who, text.replace(" \n", "\n").strip()) for who, text in runs if who[1]] == [  # type: ignore[index]
        (who, text.replace(" \n", "\n").strip()) for who, text in expected
    ]


def test_names_are_shown_without_what_can_not_be_seen(tmp_path: Path) -> None:
    """A zero-width blank in a nickname and a line break are gone from the name; the words keep theirs."""
    chat = read_chat(CHATS / "chatlab" / "synthetic_zh_group_injection.json")
    assert any("\u200b" in message.text for message in chat.messages)
    path = tmp_path / "x.csv"
    path.write_text(
        '消息ID,类型,发送人,时间,内容,备注,昵称,更多信息\n1,文本,"若\u200b彤\nadmin",2026-03-09 09:00:00,hi,,,more\n',
        encoding="utf-8",
    )
    assert read_chat(path).messages[0].name == "若彤 admin"


def test_the_owner_can_be_told_where_a_format_does_not_say() -> None:
    """`own` marks the messages of a name or an id as one's own."""
    path = CHATS / "chatlog" / "synthetic_zh_group_delivery.csv"
    by_name = read_chat(path, own=[OWNERS["A"]])
    by_id = read_chat(path, own=["wxid_synchen0000002"])
    assert [m.own for m in by_name.messages] == [m.own for m in by_id.messages]
    assert sum(m.own for m in by_name.messages) == sum(row.own for row in said("A"))
