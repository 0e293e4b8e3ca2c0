"""The checks before anything is created: is the base the model that the spec was written for?"""

from __future__ import annotations

from pathlib import Path

from ollama_kit.errors import ExpectationFailed
from ollama_kit.server.facts import ModelFacts
from ollama_kit.specs.model import ModelSpec
from ollama_kit.tokens import tokenizer_family


def check_expectations(spec: ModelSpec, facts: ModelFacts) -> None:
    """Raises ExpectationFailed, with the spec's file and line, where the model is not what the spec expects: GQA,
    tokenizer family, trained context, the ability to think, and a system prompt that cannot be taken away."""
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
            f"a context of {spec.context:,} tokens is more than the {facts.context_length:,} that {spec.base} was "
            "trained on; the server would clip it",
        )
    if spec.thinking and facts.capabilities and "thinking" not in facts.capabilities:
        raise _failed(spec, "thinking", f"{spec.base} cannot think; the server would refuse every call")
    if spec.system == "" and facts.system:
        raise _failed(
            spec, "system", f"an empty system prompt does not replace the one {spec.base} has; write some text"
        )


def _failed(spec: ModelSpec, key: str, message: str) -> ExpectationFailed:
    path, line = spec.lines.get(key, (spec.path or Path(spec.name), 0))
    where = f"{path}:{line}" if line else str(path)
    return ExpectationFailed(f"{where}: {message}")
