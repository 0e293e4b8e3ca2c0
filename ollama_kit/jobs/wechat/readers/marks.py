"""The marks that stand in a text for what is not text: 【图片】 of MemoTrace, [图片] of others, and what is behind."""

from __future__ import annotations

import re

from ollama_kit.jobs.wechat.message import Kind
from ollama_kit.jobs.wechat.readers.kinds import named
from ollama_kit.jobs.wechat.readers.record import Reply

Content = tuple[Kind, str, str]
"""(kind, text, detail) as in Message."""

_SIZE = re.compile(r" \d+(?:\.\d+)? ?[KMGT]?B ")
_TRIED_SIZES = 8
"""How many places in a file's line may be taken for its size: a name can hold such words, not without end."""
_FORWARDED = re.compile(r"- \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (.*)")
_CARD_FIELD = re.compile(r"^(标题|描述|链接|应用)[：:] ?", re.MULTILINE)

BARE: frozenset[Kind] = frozenset({"image", "video"})
"""Kinds whose mark is the whole text: with words after it, it is a text that somebody typed."""


def of_memotrace(content: str) -> Content | None:
    """What a MemoTrace text with a mark before it is; None where it has none.

    >>> of_memotrace("【语音】好的")
    ('voice', '好的', '')
    >>> of_memotrace("【系统提示】以上对话已结束") is None
    True
    """
    if not content.startswith("【"):
        return None
    mark, closed, rest = content[1:].partition("】")
    kind = named(mark) if closed else "unknown"
    if kind == "unknown" or (kind in BARE and rest.strip()):
        return None
    return memotrace_part(kind, rest)


def memotrace_part(kind: Kind, rest: str) -> Content:
    """What stands behind a MemoTrace mark of that kind."""
    if kind == "file":
        return ("file", *_file(rest))
    if kind in ("link", "mini_program"):
        return (kind, *_card(rest))
    if kind == "forward":
        lines = [_FORWARDED.sub(r"\1", line) for line in rest.strip().split("\n")]
        return "forward", "\n".join(lines), ""
    return kind, rest.lstrip(":： \t").strip(), ""


def _file(rest: str) -> tuple[str, str]:
    """`name size path ext md5`: the name ends where a size stands and a path that ends with the same name follows."""
    ends = []
    for found in _SIZE.finditer(rest):
        ends.append(found)
        if len(ends) == _TRIED_SIZES:
            break
    for found in ends:
        name, path = rest[: found.start()], rest[found.end() :].rsplit(" ", 2)[0]
        if name and path.endswith(name):
            return name, path
    return (rest[: ends[0].start()], rest[ends[0].end() :]) if ends else (rest.strip(), "")


def _card(rest: str) -> tuple[str, str]:
    """The title and the rest of `标题：…` `描述：…` `链接: …` `应用：…`."""
    marks = list(_CARD_FIELD.finditer(rest))
    if not marks:
        return rest.strip(), ""
    ends = [mark.start() for mark in marks[1:]] + [len(rest)]
    parts = [(mark[1], rest[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    title = next((text for name, text in parts if name == "标题"), "")
    return title, "\n".join(text for name, text in parts if name != "标题" and text)


def split_memotrace_quote(content: str) -> tuple[str, Reply] | None:
    """The words and the reply of `words\\n引用：name: original`; the last such line counts, which a writer of the words
    cannot forge."""
    before, found, quote = content.rpartition("\n引用：")
    if not found:
        before, found, quote = content.rpartition("\n引用:")
        if not found:
            return None
        name, _, text = quote.partition(":")
    else:
        name, _, text = quote.partition(": ")
    quoted = of_memotrace(text)
    return before, Reply(name, "" if quoted else text)


def of_brackets(content: str) -> Content | None:
    """What a text with a mark in square brackets is; None where it has none (an emoji code is none).

    >>> of_brackets("[文件] a.docx"), of_brackets("[表情包：鼓掌欢迎]"), of_brackets("[捂脸] 收到")
    (('file', 'a.docx', ''), ('sticker', '鼓掌欢迎', ''), None)
    """
    stripped = content.lstrip()
    if not stripped.startswith("["):
        return None
    mark, closed, rest = stripped[1:].partition("]")
    word, _, caption = mark.partition("：")
    kind = named(word) if closed else "unknown"
    if kind == "unknown" or (kind in BARE and rest.strip()) or kind in ("text", "quote", "system"):
        return None
    if kind == "forward":
        title, _, lines = rest.partition("\n")
        return "forward", lines, title.strip()
    if rest.startswith(":title:"):
        return (kind, *_plain_card(rest))
    return kind, caption or rest.strip(), ""


def _plain_card(rest: str) -> tuple[str, str]:
    """The title and the rest of the four indented lines that WeChatMsg 1 writes for a link."""
    lines = [line.strip() for line in rest[1:].strip().split("\n")]
    fields = [line.partition(":")[2] for line in lines]
    return fields[0], "\n".join(text for text in fields[1:] if text)


def split_bracket_quote(content: str, name: str = "", text: str = "") -> tuple[str, Reply] | None:
    """The words and the reply of `words[引用 name：original]`. What the export says apart of `name` and `text` decides;
    without it the last such bracket counts."""
    if name and content.endswith(whole := f"[引用 {name}：{text}]"):
        return content.removesuffix(whole), Reply(name, text)
    if not content.endswith("]"):
        return None
    before, found, quote = content[:-1].rpartition("[引用 ")
    name, colon, text = quote.partition("：")
    return (before, Reply(name, "" if of_brackets(text) else text)) if found and colon else None
