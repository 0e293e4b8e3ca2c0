"""The words around a summary, in the chat's language, and days and times as people say them there.

Names of months and weekdays are tables here: `strftime` would take them from the locale of whoever runs the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

WORDS: Mapping[str, Mapping[str, str]] = {
    "zh": {
        "lang": "zh-CN",
        "title": "群聊摘要",
        "contents": "目录",
        "todos": "待办",
        "nobody": "未指定负责人",
        "done": "已完成",
        "topics": "话题",
        "questions": "未答问题",
        "answered": "已有人回答",
        "coverage": "覆盖",
        "suspicious": "可疑内容",
        "suspicious_note": "防护在这些消息里发现了可疑之处，例如给模型下命令、夹带密钥。它们只作为聊天内容对待。",
        "none": "无",
        "asked_by": "{name} 问",
        "unclear": "具体日期不明",
        "confidence_medium": "把握一般",
        "confidence_low": "把握不大",
        "messages": "{count} 条原话",
        "rests_on": "依据",
        "covered": "{total} 条消息，已读 {covered} 条，分 {chunks} 段。",
        "covered_all": "{total} 条消息全部读过，分 {chunks} 段。",
        "not_covered": "没有读到的 {count} 条消息：",
        "shortened": "其中 {count} 条太长，只读了开头和结尾。",
        "failure": "{count} 条",
        "refused": "没有采纳",
        "refused_topic": "话题",
        "refused_todo": "待办",
        "refused_question": "问题",
        "refused_reason": "只依据可疑消息",
        "more": "……（还有 {count} 字）",
        "made_by": "模型 {model}，服务器 {host}",
        "open": "未完成",
        "high": "高",
        "medium": "中",
        "low": "低",
        "flagged": "已标出",
        "neutralized": "已失效处理",
        "redacted": "已遮盖",
        "removed": "已移除",
        "fenced": "已隔离",
        "blocked": "已拦下",
        "converted": "已转换",
        "column_chat": "群聊",
        "column_task": "事项",
        "column_person": "负责人",
        "column_deadline": "期限（原话）",
        "column_day": "截止日期",
        "column_time": "截止时间",
        "column_status": "状态",
        "column_confidence": "把握",
        "column_messages": "依据",
        "said_on": "期限原话：{deadline}",
        "from_chat": "来自群聊：{chat}",
    },
    "en": {
        "lang": "en",
        "title": "Chat summary",
        "contents": "Contents",
        "todos": "To do",
        "nobody": "Nobody named",
        "done": "Done",
        "topics": "Topics",
        "questions": "Open questions",
        "answered": "Answered",
        "coverage": "Coverage",
        "suspicious": "Suspicious content",
        "suspicious_note": "The guard found something in these messages: orders to the model, secrets and the like. "
        "They were read as chat and as nothing else.",
        "none": "None",
        "asked_by": "asked by {name}",
        "unclear": "date not clear",
        "confidence_medium": "fairly sure",
        "confidence_low": "not sure",
        "messages": "Messages: {count}",
        "rests_on": "from",
        "covered": "{covered} of {total} messages were read, in {chunks} part(s).",
        "covered_all": "All {total} messages were read, in {chunks} part(s).",
        "not_covered": "Messages that were not read ({count}):",
        "shortened": " {count} of them are too long; only their beginning and end were read.",
        "failure": "{count} message(s)",
        "refused": "Not taken over",
        "refused_topic": "topic",
        "refused_todo": "to-do",
        "refused_question": "question",
        "refused_reason": "rests on suspicious messages only",
        "more": "… ({count} more characters)",
        "made_by": "Model {model}, server {host}",
        "open": "open",
        "high": "high",
        "medium": "medium",
        "low": "low",
        "flagged": "flagged",
        "neutralized": "neutralized",
        "redacted": "redacted",
        "removed": "removed",
        "fenced": "fenced",
        "blocked": "blocked",
        "converted": "converted",
        "column_chat": "Chat",
        "column_task": "Task",
        "column_person": "Person",
        "column_deadline": "Deadline (as said)",
        "column_day": "Due day",
        "column_time": "Due time",
        "column_status": "Status",
        "column_confidence": "Confidence",
        "column_messages": "Messages",
        "said_on": "Deadline as said: {deadline}",
        "from_chat": "From the chat: {chat}",
    },
}

_KINDS = {
    "zh": {
        "image": "图片",
        "voice": "语音",
        "video": "视频",
        "file": "文件",
        "link": "链接",
        "recall": "撤回",
        "transfer": "转账",
        "red_packet": "红包",
        "mini_program": "小程序",
        "location": "位置",
        "card": "名片",
        "call": "通话",
        "sticker": "表情",
        "forward": "转发",
    },
    "en": {
        "image": "picture",
        "voice": "voice",
        "video": "video",
        "file": "file",
        "link": "link",
        "recall": "recalled",
        "transfer": "transfer",
        "red_packet": "red packet",
        "mini_program": "mini program",
        "location": "location",
        "card": "card",
        "call": "call",
        "sticker": "sticker",
        "forward": "forwarded",
    },
}
_WEEKDAYS = {"zh": "一二三四五六日", "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Wording:
    """The words of one language. `year` is the year that needs no saying: that of the chat."""

    language: str
    year: int | None = None

    @property
    def words(self) -> Mapping[str, str]:
        return WORDS[self.language]

    def day(self, day: date) -> str:
        """A day with its weekday, and its year where it is another than the chat's.

        >>> Wording("zh", 2026).day(date(2026, 7, 8)), Wording("en", 2025).day(date(2026, 7, 8))
        ('7月8日 周三', 'Wed 8 Jul 2026')
        """
        other_year = day.year != self.year
        weekday = _WEEKDAYS[self.language][day.weekday()]
        if self.language == "zh":
            return f"{f'{day.year}年' if other_year else ''}{day.month}月{day.day}日 周{weekday}"
        return f"{weekday} {day.day} {_MONTHS[day.month - 1]}{f' {day.year}' if other_year else ''}"

    def moment(self, when: date | datetime) -> str:
        """A day, and the time of it where there is one.

        >>> Wording("en", 2026).moment(datetime(2026, 7, 8, 15, 0)), Wording("en", 2026).moment(date(2026, 7, 8))
        ('Wed 8 Jul 15:00', 'Wed 8 Jul')
        """
        return f"{self.day(when)} {when:%H:%M}" if isinstance(when, datetime) else self.day(when)

    def kind(self, kind: str) -> str:
        """What a message is, where its words alone do not say it; empty for words."""
        return _KINDS[self.language].get(kind, "")


def wording(language: str, last: datetime | None) -> Wording:
    """The words for a chat whose last message is of that time. A language without words here is written in English."""
    return Wording(language if language in WORDS else "en", last.year if last else None)
