"""Whether a spec's context fits the memory at hand, and a model's plan in two lines."""

from __future__ import annotations

from ollama_kit.errors import OllamaKitError, in_users_language
from ollama_kit.memory.available import Memory, memory_at_hand
from ollama_kit.memory.fitting import Answer, Fitting, answer
from ollama_kit.memory.quantities import shown
from ollama_kit.memory.sources import Subject, of_model, of_spec
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs.model import ModelSpec


def fit_warning(spec: ModelSpec, server: Server, settings: Settings) -> str:
    """What to say of a spec whose context does not fit; empty where it does, or where nobody can know.

    A build never fails for it: the server may offload to RAM, and then is only slow.
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
    what = f"{found.plan.setup.context:,} tokens need {shown(found.plan.needed_bytes)}, and there is {there}"
    what_zh = f"{found.plan.setup.context:,} 个词元需要 {shown(found.plan.needed_bytes)}，而现有 {there}"
    if longest:
        advice = f"`ollama-kit plan {spec.name} --write` sets the context to {longest:,}, which fits"
        advice_zh = f"`ollama-kit plan {spec.name} --write` 会把上下文改为可容纳的 {longest:,}"
    else:
        advice = f"no context fits whole; `ollama-kit plan {spec.name}` says what helps"
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
        return needed, "how much there is is not known; set `memory` in ollama-kit.yaml"
    verdict = "fits" if found.fits else "does not fit"
    there = f"{shown(found.memory.size_bytes)} ({found.memory.source})"
    return needed, f"{verdict} in {there}; longest context {found.longest_context:,}"


def _answered(subject: Subject, memory: Memory | None) -> Answer:
    return answer(Fitting(subject.shape, subject.setup()), memory)
