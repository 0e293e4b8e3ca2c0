"""What kind a message is: by WeChat's type numbers, by the names that exporters give, and by the marks in texts."""

from __future__ import annotations

import re
from functools import lru_cache

from ollama_kit.jobs.wechat.message import Kind

_TYPES: dict[int, Kind] = {
    1: "text",
    3: "image",
    34: "voice",
    42: "card",
    43: "video",
    47: "sticker",
    48: "location",
    50: "call",
    62: "video",
    64: "call",
    66: "card",
    10000: "system",
    10002: "system",
}
_APP_TYPES: dict[int, Kind] = {
    1: "text",
    2: "image",
    3: "link",
    4: "link",
    5: "link",
    6: "file",
    7: "link",
    8: "sticker",
    16: "card",
    17: "location",
    19: "forward",
    33: "mini_program",
    36: "mini_program",
    40: "forward",
    51: "link",
    53: "text",
    57: "quote",
    62: "system",
    63: "link",
    74: "file",
    87: "text",
    2000: "transfer",
    2001: "red_packet",
    2003: "red_packet",
}
APP = 49
"""The type of everything that is an XML `appmsg`; its subtype says what."""

NAMES: dict[str, Kind] = {
    "文本": "text",
    "图片": "image",
    "语音": "voice",
    "视频": "video",
    "表情": "sticker",
    "动画表情": "sticker",
    "GIF表情": "sticker",
    "文件": "file",
    "引用": "quote",
    "引用回复": "quote",
    "链接": "link",
    "分享链接": "link",
    "卡片式链接": "link",
    "视频号": "link",
    "视频号直播": "link",
    "音乐": "link",
    "音乐分享": "link",
    "系统": "system",
    "系统通知": "system",
    "邀请加群": "system",
    "拍一拍": "system",
    "撤回": "recall",
    "红包": "red_packet",
    "红包封面": "red_packet",
    "转账": "transfer",
    "聊天记录": "forward",
    "转发的聊天记录": "forward",
    "合并转发": "forward",
    "合并转发的聊天记录": "forward",
    "小程序": "mini_program",
    "位置": "location",
    "位置共享": "location",
    "实时位置共享": "location",
    "地理位置": "location",
    "位置分享": "location",
    "名片": "card",
    "个人名片": "card",
    "公众号名片": "card",
    "通话": "call",
    "语音通话": "call",
    "视频通话": "call",
    "音视频通话": "call",
    "群公告": "text",
    "接龙": "text",
}
"""Kinds by what exporters call them; see `named`."""

_RECALL = re.compile(r"撤回了一条(?:成员)?消息|已撤回|\brecalled a message\b|\bunsent a message\b")
_SYSTEM_LINE = re.compile(
    r'"[^\n]{1,64}" ?(?:邀请|将|拍了拍|撤回了一条|修改群名|recalled a message)'
    r"|(?:你|You) ?(?:邀请|将|撤回了一条|修改群名|拍了拍|recalled|renamed|invited|removed)"
)


def by_type(kind: int, subtype: int = 0) -> Kind:
    """The kind of WeChat's type number and, of type 49, its subtype."""
    return _APP_TYPES.get(subtype, "unknown") if kind == APP else _TYPES.get(kind, "unknown")


@lru_cache(maxsize=1024)
def named(name: str) -> Kind:
    """The kind of an exporter's own word for it, with or without 消息, 包 and an `(分享)` before it.

    >>> named("图片消息"), named("表情包"), named("(分享)卡片式链接"), named("其他消息")
    ('image', 'sticker', 'link', 'unknown')
    """
    bare = name.rpartition(")")[2]
    return NAMES.get(bare) or NAMES.get(bare.removesuffix("消息")) or NAMES.get(bare.removesuffix("包")) or "unknown"


def of_system(text: str) -> Kind:
    """`recall` where a system text says that a message was taken back, else `system`."""
    return "recall" if _RECALL.search(text) else "system"


def sounds_like_system(text: str) -> bool:
    """Whether a text reads like one of WeChat's own notices, for the formats that do not tell.

    >>> sounds_like_system('"林知远"邀请"Kevin Wu"加入了群聊'), sounds_like_system('他说"好"')
    (True, False)
    """
    return _SYSTEM_LINE.match(text) is not None
