"""Counting tokens against one bare encode of the `tokenizers` library, on the same text with the same vocabulary."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.timing import in_turns, median_ratio, verdict
from ollama_kit.tokens import Tokenizer
from ollama_kit.tokens.chat_template.turns import Turn
from ollama_kit.tokens.engines import LibraryEngine
from ollama_kit.tokens.prompt import PromptFacts, PromptRequest, count_prompt
from tests.models.vocabularies import vocabulary

ROUNDS = 40
TARGET_RATIO = 1.05
SIZES_BYTES = (4_000, 100_000)
VOCABULARIES = ("qwen2", "smollm", "spm")
FOR_INFORMATION = ("spm",)
TEMPLATE = Path(__file__).parents[1] / "tests" / "data" / "chat_templates" / "chatml.gotmpl"

_CHINESE = (
    *("甲方应于", "乙方须在", "群里通知", "周敏确认", "苏州仓库", "三月十二日前", "交付样品报告"),
    *("支付尾款", "违约金为", "逾期每日", "双方协商", "明天下午", "谁有空"),
)
_ENGLISH = (
    *("the", "supplier", "shall", "deliver", "a", "final", "report", "before", "noon,"),
    *("unless", "both", "parties", "agree;", "Lin", "Hao's", "warehouse"),
)


def run() -> Iterable[str]:
    worst = {"count": 0.0, "count_prompt": 0.0}
    for name in VOCABULARIES:
        known = vocabulary(name)
        tokenizer = Tokenizer.from_metadata(known)
        for size_bytes in SIZES_BYTES:
            for language, words in (("Chinese", _CHINESE), ("English", _ENGLISH)):
                text = written(words, size_bytes)
                what = f"{name}, {size_bytes // 1000} KB {language}"
                for ours, line, ratio in _measured(what, tokenizer, text, known):
                    yield line
                    worst[ours] = worst[ours] if name in FOR_INFORMATION else max(worst[ours], ratio)
    judged = ", ".join(name for name in VOCABULARIES if name not in FOR_INFORMATION)
    for ours, ratio in worst.items():
        met = verdict(ratio <= TARGET_RATIO)
        yield f"{ours}, worst of {judged}: {ratio:.3f} x bare; target {TARGET_RATIO:.2f} x: {met}"


def _measured(what: str, tokenizer: Tokenizer, text: str, known: Mapping[str, Any]) -> Iterable[tuple[str, str, float]]:
    """What was measured, a line, and our time as a multiple of the bare encode's: a text, and a chat of four turns."""
    encode = _bare(tokenizer)
    tokens, bare_tokens = tokenizer.count(text, add_bos=False), len(encode(text))
    if tokens != bare_tokens:
        raise AssertionError(f"{what}: {tokens} tokens, and {bare_tokens} from the bare encode")
    facts = PromptFacts(TEMPLATE.read_text(encoding="utf-8"), system="You are careful.")
    request = PromptRequest(tuple(Turn(role, part) for role, part in zip(_ROLES, _quarters(text), strict=True)))
    prompt = count_prompt(tokenizer, facts, request).rendered or ""
    works: dict[str, Callable[[], object]] = {
        "bare": lambda: encode(text),
        "count": lambda: tokenizer.count(text),
        "bare prompt": lambda: encode(prompt),
        "count_prompt": lambda: count_prompt(tokenizer, facts, request),  # rendering included
    }
    if usual := _usual(known):
        works["usual"] = lambda: usual.encode(text)
    seconds = in_turns(works, ROUNDS, warm_up=3)
    for ours, theirs in (("count", "bare"), ("count_prompt", "bare prompt")):
        ratio = median_ratio(seconds[ours], seconds[theirs])
        speed = len(text.encode()) / 1e6 / sorted(seconds[ours])[ROUNDS // 2]
        note = ""
        if ours == "count" and usual:
            note = f" ({median_ratio(seconds[ours], seconds['usual']):.2f} x the usual set-up of the family)"
        yield ours, f"{what:<24}{ours:<13}{tokens:>6} tokens {speed:5.1f} MB/s  {ratio:.3f} x bare{note}", ratio


_ROLES = ("user", "assistant", "user", "user")


def _quarters(text: str) -> list[str]:
    size = len(text) // 4
    return [text[:size], text[size : 2 * size], text[2 * size : 3 * size], text[3 * size :]]


def _bare(tokenizer: Tokenizer) -> Callable[[str], Any]:
    """The one call into the library that counting this vocabulary cannot do without."""
    engine = tokenizer.engine
    if not isinstance(engine, LibraryEngine):
        raise TypeError(f"this vocabulary is not counted by the library but by {type(engine).__name__}")
    return lambda text: engine.backend.encode(text, add_special_tokens=False)


def _usual(known: Mapping[str, Any]) -> Any:
    """A tokenizer set up from the same tables as the family's own tokenizer.json does it; None where that differs."""
    from tokenizers import Regex, Tokenizer as Backend, models, pre_tokenizers

    if known["tokenizer.ggml.model"] != "gpt2":
        return None
    ids = {token: number for number, token in enumerate(known["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ")) for merge in known["tokenizer.ggml.merges"]]
    backend = Backend(models.BPE(vocab=ids, merges=merges))
    if known["tokenizer.ggml.pre"] == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        backend.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    else:
        words = (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
        split = pre_tokenizers.Split(Regex(words), behavior="isolated")
        as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.pre_tokenizer = pre_tokenizers.Sequence([split, as_bytes])
    return backend


def written(words: Sequence[str], size_bytes: int) -> str:
    """Text of about that many bytes in lines of words and figures, the same at every run."""
    draw = random.Random(size_bytes)
    gap = " " if words[0].isascii() else ""
    parts: list[str] = []
    left = size_bytes
    while left > 0:
        some = [draw.choice(words) for _ in range(draw.randint(4, 12))]
        line = gap.join(some) + draw.choice((f" {draw.randint(1, 99999)}.\n", "。\n" if not gap else ".\n"))
        parts.append(line)
        left -= len(line.encode())
    return "".join(parts)
