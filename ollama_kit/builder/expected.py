"""What a model must be: the base, before anything is created (`check_expectations`), and the built model, compared with
what the server has (`expected_model`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_kit.errors import ExpectationFailed
from ollama_kit.modelfile.request import CreateRequest
from ollama_kit.server.facts import ModelFacts
from ollama_kit.specs.model import ModelSpec
from ollama_kit.tokens import tokenizer_family


@dataclass(frozen=True)
class Difference:
    """One thing that is not as the spec says. `key` is dotted as in the spec ("parameters.top_p")."""

    key: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.key}: the spec says {_shown(self.expected)}, the server has {_shown(self.found)}"


@dataclass(frozen=True)
class Expected:
    """The model that /api/create makes of a request on a base. None: not known before it is made, so not compared.

    `parameters_whole` says whether `parameters` are all there may be: not so for weights from a file, where the
    server adds what it finds for the file's own chat template.
    """

    parameters: Mapping[str, Any]
    parameters_whole: bool
    system: str | None
    template: str | None
    messages: tuple[tuple[str, str], ...] | None
    license: str | None
    renderer: str | None
    parser: str | None
    base_blob: str | None
    quantization: str | None

    def differences(self, facts: ModelFacts) -> tuple[Difference, ...]:
        """How a model on the server differs; empty if it is the one expected."""
        return tuple(self._differences(facts))

    def _differences(self, facts: ModelFacts) -> Iterator[Difference]:
        for key in ("system", "template", "messages", "license", "renderer", "parser"):
            expected, found = getattr(self, key), getattr(facts, key)
            if expected is not None and expected != found:
                yield Difference(key, expected, found)
        if self.base_blob and facts.base_blob and self.base_blob != facts.base_blob:
            yield Difference("from", f"weights {self.base_blob[:12]}", f"weights {facts.base_blob[:12]}")
        if self.quantization and self.quantization.casefold() != facts.quantization.casefold():
            yield Difference("quantize", self.quantization, facts.quantization)
        names = {*self.parameters, *(facts.parameters if self.parameters_whole else ())}
        for name in sorted(names):
            expected, found = self.parameters.get(name), facts.parameters.get(name)
            if not _same(expected, found):
                yield Difference("context" if name == "num_ctx" else f"parameters.{name}", expected, found)


def expected_model(request: CreateRequest, base: ModelFacts | None, base_blob: str = "") -> Expected:
    """What `request` makes of `base`, by the server's rules of inheritance (Ollama server/create.go): parameters
    merge key by key, system and template replace where they are not empty, messages replace as a whole, licenses
    append. Without `base` only what the request itself says is known."""
    quantized = request.quantize is not None
    own_messages = tuple((message.role, message.content) for message in request.messages)
    return Expected(
        parameters={**(base.parameters if base else {}), **request.parameters},
        parameters_whole=base is not None,
        system=request.system or (base.system if base else None),
        template=request.template or (base.template if base else None),
        messages=own_messages or (base.messages if base else None),
        license="\n".join(filter(None, (base.license, *request.license))) if base else None,
        renderer=request.renderer or (base.renderer if base else None),
        parser=request.parser or (base.parser if base else None),
        base_blob=None if quantized else (base.base_blob if base else base_blob) or None,
        quantization=request.quantize,
    )


def _same(expected: Any, found: Any) -> bool:
    """Equal values; numbers by value, as the server prints 0.7 and 1e+06 its own way."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return abs(expected - found) <= 1e-6 * max(abs(expected), abs(found))
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return list(expected) == list(found)
    return bool(expected == found)


def _shown(value: Any) -> str:
    if value in (None, "", (), []):
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(str(value))} characters)"


def check_expectations(spec: ModelSpec, facts: ModelFacts) -> None:
    """Raises ExpectationFailed, with the spec's file and line, where the model is not what the spec expects: GQA,
    tokenizer family, trained context, the ability to think, and a system prompt that cannot be removed."""
    if spec.gqa is not None and facts.gqa != spec.gqa:
        heads = f" ({facts.head_count} query heads on {facts.head_count_kv} KV heads)" if facts.gqa else ""
        raise _failed(spec, "gqa", f"the spec expects GQA {spec.gqa}, and {spec.base} has {facts.gqa or 'none'}{heads}")
    families = tokenizer_family(facts.model_info)
    if spec.tokenizer and spec.tokenizer.casefold() not in families:
        found = " or ".join(sorted(families)) or "a tokenizer that is not known"
        raise _failed(
            spec, "tokenizer", f"the spec expects the tokenizer {spec.tokenizer}, and {spec.base} has {found}"
        )
    if spec.context and facts.context_length and spec.context > facts.context_length:
        raise _failed(
            spec,
            "context",
            f"a context of {spec.context:,} tokens exceeds the {facts.context_length:,} that {spec.base} was "
            "trained on; the server would clip it",
        )
    if spec.thinking and facts.capabilities and "thinking" not in facts.capabilities:
        raise _failed(spec, "thinking", f"{spec.base} does not support thinking; the server would refuse every call")
    if spec.system == "" and facts.system:
        raise _failed(
            spec, "system", f"an empty system prompt does not replace the one {spec.base} has; write some text"
        )


def _failed(spec: ModelSpec, key: str, message: str) -> ExpectationFailed:
    path, line = spec.lines.get(key, (spec.path or Path(spec.name), 0))
    where = f"{path}:{line}" if line else str(path)
    return ExpectationFailed(f"{where}: {message}")
