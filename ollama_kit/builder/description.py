"""A model on a server, described for a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ollama_kit.server.facts import ModelFacts
from ollama_kit.server.window import window
from ollama_kit.tokens.vocabulary import tokenizer_family


@dataclass(frozen=True)
class Description:
    """`context_tokens` is num_ctx of a call, `trained_context_tokens` what the model was made for.
    `memory` is the plan in two lines, empty where none was made."""

    name: str
    host: str
    digest: str
    architecture: str
    parameters: str
    quantization: str
    context_tokens: int
    context_from: str
    trained_context_tokens: int | None
    gqa: int | None
    query_heads: object
    kv_heads: object
    tokenizer: str
    tokenizer_family: str
    capabilities: tuple[str, ...]
    remote: str
    memory: tuple[str, ...] = ()

    def lines(self) -> Iterator[tuple[str, str]]:
        """Label and value of each line to print."""
        trained = f"; trained on {self.trained_context_tokens:,}" if self.trained_context_tokens else ""
        heads = f" ({self.query_heads} query heads on {self.kv_heads} KV heads)" if self.gqa else ""
        yield "model", f"{self.name} on {self.host}"
        yield "digest", self.digest[:12]
        yield "architecture", f"{self.architecture}, {self.parameters}"
        yield "quantization", self.quantization or "unknown"
        yield "context", f"{self.context_tokens:,} tokens, from {self.context_from}{trained}"
        yield "GQA", f"{self.gqa or 'unknown'}{heads}"
        yield "tokenizer", f"{self.tokenizer} ({self.tokenizer_family or 'family not known'})"
        yield "capabilities", ", ".join(self.capabilities) or "not told by this server"
        for number, line in enumerate(filter(None, self.memory)):
            yield "" if number else "memory", line
        if self.remote:
            yield "remote", f"prompts are forwarded to {self.remote}"


def describe(facts: ModelFacts, host: str) -> Description:
    """The description of a model from what its server says."""
    context_tokens, context_from = window(facts)
    families = tokenizer_family(facts.model_info)
    return Description(
        name=facts.name,
        host=host,
        digest=facts.digest,
        architecture=facts.architecture,
        parameters=facts.parameter_size,
        quantization=facts.quantization,
        context_tokens=context_tokens,
        context_from=context_from,
        trained_context_tokens=facts.context_length,
        gqa=facts.gqa,
        query_heads=facts.head_count,
        kv_heads=facts.head_count_kv,
        tokenizer=facts.tokenizer_pre or facts.tokenizer_model,
        tokenizer_family=", ".join(sorted(families)),
        capabilities=tuple(sorted(facts.capabilities)),
        remote=facts.remote_host,
    )
