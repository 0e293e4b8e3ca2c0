"""The tokenizer of a model as its metadata state it: the `tokenizer.ggml.*` keys of `/api/show` with verbose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from ollama_kit.errors import ProtocolError
from ollama_kit.tokens.pretokenizers import SplitRule, split_rule

_TOKENIZER_KEYS = (
    *("model", "pre", "tokens", "scores", "token_type", "merges", "bos_token_id", "eos_token_id"),
    *("add_bos_token", "add_eos_token", "add_space_prefix"),
)
KEYS = (*(f"tokenizer.ggml.{key}" for key in _TOKENIZER_KEYS), "general.architecture", "general.name")
"""What of a model's metadata decides how it cuts text."""
SPACE = "▁"
"""U+2581, which SentencePiece writes for a space."""

# llama.cpp makes these control tokens whatever type the file gives them (src/llama-vocab.cpp, end of generation).
_ALWAYS_CONTROL = frozenset(
    ("<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>", "<EOT>", "_<EOT>")
)
# Phi-3 is the one family whose special tokens swallow the whitespace that follows them; these three do not.
_PHI3_PLAIN = frozenset(("<unk>", "<s>", "<|endoftext|>"))
_HTML_NAMES = (
    "a article b blockquote body br caption code col colgroup dd div dl dt em footer h1 h2 h3 h4 h5 h6 head header "
    "hr html i img li main nav ol p pre s section small span strike strong sub sup table tbody td tfoot th thead "
    "title tr u ul"
)
_HTML = frozenset(_HTML_NAMES.split())


class TokenType(IntEnum):
    """`tokenizer.ggml.token_type`, as gguf defines it."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Everything that decides how a model cuts text. `tokens`, `types` and `scores` are indexed by token id;
    `merges` are in order of rank, "left right" each; `types` and `scores` may be empty. `bos` and `eos` are -1 where
    the file names none; the engine then takes a token of its own for what it prints (`printed_bos`, `printed_eos`)."""

    model: str
    pre: str
    tokens: Sequence[str]
    types: Sequence[int]
    scores: Sequence[float]
    merges: Sequence[str]
    bos: int
    eos: int
    add_bos: bool
    add_eos: bool
    add_space_prefix: bool
    architecture: str
    name: str

    @property
    def printed_bos(self) -> int:
        """The token that a chat template prints as BOS (src/llama-vocab.cpp: 11 for byte-level BPE without one)."""
        return self.bos if self.bos >= 0 else 11

    @property
    def printed_eos(self) -> int:
        """The token that a chat template prints as EOS."""
        return self.eos if self.eos >= 0 else 11

    @property
    def rule(self) -> SplitRule | None:
        """How words are split before byte-level BPE; None for other models and for unknown names."""
        return split_rule(self.pre) if self.model == "gpt2" else None

    def type_of(self, token: int) -> int:
        """The type of a token id as the server sees it: NORMAL where the file says nothing."""
        if self.tokens[token] in _ALWAYS_CONTROL:
            return TokenType.CONTROL
        return self.types[token] if self.types else TokenType.NORMAL

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each token's text."""
        return {text: i for i, text in enumerate(self.tokens)}

    @cached_property
    def special(self) -> list[tuple[int, str]]:
        """The (id, text) that the server looks for in a prompt before anything else, longest (in bytes) first."""
        wanted = frozenset(map(int, (TokenType.UNKNOWN, TokenType.CONTROL, TokenType.USER_DEFINED)))
        found = {i for i, kind in enumerate(self.types) if kind in wanted}
        found |= {i for text in _ALWAYS_CONTROL if (i := self.ids.get(text)) is not None}
        by_size = sorted(found, key=lambda i: (-len(self.tokens[i].encode("utf-8", "surrogatepass")), i))
        return [(i, self.tokens[i]) for i in by_size]

    def text_of(self, token: int) -> str:
        """What a token prints; empty where there is no such token."""
        return self.tokens[token].replace(SPACE, " ") if 0 <= token < len(self.tokens) else ""

    def control(self) -> tuple[str, ...]:
        """The texts that outsiders may not write: unknown and control tokens, BOS and EOS, and user-defined ones
        except white space and plain HTML tags (Gemma has `\\n` and `<b>` among them). Longest first."""
        ends = {self.bos, self.eos}
        return tuple(
            text
            for i, text in self.special
            if not _is_blank(text)
            and (i in ends or self.type_of(i) != TokenType.USER_DEFINED or not _is_html_tag(text))
        )

    def swallows_whitespace(self, text: str) -> bool:
        """Whether a special token takes the whitespace after it along (Phi-3; src/llama-vocab.cpp, by model name)."""
        return bool(re.search("phi-?3", self.name.lower())) and text not in _PHI3_PLAIN


def read_vocabulary(info: Mapping[str, Any]) -> Vocabulary:
    """The vocabulary in `model_info`; ProtocolError where its lists are absent, as they are without `verbose`.

    Defaults are llama.cpp's (`llama_vocab::impl::load`): SentencePiece adds a BOS and a leading space, byte-level
    BPE neither, except for the rules that say so. Ollama's own engine, which runs Gemma 3, puts no space before
    (tokenizer/sentencepiece.go), and files that Ollama converts do not say it.
    """

    def key(name: str, default: Any = None) -> Any:
        value = info.get(f"tokenizer.ggml.{name}")
        return default if value is None else value

    model, pre = str(key("model", "")), str(key("pre", ""))
    tokens = _strings(key("tokens"))
    if not model or not tokens:
        raise ProtocolError(
            "The model's metadata hold no vocabulary (tokenizer.ggml.tokens).",
            hint=(
                'Ask for it with {"verbose": true}; a model without a tokenizer cannot be counted.',
                '请以 {"verbose": true} 请求；没有分词器的模型无法计数。',
            ),
        )
    architecture = str(info.get("general.architecture") or "")
    is_spm, rule = model == "llama", split_rule(pre) if model == "gpt2" else None
    return Vocabulary(
        model=model,
        pre=pre,
        tokens=[text or f"[EMPTY_{i}]" for i, text in enumerate(tokens)],
        types=_numbers(key("token_type"), len(tokens)),
        scores=_numbers(key("scores"), len(tokens)),
        merges=_strings(key("merges")),
        bos=int(key("bos_token_id", 1 if is_spm else -1)),
        eos=int(key("eos_token_id", 2 if is_spm else -1)),
        add_bos=bool(key("add_bos_token", is_spm or bool(rule and rule.adds_bos))),
        add_eos=bool(key("add_eos_token", False)),
        add_space_prefix=bool(key("add_space_prefix", is_spm and not architecture.startswith("gemma3"))),
        architecture=architecture,
        name=str(info.get("general.name") or ""),
    )


def tokenizer_family(info: Mapping[str, Any]) -> frozenset[str]:
    """Every name by which a spec may call the tokenizer of these metadata; needs no token lists.

    >>> sorted(tokenizer_family({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen35"}))
    ['qwen', 'qwen3.5', 'qwen3.6', 'qwen35']
    """
    model = str(info.get("tokenizer.ggml.model") or "")
    pre = str(info.get("tokenizer.ggml.pre") or "")
    architecture = str(info.get("general.architecture") or "")
    return frozenset(family_names(model, pre, architecture))


def family_names(model: str, pre: str, architecture: str) -> tuple[str, ...]:
    """The names of a tokenizer's family, the usual one first; empty where nothing is known."""
    if model == "llama":
        own = ("gemma",) if architecture.startswith("gemma") else ("llama",)
        return (*own, "sentencepiece", "spm")
    if model != "gpt2":
        return (model,) if model else ()
    rule = split_rule(pre)
    named = (rule.family,) if rule and rule.family else ()
    return tuple(dict.fromkeys((*named, *((pre,) if pre else ()), *_OTHER_NAMES.get(pre, ()))))


_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "qwen2": ("qwen2.5", "qwen3"),
    "qwen35": ("qwen3.5", "qwen3.6"),
    "deepseek-r1-qwen": ("qwen2",),
    "llama-bpe": ("llama3",),
    "llama-v3": ("llama3",),
    "gpt-2": ("gpt2",),
    "smollm": ("smollm2",),
}


def _is_blank(text: str) -> bool:
    return not text.replace("▁", " ").strip()


def _is_html_tag(text: str) -> bool:
    tag = re.fullmatch(r"</?([a-z][a-z0-9]*)\s*/?>", text)
    return tag is not None and tag[1] in _HTML


def _strings(value: Any) -> Sequence[str]:
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else []


def _numbers(value: Any, length: int) -> Sequence[Any]:
    """The list if it has one number for each token, else nothing: half a list says nothing reliable."""
    fits: bool = isinstance(value, list) and len(value) == length
    return value if fits and _all_numbers(value) else []


def _all_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, (int, float)) for value in values)
