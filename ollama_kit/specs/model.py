"""What a spec says about a model: `ModelSpec`, one frozen value; and the keys of its YAML, the type that each takes,
and what to write instead of a common mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

SPEC_VERSION = 1

Role = Literal["system", "user", "assistant"]
ParameterValue = int | float | bool | str | tuple[str, ...]


Level = Literal["low", "medium", "high", "max"]
Think = bool | Level
"""Whether a model thinks before it answers, and how much where it has levels."""
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True)
class Message:
    """One example turn that the model starts every conversation with."""

    role: Role
    content: str


@dataclass(frozen=True)
class ModelSpec:
    """One model, described. Texts are final: inherited, overridden and rendered already.

    `base` is what the YAML calls `from`: a model name, or the path of a GGUF or safetensors folder (then
    `base_path` is set, resolved against the spec's own folder). `context` is num_ctx in tokens. `gqa` is the expected
    number of query heads per KV head, None for "auto"; `tokenizer` the expected family, None for any.
    `lines` maps a dotted key ("parameters.top_p") to (file, line) for errors found later.
    """

    name: str
    base: str
    base_path: Path | None = None
    context: int | None = None
    gqa: int | None = None
    tokenizer: str | None = None
    thinking: Think | None = None
    system: str | None = None
    template: str | None = None
    adapter: Path | None = None
    messages: tuple[Message, ...] = ()
    license: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterValue] = field(default_factory=lambda: MappingProxyType({}))
    renderer: str | None = None
    parser: str | None = None
    requires: str | None = None
    quantize: str | None = None
    keep_alive: str | int | None = None
    guard: str = "standard"
    modelfile_template: str = "default"
    path: Path | None = None
    lines: Mapping[str, tuple[Path, int]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )

    @property
    def all_parameters(self) -> dict[str, ParameterValue]:
        """`parameters` with `context` as num_ctx: what the Modelfile and the create request carry."""
        window = {} if self.context is None else {"num_ctx": self.context}
        return {**window, **self.parameters}


@dataclass(frozen=True)
class Key:
    expected: str
    accepts: Callable[[Any], bool]


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _positive(value: Any) -> bool:
    return _whole(value) and value > 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


KEYS: Mapping[str, Key] = {
    "spec": Key("the version of the spec format, 1", _whole),
    "extends": Key("the name of another spec, or the path of one", _name),
    "from": Key("a model name such as qwen3.6:27b, or the path of a GGUF file", _name),
    "context": Key("a whole number of tokens above 0", _positive),
    "gqa": Key("auto, or the expected number of query heads per KV head", lambda v: v == "auto" or _positive(v)),
    "tokenizer": Key("the expected tokenizer family, such as qwen", _name),
    "thinking": Key("true, false, or how much: low, medium, high, max", lambda v: isinstance(v, bool) or v in LEVELS),
    "system": Key("text", _text),
    "template": Key("a Go chat template as text", _text),
    "adapter": Key("the path of a GGUF LoRA adapter", _name),
    "messages": Key("a list of {role, content}", lambda v: isinstance(v, list)),
    "license": Key("text, or a list of texts", lambda v: _text(v) or _texts(v)),
    "parameters": Key("a mapping of Ollama's parameters, such as {temperature: 0.7}", _mapping),
    "renderer": Key("the name of one of Ollama's built-in renderers", _name),
    "parser": Key("the name of one of Ollama's built-in parsers", _name),
    "requires": Key("the lowest Ollama version as text, such as '0.14.0'", _name),
    "quantize": Key("a quantization such as q4_K_M", _name),
    "keep_alive": Key("a duration such as 10m, or seconds as a number", lambda v: _name(v) or _whole(v)),
    "guard": Key("the name of a guard policy: strict, standard or off", lambda v: _name(v) or v is False),
    "modelfile": Key("the name of a Modelfile template: default, qwen or adapter", _name),
    "vars": Key("a mapping of values for Jinja", _mapping),
}

_PATH = re.compile(r"\.{1,2}[/\\]|[/\\~]|[A-Za-z]:[/\\]|.*\.(?:gguf|safetensors|bin)$", re.IGNORECASE)

RIGHT_PLACE: Mapping[str, str] = {
    "num_ctx": "context",
    "context_length": "context",
    "num_gqa": "gqa",
    "model": "from",
    "base": "from",
    "prompt": "system",
    "think": "thinking",
    "variables": "vars",
    "stop": "parameters.stop",
}
"""Keys commonly used elsewhere, and ours for the same thing."""

PARAMETER_LIKE = frozenset(
    (
        *("temperature", "top_k", "top_p", "min_p", "typical_p", "seed", "num_predict", "num_keep", "num_batch"),
        *("repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty"),
        *("num_gpu", "main_gpu", "num_thread", "use_mmap", "draft_num_predict"),
    )
)
"""Names that belong under `parameters:`, and are found beside it."""

MERGED = frozenset({"parameters", "vars"})
"""Keys that a spec and the one it extends fill together; in all others the child's value replaces the whole."""


def wrong_type(key: str, value: Any) -> str | None:
    """What is wrong with a value, or None. A number written as people say it ("8k") gets the number to write.

    >>> wrong_type("context", "8k")
    "context must be a whole number of tokens above 0, not the text '8k': write 8192"
    """
    known = KEYS[key]
    if known.accepts(value):
        return None
    short = re.fullmatch(r"(\d+)\s*[kK]", value) if isinstance(value, str) else None
    remedy = f": write {int(short[1]) * 1024}" if short and key == "context" else ""
    return f"{key} must be {known.expected}, not {described(value)}{remedy}"


def described(value: Any) -> str:
    """A value as an error message shows it: its kind, and the value cut to a readable length."""
    kinds = {
        bool: "",
        int: "the number ",
        float: "the number ",
        str: "the text ",
        list: "the list ",
        dict: "the mapping ",
    }
    if value is None:
        return "nothing"
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return kinds.get(type(value), f"the {type(value).__name__} ") + (shown if len(shown) <= 60 else shown[:57] + "…")


def looks_like_path(text: str) -> bool:
    """Whether a `from` or `adapter` means a file. Ollama takes any text that is not a file for a model name and tries
    to pull it, so what looks like a path is recognized before that.

    >>> [looks_like_path(text) for text in ("qwen3.6:27b", "hf.co/a/b:q4", "./m.gguf", "C:/m", "m.gguf")]
    [False, False, True, True, True]
    """
    return text in (".", "..") or _PATH.match(text) is not None
