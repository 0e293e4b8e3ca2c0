"""Models described for a person: one on a server (`describe`), what it needs of the memory at hand, and every
spec in sight with the state of the server's copy (`inventory`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ollama_kit.builder.build import diff
from ollama_kit.builder.build_records import leftovers
from ollama_kit.errors import OllamaKitError, ServerError, in_users_language
from ollama_kit.memory.available import Memory, memory_at_hand
from ollama_kit.memory.fitting import Answer, Fitting, answer
from ollama_kit.memory.quantities import shown
from ollama_kit.memory.sources import Subject, of_model, of_spec
from ollama_kit.server import flows
from ollama_kit.server.facts import InstalledModel, ModelFacts, window
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec, spec_names
from ollama_kit.specs.model import ModelSpec
from ollama_kit.tokens.vocabulary import tokenizer_family


@dataclass(frozen=True)
class Description:
    """`context_tokens` is num_ctx of a call, `trained_context_tokens` what the model was made for.
    `in_force` are the model's own
    parameters, those of its parent model among them; `memory` is the plan in two lines, empty where none was made."""

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
    in_force: Mapping[str, Any]
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
        if self.in_force:
            said = (f"{name} {_shown(value)}" for name, value in sorted(self.in_force.items()) if name != "num_ctx")
            yield "parameters", ", ".join(said) or "none but the context; the rest are the server's defaults"
        yield "capabilities", ", ".join(self.capabilities) or "not reported by this server"
        for number, line in enumerate(filter(None, self.memory)):
            yield "" if number else "memory", line
        if self.remote:
            yield "remote", f"prompts are forwarded to {self.remote}"


def _shown(value: Any) -> str:
    return " ".join(map(repr, value)) if isinstance(value, list | tuple) else str(value)


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
        in_force=dict(facts.parameters),
    )


def fit_warning(spec: ModelSpec, server: Server, settings: Settings) -> str:
    """What to say of a spec whose context does not fit; empty where it does, or where that is unknown.

    A build never fails for it: the server may offload to RAM, and is then only slow.
    """
    memory = memory_at_hand(settings.memory, local=server.host.is_loopback)
    if memory is None:
        return ""
    try:
        found = _answered(of_spec(spec, server), memory)
    except OllamaKitError:
        return ""
    if found.fits:
        return ""
    longest, there = found.longest_context, f"{shown(memory.size_bytes)} ({memory.source})"
    what = f"{found.plan.setup.context:,} tokens need {shown(found.plan.needed_bytes)}, and {there} is available"
    what_zh = f"{found.plan.setup.context:,} 个词元需要 {shown(found.plan.needed_bytes)}，而现有 {there}"
    if longest:
        advice = f"`ollama-kit plan {spec.name} --write` sets the context to {longest:,}, which fits"
        advice_zh = f"`ollama-kit plan {spec.name} --write` 会把上下文改为可容纳的 {longest:,}"
    else:
        advice = f"no context fits entirely; `ollama-kit plan {spec.name}` suggests what helps"
        advice_zh = f"任何长度都无法完整容纳；`ollama-kit plan {spec.name}` 会给出建议"
    return in_users_language((f"{what}: {advice}", f"{what_zh}：{advice_zh}"))


def memory_lines(name: str, server: Server, settings: Settings) -> tuple[str, str]:
    """Two lines on what a model needs: its parts, and whether it fits. The second is empty where there is no plan."""
    try:
        memory = memory_at_hand(settings.memory, local=server.host.is_loopback)
        found = _answered(of_model(name, server), memory)
    except OllamaKitError as error:
        return f"no plan: {error.message}", ""
    plan = found.plan
    parts = ", ".join(
        f"{part.name} {shown(size)}"
        for part in plan.parts
        if (size := part.card_bytes if plan.setup.on_card else part.host_bytes)
    )
    needed = f"{shown(plan.needed_bytes)} at {plan.setup.context:,} tokens: {parts}"
    if found.memory is None:
        return needed, "the available memory is not known; set `memory` in ollama-kit.yaml"
    verdict = "fits" if found.fits else "does not fit"
    there = f"{shown(found.memory.size_bytes)} ({found.memory.source})"
    return needed, f"{verdict} in {there}; longest context {found.longest_context:,}"


def _answered(subject: Subject, memory: Memory | None) -> Answer:
    return answer(Fitting(subject.shape, subject.setup()), memory)


@dataclass(frozen=True)
class Entry:
    """One spec. `state` is "current", "not built", "differs: …", or what is wrong with the spec."""

    name: str
    base: str = ""
    context: int | None = None
    state: str = ""


@dataclass(frozen=True)
class Inventory:
    """`problem` says why the server could not be asked; every state is then unknown."""

    host: str
    entries: tuple[Entry, ...]
    leftovers: tuple[str, ...] = ()
    problem: str = ""


def inventory(server: Server) -> Inventory:
    """All specs, sorted by name. A wrong spec, or an unreachable server, is reported in its place."""
    installed: tuple[InstalledModel, ...] | None = None
    problem = ""
    try:
        installed = server.models()
    except ServerError as error:
        problem = error.message
    entries = tuple(_entry(name, server, installed) for name in spec_names())
    return Inventory(server.url, entries, leftovers(installed or ()), problem)


def _entry(name: str, server: Server, installed: tuple[InstalledModel, ...] | None) -> Entry:
    try:
        spec = load_spec(name)
    except OllamaKitError as error:
        return Entry(name, state=f"wrong: {error.message}")
    if installed is None:
        state = "unknown"
    elif not flows.digest_of(name, installed):
        state = "not built"
    else:
        try:
            differences = diff(spec, server, installed=installed)
        except OllamaKitError as error:
            return Entry(name, spec.base, spec.context, f"unknown: {error.message}")
        state = f"differs: {', '.join(item.key for item in differences)}" if differences else "current"
    return Entry(name, spec.base, spec.context, state)
