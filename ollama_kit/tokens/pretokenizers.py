r"""How llama.cpp cuts text into words before byte-level BPE, by the name in `tokenizer.ggml.pre`.

A GGUF stores the name only; the patterns live in the engine. They are taken here from llama.cpp
(`src/llama-vocab.cpp` and `src/unicode.cpp`, as vendored by Ollama 0.9.3, and llama.cpp of mid 2026 for `qwen35`),
not from the models' own `tokenizer.json`: what counts is what the server does. Where the two differ:

- llama.cpp knows upper and lower case of ASCII letters only (`tekken`, `gpt-4o`);
- it does not take `~` for a symbol where a pattern says `\p{S}` (`deepseek-v3`), nor U+3000 for punctuation
  (`deepseek-llm`);
- contractions are `'s` and `'S`, never `'ſ`, which `(?i:'s)` would match.

Ollama's own engine, which runs some architectures instead (`mistral3`, `llama4`), has the original patterns for
`tekken` and `gpt-4o`: there a text with accented capitals or combining marks may count otherwise by a token or two.

Character classes are those of the regular expression library; code points that Unicode added after version 15 may
be classed otherwise by the server.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class SplitRule:
    """Patterns applied one after the other, each to the pieces the former left; what a pattern skips is a piece.

    `whole_words`: a word that is a token is taken as it is, merges or not (`ignore_merges`).
    `adds_bos`: a BOS is added where the metadata do not say (`add_bos_token`).
    `family`: the name people use for tokenizers of this kind.
    """

    patterns: tuple[str, ...]
    family: str = ""
    whole_words: bool = False
    adds_bos: bool = False


_LETTER = r"[^\r\n\p{L}\p{N}]?"
_CONTRACTION = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2_WORD = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Case is told apart in ASCII only: every other letter is of both cases.
_UPPER, _LOWER = "[\\p{L}&&[^a-z]]", "[\\p{L}&&[^A-Z]]"
# U+3000 and the other blanks inside these ranges are blanks to the server before they are anything else.
_CJK_BROAD = r"[[\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]&&[^\s]]+"
_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_SYMBOL = r"[\p{S}&&[^~]]"
# The letters `deepseek-llm` lists one by one: those with case, but for some scripts.
_CASED = (
    r"[[\p{Lu}\p{Ll}\p{Lt}]&&[^\x{560}-\x{588}\x{10C7}\x{10CD}\x{10D0}-\x{10FF}\x{1C80}-\x{1C8A}\x{2D00}-\x{2D2D}"
    r"\x{A790}-\x{A7DC}\x{A7F5}-\x{A7FA}\x{AB30}-\x{AB68}\x{10570}-\x{105BC}\x{10D50}-\x{10D85}\x{16E40}-\x{16E7F}"
    r"\x{1D400}-\x{1D7CB}\x{1DF00}-\x{1DF2A}]]"
)


def _modern(*, letters: str, numbers: str, joined: str = r"\p{L}", newlines: str = r"[\r\n]*") -> str:
    """The pattern that most models since 2023 share, with what varies between them."""
    return rf"{letters}|{numbers}| ?[^\s{joined}\p{{N}}]+{newlines}|{_BLANKS}"


def _cased(after_word: str) -> str:
    return rf"{_LETTER}{_UPPER}*{_LOWER}+{after_word}|{_LETTER}{_UPPER}+{_LOWER}*{after_word}"


_WORDS = rf"(?:{_CONTRACTION})|{_LETTER}\p{{L}}+"
_GPT2 = SplitRule((_GPT2_WORD,), "gpt2")
_DIGITS_APART = SplitRule((r"\p{N}", _GPT2_WORD))
_LLAMA3 = SplitRule((_modern(letters=_WORDS, numbers=r"\p{N}{1,3}"),), "llama", whole_words=True, adds_bos=True)
_THREE_DIGITS = replace(_LLAMA3, family="", whole_words=False, adds_bos=False)
_QWEN2 = SplitRule((_modern(letters=_WORDS, numbers=r"\p{N}"),), "qwen")
_QWEN35 = SplitRule(
    (_modern(letters=rf"(?:{_CONTRACTION})|{_LETTER}[\p{{L}}\p{{M}}]+", numbers=r"\p{N}", joined=r"\p{L}\p{M}"),),
    "qwen",
)
_TEKKEN = SplitRule(
    (_modern(letters=_cased(""), numbers=r"\p{N}", newlines=r"[\r\n/]*"),),
    "mistral",
    whole_words=True,
    adds_bos=True,
)
_GPT4O = SplitRule(
    (_modern(letters=_cased(f"(?:{_CONTRACTION})?"), numbers=r"\p{N}{1,3}", newlines=r"[\r\n/]*"),), "gpt4o"
)
_DEEPSEEK_LLM = SplitRule(
    (
        r"[\r\n]",
        rf"\s?{_CASED}+",
        r"\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3001}\x{3002}]+",
        r"\s+\z",
        _CJK_BROAD,
        r"\p{N}+",
    ),
    "deepseek",
)
_DEEPSEEK_CODER = SplitRule((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK_BROAD, r"\p{N}"), "deepseek")
_DEEPSEEK_V3 = SplitRule(
    (
        r"\p{N}{1,3}",
        r"[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+",
        (
            rf"{_PUNCTUATION}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}{_SYMBOL}]?[\p{{L}}\p{{M}}]+"
            rf"| ?[\p{{P}}{_SYMBOL}]+[\r\n]*|{_BLANKS}"
        ),
    ),
    "deepseek",
)
_DEFAULT = SplitRule((r"[\p{P}\$\+<=>\^~\|]+", _GPT2_WORD, r"\p{N}+", "[0-9][0-9][0-9]"))


def _named(rule: SplitRule, *names: str) -> dict[str, SplitRule]:
    return {name: rule if rule.family else replace(rule, family=name) for name in names}


RULES: Mapping[str, SplitRule] = MappingProxyType(
    {
        **_named(_GPT2, "gpt-2", "phi-2", "gigachat", "roberta-bpe", "mpt", "olmo", "jais", "trillion"),
        **_named(_DIGITS_APART, "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"),
        **_named(_LLAMA3, "llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"),
        **_named(_THREE_DIGITS, "dbrx", "smaug-bpe", "glm4", "chatglm-bpe"),
        **_named(_QWEN2, "qwen2", "deepseek-r1-qwen", "megrez"),
        **_named(replace(_QWEN2, family="stablelm2"), "stablelm2"),
        **_named(_QWEN35, "qwen35"),
        **_named(_TEKKEN, "tekken"),
        **_named(_GPT4O, "gpt-4o"),
        **_named(replace(_GPT4O, family="llama"), "llama4"),
        **_named(_DEEPSEEK_LLM, "deepseek-llm"),
        **_named(_DEEPSEEK_CODER, "deepseek-coder"),
        **_named(_DEEPSEEK_V3, "deepseek-v3"),
        **_named(_DEFAULT, "default"),
    }
)


def split_rule(pre: str) -> SplitRule | None:
    """The rule of that name; None where it is unknown here. A GGUF without a name has the rule `default`."""
    return RULES.get(pre or "default")


def pre_tokenizer(rule: SplitRule) -> Any:
    """The rule as the `tokenizers` library runs it: the splits, then each byte as one printable character."""
    from tokenizers import Regex, pre_tokenizers

    splits = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in rule.patterns]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
