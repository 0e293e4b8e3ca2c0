"""What a guarded call has to know about its model, asked of the server once per client and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ollama_kit.errors import ModelMissing, UsageError
from ollama_kit.guard.control_tokens import ControlTokens
from ollama_kit.modelfile.versions import SINCE, Feature, ServerVersion, supports
from ollama_kit.server import flows
from ollama_kit.server.facts import ModelFacts, window
from ollama_kit.server.wire import Flow
from ollama_kit.specs.model import Think
from ollama_kit.structured.thinking import Tags, thinking_tags
from ollama_kit.tokens.chat_template import turn_markers
from ollama_kit.tokens.chat_template.markers import jinja_markers
from ollama_kit.tokens.store import keep_tokenizer, kept_tokenizer
from ollama_kit.tokens.template_choice import TemplateChoice, template_in_force
from ollama_kit.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from ollama_kit.specs.model import ModelSpec

FORMAT_NEEDS_THINKING = (ServerVersion(0, 12, 4), ServerVersion(0, 21, 0))
"""The versions, first and last, that ignore `format` with `think: false` on a model that can think."""

IMAGE_MARKS = ("[img]", "[img-")
"""In a text of the caller, `[img]` draws an image to its place, and `[img-N]` shows one again or, where there is none
of that number, ends the call (Ollama server/prompt.go, runner/ollamarunner/runner.go; 0.9.3 to 0.33)."""


@dataclass(frozen=True)
class Profile:
    """One model on one server. `context_tokens` is the num_ctx of its calls; `context_from` says who set it."""

    facts: ModelFacts
    tokenizer: Tokenizer
    version: ServerVersion
    context_tokens: int
    context_from: str
    url: str
    spec: ModelSpec | None = None

    @cached_property
    def template(self) -> TemplateChoice:
        """What renders its chats on this server, and how that is known."""
        return template_in_force(self.facts, self.version)

    @cached_property
    def control_tokens(self) -> ControlTokens:
        """The vocabulary's control tokens, the pieces of the chat template that mark a turn, and, where the model can
        see, the marks that the server puts where an image goes."""
        marks = IMAGE_MARKS if self.can_see else ()
        choice = self.template
        markers = jinja_markers(choice.template) if choice.is_native else turn_markers(self.facts.template)
        return ControlTokens.of((*self.tokenizer.control_tokens, *markers, *marks))

    @cached_property
    def thinking_tags(self) -> Tags:
        """What its thinking may stand between: the families' tags, and those of its own vocabulary."""
        return thinking_tags(self.tokenizer.control_tokens)

    @property
    def can_see(self) -> bool:
        return "vision" in self.facts.capabilities

    @property
    def can_think(self) -> bool:
        return "thinking" in self.facts.capabilities

    @property
    def can_call_tools(self) -> bool:
        """Whether the server takes tools for it; True where it does not list what a model can do."""
        return "tools" in self.facts.capabilities or not self.facts.capabilities

    @property
    def drops_format(self) -> bool:
        """Whether the server leaves `format` out where the model is told not to think (0.12.4 to 0.21.0)."""
        first, last = FORMAT_NEEDS_THINKING
        return self.can_think and first <= self.version <= last


def check_thinking(think: Think, profile: Profile) -> None:
    """UsageError where a model cannot think, or its server does not know the level that is asked for (which it would
    refuse, or take for `true`)."""
    name = profile.facts.name
    if think and not profile.can_think:
        raise UsageError(
            f"{name} cannot think",
            hint=("Leave `think` out, or use a model with thinking.", "请不要设置 `think`，或换用支持思考的模型。"),
        )
    if not isinstance(think, str):
        return
    feature: Feature = "think_levels_of_gpt_oss" if "gptoss" in profile.facts.architecture else "think_levels"
    if think == "max":
        feature = "think_max"
    if not supports(profile.version, feature):
        raise UsageError(
            f"Ollama {profile.version} does not take the thinking level {think!r} for {name} (from {SINCE[feature]})",
            hint=("Use think: true, or update Ollama.", "请使用 think: true，或升级 Ollama。"),
        )


def check_tools(tools: Sequence[object], profile: Profile) -> None:
    """UsageError where tools are offered to a model that the server would refuse them for."""
    if tools and not profile.can_call_tools:
        name, choice = profile.facts.name, profile.template
        raise UsageError(
            f"{name} does not support tools (its chat template has no place for them: {choice.because})",
            hint=(
                "Leave `tools` out, or use a model with the capability `tools` (`ollama-kit show MODEL`).",
                "请不要传入 `tools`，或换用带 `tools` 能力的模型（`ollama-kit show MODEL`）。",
            ),
        )


def profile_model(model: str, url: str, spec: ModelSpec | None = None) -> Flow[Profile]:
    """The profile of a model on the server at `url`; `spec` is the one it was built from, if any.

    Asks for the version, the list of models and the model; its vocabulary (megabytes) only if no tokenizer of the
    same weights is kept. ModelMissing where the server lacks it, with the command that builds it if there is a spec.
    """
    version = yield from flows.version(url)
    installed = yield from flows.models(url)
    try:
        facts = yield from flows.show(model, url, verbose=False, installed=installed)
    except ModelMissing as error:
        if spec is None:
            raise
        raise _not_built(error, spec) from error
    key = facts.base_blob or facts.digest
    tokenizer = kept_tokenizer(key)
    if tokenizer is None:
        verbose = yield from flows.show(model, url, verbose=True, installed=installed)
        tokenizer = keep_tokenizer(key, verbose.model_info)
    context_tokens, context_from = window(facts, spec)
    return Profile(facts, tokenizer, version, context_tokens, context_from, url, spec)


def _not_built(error: ModelMissing, spec: ModelSpec) -> ModelMissing:
    return ModelMissing(
        error.message,
        model=error.model,
        installed=error.installed,
        nearest=error.nearest,
        url=error.url,
        hint=(
            f"There is a spec of that name: build it first with `ollama-kit build {spec.name}`.",
            f"有同名的规格文件：请先运行 `ollama-kit build {spec.name}`。",
        ),
    )
