"""What a format can hold comes back: random conversations are written and read."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ollama_kit.jobs.wechat import CHINA, Message, read_chat
from ollama_kit.jobs.wechat.readers.read_chat import clean_text
from tests.intensity import examples
from tests.jobs.wechat.writers import MARKED, STRUCTURED, Line, mangled, paste

NAMES = ("林知远", "Kevin Wu", "若彤🌿", "陈(后端)", "a.b|c", "O'Brien", "[群主] 王", "赵,六", '"引号"', "12:30 约")
FIRST = datetime(2026, 3, 1, 23, 30, tzinfo=CHINA)
EXTRA = ["\n", "\n\n", '"', "''", ",", "\t", "\u2005", "\u200b", "😀", "\u2028", "【图片】", "[OK]", "> ", "](", ": "]
CONTROL = ["\r\n", "\r", "\x0b", "\x1f", "引用：", "\n引用：a: b", "[引用 a：b]", "\\", '","', "\ufffd", "文件"]
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"))

any_words = st.lists(st.sampled_from(EXTRA + CONTROL) | PLAIN, max_size=6).map("".join)
unmarked = st.lists(st.sampled_from(EXTRA) | PLAIN, min_size=1, max_size=6).map("".join)
file_names = st.text(st.sampled_from("报价 v3-终().docx]["), min_size=1).map(lambda name: f"a{name.strip()}.docx")


def is_plain(text: str) -> bool:
    """No mark at the beginning or the end, and something on its last line: what marked formats can carry."""
    return text[:1] not in ("[", "!", ">", "【") and text == text.strip() and bool(text) and "引用" not in text


@st.composite
def conversations(draw: st.DrawFn, words: st.SearchStrategy[str], kinds: Sequence[str]) -> list[Line]:
    lines: list[Line] = []
    time = FIRST
    for number in range(1, draw(st.integers(1, 8)) + 1):
        time += timedelta(seconds=draw(st.integers(0, 90_000)))
        name, kind, reply = draw(st.sampled_from(NAMES)), draw(st.sampled_from(kinds)), None
        text = draw(words)
        if kind == "quote":
            said = [line for line in lines if line.kind == "text" and line.text.strip()]
            kind, reply = ("quote", draw(st.sampled_from(said))) if said else ("text", None)
        elif kind == "recall":
            text = f'"{name}" 撤回了一条消息'
        elif kind == "file":
            text = draw(file_names)
        elif kind == "image":
            text = ""
        lines.append(Line(number, time, name, kind, text, reply))
    return lines


def read_back(text: str, encoding: str = "utf-8", beside: dict[str, object] | None = None) -> tuple[Message, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages"
        path.write_bytes(text.encode(encoding))
        if beside is not None:
            (Path(folder) / "users.json").write_text(json.dumps(beside), encoding="utf-8")
        chat = read_chat(path, day=date(2026, 12, 31))
        assert chat.reports[0].broken == ()
        return chat.messages


def users(lines: Sequence[Line]) -> dict[str, object]:
    return {line.wxid: {"nickname": line.name, "remark": ""} for line in lines}


def compare(lines: Sequence[Line], read: Sequence[Message], form: str) -> None:
    """Times, names, kinds, words, quoted words of all lines, in order."""

    def name_of(line: Line) -> str:
        return mangled(line.name) if form == "memotrace-v2-txt" else " ".join(line.name.split())

    app_lost = form == "wechatmsg-v1-csv"
    expected, found = [], []
    for line, message in zip(lines, read, strict=True):
        lost = app_lost and line.kind in ("file", "quote")
        expected.append((line.time, "" if line.kind == "recall" else name_of(line), line.kind))
        found.append((message.time, "" if line.kind == "recall" else message.name, message.kind))
        assert message.text == ("" if lost else clean_text(line.text))
        # A mark that somebody typed is told from a real one by its type; MemoTrace does not quote the type.
        typed_mark = "memotrace" in form and line.reply is not None and line.reply.text.startswith("【")
        if line.reply and not lost and not typed_mark:
            assert message.quoted is not None
            assert clean_text(message.quoted.text) == clean_text(line.reply.text)
            assert message.quoted.name == (mangled(line.reply.name) if "memotrace" in form else line.reply.name)
    assert found == expected


KINDS = ("text", "text", "text", "quote", "file", "image", "recall")
BOUNDED = settings(deadline=None, max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("form", STRUCTURED)
def test_any_words_come_back_from_a_structured_format(form: str) -> None:
    """CSV and JSON give back every message whatever its words are."""
    write: Callable[[Sequence[Line]], str] = STRUCTURED[form]
    quotable = (
        any_words if "json" in form and "pywx" not in form else any_words.map(lambda text: text.replace("引用", ""))
    )

    @BOUNDED
    @given(conversations(quotable, KINDS))
    def round_trip(lines: list[Line]) -> None:
        compare(lines, read_back(write(lines), beside=users(lines)), form)

    round_trip()


@pytest.mark.parametrize("form", [name for name in MARKED if name != "paste"])
def test_plain_words_come_back_from_a_marked_format(form: str) -> None:
    """A text format gives back every message whose words are no mark of its own."""

    @BOUNDED
    @given(conversations(unmarked.map(clean_words).filter(is_plain), KINDS))
    def round_trip(lines: list[Line]) -> None:
        compare(lines, read_back(MARKED[form](lines)), form)

    round_trip()


def clean_words(text: str) -> str:
    return text.replace("\u2028", " ").strip()


@BOUNDED
@given(conversations(unmarked.map(clean_words).filter(is_plain), ("text", "file", "image")))
def test_a_paste_comes_back(lines: list[Line]) -> None:
    """Lines of name and time with the words below, without empty lines between."""
    compare(lines, read_back(paste(lines)), "paste")


@BOUNDED
@given(
    conversations(any_words.map(lambda text: text.replace("引用", "")), KINDS),
    st.sampled_from(["gb18030", "utf-16", "utf-8-sig", "utf-16-le", "utf-16-be"]),
)
def test_any_encoding_comes_back(lines: list[Line], encoding: str) -> None:
    """The encodings that spreadsheets and old editors save in are told apart by the bytes."""
    text = STRUCTURED["memotrace-v2-csv"](lines).removeprefix("\ufeff")
    compare(lines, read_back(text, encoding), "memotrace-v2-csv")
