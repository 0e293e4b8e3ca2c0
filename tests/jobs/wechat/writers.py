"""Small writers of the formats, for reading back what was written. Each takes lines and gives the file's text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

ROOM, ROOM_NAME = "49000000009@chatroom", "测试群"


@dataclass(frozen=True)
class Line:
    """A message to write. `reply` is the line it quotes; a recall has no words but WeChat's."""

    number: int
    time: datetime
    name: str
    kind: str
    text: str
    reply: Line | None = None

    @property
    def wxid(self) -> str:
        return f"wxid_{self.name.encode('utf-8').hex()[:20]}"

    @property
    def clock(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S}"


def table(rows: Iterable[Sequence[object]], end: str = "\r\n") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end).writerows(rows)
    return text.getvalue()


def mangled(name: str) -> str:
    return re.sub(r'[\\/:*?"<>|\s.]', "_", name)


def _memotrace_content(line: Line) -> str:
    if line.kind == "file":
        return f"【文件】{line.text} 0.05 MB FileStorage\\File\\2026-03\\{line.text} docx {'0' * 32}"
    if line.reply:
        return f"{line.text}\n引用：{mangled(line.reply.name)}: {line.reply.text}"
    return {"image": "【图片】"}.get(line.kind, line.text)


def memotrace_v2_csv(lines: Sequence[Line]) -> str:
    words = {"text": "文本", "file": "文件", "image": "图片", "quote": "引用消息", "recall": "系统消息"}
    rows = [
        (n.number, words[n.kind], mangled(n.name), n.clock, _memotrace_content(n), mangled(n.name), n.name, "more")
        for n in lines
    ]
    return "\ufeff" + table([("消息ID", "类型", "发送人", "时间", "内容", "备注", "昵称", "更多信息"), *rows])


def memotrace_v2_txt(lines: Sequence[Line]) -> str:
    heads = ((line, "" if line.kind == "recall" else " " + mangled(line.name)) for line in lines)
    return "\n\n".join(f"{line.clock}{name}\n{_memotrace_content(line)}" for line, name in heads)


def wechatmsg_v1_csv(lines: Sequence[Line]) -> str:
    header = "localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,NickName,Sender"
    types = {"text": (1, 0), "file": (49, 6), "image": (3, 0), "quote": (49, 57), "recall": (10000, 0)}
    rows = [
        (
            n.number,
            17,
            *types[n.kind],
            0,
            int(n.time.timestamp()),
            3,
            "" if n.kind in ("file", "quote") else "<msg/>" if n.kind == "image" else n.text,
            n.clock,
            n.name,
            n.name,
            n.wxid,
        )
        for n in lines
    ]
    return "\ufeff" + table([header.split(","), *rows])


def _pywxdump_row(n: Line) -> dict[str, object]:
    words = {"text": "文本", "file": "文件", "image": "图片", "quote": "引用回复", "recall": "系统通知"}
    content = {"file": "文件", "image": "图片"}.get(n.kind, n.text)
    if n.reply:
        content += f"\n\n[引用]({n.reply.clock}){n.reply.name}:{n.reply.text}"
    source = f"FileStorage\\File\\2026-03\\{n.text}" if n.kind == "file" else ""
    talker = "系统" if n.kind == "recall" else n.wxid
    return {
        "id": n.number,
        "MsgSvrID": str(n.number),
        "type_name": words[n.kind],
        "is_sender": 0,
        "talker": talker,
        "room_name": ROOM,
        "msg": content,
        "src": source,
        "CreateTime": n.clock,
    }


def pywxdump_csv(lines: Sequence[Line]) -> str:
    rows = [_pywxdump_row(line) for line in lines]
    header = ["id", "MsgSvrID", "type_name", "is_sender", "talker", "room_name", "msg", "src", "CreateTime"]
    return table([header, *(list(row.values()) for row in rows)])


def pywxdump_json(lines: Sequence[Line]) -> str:
    return json.dumps([_pywxdump_row(line) for line in lines], ensure_ascii=False, indent=4)


def _chatlog_content(n: Line) -> str:
    if n.kind == "file":
        return f"[文件|{n.text}](http://127.0.0.1:5030/file/1)"
    if n.reply:
        quoted = "\n".join("> " + part for part in n.reply.text.split("\n"))
        return f"> {n.reply.name}({n.reply.wxid}) {n.reply.time:%m-%d %H:%M:%S}\n{quoted}\n{n.text}"
    return {"image": "![图片](http://127.0.0.1:5030/image/1)"}.get(n.kind, n.text)


def chatlog_csv(lines: Sequence[Line]) -> str:
    rows = [
        (
            n.clock,
            "" if n.kind == "recall" else n.name,
            "系统消息" if n.kind == "recall" else n.wxid,
            ROOM_NAME,
            ROOM,
            _chatlog_content(n),
        )
        for n in lines
    ]
    return table([("Time", "SenderName", "Sender", "TalkerName", "Talker", "Content"), *rows], end="\n")


def chatlog_txt(lines: Sequence[Line]) -> str:
    heads = ((n, "系统消息" if n.kind == "recall" else f"{n.name}({n.wxid})") for n in lines)
    room = f"[{ROOM_NAME}({ROOM})]"
    return "".join(f"{who} {room} {n.time:%m-%d %H:%M:%S}\n{_chatlog_content(n)}\n\n" for n, who in heads)


def chatlog_json(lines: Sequence[Line]) -> str:
    types = {"text": (1, 0), "file": (49, 6), "image": (3, 0), "quote": (49, 57), "recall": (10000, 0)}
    rows = []
    for n in lines:
        kind, subtype = types[n.kind]
        row: dict[str, Any] = {"seq": n.number, "time": n.time.isoformat(), "talker": ROOM, "talkerName": ROOM_NAME}
        row |= {"isChatRoom": True, "sender": "系统消息" if n.kind == "recall" else n.wxid, "senderName": n.name}
        row |= {"isSelf": False, "type": kind, "subType": subtype, "content": "" if n.kind == "file" else n.text}
        if n.kind == "file":
            row["contents"] = {"title": n.text}
        if n.reply:
            refer = {"seq": 0, "time": n.reply.time.isoformat(), "sender": n.reply.wxid, "senderName": n.reply.name}
            row["contents"] = {"refer": refer | {"type": 1, "content": n.reply.text}}
        rows.append(row)
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _weflow_content(n: Line) -> str:
    if n.reply:
        return f"{n.text}[引用 {n.reply.name}：{n.reply.text}]"
    return {"file": f"[文件] {n.text}", "image": "[图片]"}.get(n.kind, n.text)


def weflow_json(lines: Sequence[Line]) -> str:
    words = {"text": "文本消息", "file": "文件消息", "image": "图片消息", "quote": "引用消息", "recall": "系统消息"}
    rows = []
    for n in lines:
        who = (ROOM, ROOM_NAME) if n.kind == "recall" else (n.wxid, n.name)
        row: dict[str, Any] = {"localId": n.number, "createTime": int(n.time.timestamp()), "type": words[n.kind]}
        row |= {"content": _weflow_content(n), "isSend": 0, "senderUsername": who[0], "senderDisplayName": who[1]}
        if n.reply:
            row |= {"quotedSender": n.reply.name, "quotedContent": n.reply.text}
        rows.append(row)
    whole = {"weflow": {"version": "1"}, "session": {"wxid": ROOM, "displayName": ROOM_NAME}, "messages": rows}
    return json.dumps(whole, ensure_ascii=True, indent=2)


def weflow_txt(lines: Sequence[Line]) -> str:
    return "".join(f"{n.clock} '{n.name}'\n{_weflow_content(n)}\n\n" for n in lines)


def weclone_csv(lines: Sequence[Line]) -> str:
    rows = [
        (
            n.number,
            n.number,
            n.kind if n.kind in ("file", "image") else "text",
            0,
            n.name,
            _weflow_content(n),
            "",
            f"{n.time.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}.000Z",
        )
        for n in lines
    ]
    return "\ufeff" + table([["id", "MsgSvrID", "type_name", "is_sender", "talker", "msg", "src", "CreateTime"], *rows])


def _chatlab(lines: Sequence[Line]) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    types = {"text": 0, "file": 4, "image": 1, "quote": 25, "recall": 81}
    rows: list[dict[str, Any]] = []
    for n in lines:
        content = {"file": f"[文件] {n.text}", "image": None}.get(n.kind, n.text)
        row: dict[str, Any] = {"platformMessageId": str(n.number), "sender": n.wxid, "accountName": "?"}
        row |= {"timestamp": int(n.time.timestamp()) * (1000 if n.number % 2 else 1)}
        row |= {"type": types[n.kind], "content": content}
        rows.append(row | ({"replyToMessageId": str(n.reply.number)} if n.reply else {}))
    members = [{"platformId": wxid, "accountName": name} for wxid, name in {n.wxid: n.name for n in lines}.items()]
    meta = {"name": ROOM_NAME, "platform": "wechat", "type": "group", "groupId": ROOM}
    return {"chatlab": {"version": "0.0.2"}, "meta": meta}, members, rows


def chatlab_json(lines: Sequence[Line]) -> str:
    head, members, rows = _chatlab(lines)
    return json.dumps(head | {"members": members, "messages": rows}, ensure_ascii=False, indent=1)


def chatlab_jsonl(lines: Sequence[Line]) -> str:
    head, members, rows = _chatlab(lines)
    parts = [{"_type": "header"} | head, *({"_type": "member"} | m for m in members)]
    parts += [{"_type": "message"} | row for row in rows]
    return "# a comment\n" + "\n".join(json.dumps(part, ensure_ascii=False) for part in parts) + "\n"


def paste(lines: Sequence[Line]) -> str:
    words = {"file": "[文件] ", "image": "[图片]"}
    return "\n".join(f"{n.name} {n.time:%Y/%m/%d %H:%M:%S}\n{words.get(n.kind, '')}{n.text}" for n in lines)


STRUCTURED: dict[str, Callable[[Sequence[Line]], str]] = {
    "memotrace-v2-csv": memotrace_v2_csv,
    "wechatmsg-v1-csv": wechatmsg_v1_csv,
    "pywxdump-csv": pywxdump_csv,
    "pywxdump-json": pywxdump_json,
    "chatlog-json": chatlog_json,
    "weflow-json": weflow_json,
    "chatlab-json": chatlab_json,
    "chatlab-jsonl": chatlab_jsonl,
}
"""Formats that keep what kind a message is apart from its words: any words come back."""
MARKED: dict[str, Callable[[Sequence[Line]], str]] = {
    "memotrace-v2-txt": memotrace_v2_txt,
    "chatlog-csv": chatlog_csv,
    "chatlog-txt": chatlog_txt,
    "weflow-txt": weflow_txt,
    "weclone-csv": weclone_csv,
    "paste": paste,
}
"""Formats in which words can be mistaken for a mark: words that begin none come back."""
