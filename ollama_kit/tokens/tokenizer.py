"""A model's own tokenizer, rebuilt from its metadata: counts what the server will count, or an upper bound of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.errors import UsageError
from ollama_kit.tokens.engines import Engine, byte_level_engine, sentencepiece_engine
from ollama_kit.tokens.vocabulary import SPACE, Vocabulary, family_names, read_vocabulary

_LONE_SURROGATE = (UnicodeEncodeError, TypeError)
"""What engines raise at a text that is not valid Unicode: Python's own error, or the library's."""


@dataclass(frozen=True)
class Bound:
    """At most `per_byte` tokens for each byte of UTF-8, and `fixed` more."""

    per_byte: int
    fixed: int

    def __call__(self, text: str) -> int:
        """The most tokens that `text` can have, BOS and EOS included.

        >>> Bound(per_byte=1, fixed=1)("你a")
        5
        """
        return self.per_byte * len(text.encode("utf-8", "surrogatepass")) + self.fixed


def bound_of(vocabulary: Vocabulary) -> Bound:
    """The bound that holds for every text with this vocabulary.

    Byte-level BPE starts from one symbol per byte and only ever merges. SentencePiece falls back to bytes too, but
    puts a space (1 token, or 3 where `▁` is not a token) before the text and after each special token; where a special
    token is a single byte, that doubles what a byte can cost. Other models may normalize first: NFKC makes at most
    18 code points of one character of 3 bytes.
    """
    ends = int(vocabulary.add_bos) + int(vocabulary.add_eos)
    if vocabulary.model == "gpt2":
        return Bound(per_byte=1, fixed=ends)
    if vocabulary.model == "llama":
        space = 1 if SPACE in vocabulary.ids else len(SPACE.encode())
        prefix = space if vocabulary.add_space_prefix else 0
        shortest = min((len(text.encode()) for _, text in vocabulary.special), default=2)
        return Bound(per_byte=space * (2 if prefix and shortest < 2 else 1), fixed=ends + prefix)
    return Bound(per_byte=18, fixed=2)


@dataclass(frozen=True)
class EndTokens:
    """The texts of the vocabulary's BOS and EOS as chat templates print them, and whether the server puts each around
    a prompt by itself."""

    bos: str = ""
    eos: str = ""
    adds_bos: bool = False
    adds_eos: bool = False


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """Counts text in a model's own tokens, without a server; safe to share between threads.

    `exact` is False where the way the model cuts text is not known here; `inexact_because` then says why, `count`
    is an upper bound, and `encode` refuses. `control_tokens` are the texts that outsiders may not write, longest
    first. `bos_ids` and `eos_ids` are what the server puts around a prompt, mostly nothing or one id; `end_tokens`
    what a chat template prints.
    """

    families: tuple[str, ...]
    control_tokens: tuple[str, ...]
    bos_ids: tuple[int, ...]
    eos_ids: tuple[int, ...]
    bound: Bound
    engine: Engine | None
    inexact_because: str = ""
    end_tokens: EndTokens = field(default_factory=EndTokens)

    @classmethod
    def from_metadata(cls, info: Mapping[str, Any]) -> Tokenizer:
        """The tokenizer of a `model_info` as `/api/show` gives it with verbose; ProtocolError without its lists."""
        return build(read_vocabulary(info))

    @property
    def exact(self) -> bool:
        """Whether `count` is the server's own figure; else it is an upper bound."""
        return self.engine is not None

    @property
    def family(self) -> str:
        """What people call this kind of tokenizer: qwen, llama, smollm …; empty where nothing is known."""
        return self.families[0] if self.families else ""

    def count(self, text: str, *, add_bos: bool = True) -> int:
        """The tokens of `text`; with `add_bos`, what the server reports as `prompt_eval_count` for it as a raw prompt
        (BOS and EOS where the model has them). Where not `exact`, an upper bound of that.

        The server answers an empty raw prompt without counting anything.
        """
        if self.engine is None:
            return self.bound(text)
        around = len(self.bos_ids) + len(self.eos_ids) if add_bos else 0
        try:
            return self.engine.count(text) + around
        except _LONE_SURROGATE:
            return self.engine.count(as_the_server_reads(text)) + around

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`, without BOS and EOS; UsageError where not `exact`."""
        if self.engine is None:
            raise UsageError(f"This model's tokenizer cannot be run here: {self.inexact_because}.")
        try:
            return self.engine.encode(text)
        except _LONE_SURROGATE:
            return self.engine.encode(as_the_server_reads(text))

    def upper_bound(self, text: str) -> int:
        """At least `count(text)`, from the text's size alone: enough to know that a prompt fits."""
        return self.bound(text)


def build(vocabulary: Vocabulary) -> Tokenizer:
    """The tokenizer of a vocabulary; not exact where its kind or its word rule is unknown here."""
    engine: Engine | None = None
    because = ""
    if vocabulary.model == "llama":
        engine = sentencepiece_engine(vocabulary)
    elif vocabulary.model != "gpt2":
        because = f"tokenizers of the kind {vocabulary.model!r} are not known"
    elif (rule := vocabulary.rule) is None:
        because = f"its rule for splitting words, {vocabulary.pre!r}, is not known"
    else:
        engine = byte_level_engine(vocabulary, rule)
    return Tokenizer(
        families=family_names(vocabulary.model, vocabulary.pre, vocabulary.architecture),
        control_tokens=vocabulary.control(),
        bos_ids=(vocabulary.bos,) if vocabulary.add_bos else (),
        eos_ids=(vocabulary.eos,) if vocabulary.add_eos else (),
        bound=bound_of(vocabulary),
        engine=engine,
        inexact_because=because,
        end_tokens=EndTokens(
            vocabulary.text_of(vocabulary.printed_bos),
            vocabulary.text_of(vocabulary.printed_eos),
            vocabulary.add_bos,
            vocabulary.add_eos,
        ),
    )


def as_the_server_reads(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD and each pair as its character: Go's JSON reader does that.

    >>> as_the_server_reads("a" + chr(0xD800))
    'a\\ufffd'
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
