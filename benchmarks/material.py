"""What the guarded call is measured on: a group chat of any size in two languages, a schema, and its answer."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

from benchmarks.instant_server import Canned, as_json

MODEL = "measured"
WINDOW_TOKENS = 131_072
"""Large enough that the size alone proves that 100 KB fit."""

RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string", "maxLength": 80},
        "place": {"type": "string", "maxLength": 80},
        "date": {"type": "string", "format": "date"},
        "priority": {"enum": ["low", "normal", "high"]},
        "people": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
        "amount": {"type": "number", "minimum": 0},
        "count": {"type": "integer", "minimum": 0, "maximum": 10_000},
        "done": {"type": "boolean"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "link": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["subject", "place", "date", "priority", "people", "amount", "count", "done", "note", "link"],
    "additionalProperties": False,
}
"""Ten properties, of the kinds that people write."""

ANSWER = {
    "subject": "送检样品并确认报关单",
    "place": "苏州仓库",
    "date": "2026-03-12",
    "priority": "high",
    "people": ["周敏", "林浩", "陈波"],
    "amount": 12_800.5,
    "count": 42,
    "done": False,
    "note": "请在下午三点前回复",
    "link": None,
}
"""What the measured model says."""

QUESTION = {"zh": "请按 schema 整理这段群聊。", "en": "Put this chat in order, as the schema asks."}

_NAMES = {"zh": ("周敏", "林浩", "陈波", "赵婷", "王工"), "en": ("Zhou Min", "Lin Hao", "Ann", "Peter", "Chen")}
_SAID = {
    "zh": (
        "明天下午{n}点前把样品送到苏州仓库，我来签收。",
        "报关单还差一份原产地证，谁手上有扫描件？",
        "合同第{n}条的违约金按日万分之五算，法务已经看过了。",
        "好的，收到。",
        "客户要求尾款{n}元在验收后十个工作日内付清，发票抬头不变。",
        "货车订好了，司机电话 138001380{m}，车牌到时候再发。",
        "会议纪要放在 https://example.com/notes/{n} ，请大家核对自己那部分。",
        "这批螺丝的规格是 M{m}×{n}，请和图纸核对一下，不要再发错。",
    ),
    "en": (
        "Please bring the samples to the Suzhou warehouse before {n} o'clock, I shall sign for them.",
        "The customs form still lacks a certificate of origin; who has the scan?",
        "Clause {n} says five per mille a day for delay, and legal has read it.",
        "Fine, thanks.",
        "They want the last {n} euros paid within ten working days after acceptance.",
        "The lorry is booked; the driver's number is +49 151 234567{m}.",
        "The minutes are at https://example.com/notes/{n}, please check your part.",
        "These screws are M{m} by {n}; compare them with the drawing before you send more.",
    ),
}


def group_chat(size_bytes: int, language: str) -> str:
    """A chat of at least that many bytes of UTF-8, in "zh" or "en"; the same at every run."""
    draw = random.Random(size_bytes)
    lines: list[str] = []
    while size_bytes > 0:
        said = draw.choice(_SAID[language]).format(n=draw.randint(2, 900), m=draw.randint(10, 99))
        lines.append(f"{draw.choice(_NAMES[language])} {draw.randint(8, 20):02}:{draw.randint(0, 59):02}: {said}\n")
        size_bytes -= len(lines[-1].encode())
    return "".join(lines)


def ollama_answers(vocabulary: dict[str, Any], template: str, pieces: int) -> dict[str, Canned]:
    """A server that has one model, and streams ANSWER in that many pieces."""
    shown = {
        "template": template,
        "system": "你是一个严谨的助理，只输出 JSON。",
        "parameters": f"num_ctx {WINDOW_TOKENS}",
        "capabilities": ["completion"],
        "details": {"family": "qwen2"},
        "modelfile": f"FROM /models/blobs/sha256-{'a' * 64}\n",
        "model_info": {"general.architecture": "qwen2", "qwen2.context_length": WINDOW_TOKENS, **vocabulary},
    }
    return {
        "GET /api/version": as_json({"version": "0.9.3"}),
        "GET /api/tags": as_json({"models": [{"name": f"{MODEL}:latest", "digest": "d" * 64, "size": 1}]}),
        "POST /api/show": as_json(shown),
        "POST /api/chat": Canned(tuple(map(json.dumps, _streamed(pieces))), stream=True),
    }


def plain_answers() -> dict[str, Canned]:
    """ANSWER as one body, for callers that do not stream, in Ollama's form and in OpenAI's."""
    text = json.dumps(ANSWER, ensure_ascii=False)
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    completion = {"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "usage": usage}
    return {
        "POST /api/chat": as_json({**_LINE, "message": message, **_LAST}),
        "POST /v1/chat/completions": as_json({**completion, "choices": [choice]}),
    }


_LINE = {"model": MODEL, "created_at": "2026-01-01T00:00:00.000000Z"}
_LAST = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 1000,
    "load_duration": 10,
    "prompt_eval_duration": 500,
    "eval_count": 10,
    "eval_duration": 490,
}
"""Without `prompt_eval_count`: the same answer for every prompt, and one that the server counts too low would be
refused as cut."""


def _streamed(pieces: int) -> list[dict[str, Any]]:
    text = json.dumps(ANSWER, ensure_ascii=False)
    cuts = [len(text) * at // pieces for at in range(pieces + 1)]
    parts = [text[start:end] for start, end in pairwise(cuts)]
    lines = [{**_LINE, "message": {"role": "assistant", "content": part}, "done": False} for part in parts]
    return [*lines, {**_LINE, "message": {"role": "assistant", "content": ""}, **_LAST}]
