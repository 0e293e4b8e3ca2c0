"""What a server reports about its models, as frozen values read from /api/show, /api/tags and /api/ps.

The last part reads the text in which /api/show prints a model's parameters back into values (Ollama server/routes.go,
to 0.33).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ollama_kit.errors import ProtocolError
from ollama_kit.modelfile.parameters import PARAMETERS
from ollama_kit.modelfile.reader import scan
from ollama_kit.server.wire import JSON
from ollama_kit.specs.model import ModelSpec, ParameterValue

DEFAULT_CONTEXT_TOKENS = 8192

PerLayer = int | tuple[int, ...]
"""One count for every layer, or one for each; 0 marks a layer without attention (hybrid models)."""


@dataclass(frozen=True)
class InstalledModel:
    """One line of /api/tags. `digest` is the sha256 of the manifest, hex without a prefix; `modified` ISO 8601."""

    name: str
    digest: str
    size_bytes: int
    modified: str = ""
    family: str = ""
    parameter_size: str = ""
    quantization: str = ""
    remote_host: str = ""
    remote_model: str = ""


@dataclass(frozen=True)
class RunningModel:
    """One line of /api/ps. `context_length` is None on servers that do not report it (0.9.3)."""

    name: str
    digest: str
    size_bytes: int
    size_vram_bytes: int
    context_length: int | None
    expires: str = ""


@dataclass(frozen=True)
class ModelFacts:
    """One model as /api/show describes it. None or empty where the server does not say.

    `context_length` is the trained one. Arrays (per-layer counts, the vocabulary in `model_info`) are present only
    if the call was verbose. `base_blob` is the sha256 (hex) of the weights: two models with the same one share them.
    `template` is the text that the server runs, in Go's language or (from 0.30 on) the Jinja of the weights;
    `modelfile_template` is the TEMPLATE that its Modelfile states, whether it runs or not.
    """

    name: str
    digest: str = ""
    architecture: str = ""
    capabilities: frozenset[str] = frozenset()
    context_length: int | None = None
    block_count: int | None = None
    embedding_length: int | None = None
    head_count: PerLayer | None = None
    head_count_kv: PerLayer | None = None
    tokenizer_model: str = ""
    tokenizer_pre: str = ""
    template: str = ""
    system: str = ""
    parameters: Mapping[str, ParameterValue] = field(default_factory=lambda: MappingProxyType({}))
    messages: tuple[tuple[str, str], ...] = ()
    license: str = ""
    modelfile: str = field(default="", repr=False)
    modelfile_template: str = ""
    base_blob: str = ""
    quantization: str = ""
    parameter_size: str = ""
    parent_model: str = ""
    renderer: str = ""
    parser: str = ""
    requires: str = ""
    remote_host: str = ""
    remote_model: str = ""
    modified: str = ""
    model_info: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @property
    def gqa(self) -> int | None:
        """Query heads per KV head; None if unknown, or if the layers differ.

        >>> ModelFacts("m", head_count=24, head_count_kv=(0, 0, 0, 4)).gqa
        6
        """
        return gqa(self.head_count, self.head_count_kv)

    @property
    def is_remote(self) -> bool:
        """Whether the server forwards this model's prompts to another machine."""
        return bool(self.remote_host or self.remote_model)

    def info(self, key: str) -> Any:
        """A value of `model_info` under the architecture's prefix (`attention.key_length`), None if absent."""
        return self.model_info.get(f"{self.architecture}.{key}")


def window(facts: ModelFacts, spec: ModelSpec | None = None) -> tuple[int, str]:
    """num_ctx for a model and where it comes from: the spec, else the model's own parameter, else 8192; never above
    the context the model was trained on, where the server would clip it."""
    own = facts.parameters.get("num_ctx")
    if spec is not None and spec.context is not None:
        wanted, origin = spec.context, f"spec {spec.name}"
    elif isinstance(own, int):
        wanted, origin = own, "the model's num_ctx"
    else:
        wanted, origin = DEFAULT_CONTEXT_TOKENS, "default"
    trained = facts.context_length
    if trained and wanted > trained:
        return trained, f"{origin}, clipped to the trained context"
    return wanted, origin


def gqa(query: PerLayer | None, key_value: PerLayer | None) -> int | None:
    """Query heads per KV head over the layers that have attention; None if unknown or not one whole number."""
    if query is None or key_value is None:
        return None
    layers = max(len(counts) if isinstance(counts, tuple) else 1 for counts in (query, key_value))
    pairs = list(zip(_spread(query, layers), _spread(key_value, layers), strict=False))
    ratios = {(q // kv if q % kv == 0 else None) for q, kv in pairs if q > 0 and kv > 0}
    return ratios.pop() if len(ratios) == 1 else None


def read_show(name: str, reply: JSON, *, digest: str = "", url: str = "") -> ModelFacts:
    """The facts in a reply of /api/show; ProtocolError where a field has a type that Ollama never gives it."""
    read = _Reader(reply, url, f"/api/show of {name}")
    details = read.mapping("details")
    info = read.mapping("model_info")
    architecture = _text(info.get("general.architecture")) or _text(details.get("family"))
    modelfile = read.text("modelfile")
    stated = _stated(modelfile)
    return ModelFacts(
        name=name,
        digest=digest,
        architecture=architecture,
        capabilities=frozenset(_text(item) for item in read.items("capabilities")),
        context_length=_number(info.get(f"{architecture}.context_length")),
        block_count=_number(info.get(f"{architecture}.block_count")),
        embedding_length=_number(info.get(f"{architecture}.embedding_length")),
        head_count=_per_layer(info.get(f"{architecture}.attention.head_count")),
        head_count_kv=_per_layer(info.get(f"{architecture}.attention.head_count_kv")),
        tokenizer_model=_text(info.get("tokenizer.ggml.model")),
        tokenizer_pre=_text(info.get("tokenizer.ggml.pre")),
        template=read.text("template"),
        system=read.text("system"),
        parameters=MappingProxyType(read_parameters(read.text("parameters"))),
        messages=tuple((_text(item.get("role")), _text(item.get("content"))) for item in read.objects("messages")),
        license=read.text("license"),
        modelfile=modelfile,
        modelfile_template=stated.get("template", ""),
        base_blob=base_blob(modelfile),
        quantization=_text(details.get("quantization_level")),
        parameter_size=_text(details.get("parameter_size")),
        parent_model=_text(details.get("parent_model")),
        renderer=read.text("renderer") or stated.get("renderer", ""),
        parser=read.text("parser") or stated.get("parser", ""),
        requires=read.text("requires") or stated.get("requires", ""),
        remote_host=read.text("remote_host"),
        remote_model=read.text("remote_model"),
        modified=read.text("modified_at"),
        model_info=MappingProxyType(dict(info)),
    )


def read_tags(reply: JSON, *, url: str = "") -> tuple[InstalledModel, ...]:
    """The models in a reply of /api/tags, in the server's order (newest first)."""
    models = []
    for item in _Reader(reply, url, "/api/tags").objects("models"):
        details = item.get("details")
        details = details if isinstance(details, dict) else {}
        models.append(
            InstalledModel(
                name=_text(item.get("name")) or _text(item.get("model")),
                digest=_text(item.get("digest")).removeprefix("sha256:"),
                size_bytes=_int(item.get("size")),
                modified=_text(item.get("modified_at")),
                family=_text(details.get("family")),
                parameter_size=_text(details.get("parameter_size")),
                quantization=_text(details.get("quantization_level")),
                remote_host=_text(item.get("remote_host")),
                remote_model=_text(item.get("remote_model")),
            )
        )
    return tuple(models)


def read_ps(reply: JSON, *, url: str = "") -> tuple[RunningModel, ...]:
    """The models in a reply of /api/ps."""
    return tuple(
        RunningModel(
            name=_text(item.get("name")) or _text(item.get("model")),
            digest=_text(item.get("digest")).removeprefix("sha256:"),
            size_bytes=_int(item.get("size")),
            size_vram_bytes=_int(item.get("size_vram")),
            context_length=_int(item.get("context_length")) or None,
            expires=_text(item.get("expires_at")),
        )
        for item in _Reader(reply, url, "/api/ps").objects("models")
    )


def base_blob(modelfile: str) -> str:
    """The sha256 (hex) of the weights that the first FROM line of a shown Modelfile points to; empty if it names none.

    >>> base_blob("FROM /models/blobs/sha256-" + "a" * 64)[:4]
    'aaaa'
    """
    match = re.search(r"^FROM .*sha256[-:]([0-9a-f]{64})\s*$", modelfile, re.MULTILINE | re.IGNORECASE)
    return match[1].lower() if match else ""


def _stated(modelfile: str) -> dict[str, str]:
    """What a shown Modelfile states and /api/show has in no field of its own (0.12 to 0.33): {command: its value}."""
    wanted = ("template", "renderer", "parser", "requires")
    return {command.name: command.args for command in scan(modelfile).commands if command.name in wanted}


def _spread(counts: PerLayer, layers: int) -> tuple[int, ...]:
    return counts if isinstance(counts, tuple) else (counts,) * layers


def _per_layer(value: object) -> PerLayer | None:
    if isinstance(value, list):
        return tuple(_int(item) for item in value) or None
    return _number(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _int(value: object) -> int:
    return _number(value) or 0


_KINDS: dict[type, str] = {str: "text", dict: "an object", list: "a list"}


class _Reader:
    """Typed access to one reply; null and absent are the same (Go leaves empty fields out)."""

    def __init__(self, reply: JSON, url: str, what: str) -> None:
        self._reply, self._url, self._what = reply, url, what

    def text(self, key: str) -> str:
        return str(self._get(key, str, ""))

    def mapping(self, key: str) -> JSON:
        return dict(self._get(key, dict, {}))

    def items(self, key: str) -> list[Any]:
        return list(self._get(key, list, []))

    def objects(self, key: str) -> list[JSON]:
        items = self.items(key)
        if not all(isinstance(item, dict) for item in items):
            raise self._wrong(key, "a list of objects")
        return items

    def _get(self, key: str, kind: type, empty: Any) -> Any:
        value = self._reply.get(key)
        if value is None:
            return empty
        if not isinstance(value, kind):
            raise self._wrong(key, _KINDS[kind])
        return value

    def _wrong(self, key: str, expected: str) -> ProtocolError:
        return ProtocolError(f"{self._url} answered {self._what} with a {key!r} that is not {expected}", url=self._url)


def read_parameters(text: str) -> dict[str, ParameterValue]:
    """The parameters in /api/show's text form: one `name  value` per line, values printed by Go's %#v.

    A repeated name (`stop`) becomes a tuple; `stop` always is one.

    >>> read_parameters('num_ctx    8192\\nstop    "<|im_end|>"')
    {'num_ctx': 8192, 'stop': ('<|im_end|>',)}
    """
    found: dict[str, list[int | float | bool | str]] = {}
    for line in text.split("\n"):
        name, _, value = line.strip().partition(" ")
        if name:
            found.setdefault(name, []).append(_parameter(name, value.strip()))
    return {
        name: tuple(str(value) for value in values) if name == "stop" or len(values) > 1 else values[0]
        for name, values in sorted(found.items())
    }


def go_unquote(text: str) -> str:
    """The string that Go's strconv.Quote printed as `text`; `text` itself if it is not quoted.

    >>> go_unquote(r'"a\\t\\u4e2d\\xff\\""')
    'a\\t中\ufffd"'
    """
    if len(text) < 2 or text[0] != text[-1] or text[0] not in '"`':
        return text
    if text[0] == "`":
        return text[1:-1]
    return _GO_ESCAPES.sub(_unescape, text[1:-1])


# Runs of \xHH are one piece: they are the bytes of a text that is not UTF-8.
_GO_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2})+|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[0-7]{3}|\\.")
_GO_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescape(match: re.Match[str]) -> str:
    piece = match[0]
    kind = piece[1]
    if kind == "x":
        return bytes.fromhex(piece.replace("\\x", "")).decode("utf-8", "replace")
    if kind in "uU":
        code = int(piece[2:], 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    if kind.isdigit():
        return chr(int(piece[1:], 8))
    return _GO_SIMPLE.get(kind, kind)


def _parameter(name: str, text: str) -> int | float | bool | str:
    if text[:1] in ('"', "`"):
        return go_unquote(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        value = float(text)
    except ValueError:
        return text
    known = PARAMETERS.get(name)
    if known is not None and known.kind == "float":
        return value
    # Ollama keeps a model's numbers as JSON floats and prints them so: 1.048576e+06 is an integer.
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return int(value) if known is not None and value.is_integer() else value
