"""Text in the contract that gives orders to a model instead of binding the parties."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.text.folding import places

MOST = 20
"""Findings that are shown."""
REACH = 400
"""Characters beside a suspicious word that the guard reads: orders stand in a sentence or two."""

_SUSPICIOUS = (
    *(
        "忽略",
        "忽视",
        "无视",
        "不要理会",
        "提示词",
        "大模型",
        "语言模型",
        "人工智能",
        "助手",
        "助理",
        "机器人",
        "智能体",
        "自动审",
        "审阅系统",
        "审核系统",
    ),
    *("审核员", "审阅员", "审核程序", "指令", "输出“", '输出"', "你是", "你现在", "请你", "越狱"),
    *(
        "ignore",
        "ignoring",
        "disregard",
        "forget ",
        "language model",
        "llm",
        "chatbot",
        "chatgpt",
        "assistant",
        "system prompt",
        "jailbreak",
    ),
    *(
        " ai ",
        "ai:",
        "ai-",
        "ai,",
        "(ai)",
        "\nai ",
        "ai审",
        "ai系统",
        "previous instruction",
        "above instruction",
        "prior instruction",
        "new instruction",
    ),
    *(
        "your instructions",
        "you are now",
        "from now on",
        "system:",
        "<|",
        "[inst",
        "reviewing this",
        "reading this",
        "processing this",
    ),
)
"""What a sentence that speaks to a model can hardly do without, in lower case; in contracts each is rare."""


def find_orders(text: ContractText, _: ContractFacts) -> Iterator[Risk]:
    """Every sentence that the guard's injection screen takes for an order to a model.

    It reads only what stands around words of the kind; most contracts have none, and do not load its rules."""
    message, message_zh = "the text gives orders to a model or a program", "正文含有对模型或程序的指令"
    for proof in islice(_orders(text), MOST):
        yield Risk("instructions", "instructions", message, message_zh, (proof,))


def _orders(text: ContractText) -> Iterator[Evidence]:
    for start, end in _windows(text):
        from ollama_kit.guard.injection import find_injection

        for finding in find_injection(text.plain[start:end], "contract"):
            yield text.evidence(start + finding.span[0], start + finding.span[1])


def _windows(text: ContractText) -> Iterator[tuple[int, int]]:
    """The lines around suspicious words, as far as they reach, none of them twice."""
    begin = end = -1
    for at, word in sorted(places(text.lower, _SUSPICIOUS)):
        first = max(text.plain.rfind("\n", 0, at) + 1, at - REACH)
        line_end = text.plain.find("\n", at, at + REACH)
        last = line_end if line_end >= 0 else min(len(text.plain), at + len(word) + REACH)
        if begin >= 0 and first <= end + 1:
            end = max(end, last)
            continue
        if begin >= 0:
            yield begin, end
        begin, end = first, last
    if begin >= 0:
        yield begin, end
