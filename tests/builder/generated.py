"""Random keys for specs, drawn from what people write and from what breaks parsers."""

from __future__ import annotations

import random
from typing import Any

PIECES = (
    *("You are a careful engineer.", "你是一个严谨的工程师，", "只输出可运行代码。", "答案", "用中文回答。"),
    *(" ", "  ", "\n", "\n\n", "\t", "　", '"', "'", '""', "#", "# not a comment", "{{ .Prompt }}", "{", "\\", "\\n"),
    *("👨‍👩‍👧‍👦", "é", "ё", "من", "…", "“引号”", "FROM x", "PARAMETER top_k 1", "SYSTEM", "MESSAGE user hi", "\r\n"),
    *("𠮷", "\u200b", "\u00a0", "a" * 50),
)
HARSH = ('"""', '"""\n', '"""  \n')


def text(draw: random.Random, *, most: int = 12) -> str:
    """A text of up to `most` pieces, now and then with one that a Modelfile cannot hold."""
    pieces = [draw.choice(PIECES) for _ in range(draw.randint(1, most))]
    if draw.random() < 0.1:
        pieces.insert(draw.randint(0, len(pieces)), draw.choice(HARSH))
    joined = "".join(pieces)
    return joined if joined.strip() else joined + "x"


def plain(draw: random.Random) -> str:
    """A text that every Modelfile can hold, for most of the specs."""
    words = [piece for piece in PIECES if piece.isprintable() and '"' not in piece and piece.strip()]
    return " ".join(draw.choice(words) for _ in range(draw.randint(1, 8)))


def generated_spec(draw: random.Random) -> dict[str, Any]:
    """Keys of a random spec, without `from`."""
    some = text if draw.random() < 0.3 else (lambda draw, most=12: plain(draw))
    keys: dict[str, Any] = {"context": draw.choice([128, 512, 1000, 2048])}
    if draw.random() < 0.8:
        keys["system"] = some(draw)
    if draw.random() < 0.3:
        keys["template"] = draw.choice(
            ["{{ .Prompt }}", "<|im_start|>user\n{{ .Prompt }}<|im_end|>\n", "{{ .System }}\n{{ .Prompt }}"]
        )
    if draw.random() < 0.3:
        roles = ("user", "assistant", "system")
        keys["messages"] = [
            {"role": draw.choice(roles), "content": some(draw, most=4)} for _ in range(draw.randint(1, 4))
        ]
    if draw.random() < 0.3:
        keys["license"] = [some(draw) for _ in range(draw.randint(1, 2))]
    numbers: dict[str, Any] = {
        "temperature": round(draw.uniform(0, 2), 3),
        "top_p": draw.choice([0.1, 0.95, 1.0, 1]),
        "top_k": draw.randint(0, 100),
        "min_p": 0,
        "seed": draw.choice([0, 42, 2**31 - 1]),
        "num_predict": draw.choice([-1, 128]),
        "repeat_penalty": 1.1,
        "presence_penalty": draw.choice([0, 1.5]),
        "use_mmap": draw.choice([True, False]),
        "stop": [draw.choice(["<|im_end|>", "###", "用户：", " ", "\n"]) for _ in range(draw.randint(1, 3))],
    }
    chosen = draw.sample(sorted(numbers), draw.randint(0, 6))
    if chosen:
        keys["parameters"] = {name: numbers[name] for name in chosen}
    return keys
