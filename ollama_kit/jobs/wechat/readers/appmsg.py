"""The XML that WeChat keeps for what is not plain text. Read by plain searching: it is written by anyone who can send
a message, so nothing in it is resolved, and a search takes no longer than the text."""

from __future__ import annotations

import html
import re

from ollama_kit.jobs.wechat.message import Kind
from ollama_kit.jobs.wechat.readers.marks import Content
from ollama_kit.jobs.wechat.readers.record import Reply

_TAG = re.compile(r"<[^<>]{0,512}>")


def element(xml: str, tag: str) -> str:
    """The text of the first element of that tag, CDATA and entities resolved; empty if there is none.

    >>> element("<msg><title>a &amp; b</title></msg>", "title")
    'a & b'
    """
    return _plain(_raw(xml, tag))


def attribute(xml: str, name: str) -> str:
    """The value of the first attribute of that name; empty if there is none."""
    _, found, rest = xml.partition(f' {name}="')
    return html.unescape(rest.partition('"')[0]) if found else ""


def _raw(xml: str, tag: str) -> str:
    _, found, rest = xml.partition(f"<{tag}>")
    inner, closed, _ = rest.partition(f"</{tag}>") if found else ("", "", "")
    return inner if closed else ""


def _plain(inner: str) -> str:
    stripped = inner.strip()
    if stripped.startswith("<![CDATA["):
        return stripped.removeprefix("<![CDATA[").removesuffix("]]>")
    return html.unescape(inner)


def of_xml(kind: Kind, xml: str) -> Content:
    """Text and detail of a message of that kind from its XML."""
    if not xml.lstrip().startswith("<"):
        return kind, xml.strip(), ""
    title = element(xml, "title")
    if kind == "forward":
        return kind, _forwarded(xml) or element(xml, "des"), title
    if kind == "transfer":
        return kind, " ".join(filter(None, (element(xml, "feedesc"), element(xml, "pay_memo")))), title
    if kind == "call":
        return kind, element(xml, "msg") or element(xml, "wording"), ""
    if kind == "location":
        return kind, attribute(xml, "label") or title, attribute(xml, "poiname")
    if kind == "card":
        return kind, attribute(xml, "nickname") or title, ""
    if kind in ("image", "voice", "video", "sticker"):
        return kind, "", ""
    parts = (element(xml, "des"), element(xml, "url")) if kind in ("link", "mini_program") else ()
    return kind, title, "\n".join(filter(None, parts))


def reply_of(xml: str) -> Reply:
    """What the `refermsg` of a quote refers to. The text of what is not text is empty."""
    refer = _raw(xml, "refermsg")
    text = element(refer, "content") if element(refer, "type") == "1" else ""
    return Reply(element(refer, "displayname"), text, element(refer, "svrid"))


def system_text(content: str) -> str:
    """The words of a system message: of a recall's XML, or of a line with links in it."""
    if "<sysmsg" in content or "<revokemsg" in content:
        content = element(content, "replacemsg") or element(content, "content") or content
    return html.unescape(_TAG.sub("", content.replace("<![CDATA[", "").replace("]]>", ""))).strip()


def _forwarded(xml: str) -> str:
    record = element(xml, "recorditem")
    lines = []
    for piece in record.split("<dataitem ")[1:]:
        words = element(piece, "datadesc") or element(piece, "datatitle")
        lines.append(f"{element(piece, 'sourcename')}: {words}")
    return "\n".join(lines)
