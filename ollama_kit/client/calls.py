"""What both clients share: how a call is described, its policy and its pipeline's parts, and the models asked so
far."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ollama_kit import resources
from ollama_kit.audit.location import open_audit
from ollama_kit.client.drive import Drive, Streamer
from ollama_kit.client.embedding import Embeddings, EmbedRequest, embed_texts
from ollama_kit.errors import GuardBlocked, SpecNotFound, UsageError
from ollama_kit.guard.conversation import DocumentLike, MessageLike, Request, documents_from, messages_from
from ollama_kit.guard.exchange import CallContext, Finished, Hook, Reduce, Result, announce
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.images.attached import prepare_images
from ollama_kit.guard.judge import Judge, JudgeCache
from ollama_kit.guard.mapreduce import call_in_parts
from ollama_kit.guard.policy import Policy, PolicyLike, load_policy
from ollama_kit.settings import Settings, load_settings
from ollama_kit.specs import find_spec, load_spec
from ollama_kit.specs.model import Think
from ollama_kit.structured.schema import load_schema
from ollama_kit.text.language import language_of

if TYPE_CHECKING:
    from ollama_kit.guard.profile import Profile
    from ollama_kit.specs.model import ModelSpec
    from ollama_kit.structured.schema import Schema

Messages = str | Sequence[MessageLike] | MessageLike
Documents = Sequence[DocumentLike] | DocumentLike
Counting = Literal["auto", "exact"]

_EXTRACT = {
    "en": "Extract what the schema asks for from the documents. Leave out what is not in them.",
    "zh": "请从文档中提取 schema 要求的内容；文档中没有的不要填写。",
}


class CallOptions(TypedDict, total=False):
    """How one call is made: `think` first, Ollama's `options` (num_predict bounds the answer), `tools`, `policy`, and
    `reduce`, which puts the parts together where the policy says `context: map_reduce`."""

    think: Think | None
    options: Mapping[str, Any] | None
    tools: Sequence[Mapping[str, Any]]
    policy: PolicyLike | None
    reduce: Reduce | None


class BaseClient:
    """The half of a client that does not care whether it blocks."""

    def __init__(
        self, settings: Settings | None, policy: PolicyLike | None, counting: Counting, hooks: Sequence[Hook]
    ) -> None:
        self.settings = settings or load_settings()
        self._policy = None if policy is None else load_policy(policy)
        self._profiles: dict[str, Profile] = {}
        self._specs: dict[str, ModelSpec | None] = {}
        self._policies: dict[str, Policy] = {}
        self._asking_once: dict[str, Lock] = {}
        self._lock = Lock()
        self._verdicts = JudgeCache()
        self._audit = open_audit(self.settings)
        recording: tuple[Hook, ...] = () if self._audit is None else (self._audit.hear,)
        self._context = CallContext(
            fence=Fence(secrets.token_bytes(16)),
            clock=time.monotonic,
            draw_seed=lambda: secrets.randbelow(2**31 - 1) + 1,
            hooks=(*hooks, *recording),
            count_exactly=counting == "exact",
        )

    def _request(
        self, model: str, messages: Messages, documents: Documents, how: CallOptions, raw: str | None = None
    ) -> Request:
        """The call as one value, its images prepared; UsageError where it cannot be one."""
        options = dict(how.get("options") or {})
        if "num_ctx" in options:
            raise UsageError(
                "num_ctx is not an option of a call: another value would make the server load the model anew",
                hint="Set `context` in the model's spec and build it.",
            )
        bound = options.pop("num_predict", None)
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 1):
            raise UsageError(f"num_predict must be a whole number of tokens above 0, not {bound!r}")
        think, spec = how.get("think"), self.spec_for(model)
        turns, texts = messages_from(messages), documents_from(documents)
        if not (turns or texts or raw):
            raise UsageError("there is nothing to ask: no message and no document")
        if raw is not None and how.get("tools"):
            raise UsageError("a raw prompt takes no tools: its template is the caller's own")
        request = Request(
            model=model,
            messages=turns,
            documents=texts,
            think=(spec.thinking if think is None and spec else think) or False,
            options=options,
            answer_tokens=bound,
            tools=tuple(how.get("tools") or ()),
            raw=raw,
        )
        return self._with_images(request, self.policy_for(model, how.get("policy")))

    def _with_images(self, request: Request, policy: Policy) -> Request:
        """The request with its images prepared. A call that is refused for one has ended, and that is told."""
        try:
            return replace(request, messages=prepare_images(request.messages, policy.image_rules))
        except GuardBlocked as error:
            announce(Finished(request, None, "", error, "", "", policy.name), self._context.hooks)
            raise

    def _drive(
        self,
        request: Request,
        schema: Any,
        how: CallOptions,
        profile: Callable[[str], Profile],
        *,
        streamed: bool = False,
    ) -> Drive[Result]:
        """The call, ready to be driven. What is wrong with the schema or the policy is said before the server is
        asked."""
        checked, policy = self._checked(request.model, schema, how)
        around, judge = self._context, self._judge(policy, profile)
        if how.get("reduce") is not None:
            around = replace(around, reduce=how["reduce"])
        steps = call_in_parts(request, profile(request.model), policy, checked, around, judge)
        return Drive(steps, around.hooks, Streamer(schema is not None) if streamed else None)

    def _embedding(self, request: EmbedRequest, policy: Policy, profile: Callable[[str], Profile]) -> Drive[Embeddings]:
        """An embedding, ready to be driven: through the same pipeline, hooks and audit as any call."""
        judge = self._judge(policy, profile)
        steps = embed_texts(request, profile(request.model), policy, self._context, judge)
        return Drive(steps, self._context.hooks)

    def _judge(self, policy: Policy, profile: Callable[[str], Profile]) -> Judge | None:
        """The judge that a policy names, known before the call: where it runs, and how much it can see."""
        if policy.judge is None:
            return None
        return Judge(policy.judge, profile(policy.judge.model), self._verdicts)

    def _checked(self, model: str, schema: Any, how: CallOptions) -> tuple[Schema | None, Policy]:
        """The schema and the policy of a call; SchemaError or SpecError where one is wrong."""
        return None if schema is None else load_schema(schema), self.policy_for(model, how.get("policy"))

    def policy_for(self, model: str, policy: PolicyLike | None = None) -> Policy:
        """The policy of a call: `policy` of its own, else the client's, else that of the model's spec, else
        `standard`."""
        if policy is None:
            spec = self.spec_for(model)
            policy = self._policy or (spec.guard if spec else "standard")
        return self._named_policy(policy)

    def weakened_by_project(self, model: str, policy: PolicyLike | None = None) -> str:
        """One line that says how the policy of a call guards less than `standard`, where a project's spec or policy
        file says so and not the user; else empty."""
        in_force, spec = self.policy_for(model, policy), self.spec_for(model)
        named_by_spec = policy is None and self._policy is None and spec is not None
        file = in_force.origin
        if file is None or resources.is_own(file):
            file = spec.path if named_by_spec and spec is not None else None
        if file is None or resources.is_own(file):
            return ""
        weaker = in_force.weaker_than(load_policy("standard"))
        return f"{file}: the policy {in_force.name!r} guards less than standard ({', '.join(weaker)})" if weaker else ""

    def _named_policy(self, wanted: PolicyLike) -> Policy:
        """The policy that is meant; one that is named is read once."""
        if not isinstance(wanted, str):
            return load_policy(wanted)
        with self._lock:
            if wanted not in self._policies:
                self._policies[wanted] = load_policy(wanted)
            return self._policies[wanted]

    def spec_for(self, model: str) -> ModelSpec | None:
        """The spec that a MODEL argument names, read once; None where it is only a model on the server."""
        with self._lock:
            if model not in self._specs:
                self._specs[model] = spec_of(model)
            return self._specs[model]

    def _extraction_prompt(self, documents: Documents) -> str:
        """The question of an extraction that has none of its own, in the documents' language."""
        given = documents_from(documents)
        return _EXTRACT[language_of(given[0].text if given else "")]

    def _close_audit(self) -> None:
        """Closes the record of calls, where one is kept."""
        if self._audit is not None:
            self._audit.close()

    def _known_profile(self, model: str) -> Profile | None:
        with self._lock:
            return self._profiles.get(model)

    def _profiling(self, model: str) -> Lock:
        """Held while a model is asked about, so that threads that want it at once ask once."""
        with self._lock:
            return self._asking_once.setdefault(model, Lock())

    def _keep_profile(self, model: str, profile: Profile) -> Profile:
        with self._lock:
            return self._profiles.setdefault(model, profile)


def spec_of(model: str) -> ModelSpec | None:
    """The spec that a MODEL argument names, None where it is only a model on the server."""
    try:
        find_spec(model)
    except SpecNotFound:
        return None
    return load_spec(model)
