"""WeChat's databases and what is packed in them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tracemalloc
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat import read_chat
from ollama_kit.jobs.wechat.readers.json_items import Head, Item, read_items
from ollama_kit.jobs.wechat.readers.packed import fields_of, sender_in_extra, unpack_lz4, unpack_zstd
from tests.jobs.wechat.renderings import CHATS

V3, V4 = CHATS / "sqlite" / "synthetic_MSG0.db", CHATS / "sqlite" / "synthetic_message_0.db"


def pack_lz4(data: bytes) -> bytes:
    """A block made by the plainest rule: a match wherever the last four bytes occurred before, literals else."""
    out, at, start = bytearray(), 0, 0
    while at + 12 < len(data):
        found = data.rfind(data[at : at + 4], max(0, at - 65535), at + 3) if at else -1
        if not 0 <= found < at:
            at += 1
            continue
        length = 4
        while at + length < len(data) - 5 and data[found + length] == data[at + length]:
            length += 1
        out += _sequence(data[start:at], length - 4, at - found)
        at += length
        start = at
    return bytes(out + _sequence(data[start:], 0, 0))


def _sequence(literals: bytes, more: int, distance: int) -> bytes:
    token = min(len(literals), 15) << 4 | min(more, 15)
    tail = distance.to_bytes(2, "little") + _rest(more) if distance else b""
    return bytes([token]) + _rest(len(literals)) + literals + tail


def _rest(length: int) -> bytes:
    return b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255]) if length >= 15 else b""


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"<title>", b"</title>", b"a", b"ab" * 20, bytes(300)]) | st.binary(max_size=40)))
def test_an_lz4_block_comes_back(parts: list[bytes]) -> None:
    """Literals, long lengths and matches that overlap what they write."""
    data = b"".join(parts)
    assert unpack_lz4(pack_lz4(data)) == data


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_unpack_or_are_refused(data: bytes) -> None:
    """What is no LZ4 block, no protobuf, no Zstandard frame raises ValueError alone."""
    for unpack in (unpack_lz4, lambda packed: list(fields_of(packed)), sender_in_extra, unpack_zstd):
        try:
            unpack(data)
        except ValueError:
            continue


def test_a_block_that_swells_is_refused() -> None:
    """A kilobyte may not become a gigabyte."""
    with pytest.raises(ValueError, match="outside"):
        unpack_lz4(b"\x1fa\x01\x00" + b"\xff" * 80_000 + b"\x00")


def test_a_frame_that_swells_is_refused() -> None:
    """The size that a frame declares is checked before anything is unpacked."""
    zstandard = pytest.importorskip("zstandard")
    with pytest.raises(ValueError, match="larger than a message"):
        unpack_zstd(zstandard.ZstdCompressor().compress(bytes(1 << 25)))


def test_without_zstandard_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version 4 database needs one package more, and the error says which and how to do without."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ChatError, match="`zstandard` is not installed") as caught:
        read_chat(V4)
    assert "ollama-kit[wechat]" in caught.value.hint


@pytest.mark.parametrize("path", [V3, V4])
def test_a_database_is_left_as_it_was(path: Path, tmp_path: Path) -> None:
    """Nothing is written beside it, and a name with characters of an address is no obstacle."""
    folder = tmp_path / "聊天 #1?%20"
    folder.mkdir()
    copy = shutil.copy(path, folder / "a&b=c.db")
    before = copy.read_bytes()
    assert len(read_chat(copy).messages) == 76
    assert copy.read_bytes() == before
    assert [entry.name for entry in folder.iterdir()] == ["a&b=c.db"]


def test_what_is_not_yet_in_the_database_is_said(tmp_path: Path) -> None:
    """Beside a log with changes the newest messages may be missing."""
    copy = shutil.copy(V3, tmp_path / "MSG0.db")
    (tmp_path / "MSG0.db-wal").write_bytes(b"x")
    assert "MSG0.db-wal holds changes" in read_chat(copy).reports[0].warnings[0]


@pytest.mark.parametrize(
    ("path", "beside", "table"),
    [
        (V3, "MicroMsg.db", "Contact(UserName, Remark, NickName)"),
        (V4, "contact.db", "contact(username, remark, nick_name)"),
    ],
)
def test_names_come_from_the_contacts_beside(path: Path, beside: str, table: str, tmp_path: Path) -> None:
    """The remark, else the nickname; groups have theirs too."""
    copy = shutil.copy(path, tmp_path / "messages.db")
    with closing(sqlite3.connect(tmp_path / beside)) as contacts:
        contacts.execute(f"CREATE TABLE {table}")
        name = table.partition("(")[0]
        contacts.executemany(
            f"INSERT INTO {name} VALUES (?, ?, ?)",
            [("wxid_synlin00000001", "林知远", "知远"), ("49000000001@chatroom", "", "星河项目交付群")],
        )
        contacts.commit()
    message = read_chat(copy).messages[1]
    assert (message.name, message.group.name) == ("林知远", "星河项目交付群")


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    """The error says what is in it."""
    with closing(sqlite3.connect(tmp_path / "x.db")) as other:
        other.execute("CREATE TABLE bookmarks(url)")
        other.commit()
    with pytest.raises(ChatError, match="it has bookmarks"):
        read_chat(tmp_path / "x.db")


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    """Half a database is an error of ours, whatever page is missing."""
    copy = tmp_path / "half.db"
    copy.write_bytes(V3.read_bytes()[:6000])
    with pytest.raises(ChatError):
        read_chat(copy)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(values, max_size=6), st.integers(1, 40), st.booleans(), st.sampled_from([None, 2]))
def test_items_do_not_depend_on_the_blocks(items: list[object], size: int, wrapped: bool, indent: int | None) -> None:
    """However the text is cut into blocks, the items are those of the json module."""
    whole = {"before": {"a": 1}, "messages": items, "after": [2]} if wrapped else items
    text = json.dumps(whole, ensure_ascii=len(items) % 2 == 0, indent=indent)
    parts = list(read_items(text[at : at + size] for at in range(0, len(text), size)))
    assert [part.value for part in parts if isinstance(part, Item)] == items
    heads = {part.key: part.value for part in parts if isinstance(part, Head)}
    assert heads == ({"before": {"a": 1}, "after": [2]} if wrapped else {})


def test_a_text_that_never_ends_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """An item larger than any message is broken, and the search for the next one keeps nothing of it."""
    monkeypatch.setattr("ollama_kit.jobs.wechat.readers.json_items.LONGEST_ITEM", 1 << 16)
    endless = chain(['[{"a":1},{"a":"'], repeat("x" * 4096, 2000), ['"},{"a":2}]'])
    tracemalloc.start()
    try:
        first, broken, last = read_items(endless)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (first, last) == (Item(1, {"a": 1}), Item(3, {"a": 2}))
    assert "Unterminated" in str(broken)
    assert peak_bytes < 2_000_000  # of eight million characters
